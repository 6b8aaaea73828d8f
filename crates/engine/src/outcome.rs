//! From what the workers counted to the document of the measurement.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use results::{
    Cpu, Engine, Environment, ErrorRecord, Histogram, Latency, MEASUREMENT_SCHEMA, Measurement,
    Stalls, Statistics, Status, StreamResult, TargetResult, ThreadResult,
};
use workload::{RateLimit, Stream, Workload};

use crate::checks::{self, RunEvidence};
use crate::collect::{Collector, WorkerTotals};
use crate::error::message_of;
use crate::late;
use crate::prepared::Prepared;
use crate::queue::KINDS;
use crate::recorder::Tally;
use crate::run::Backend;
use crate::shared::Ending;
use crate::teams::Place;
use crate::worker::Timeline;

/// What the coordinator learnt next to the counts.
pub(crate) struct Facts {
    pub backends: Vec<Backend>,
    pub clock: &'static str,
    pub timeline: Timeline,
    pub status: Status,
    pub end_ns: u64,
    /// The part at the beginning of the window that was left out as warm-up.
    pub cut_ns: u64,
    pub over_15_s: u64,
    /// Writes that the page cache took and the storage did not.
    pub lost: Vec<ErrorRecord>,
    /// User and system CPU seconds of the process.
    pub cpu_at_begin: Option<(f64, f64)>,
    pub cpu_at_end: Option<(f64, f64)>,
}

impl Facts {
    /// The facts at the start of a run.
    pub(crate) fn new(backends: Vec<Backend>, clock: &'static str, timeline: Timeline) -> Self {
        Self {
            backends,
            clock,
            timeline,
            status: Status::Complete,
            end_ns: 0,
            cut_ns: 0,
            over_15_s: 0,
            lost: Vec::new(),
            cpu_at_begin: None,
            cpu_at_end: None,
        }
    }

    /// Takes the facts that are known at the end.
    pub(crate) fn end(&mut self, ending: &Ending, workers: &[WorkerTotals], over_15_s: u64) {
        self.end_ns = ending.ns();
        self.over_15_s = over_15_s;
        let ends = || workers.iter().filter_map(|w| w.end.as_ref());
        let lost = ends().any(|e| !e.unfinished.ages_ns.is_empty() || e.queue_error.is_some());
        // An interrupted run may have been ended because of them.
        if ending.has_failed() || (lost && self.status == Status::Complete) {
            self.status = Status::Failed;
        }
    }

    /// Takes what the storage did not take from the page cache.
    pub(crate) fn lost(&mut self, lost: Vec<ErrorRecord>) {
        if !lost.is_empty() {
            self.status = Status::Failed;
        }
        self.lost = lost;
    }

    /// Moves the beginning of the window to a later time.
    pub(crate) fn cut(&mut self, cut_ns: u64, cpu_at_begin: Option<(f64, f64)>) {
        self.cut_ns = cut_ns;
        self.timeline.window_ns += cut_ns;
        self.cpu_at_begin = cpu_at_begin;
    }

    fn window_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.timeline.window_ns)
    }
}

/// Whether a summary carries its histogram.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WithHistogram {
    Yes,
    No,
}

/// Reads, writes and flushes of any set of workers.
#[derive(Default)]
struct Sum([Tally; KINDS]);

impl Sum {
    fn of<'a>(workers: impl Iterator<Item = &'a WorkerTotals>) -> Self {
        let mut sum = Self::default();
        for worker in workers {
            for (mine, theirs) in sum.0.iter_mut().zip(&worker.counts.tallies) {
                mine.merge(theirs);
            }
        }
        sum
    }

    /// The tally of reads and writes together.
    fn total(&self) -> Tally {
        let mut total = self.0[0].clone();
        total.merge(&self.0[1]);
        total
    }

    /// Statistics of all I/Os, of reads, of writes, of flushes.
    fn statistics(&self, seconds: f64, with: WithHistogram) -> [Statistics; 4] {
        let [read, write, sync] = &self.0;
        [&self.total(), read, write, sync].map(|tally| statistics(tally, seconds, with))
    }
}

fn statistics(tally: &Tally, seconds: f64, with: WithHistogram) -> Statistics {
    let rate = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
    let parts = tally.open_loop.as_deref();
    let encode = |h: &Histogram| (with == WithHistogram::Yes && !h.is_empty()).then(|| h.encode());
    Statistics {
        ios: tally.ios,
        bytes: tally.bytes,
        iops: rate(tally.ios as f64),
        mib_per_s: rate(tally.bytes as f64 / 1_048_576.0),
        errors: tally.errors,
        latency_ns: Latency::of(&tally.latency),
        service_ns: parts.and_then(|p| Latency::of(&p.service)),
        delay_ns: parts.and_then(|p| Latency::of(&p.delay)),
        histogram: encode(&tally.latency),
    }
}

