//! fio's JSON as it stands, with every number in its range.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use workload::Workload;

/// A number that is not below 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Amount(pub(super) f64);

impl TryFrom<f64> for Amount {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        if value.is_finite() && value >= 0.0 {
            Ok(Self(value))
        } else {
            Err(format!("{value} is below 0 or no number"))
        }
    }
}

/// Options as text, number or nothing.
pub(super) type RawOptions = BTreeMap<String, Value>;

/// One result.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    /// When it was printed, in seconds since 1970.
    timestamp: Option<i64>,
    /// The same in milliseconds.
    timestamp_ms: Option<i64>,
    #[serde(rename = "global options", default)]
    pub(super) global: RawOptions,
    #[serde(default)]
    jobs: Vec<Job>,
    /// Of `--client`, instead of `jobs`.
    #[serde(default)]
    client_stats: Vec<Job>,
}

/// A job, or several of a group together.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Job {
    #[serde(rename = "jobname", default)]
    pub(super) name: String,
    #[serde(rename = "groupid", default)]
    pub(super) group: i64,
    #[serde(default)]
    pub(super) error: i64,
    pub(super) hostname: Option<String>,
    /// When it began, in milliseconds since 1970.
    #[serde(rename = "job_start")]
    pub(super) started: Option<i64>,
    #[serde(rename = "job options", default)]
    pub(super) options: RawOptions,
    pub(super) read: Option<Direction>,
    pub(super) write: Option<Direction>,
    pub(super) trim: Option<Direction>,
    /// Reads and writes together, of `unified_rw_reporting`.
    pub(super) mixed: Option<Direction>,
    pub(super) sync: Option<Sync>,
    /// How long all of its threads ran, together.
    #[serde(rename = "job_runtime")]
    pub(super) runtime_ms: Option<Amount>,
    pub(super) usr_cpu: Option<Amount>,
    pub(super) sys_cpu: Option<Amount>,
}

/// Reads, or writes.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Direction {
    #[serde(default)]
    pub(super) io_bytes: u64,
    #[serde(default)]
    pub(super) total_ios: u64,
    #[serde(default)]
    pub(super) iops: Amount,
    /// In milliseconds.
    #[serde(default)]
    pub(super) runtime: u64,
    /// From the end of submission to completion.
    pub(super) clat_ns: Option<Times>,
    /// From the call to completion.
    pub(super) lat_ns: Option<Times>,
    /// Of fio 2, which has microseconds.
    pub(super) clat: Option<IgnoredAny>,
}

/// Flushes.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Sync {
    #[serde(default)]
    pub(super) total_ios: u64,
    pub(super) lat_ns: Option<Times>,
}

/// A distribution of times in nanoseconds.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Times {
    #[serde(default)]
    pub(super) min: Amount,
    #[serde(default)]
    pub(super) max: Amount,
    #[serde(default)]
    pub(super) mean: Amount,
    #[serde(default)]
    pub(super) stddev: Amount,
    #[serde(rename = "N")]
    pub(super) count: Option<u64>,
    /// By percent, as text.
    pub(super) percentile: Option<BTreeMap<String, Amount>>,
    /// Of `json+`: how many there were of each time.
    pub(super) bins: Option<BTreeMap<u64, u64>>,
}

impl Document {
    /// What a text tells of a run, besides its jobs.
    pub(super) fn of_text(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            timestamp: None,
            timestamp_ms: None,
            global: RawOptions::new(),
            jobs: Vec::new(),
            client_stats: Vec::new(),
        }
    }

    /// Its jobs, whether a server ran them or not.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().chain(&self.client_stats)
    }

    fn printed_ms(&self) -> Option<i64> {
        self.timestamp_ms.or_else(|| self.timestamp?.checked_mul(1000))
    }

    /// When a job began: fio tells it since 3.36; before, when the result was printed.
    pub(super) fn started(&self, job: &Job) -> Option<String> {
        let milliseconds = match job.started {
            Some(start) => start,
            None => self.printed_ms()?.checked_sub(job.runtime())?,
        };
        Timestamp::from_millisecond(milliseconds).ok().map(|moment| moment.to_string())
    }

    /// Whether it is a later result of the same run: it had begun before the other was printed.
    pub(super) fn goes_on_from(&self, earlier: &Self) -> bool {
        let names = |d: &Self| d.jobs().map(|j| (j.name.clone(), j.group)).collect::<Vec<_>>();
        let longest = self.jobs().map(Job::runtime).max().unwrap_or(0);
        let begun = self.printed_ms().and_then(|printed| printed.checked_sub(longest));
        match (begun, earlier.printed_ms()) {
            (Some(begun), Some(printed)) => begun < printed && names(self) == names(earlier),
            _ => false,
        }
    }
}

impl Job {
    fn directions(&self) -> impl Iterator<Item = &Direction> {
        [&self.read, &self.write, &self.trim, &self.mixed].into_iter().flatten()
    }

    /// I/Os in all.
    pub(super) fn ios(&self) -> u64 {
        self.directions().map(|d| d.total_ios).fold(0, u64::saturating_add)
    }

    /// Length of the window in milliseconds.
    fn runtime(&self) -> i64 {
        let longest = self.directions().map(|d| d.runtime).max().unwrap_or(0);
        i64::try_from(longest).unwrap_or(i64::MAX)
    }

    /// Length of the window.
    pub(super) fn seconds(&self) -> f64 {
        self.runtime() as f64 / 1e3
    }

    /// Whether it is what fio adds to the jobs of several servers.
    pub(super) fn is_sum(&self) -> bool {
        self.name == "All clients"
    }

    /// Whether it did what its options do not say.
    pub(super) fn does_otherwise(&self, workload: &Workload) -> bool {
        let did = |d: &Option<Direction>| d.as_ref().is_some_and(|d| d.total_ios > 0);
        workload.streams.first().is_some_and(|stream| {
            (did(&self.write) && !stream.writes()) || (did(&self.read) && !stream.reads())
        })
    }
}
