//! A finding: something about a set-up that matters for a database.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know when reading the figures.
    Info,
    /// Costs speed or safety, or makes the figures mean something else.
    Warning,
    /// A database should not live here, or the figures are not those of a storage device.
    Serious,
}

/// Rules about safety alone: no figure differs because of them.
const SAFETY_ONLY: [&str; 2] = ["inodes-used-up", "no-journal"];

/// Rules about which data is read and what survives a crash: caches and layers above the device,
/// writes that are not durable, damage.
const OF_DATA: [&str; 22] = [
    "cache-volume",
    "device-not-running",
    "file-system-errors",
    "flush-disabled",
    "health-critical",
    "loop-buffered",
    "loop-device",
    "media-errors",
    "memory-file-system",
    "network-file-system",
    "no-journal",
    "no-write-barrier",
    "overlay-file-system",
    "path-failed",
    "raid-degraded",
    "raid-member-errors",
    "raid-mismatches",
    "raid-no-bitmap",
    "raid-write-hole",
    "thin-overcommitted",
    "user-space-file-system",
    "worn",
];

/// One observation about the set-up of the storage, for a DBA.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How much the finding matters.
    pub severity: Severity,
    /// A stable name to search for, in kebab case, such as `partition-misaligned`.
    pub code: String,
    /// The target that it is about, in an inspection; absent if that is the machine or several
    /// targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The finding in one sentence with its numbers.
    pub message: String,
    /// What to do about it, where something can be done.
    pub remedy: Option<String>,
    /// The facts it was concluded from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The command that would mend it, to be looked at before it is typed; iosonde never runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Why it matters for a database. Measurements leave it out; [`crate::rule`] knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where the reason is documented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Finding {
    /// The finding of the rule with this name; what else it says is added by the other functions.
    #[must_use]
    pub fn new(severity: Severity, code: &str, message: String) -> Self {
        let (evidence, code) = (Vec::new(), code.to_owned());
        let nothing = None::<String>;
        Self {
            severity,
            code,
            message,
            target: None,
            remedy: None,
            evidence,
            command: None,
            why: nothing.clone(),
            source: nothing,
        }
    }

    /// Whether figures that are measured there mean something else because of it.
    #[must_use]
    pub fn is_doubt(&self) -> bool {
        self.severity > Severity::Info && !SAFETY_ONLY.contains(&self.code.as_str())
    }

    /// Whether it says what a test of data means: a layer that answers instead of the device, or
    /// writes that may not survive.
    #[must_use]
    pub fn is_of_data(&self) -> bool {
        self.severity > Severity::Info && OF_DATA.contains(&self.code.as_str())
    }

    /// Whether it is a limit of this process, which holds for no other.
    #[must_use]
    pub fn is_own_limit(&self) -> bool {
        self.code.starts_with("cgroup-")
    }

    /// With what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: &str) -> Self {
        self.remedy = Some(remedy.to_owned());
        self
    }

    /// With the command that would mend it.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// With something it was concluded from.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are written alike")]
    #[must_use]
    pub fn evidence(mut self, place: impl Into<String>, value: impl ToString) -> Self {
        self.evidence.push(Evidence { place: place.into(), value: value.to_string() });
        self
    }

    /// With the reason and the source of its rule.
    #[must_use]
    pub fn explained(mut self) -> Self {
        let rule = crate::rule(&self.code);
        self.why = rule.map(|rule| rule.why.to_owned());
        self.source = rule.map(|rule| rule.source.to_owned());
        self
    }
}

/// Something that was read, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// A file of the system, or a mount option, a system call.
    pub place: String,
    /// The value that was read there.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_that_of_a_rule() {
        for code in SAFETY_ONLY.iter().chain(&OF_DATA) {
            assert!(crate::rule(code).is_some(), "{code}");
        }
    }

    /// A check of data on a file system in memory gave no warning.
    #[test]
    fn what_is_about_data_is_not_what_is_about_speed() {
        let of = |code: &str| Finding::new(Severity::Warning, code, String::new());
        assert!(of("memory-file-system").is_of_data() && of("no-journal").is_of_data());
        assert!(!of("queue-depth-small").is_of_data() && !of("cgroup-io-limit").is_of_data());
        assert!(of("cgroup-io-limit").is_own_limit() && !of("no-journal").is_doubt());
        let info = Finding { severity: Severity::Info, ..of("loop-device") };
        assert!(!info.is_of_data());
    }
}
