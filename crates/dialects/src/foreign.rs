//! Turns runs of other tools into measurements: what every importer shares.
//!
//! A field that the tool does not report is empty, 0 or absent; nothing is made up. The
//! measurement's warnings say what the figures can and cannot mean.

use jiff::{SignedDuration, Timestamp};
use results::{
    Checks, Cpu, Engine, Environment, Latency, MEASUREMENT_SCHEMA, Measurement, Origin, Point,
    Stalls, Statistics, Status, StreamResult, TargetResult, ThreadResult,
};
use thiserror::Error;
use workload::{Workload, plural};

use crate::identities::{PrintedRun, contradictions};

/// The runs in a file, and notes on reading it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignRuns {
    /// Every run, in the order of the file.
    pub measurements: Vec<Measurement>,
    /// What was left out or is incomplete, each with its line.
    pub notes: Vec<String>,
}

/// Why a file that was recognised cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ReadError {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong at this place.
    pub what: String,
}

impl ReadError {
    /// An error at a byte of a text.
    pub(crate) fn at(text: &str, byte: usize, what: String) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, what }
    }

    /// The error in the JSON that begins at a byte of a text.
    pub(crate) fn json(text: &str, begin: usize, error: &serde_json::Error) -> Self {
        let start = Self::at(text, begin, String::new());
        let line = start.line + error.line().saturating_sub(1);
        let column = if error.line() <= 1 { start.column - 1 } else { 0 } + error.column();
        if error.is_eof() {
            let what = "the text ends in the middle of the first job: no result is whole";
            return Self { line, column, what: what.to_owned() };
        }
        let around = text.lines().nth(line - 1).unwrap_or_default().chars();
        let around: String = around.skip(column.saturating_sub(40)).take(60).collect();
        let what = format!(
            "`{}` is not as the tool writes it. The file is damaged, or was changed: import it as \
             the tool wrote it",
            around.trim()
        );
        Self { line, column, what }
    }
}

impl ForeignRuns {
    /// Leaves out runs with figures that no storage can have, and names them: no document can hold
    /// a number that is not finite, and one that was kept with such could not be read again.
    #[must_use]
    pub(crate) fn without_the_impossible(mut self) -> Self {
        let before = self.measurements.len();
        self.measurements.retain(is_possible);
        let out = before - self.measurements.len();
        if out > 0 {
            let runs = plural(out as u64, "run is", "runs are");
            self.notes.push(format!(
                "{runs} left out: a figure is not a finite number, or a least latency is above \
                 the largest"
            ));
        }
        self
    }
}

impl ForeignRuns {
    /// Counts back from the date of the file, by the lengths of the runs, where several runs do not
    /// say when they began: with the same start they would lose their order.
    #[must_use]
    pub(crate) fn in_their_order(mut self, read: &str) -> Self {
        let Ok(end) = read.parse::<Timestamp>() else { return self };
        let undated = |m: &&mut Measurement| m.started == read;
        if self.measurements.iter_mut().filter(undated).count() < 2 {
            return self;
        }
        let mut before = SignedDuration::ZERO;
        for m in self.measurements.iter_mut().rev().filter(undated) {
            let length = SignedDuration::try_from_secs_f64(run_seconds(m)).unwrap_or_default();
            before = before.checked_add(length).unwrap_or(before);
            let Ok(start) = end.checked_sub(before) else { continue };
            m.started = start.to_string();
            let tool = m.origin.as_ref().map(|origin| origin.tool.as_str()).unwrap_or_default();
            let (old, new) = (undated_words(tool), counted_back_words(tool));
            for warning in m.checks.warnings.iter_mut().filter(|warning| **warning == old) {
                warning.clone_from(&new);
            }
        }
        self
    }
}

/// Whole seconds that a run took: RFC 3339 sorts as text only where all have the same digits.
fn run_seconds(m: &Measurement) -> f64 {
    (m.seconds + m.workload.warmup_seconds).ceil().max(1.0)
}

