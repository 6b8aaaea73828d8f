//! fio's JSON as it is, with every number in its range.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use workload::Workload;

use crate::identities::PrintedFigures;

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

/// One result of fio, which is one JSON object.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    /// It was printed for people, with a unit at each figure.
    #[serde(skip)]
    pub(super) is_text: bool,
    /// When it was printed, in seconds since 1970.
    timestamp: Option<i64>,
    /// When it was printed, in milliseconds since 1970.
    timestamp_ms: Option<i64>,
    #[serde(rename = "global options", default)]
    pub(super) global: RawOptions,
    #[serde(default)]
    jobs: Vec<Job>,
    /// The jobs of `--client`, instead of `jobs`.
    #[serde(default)]
    client_stats: Vec<Job>,
}

/// A job, or several of a group together.
#[derive(Debug, Clone, Default, Deserialize)]
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
    /// The number of I/Os follows from other figures.
    #[serde(skip)]
    pub(super) counted: bool,
    pub(super) usr_cpu: Option<Amount>,
    pub(super) sys_cpu: Option<Amount>,
}

/// The figures of reads, or of writes.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Direction {
    /// Bytes; in fio 2 KiB, unless there is also `io_kbytes`.
    #[serde(default)]
    pub(super) io_bytes: u64,
    pub(super) io_kbytes: Option<u64>,
    /// Number of I/Os; absent before fio 2.2.
    #[serde(default)]
    pub(super) total_ios: u64,
    pub(super) iops: Option<Amount>,
    /// Length of the run in milliseconds.
    #[serde(default)]
    pub(super) runtime: u64,
    /// Bytes per second, cut off; before 3, KiB.
    pub(super) bw_bytes: Option<f64>,
    pub(super) bw: Option<f64>,
    /// Figures as text, of what fio prints for people.
    #[serde(skip)]
    pub(super) printed: Option<PrintedFigures>,
    /// From the end of submission to completion.
    pub(super) clat_ns: Option<Times>,
    /// Latency from the call to completion.
    pub(super) lat_ns: Option<Times>,
    /// The same two of fio 2, in microseconds.
    pub(super) clat: Option<Times>,
    pub(super) lat: Option<Times>,
}

/// What fio says about calls of fsync and the like.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Sync {
    #[serde(default)]
    pub(super) total_ios: u64,
    pub(super) lat_ns: Option<Times>,
}

/// A distribution of times in nanoseconds. fio prints `nan` for a figure that it does not know.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Times {
    pub(super) min: Option<Amount>,
    pub(super) max: Option<Amount>,
    pub(super) mean: Option<Amount>,
    pub(super) stddev: Option<Amount>,
    #[serde(rename = "N")]
    pub(super) count: Option<u64>,
    /// Percentiles by their percentage as text.
    pub(super) percentile: Option<BTreeMap<String, Amount>>,
    /// Of `json+`: how many there were of each time.
    pub(super) bins: Option<BTreeMap<u64, u64>>,
}

/// How the figures of an older version were converted.
pub(super) const CONVERTED: &str = "fio before version 3 has KiB and microseconds where later \
                                    versions have bytes and nanoseconds; they were converted";
/// What fio calls the sum of several servers.
pub(super) const ALL_CLIENTS: &str = "All clients";
const COUNTED: &str = "fio before version 2.2 does not tell how many I/Os there were; their number \
                       follows from the rate and the length";

impl Document {
    /// What a text says about a run, besides its jobs.
    pub(super) fn of_text(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            is_text: true,
            timestamp: None,
            timestamp_ms: None,
            global: RawOptions::new(),
            jobs: Vec::new(),
            client_stats: Vec::new(),
        }
    }

    /// Whether it is JSON of a version before 3, which has other units.
    pub(super) fn is_old(&self) -> bool {
        let version = self.version.trim_start_matches("fio-").trim_start_matches('v');
        let major = version.split(['.', '-']).next().unwrap_or_default();
        !self.is_text && major.parse::<u32>().is_ok_and(|major| major < 3)
    }

    /// Writes the figures of an older version as those of later ones.
    pub(super) fn settle(&mut self) {
        if self.is_old() {
            self.jobs.iter_mut().chain(&mut self.client_stats).for_each(Job::settle);
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

impl Direction {
    fn settle(&mut self) -> bool {
        if self.io_kbytes.is_none() {
            self.io_bytes = self.io_bytes.saturating_mul(1024);
        }
        let from_us = |times: &mut Option<Times>| times.take().map(Times::in_nanoseconds);
        self.clat_ns = self.clat_ns.take().or_else(|| from_us(&mut self.clat));
        self.lat_ns = self.lat_ns.take().or_else(|| from_us(&mut self.lat));
        let rate = self.iops.map_or(0.0, |iops| iops.0);
        let counted = self.total_ios == 0 && rate > 0.0;
        if counted {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let ios = (rate * self.runtime as f64 / 1e3).round() as u64;
            self.total_ios = ios;
        }
        counted
    }
}

impl Times {
    fn in_nanoseconds(mut self) -> Self {
        let values = self.percentile.iter_mut().flat_map(BTreeMap::values_mut);
        let own = [&mut self.min, &mut self.max, &mut self.mean, &mut self.stddev];
        for value in own.into_iter().flatten().chain(values) {
            value.0 *= 1e3;
        }
        self.bins = None;
        self
    }
}

impl Job {
    fn settle(&mut self) {
        let parts = [&mut self.read, &mut self.write, &mut self.trim, &mut self.mixed];
        for direction in parts.into_iter().flatten() {
            self.counted |= direction.settle();
        }
    }

    /// What a reader must know of the figures of an older version.
    pub(super) fn doubts(&self) -> impl Iterator<Item = String> {
        let counted = self.counted.then_some(COUNTED);
        std::iter::once(CONVERTED).chain(counted).map(str::to_owned)
    }

    fn directions(&self) -> impl Iterator<Item = &Direction> {
        [&self.read, &self.write, &self.trim, &self.mixed].into_iter().flatten()
    }

    /// I/Os of this job, whatever their direction.
    pub(super) fn ios(&self) -> u64 {
        self.directions().map(|d| d.total_ios).fold(0, u64::saturating_add)
    }

    /// Length of the window in milliseconds.
    fn runtime(&self) -> i64 {
        let longest = self.directions().map(|d| d.runtime).max().unwrap_or(0);
        i64::try_from(longest).unwrap_or(i64::MAX)
    }

    /// Length of the window in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.runtime() as f64 / 1e3
    }

    /// Whether it is what fio adds to the jobs of several servers.
    pub(super) fn is_sum(&self) -> bool {
        self.name == ALL_CLIENTS
    }

    /// What it did that its options do not ask for.
    pub(super) fn unlike(&self, workload: &Workload) -> Option<String> {
        let ios = |d: &Option<Direction>| d.as_ref().map_or(0, |d| d.total_ios);
        let (stream, reads, writes) =
            (workload.streams.first()?, ios(&self.read), ios(&self.write));
        if writes > 0 && !stream.writes() {
            return Some(format!("its options ask for reads alone, and it made {writes} writes"));
        }
        (reads > 0 && !stream.reads())
            .then(|| format!("its options ask for writes alone, and it made {reads} reads"))
    }
}
