//! What values must be: each for itself, and together.

use super::config::Configuration;
use super::keys::{Section, Value};

/// The unit that SQLIOSim's rules for the log are about.
const SECTOR_BYTES: i64 = 512;
/// The most CPUs of a mask.
const CPUS_MAX: i64 = 64;
/// Pages of 8 KiB in a MiB.
const PAGES_PER_MIB: i64 = 128;

/// A rule that a configuration breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The name of the section, without brackets.
    pub section: String,
    /// The key that breaks a rule.
    pub key: &'static str,
    /// The rule that its value breaks.
    pub rule: String,
    pub(super) at: Section,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {}: {}", self.section, self.key, self.rule)
    }
}

impl Configuration {
    /// Every rule that it breaks, on any machine.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        let mut add = |at: Section, key: &'static str, rule: String| {
            found.push(Violation { section: self.name_of(at), key, rule, at });
        };
        let mut copy = self.clone();
        for section in self.sections() {
            for key in copy.keys(section) {
                if let Some(rule) = out_of_range(&key.value, key.range) {
                    add(section, key.name, rule);
                }
            }
        }
        self.pairs(&mut add);
        self.log_sizes(&mut add);
        self.users(&mut add);
        self.pages(&mut add);
        self.file_names(&mut add);
        found
    }

    fn pairs(&self, add: &mut dyn FnMut(Section, &'static str, String)) {
        let Self { random, read_ahead, bulk, shrink, .. } = self;
        for (at, key, other, least, most) in [
            (
                Section::Random,
                "MinIOChainLength",
                "MaxIOChainLength",
                random.chain_pages_min,
                random.chain_pages_max,
            ),
            (
                Section::Random,
                "MinLogPerBuffer",
                "MaxLogPerBuffer",
                random.log_bytes_min,
                random.log_bytes_max,
            ),
            (
                Section::Random,
                "CPUCyclesMin",
                "CPUCyclesMax",
                random.cpu_cycles_min,
                random.cpu_cycles_max,
            ),
            (
                Section::ReadAhead,
                "BuffersRAMin",
                "BuffersRAMax",
                read_ahead.pages_min,
                read_ahead.pages_max,
            ),
            (Section::Bulk, "BuffersBUMin", "BuffersBUMax", bulk.pages_min, bulk.pages_max),
            (
                Section::Shrink,
                "MinShrinkInterval",
                "MaxShrinkInterval",
                shrink.interval_s_min,
                shrink.interval_s_max,
            ),
            (Section::Shrink, "MinExtends", "MaxExtends", shrink.extends_min, shrink.extends_max),
        ] {
            if least > most {
                add(at, key, format!("{least} is more than `{other}`, {most}"));
            }
        }
        for (index, file) in self.files.iter().enumerate() {
            // 0 is not a limit of its own.
            if let Some(most) =
                file.max_size_mb.filter(|most| (1..file.initial_size_mb).contains(most))
            {
                let rule = format!("{most} is less than `InitialSize`, {}", file.initial_size_mb);
                add(Section::File(index), "MaxSize", rule);
            }
        }
    }

    fn log_sizes(&self, add: &mut dyn FnMut(Section, &'static str, String)) {
        let (least, most) = (self.random.log_bytes_min, self.random.log_bytes_max);
        if least > 0 && SECTOR_BYTES % least != 0 && least % SECTOR_BYTES != 0 {
            let rule = format!("{least} is neither a multiple of 512 nor a divisor of it");
            add(Section::Random, "MinLogPerBuffer", rule);
        }
        if most % SECTOR_BYTES != 0 {
            let rule = format!("{most} is not a multiple of 512");
            add(Section::Random, "MaxLogPerBuffer", rule);
        }
    }

    fn users(&self, add: &mut dyn FnMut(Section, &'static str, String)) {
        let cpus = self.general.cpu_count.unwrap_or(CPUS_MAX).clamp(1, CPUS_MAX);
        let most = cpus * 1023 - 100;
        let mut all = 0i64;
        for (at, users) in [
            (Section::Random, self.random.user_count),
            (Section::Audit, self.audit.user_count),
            (Section::ReadAhead, self.read_ahead.user_count),
            (Section::Bulk, self.bulk.user_count),
        ] {
            all = all.saturating_add(users.max(0));
            if all > most {
                let rule = format!(
                    "that would be {all} users; {cpus} CPUs have room for {most} of all kinds"
                );
                add(at, "UserCount", rule);
                return;
            }
        }
    }

    /// Pages that are read or written in a row must fit into the smallest file.
    fn pages(&self, add: &mut dyn FnMut(Section, &'static str, String)) {
        let sizes = self.files.iter().filter(|f| !f.log_file).map(|f| f.initial_size_mb.max(0));
        let Some(smallest) = sizes.min() else { return };
        let room = smallest.saturating_mul(PAGES_PER_MIB);
        for (at, key, users, pages) in [
            (Section::Audit, "BuffersValidated", self.audit.user_count, self.audit.pages),
            (
                Section::ReadAhead,
                "BuffersRAMax",
                self.read_ahead.user_count,
                self.read_ahead.pages_max,
            ),
            (Section::Bulk, "BuffersBUMax", self.bulk.user_count, self.bulk.pages_max),
        ] {
            if users != 0 && pages > room {
                add(at, key, format!("{pages} pages are more than a file has, {room}"));
            }
        }
    }

    fn file_names(&self, add: &mut dyn FnMut(Section, &'static str, String)) {
        for (index, file) in self.files.iter().enumerate() {
            if file.file_name.is_empty() {
                let rule = "it is missing; name the file, or take the section out".to_owned();
                add(Section::File(index), "FileName", rule);
            } else if self.files.iter().take(index).any(|f| f.file_name == file.file_name) {
                let rule = format!("`{}` is named twice", file.file_name);
                add(Section::File(index), "FileName", rule);
            }
        }
    }
}

fn out_of_range(value: &Value<'_>, (least, most): (i64, i64)) -> Option<String> {
    let number = match value {
        Value::Number(number) => **number,
        Value::Maybe(number) => (**number)?,
        Value::Flag(_) | Value::Text(_) | Value::MaybeText(_) => return None,
    };
    if (least..=most).contains(&number) {
        return None;
    }
    Some(if most == i64::MAX {
        format!("{number} is less than {least}")
    } else {
        format!("{number} is not from {least} to {most}")
    })
}