fn undated_words(tool: &str) -> String {
    format!("{tool} does not say when it ran: the date is that of the file")
}

fn counted_back_words(tool: &str) -> String {
    format!(
        "{tool} does not say when it ran: the start is counted back from the date of the file by \
         the lengths of the runs, which keeps their order"
    )
}

fn is_possible(m: &Measurement) -> bool {
    let parts = |of: fn(&StreamResult) -> &Statistics| m.streams.iter().map(of);
    let targets = |of: fn(&TargetResult) -> &Statistics| m.targets.iter().map(of);
    let threads = |of: fn(&ThreadResult) -> &Statistics| m.threads_detail.iter().map(of);
    let all = [&m.total, &m.read, &m.write, &m.sync].into_iter();
    let all = all.chain(parts(|s| &s.total)).chain(parts(|s| &s.read)).chain(parts(|s| &s.write));
    let all =
        all.chain(targets(|t| &t.total)).chain(targets(|t| &t.read)).chain(targets(|t| &t.write));
    let mut all =
        all.chain(threads(|t| &t.total)).chain(threads(|t| &t.read)).chain(threads(|t| &t.write));
    let cpu = [m.cpu.user_s, m.cpu.system_s, m.cpu.user_us_per_io, m.cpu.total_us_per_io];
    let shares = [m.cpu.busiest_thread_percent, m.cpu.busiest_core_percent, m.cpu.host_percent];
    let times = [m.seconds, m.achieved_in_flight, m.workload.seconds, m.workload.warmup_seconds];
    let numbers = times.into_iter().chain(cpu.into_iter().chain(shares).flatten());
    let depths = m.threads_detail.iter().map(|t| t.achieved_depth);
    all.all(has_possible_figures)
        && numbers.chain(depths).all(f64::is_finite)
        && m.series.iter().all(is_possible_point)
}

fn has_possible_figures(s: &Statistics) -> bool {
    let in_order = |l: &Latency| l.min.zip(l.max).is_none_or(|(least, most)| least <= most);
    let possible =
        |l: Latency| l.mean.is_finite() && l.stddev.is_none_or(f64::is_finite) && in_order(&l);
    s.iops.is_finite() && s.mib_per_s.is_finite() && s.latency_ns.is_none_or(possible)
}

fn is_possible_point(p: &Point) -> bool {
    let rates = [p.t, p.seconds, p.read_iops, p.write_iops, p.read_mib_per_s, p.write_mib_per_s];
    let means = [p.read_mean_ns, p.write_mean_ns].into_iter().flatten();
    rates.into_iter().chain(means).all(f64::is_finite)
}

/// One run of another tool, before it becomes a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Which tool, and what it says of itself.
    pub origin: Origin,
    /// Start of the run, UTC, RFC 3339; empty where the tool does not say.
    pub started: String,
    /// Whether the run came to its end.
    pub status: Status,
    /// The load as a workload of iosonde.
    pub workload: Workload,
    /// The machine, where the tool names it.
    pub host: Option<String>,
    /// Length of the measured window in seconds.
    pub seconds: f64,
    /// Bytes of each target that I/O could use, in the workload's order; 0 where the tool does not
    /// say.
    pub target_bytes: Vec<u64>,
    /// The figures of reads and writes together.
    pub total: Statistics,
    /// What the tool says about reads.
    pub read: Statistics,
    /// What the tool says about writes.
    pub write: Statistics,
    /// The figures as the tool printed them, which must agree with each other.
    pub printed: PrintedRun,
    /// What a reader of the figures must know.
    pub warnings: Vec<String>,
}

