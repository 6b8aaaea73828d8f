//! Watching what the operating system and databases count, and recording it.

mod beside;
mod command;
mod databases;
mod keeper;
mod record;
mod scope;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::databases::{DatabaseError, DatabaseUrl};
use ::monitor::{Alert, End, MonitorError, Watched};
use engine::Permissions;
use inspect::InspectError;
use results::{Conclusion as _, Document, Recording};
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;
use workload::secrets::concealed;
use workload::{show_duration, show_ns};

pub use beside::set_all_beside;

use crate::conduct::{Conducted, JobError, Session};
use crate::job::{Description, Job};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;
use scope::Scope;
pub(crate) use scope::look;

/// What `iosonde monitor` watches, and for how long. `docs/plans.md` describes the keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MonitorPlan {
    /// Files, directories, devices or names of devices, watched with every layer under them.
    /// Without any: the devices of the databases, or all real devices.
    pub targets: Vec<PathBuf>,
    /// Watch every block device, partitions too.
    pub all: bool,
    /// Time between two samples, 0.1 to 60.
    pub interval_seconds: f64,
    /// Seconds after which the recording ends.
    pub seconds: Option<f64>,
    /// Samples after which the recording ends.
    pub count: Option<u64>,
    /// Name of the recording, by which it is also found as `@NAME`.
    pub name: Option<String>,
    /// Limits whose passing is reported and recorded.
    pub alerts: Vec<Alert>,
    /// Databases that are asked for their own counters. Passwords are not written.
    pub databases: Vec<DatabaseUrl>,
    /// CSV files that are read at the end and laid on the same time axis.
    pub attach: Vec<PathBuf>,
    /// A program and its arguments: the recording lasts as long as it runs. They are paths because
    /// an argument need not be UTF-8 either. Passwords in them are not written.
    #[serde(serialize_with = "without_passwords")]
    pub command: Vec<PathBuf>,
}

/// Writes the words of a command with `***` for what may be a password.
fn without_passwords<S: Serializer>(words: &[PathBuf], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(words.iter().map(|word| match word.to_str().map(concealed) {
        Some(Cow::Owned(shown)) => PathBuf::from(shown),
        _ => word.clone(),
    }))
}

impl Default for MonitorPlan {
    /// All real devices, each second, until it is stopped.
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            all: false,
            interval_seconds: 1.0,
            seconds: None,
            count: None,
            name: None,
            alerts: Vec::new(),
            databases: Vec::new(),
            attach: Vec::new(),
            command: Vec::new(),
        }
    }
}

/// Why watching cannot begin or continue.
#[derive(Debug, Error)]
pub enum WatchError {
    /// A target does not exist.
    #[error(
        "`{}` does not exist; name a file, a directory or a device, or nothing for all devices",
        target.display()
    )]
    Missing {
        /// The target, as the user named it.
        target: PathBuf,
    },
    /// No device is under a target.
    #[error(
        "`{}` is not on a block device whose counters could be watched{file_system}; name a \
         device, or nothing for all of them",
        target.display()
    )]
    NoDevice {
        /// The target, as the user named it.
        target: PathBuf,
        /// Its file system in parentheses; empty where it has none.
        file_system: String,
    },
    /// A target cannot be looked at.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// A database cannot be reached or read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The counters of the system cannot be read.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// The command could not be started.
    #[error("`{program}` cannot be started: {source}")]
    Command {
        /// The program that should have run.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Nobody knows how the command ended.
    #[error("cannot wait for the command: {0}")]
    Lost(io::Error),
    /// A document is JSON, and the name of a target cannot be in it.
    #[error("the name of a target is not UTF-8")]
    NotUtf8,
    /// Signals for the command cannot be caught.
    #[error("cannot catch signals for the command: {0}")]
    Signal(io::Error),
}

impl MonitorPlan {
    /// Whether a recording by this plan was stopped before the end that the plan names.
    #[must_use]
    pub fn is_cut_short(&self, recording: &Recording) -> bool {
        let last = recording.points.last().map_or(0.0, |point| point.t);
        let seconds = self.seconds.map(|seconds| last >= seconds);
        let count = self.count.map(|count| recording.windows >= count);
        (seconds.is_some() || count.is_some()) && seconds != Some(true) && count != Some(true)
    }

