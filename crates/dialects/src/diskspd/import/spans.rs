//! What both layouts report about a time span, and the measurement that follows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use results::{
    Cpu, Latency, Measurement, Origin, Point, Statistics, Status, StreamResult, TargetResult,
};

use super::TOOL;
use super::workload::{unknown, workload};
use crate::diskspd::profile::TimeSpan;
use crate::foreign::{OWN, Run};
use crate::identities::{Printed, PrintedFigures, PrintedRun};

const MIB: f64 = 1_048_576.0;
const NS_PER_MS: f64 = 1e6;

/// What a run of DiskSpd says about all of its time spans.
#[derive(Debug, Default)]
pub(super) struct Head<'a> {
    pub(super) file: &'a str,
    pub(super) version: Option<String>,
    pub(super) command_line: Option<String>,
    pub(super) host: Option<String>,
    /// iosonde printed it, and not DiskSpd.
    pub(super) is_own: bool,
    /// As DiskSpd writes it: `2026/01/02 03:04:05 UTC`.
    pub(super) printed: Option<String>,
}

/// A time span that was measured.
#[derive(Debug, Default)]
pub(super) struct Span {
    /// Its number in the run, from 1.
    pub(super) number: usize,
    pub(super) seconds: f64,
    /// Seconds of it and of all later ones, with their warm-ups. It started that long before the
    /// end.
    pub(super) seconds_to_end: f64,
    pub(super) read: Figures,
    pub(super) write: Figures,
    /// Reads and writes together, as printed; of XML, only their latency.
    pub(super) total: Figures,
    /// The length follows from I/Os and IOPS.
    pub(super) is_derived: bool,
    pub(super) targets: Vec<OnTarget>,
    /// Where each target is among them.
    pub(super) places: HashMap<String, usize>,
    pub(super) series: Vec<Point>,
    pub(super) host_percent: Option<f64>,
    /// Threads, as the figures tell them; 0 where they do not.
    pub(super) threads: u64,
    /// Threads that the rows of the tables name.
    pub(super) threads_in_rows: u64,
    /// What is missing, if the text ends in it.
    pub(super) missing: Option<&'static str>,
    pub(super) warnings: Vec<String>,
}

/// The figures of reads, or of writes.
#[derive(Debug, Default, Clone)]
pub(super) struct Figures {
    pub(super) bytes: u64,
    pub(super) ios: u64,
    /// As printed. None if the text does not have them.
    pub(super) rates: Option<Rates>,
    pub(super) times: Times,
    /// Each figure with the digits that it has in the text.
    pub(super) printed: PrintedFigures,
}

/// Rates as DiskSpd prints them, from a length of the run that it prints rounded.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Rates {
    pub(super) iops: f64,
    pub(super) mib_per_s: f64,
}

/// Latencies in milliseconds, as far as the text has them.
#[derive(Debug, Default, Clone)]
pub(super) struct Times {
    pub(super) mean: Option<f64>,
    pub(super) stddev: Option<f64>,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    /// Each percentage with its latency, in milliseconds.
    pub(super) percentiles: Vec<(f64, f64)>,
}

/// The figures of a target, of all threads.
#[derive(Debug, Default, Clone)]
pub(super) struct OnTarget {
    pub(super) path: String,
    pub(super) file_bytes: u64,
    pub(super) read: Figures,
    pub(super) write: Figures,
}