/// Puts the document of the measurement together.
pub(crate) fn measurement(
    workload: &Workload,
    prepared: &Prepared,
    mut collector: Collector,
    places: &[Place],
    facts: &Facts,
    started: Timestamp,
) -> Measurement {
    let window_ns = facts.window_ns();
    let seconds = window_ns as f64 / 1e9;
    let (series, warmup_series) = collector.series(window_ns, facts.cut_ns);
    let slowest_second_iops = checks::slowest_second(&series);
    let workers = &collector.workers;
    let sum = Sum::of(workers.iter());
    let [total, read, write, sync] = sum.statistics(seconds, WithHistogram::Yes);
    let area: f64 = workers.iter().map(|w| w.counts.in_flight_ns).sum();
    let achieved = if window_ns > 0 { area / window_ns as f64 } else { 0.0 };
    let cpu = cpu(facts, workers, total.ios + sync.ios, seconds);
    let streams = streams(workload, workers, places, seconds);
    let checks = checks::checks(&RunEvidence {
        workers,
        places,
        facts,
        streams: &streams,
        achieved,
        seconds,
    });
    Measurement {
        schema: MEASUREMENT_SCHEMA.to_owned(),
        id: new_id(started),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.to_string(),
        origin: None,
        status: facts.status,
        workload: workload.clone(),
        environment: Environment { host: None, storage: Vec::new() },
        engine: engine(facts),
        seconds,
        threads: workload.threads(),
        depth: workload.common_depth(),
        in_flight: workload.in_flight(),
        achieved_in_flight: achieved,
        file_bytes: prepared.facts().iter().map(|f| f.size_bytes).sum(),
        total,
        read,
        write,
        sync,
        streams,
        targets: targets(prepared, workers, places, seconds),
        threads_detail: threads(workload, &collector, places, (window_ns, facts.cut_ns)),
        series,
        warmup_series,
        warmed: None,
        steady: None,
        phases: None,
        rounds: None,
        cpu,
        kernel: None,
        errors: [errors(prepared, workers, places), facts.lost.clone()].concat(),
        stalls: Stalls { slowest_second_iops, ..checks::stalls(workers, facts) },
        checks,
        hosts: Vec::new(),
    }
}

/// A name that sorts by time and is used once.
pub fn new_id(started: Timestamp) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (ms, process) = (started.as_millisecond(), std::process::id());
    format!("{ms:012x}-{process:x}-{number:x}")
}

fn engine(facts: &Facts) -> Engine {
    let mut names: Vec<&str> = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    let mut features: Vec<String> = Vec::new();
    for backend in &facts.backends {
        if !names.contains(&backend.name) {
            names.push(backend.name);
        }
        if !reasons.contains(&backend.reason.as_str()) {
            reasons.push(&backend.reason);
        }
        let new = backend.features.iter().filter(|f| !features.contains(f));
        let new: Vec<String> = new.cloned().collect();
        features.extend(new);
    }
    features.extend(late::in_words(facts.backends.iter().filter_map(|b| b.late.as_deref())));
    Engine {
        name: names.join("+"),
        reason: reasons.join("; "),
        features,
        clock: facts.clock.to_owned(),
    }
}

fn select<'a>(
    workers: &'a [WorkerTotals],
    places: &'a [Place],
    keep: impl Fn(&Place) -> bool + 'a,
) -> impl Iterator<Item = &'a WorkerTotals> {
    workers.iter().zip(places).filter(move |(_, p)| keep(p)).map(|(w, _)| w)
}

fn streams(
    workload: &Workload,
    workers: &[WorkerTotals],
    places: &[Place],
    seconds: f64,
) -> Vec<StreamResult> {
    let result = |(index, stream): (usize, &Stream)| {
        let sum = Sum::of(select(workers, places, move |p| p.stream == index));
        let [total, read, write, sync] = sum.statistics(seconds, WithHistogram::Yes);
        let threads = stream.threads_in_all(workload.targets.len());
        let (name, depth) = (stream.name.clone(), stream.depth);
        let rate_reached_percent = rate_reached(workload, stream, (&total, seconds));
        StreamResult { name, threads, depth, rate_reached_percent, total, read, write, sync }
    };
    workload.streams.iter().enumerate().map(result).collect()
}