    /// Time between two samples, and when watching ends by itself.
    fn times(&self) -> Result<(Duration, End), PlanError> {
        let wrong = |text: String| Err(PlanError::Invalid(text));
        let seconds = self.interval_seconds;
        let Some(interval) =
            Duration::try_from_secs_f64(seconds).ok().filter(|i| ::monitor::INTERVALS.contains(i))
        else {
            return wrong(MonitorError::Interval { seconds }.to_string());
        };
        let after = match self.seconds {
            Some(s) if !(s > 0.0 && s <= 1e9) => {
                return wrong(format!("`seconds` is {s}: it must be above 0, and below 30 years"));
            }
            seconds => seconds.map(Duration::from_secs_f64),
        };
        if self.count == Some(0) {
            return wrong("`count` must be at least 1".to_owned());
        }
        if !self.command.is_empty() && (self.seconds.is_some() || self.count.is_some()) {
            return wrong(
                "a recording of a command ends with it: leave out `seconds` and \
                          `count`"
                    .to_owned(),
            );
        }
        if self.all && !self.targets.is_empty() {
            return wrong("`all` watches every device: leave out `targets`".to_owned());
        }
        if let Some(Err(error)) = self.name.as_deref().map(history::check_tag) {
            return wrong(error.to_string());
        }
        Ok((interval, End { after, windows: self.count }))
    }

    /// How long it lasts, in words.
    pub(crate) fn length(&self) -> String {
        let program = self.command.iter().map(|word| word.display().to_string());
        let line = program.collect::<Vec<_>>().join(" ");
        match (self.seconds, self.count) {
            _ if !line.is_empty() => format!("while this runs: {}", concealed(&line)),
            (Some(seconds), None) => format!("for {}", show_duration(seconds)),
            (None, Some(count)) => format!("{count} times"),
            (Some(seconds), Some(count)) => {
                format!("{count} times, for {} at most", show_duration(seconds))
            }
            (None, None) => "until it is stopped".to_owned(),
        }
    }
}

impl Job for MonitorPlan {
    fn plan(&self) -> Plan {
        Plan::Monitor(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let title =
            Recording { name: self.name.clone().unwrap_or_default(), ..Recording::default() };
        Ok(subject(title.title(), &self.targets, serde_json::to_string(self)?))
    }

    /// No targets: a recording does no I/O.
    fn targets(&self) -> Vec<&Path> {
        Vec::new()
    }

    fn is_artificial(&self) -> bool {
        false
    }

    /// Nothing to fix: a recording is not repeated.
    fn pin(&mut self, _: &Document) {}

    fn describe(&self, _: &Permissions) -> Result<Description, JobError> {
        let (interval, _) = self.times()?;
        let scope = Scope::of(self, std::iter::empty()).map_err(JobError::from)?;
        let devices = scope.devices().join(" ");
        let devices = match scope.watched {
            Watched::Real if !self.databases.is_empty() => {
                format!("the devices of the databases, or all real devices: {devices}")
            }
            Watched::Real => format!("all real devices: {devices}"),
            Watched::All => format!("all block devices: {devices}"),
            Watched::Named(_) => devices,
        };
        let each = show_ns(interval.as_nanos() as f64);
        let mut work =
            vec![format!("watches {devices}"), format!("a sample every {each}, {}", self.length())];
        work.extend(self.databases.iter().map(|url| format!("asks {url}")));
        work.extend(self.alerts.iter().map(|alert| format!("alerts when {}", alert.text())));
        work.extend(self.attach.iter().map(|file| format!("attaches {}", file.display())));
        Ok(Description { work, ..Description::default() })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        record::record(self, session)
    }
}

/// What the history knows a recording by.
fn subject(title: String, targets: &[PathBuf], plan: String) -> Subject {
    let targets: Vec<String> = targets.iter().map(|t| t.display().to_string()).collect();
    Subject {
        kind: "monitor",
        schema: Recording::SCHEMA,
        title,
        targets: targets.join(", "),
        plan,
        plan_id: String::new(),
        watched: true,
    }
}