impl Run {
    /// The measurement. `text` is the part of the file about this run. Its name is made from that
    /// text, so that a file that is read twice gives the same measurements. `read` is the moment
    /// (UTC, RFC 3339) to use if the start is not known.
    #[must_use]
    pub fn measurement(self, text: &str, read: &str) -> Measurement {
        let Self { workload, target_bytes, mut warnings, .. } = self;
        let contradictions = contradictions(&self.printed, &workload);
        let started = if self.started.is_empty() {
            warnings.push(undated_words(&self.origin.tool));
            read.to_owned()
        } else {
            self.started
        };
        let threads = workload.threads();
        let targets = targets(&workload, &target_bytes, &[&self.total, &self.read, &self.write]);
        let streams = streams(&workload, &[&self.total, &self.read, &self.write]);
        Measurement {
            schema: MEASUREMENT_SCHEMA.to_owned(),
            id: name(&self.origin.tool, text),
            tool_version: format!(
                "{} {}",
                self.origin.tool,
                self.origin.tool_version.as_deref().unwrap_or("of unknown version")
            ),
            started,
            status: self.status,
            environment: Environment { host: self.host.map(host), storage: Vec::new() },
            engine: Engine {
                name: self.origin.tool.to_lowercase(),
                reason: "the tool that measured".to_owned(),
                features: Vec::new(),
                clock: "unknown".to_owned(),
            },
            seconds: self.seconds,
            threads,
            depth: workload.common_depth(),
            in_flight: workload.in_flight(),
            achieved_in_flight: in_flight(&self.total),
            file_bytes: target_bytes.iter().copied().fold(0, u64::saturating_add),
            total: self.total,
            read: self.read,
            write: self.write,
            sync: Statistics::default(),
            streams,
            targets,
            threads_detail: Vec::new(),
            series: Vec::new(),
            warmup_series: Vec::new(),
            warmed: None,
            steady: None,
            phases: None,
            rounds: None,
            cpu: Cpu::default(),
            kernel: None,
            errors: Vec::new(),
            stalls: Stalls::default(),
            checks: Checks {
                littles_law_percent: None,
                tool_ceiling_iops: None,
                rate_reached_percent: None,
                warnings,
                contradictions,
            },
            hosts: Vec::new(),
            origin: Some(self.origin),
            workload,
        }
    }
}

/// The version of a result that iosonde measured and printed in the form of another tool.
pub(crate) const OWN: &str = "iosonde";

/// The tool's name and 16 hexadecimal digits of the text.
fn name(tool: &str, text: &str) -> String {
    format!("{}-{:016x}", tool.to_lowercase(), fnv_1a(text))
}

/// The hash FNV-1a of 64 bits.
pub(crate) fn fnv_1a(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// I/Os in flight, by Little's law.
fn in_flight(total: &Statistics) -> f64 {
    total.latency_ns.map_or(0.0, |latency| total.iops * latency.mean / 1e9)
}

/// The figures of the whole run are those of its target where there is only one.
fn targets(workload: &Workload, bytes: &[u64], figures: &[&Statistics; 3]) -> Vec<TargetResult> {
    let [target] = workload.targets.as_slice() else { return Vec::new() };
    let [total, read, write] = figures.map(Clone::clone);
    vec![TargetResult {
        path: target.path.clone(),
        file_bytes: bytes.first().copied().unwrap_or(0),
        content: "unknown".to_owned(),
        total,
        read,
        write,
        sync: Statistics::default(),
    }]
}

/// The figures per stream, for a load of a single stream.
fn streams(workload: &Workload, figures: &[&Statistics; 3]) -> Vec<StreamResult> {
    let [stream] = workload.streams.as_slice() else { return Vec::new() };
    let [total, read, write] = figures.map(Clone::clone);
    vec![StreamResult {
        name: stream.name.clone(),
        threads: workload.threads(),
        depth: stream.depth,
        rate_reached_percent: None,
        total,
        read,
        write,
        sync: Statistics::default(),
    }]
}

/// A machine of which only the name is known.
fn host(hostname: String) -> inspect::Host {
    let unknown = || "unknown".to_owned();
    inspect::Host {
        hostname,
        os: unknown(),
        kernel: unknown(),
        cpu_model: unknown(),
        cpus: 0,
        memory_bytes: 0,
        memory_available_bytes: 0,
        virtualization: None,
        clocksource: None,
        ..inspect::Host::default()
    }
}