impl Times {
    /// Without a mean, nothing is known that a summary could be.
    fn latency(&self, ios: u64) -> Option<Latency> {
        if ios == 0 {
            return None;
        }
        let at = |percent: f64| {
            let found = self.percentiles.iter().find(|(p, _)| (p - percent).abs() < 1e-9);
            // The rule for all results: a percentile needs ten I/Os above it.
            let supported = ios as f64 * (100.0 - percent) / 100.0 >= 10.0 - 1e-6;
            found.filter(|_| supported).map(|(_, ms)| ns(*ms))
        };
        Some(Latency {
            min: self.min.map(ns),
            mean: self.mean? * NS_PER_MS,
            stddev: self.stddev.map(|ms| ms * NS_PER_MS),
            max: self.max.map(ns),
            p50: at(50.0),
            p90: at(90.0),
            p95: at(95.0),
            p99: at(99.0),
            p99_9: at(99.9),
            p99_99: at(99.99),
            p99_999: at(99.999),
        })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn ns(ms: f64) -> u64 {
    (ms * NS_PER_MS).round() as u64
}

impl Figures {
    pub(super) fn add(&mut self, other: &Self) {
        self.rates = match (self.rates, other.rates) {
            (Some(a), Some(b)) => {
                Some(Rates { iops: a.iops + b.iops, mib_per_s: a.mib_per_s + b.mib_per_s })
            }
            (rates, None) if other.ios == 0 => rates,
            (None, rates) if self.ios == 0 => rates,
            _ => None,
        };
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.ios = self.ios.saturating_add(other.ios);
    }

    fn statistics(&self, seconds: f64) -> Statistics {
        let (count, mib) = (self.ios as f64, self.bytes as f64 / MIB);
        let (iops, mib_per_s) = match self.rates {
            // Both have two decimals, so the larger one is the more exact.
            Some(Rates { iops, mib_per_s }) if mib_per_s < iops && self.ios > 0 => {
                (iops, iops * mib / count)
            }
            Some(Rates { iops, mib_per_s }) => (iops, mib_per_s),
            None if seconds > 0.0 => (count / seconds, mib / seconds),
            None => (0.0, 0.0),
        };
        Statistics {
            ios: self.ios,
            bytes: self.bytes,
            iops,
            mib_per_s,
            latency_ns: self.times.latency(self.ios),
            ..Statistics::default()
        }
    }
}

impl Span {
    /// Reads and writes together: as printed, otherwise their sum.
    fn both(&self) -> Figures {
        if self.total.ios > 0 {
            return self.total.clone();
        }
        let mut both = self.read.clone();
        both.add(&self.write);
        Figures { times: self.total.times.clone(), rates: self.total.rates.or(both.rates), ..both }
    }

    /// Adds what one thread did on a target to the target's figures.
    pub(super) fn on_target(&mut self, path: &str, file_bytes: u64) -> &mut OnTarget {
        let index = *self.places.entry(path.to_owned()).or_insert_with(|| {
            self.targets.push(OnTarget {
                path: path.to_owned(),
                file_bytes,
                ..OnTarget::default()
            });
            self.targets.len() - 1
        });
        &mut self.targets[index]
    }

    /// The measurement, or everything in its load that iosonde cannot express. If the text does not
    /// say what was asked for, the load is unknown. Its name is made from `place`.
    pub(super) fn measurement(
        self,
        asked: Option<&TimeSpan>,
        head: &Head,
        place: &str,
        read: &str,
    ) -> Result<Measurement, Vec<String>> {
        let both = self.both();
        let mut warnings = self.warnings;
        let workload = match asked {
            Some(asked) => workload(asked, &self.targets)?,
            None => unknown(&self.targets, self.seconds),
        };
        if let Some(missing) = self.missing {
            warnings.push(format!("the text is incomplete: {missing} is missing"));
        }
        let (started, doubt) = started(head, self.seconds_to_end);
        warnings.extend(doubt);
        let short = asked.is_some_and(|a| self.seconds + 1.0 < f64::from(a.duration_s));
        let status =
            if short || self.missing.is_some() { Status::Interrupted } else { Status::Complete };
        let (seconds, threads, targets) = (self.seconds, self.threads, self.targets);
        let length = Printed::decimals(self.seconds, 2);
        let printed = PrintedRun {
            seconds: (self.seconds > 0.0 && !self.is_derived).then_some(length),
            threads: Some(self.threads).filter(|threads| *threads > 0),
            total: self.total.printed,
            read: self.read.printed,
            write: self.write.printed,
        };
        let of_path: HashMap<&Path, &OnTarget> =
            targets.iter().map(|t| (Path::new(&t.path), t)).collect();
        let bytes = |path: &Path| of_path.get(path).map_or(0, |t| t.file_bytes);
        let own = head.is_own.then(|| OWN.to_owned());
        let run = Run {
            origin: Origin {
                tool: TOOL.to_owned(),
                tool_version: head.version.clone().or(own),
                file: Some(head.file.to_owned()),
                command_line: head.command_line.clone(),
                ..Origin::default()
            },
            started,
            status,
            host: head.host.clone(),
            seconds,
            target_bytes: workload.targets.iter().map(|t| bytes(&t.path)).collect(),
            total: both.statistics(seconds),
            read: self.read.statistics(seconds),
            write: self.write.statistics(seconds),
            printed,
            warnings,
            workload,
        };
        let mut measurement = run.measurement(place, read);
        measurement.series = self.series;
        if measurement.workload.is_unknown() {
            measurement.threads = threads;
        }
        measurement.cpu = Cpu { host_percent: self.host_percent, ..Cpu::default() };
        if measurement.targets.is_empty() {
            measurement.targets = targets.iter().map(|t| t.result(seconds)).collect();
            measurement.streams = streams(&measurement, &of_path);
        }
        Ok(measurement)
    }
}

impl OnTarget {
    fn both(&self) -> Figures {
        let mut both = Figures { times: Times::default(), ..self.read.clone() };
        both.add(&self.write);
        both
    }

    fn result(&self, seconds: f64) -> TargetResult {
        TargetResult {
            path: PathBuf::from(&self.path),
            file_bytes: self.file_bytes,
            content: "unknown".to_owned(),
            total: self.both().statistics(seconds),
            read: self.read.statistics(seconds),
            write: self.write.statistics(seconds),
            sync: Statistics::default(),
        }
    }
}

/// Streams of several targets: each has the sum of its own.
fn streams(measurement: &Measurement, of_path: &HashMap<&Path, &OnTarget>) -> Vec<StreamResult> {
    let workload = &measurement.workload;
    if workload.streams.len() == 1 {
        return measurement.streams.clone();
    }
    let each = workload.streams.iter().map(|stream| {
        let mut sum = OnTarget::default();
        for index in stream.target_indexes(workload.targets.len()) {
            let path = workload.targets.get(index).map(|t| t.path.as_path());
            if let Some(target) = path.and_then(|path| of_path.get(path)) {
                sum.read.add(&target.read);
                sum.write.add(&target.write);
            }
        }
        StreamResult {
            name: stream.name.clone(),
            threads: u64::from(stream.threads),
            depth: stream.depth,
            rate_reached_percent: None,
            total: sum.both().statistics(measurement.seconds),
            read: sum.read.statistics(measurement.seconds),
            write: sum.write.statistics(measurement.seconds),
            sync: Statistics::default(),
        }
    });
    each.collect()
}

/// The warning on figures whose load is not known: an invented load would look right.
pub(super) fn unknown_load(why: &str) -> String {
    format!(
        "nobody knows which load these figures are of, because {why}: they are compared with \
         nothing. Import the result as DiskSpd prints it, as a whole"
    )
}

/// The note on a time span whose load iosonde cannot say.
pub(super) fn without_words(line: usize, number: usize, reasons: &[String]) -> String {
    format!(
        "line {line}: time span {number} is left out: iosonde has no words for what it was asked \
         for: {}",
        reasons.join("; ")
    )
}

/// DiskSpd prints the end of the run as its start.
fn started(head: &Head, seconds_before: f64) -> (String, Option<String>) {
    let Some(printed) = head.printed.as_deref().map(str::trim).filter(|p| !p.is_empty()) else {
        return (String::new(), None);
    };
    let civil = printed.strip_suffix("UTC").unwrap_or(printed).trim();
    let moment = jiff::civil::DateTime::strptime("%Y/%m/%d %H:%M:%S", civil)
        .and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::UTC))
        .map(|zoned| zoned.timestamp());
    let length = jiff::SignedDuration::try_from_secs_f64(seconds_before);
    match (moment, length) {
        (Ok(end), Ok(length)) => match end.checked_sub(length) {
            Ok(start) => (start.to_string(), None),
            Err(_) => (String::new(), None),
        },
        _ => (String::new(), Some(format!("the date `{printed}` is not one that DiskSpd writes"))),
    }
}