/// Reached share of the asked rate; a cap asks for nothing.
fn rate_reached(
    workload: &Workload,
    stream: &Stream,
    (total, seconds): (&Statistics, f64),
) -> Option<f64> {
    let rate = stream.rate.filter(|_| stream.is_open_loop())?;
    let (asked, reached) = match rate.limit {
        RateLimit::Iops(iops) => (iops, total.iops),
        RateLimit::MibPerS(mib) => (mib, total.mib_per_s),
    };
    let from = workload.warmup_seconds;
    let over_time = stream.rate_profile.as_ref();
    let share = over_time.map_or(1.0, |profile| profile.mean_between(from, from + seconds));
    (share > 0.0).then(|| 100.0 * reached / (asked * share))
}

fn targets(
    prepared: &Prepared,
    workers: &[WorkerTotals],
    places: &[Place],
    seconds: f64,
) -> Vec<TargetResult> {
    let result = |(index, target): (usize, &crate::PreparedTarget)| {
        let sum = Sum::of(select(workers, places, move |p| p.target == index));
        let [total, read, write, sync] = sum.statistics(seconds, WithHistogram::Yes);
        TargetResult {
            path: target.path().to_owned(),
            file_bytes: target.size_bytes(),
            content: target.content().to_owned(),
            total,
            read,
            write,
            sync,
        }
    };
    prepared.targets().iter().enumerate().map(result).collect()
}

/// The figures of each thread, over the window that is left.
fn threads(
    workload: &Workload,
    collector: &Collector,
    places: &[Place],
    (window_ns, cut_ns): (u64, u64),
) -> Vec<ThreadResult> {
    let workers = &collector.workers;
    let seconds = window_ns as f64 / 1e9;
    let per_window = |ns: f64| if window_ns > 0 { ns / window_ns as f64 } else { 0.0 };
    // One thread's histograms are those of the whole.
    let with = if workers.len() > 1 { WithHistogram::Yes } else { WithHistogram::No };
    let result = |(worker, place): (&WorkerTotals, &Place)| {
        let sum = Sum::of(std::iter::once(worker));
        let [total, read, write, sync] = sum.statistics(seconds, with);
        ThreadResult {
            stream: workload.streams[place.stream].name.clone(),
            target: place.target,
            thread: place.thread,
            achieved_depth: per_window(worker.counts.in_flight_ns),
            cpu_percent: worker.cpu_ns().map(|ns| 100.0 * per_window(ns as f64)),
            total,
            read,
            write,
            sync,
            series: collector.worker_series(worker, window_ns, cut_ns),
        }
    };
    workers.iter().zip(places).map(result).collect()
}

fn cpu(facts: &Facts, workers: &[WorkerTotals], ios: u64, seconds: f64) -> Cpu {
    let (Some(begin), Some(end)) = (facts.cpu_at_begin, facts.cpu_at_end) else {
        return Cpu::default();
    };
    let (user_s, system_s) = (end.0 - begin.0, end.1 - begin.1);
    let per_io = |s: f64| (ios > 0).then(|| s * 1e6 / ios as f64);
    let busiest = workers.iter().filter_map(WorkerTotals::cpu_ns).max();
    Cpu {
        user_s: Some(user_s),
        system_s: Some(system_s),
        user_us_per_io: per_io(user_s),
        total_us_per_io: per_io(user_s + system_s),
        busiest_thread_percent: busiest
            .filter(|_| seconds > 0.0)
            .map(|ns| ns as f64 / 1e7 / seconds),
        busiest_core_percent: None,
        host_percent: None,
    }
}

fn errors(prepared: &Prepared, workers: &[WorkerTotals], places: &[Place]) -> Vec<ErrorRecord> {
    let mut records: Vec<ErrorRecord> = Vec::new();
    for (worker, place) in workers.iter().zip(places) {
        let path = prepared.targets()[place.target].path();
        for failure in worker.end.iter().flat_map(|e| &e.errors) {
            let operation = failure.op.name();
            let same = |r: &&mut ErrorRecord| {
                r.kind == failure.kind && r.operation == operation && r.path == path
            };
            if let Some(record) = records.iter_mut().find(same) {
                record.count += failure.count;
                record.first_offset_bytes = record.first_offset_bytes.min(failure.first_offset);
                continue;
            }
            records.push(ErrorRecord {
                kind: failure.kind,
                operation: operation.to_owned(),
                path: path.to_owned(),
                count: failure.count,
                first_offset_bytes: failure.first_offset,
                message: message_of(failure.errno),
            });
        }
    }
    records
}
