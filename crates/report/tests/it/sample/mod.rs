//! A realistic assessment and measurements, made without any storage: a device of known service
//! time and width.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made-up figures")]

mod environment;
mod patterns;

use std::path::PathBuf;

use analysis::agreement::{Flow, Observed, Window, compare};
use analysis::knee::{LoadPoint, find_knee};
use analysis::verdict::{Basis, Doubt, Extent, Limits, Role, Trial, judge};
use results::verdict::{Database, Verdict};
use results::{
    ASSESSMENT_SCHEMA, Assessment, Checks, Cpu, Engine, Environment, Histogram, Kernel, Latency,
    Measurement, Pace, PatternResult, Point, Ramp, Stalls, Statistics, Status, StreamResult,
    TargetResult,
};
use survey::Publish;
use workload::{Block, Bytes, Pattern, Stream, Target, Workload};

pub(crate) const FILE_BYTES: u64 = 100 << 30;
const SECONDS: f64 = 30.0;

/// A small generator, so that every run makes the same document.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Latencies around a mean with a tail, scaled to the count of the window.
fn statistics(iops: f64, block: u64, mean_ns: f64, dice: &mut Dice) -> Statistics {
    if iops <= 0.0 {
        return Statistics::default();
    }
    let mut histogram = Histogram::new();
    let count = (iops * SECONDS) as u64;
    for _ in 0..count.min(60_000) {
        let spread = 0.55 + 0.45 * -dice.unit().max(1e-9).ln();
        let slow = if dice.unit() < 0.002 { 6.0 + 14.0 * dice.unit() } else { 1.0 };
        histogram.record((mean_ns * spread * slow * 0.95) as u64);
    }
    Statistics {
        ios: count,
        bytes: count * block,
        iops,
        mib_per_s: iops * block as f64 / 1_048_576.0,
        errors: 0,
        latency_ns: Latency::of(&histogram),
        service_ns: None,
        delay_ns: None,
        histogram: Some(histogram.encode()),
    }
}

pub(crate) struct Load {
    pub(crate) block: u64,
    pub(crate) pattern: Pattern,
    pub(crate) write: u8,
    pub(crate) durable: bool,
    pub(crate) threads: u32,
    pub(crate) depth: u32,
    /// Latency of one I/O alone, and the I/Os a second that the device can do at most.
    pub(crate) alone_ns: f64,
    pub(crate) most_iops: f64,
}

pub(crate) fn stream(load: &Load) -> Stream {
    Stream {
        name: "main".to_owned(),
        threads: load.threads,
        depth: load.depth,
        blocks: vec![Block { bytes: Bytes(load.block), weight: 1 }],
        pattern: load.pattern,
        write_percent: load.write,
        durable: load.durable,
        ..Stream::default()
    }
}

fn series(total: f64, load: &Load, mean: f64, dice: &mut Dice) -> Vec<Point> {
    let share = f64::from(load.write) / 100.0;
    let mib = load.block as f64 / 1_048_576.0;
    let point = |i: u32, factor: f64| {
        let iops = total * factor;
        Point {
            t: f64::from(i),
            seconds: 1.0,
            read_iops: iops * (1.0 - share),
            write_iops: iops * share,
            read_mib_per_s: iops * (1.0 - share) * mib,
            write_mib_per_s: iops * share * mib,
            read_mean_ns: Some(mean),
            max_ns: Some((mean * 18.0) as u64),
            ..Point::default()
        }
    };
    let dip = |i: u32| if i % 13 == 11 { 0.72 } else { 1.0 };
    (1..=30).map(|i| point(i, dip(i) * (0.97 + 0.06 * dice.unit()))).collect()
}

fn kernel(m: &Measurement) -> Kernel {
    let flow = |s: &Statistics, factor: f64| Flow {
        iops: s.iops * factor,
        bytes_per_s: s.iops * factor * s.bytes as f64 / s.ios.max(1) as f64,
        latency_ns: s.latency_ns.map(|l| l.mean * 0.96),
        merges_per_s: 0.0,
    };
    let window = Window {
        tool: Observed { read: flow(&m.read, 1.0), write: flow(&m.write, 1.0) },
        kernel: Observed { read: flow(&m.read, 1.0007), write: flow(&m.write, 1.0031) },
        in_flight: m.in_flight as f64,
        seconds: SECONDS,
        tolerance_percent: 2.0,
    };
    let agreement = compare(&window).publish();
    Kernel {
        device: "nvme0n1".to_owned(),
        seconds: 30.004,
        foreign_percent: Some(0.1),
        read_iops: window.kernel.read.iops,
        write_iops: window.kernel.write.iops,
        read_bytes_per_s: window.kernel.read.bytes_per_s,
        write_bytes_per_s: window.kernel.write.bytes_per_s,
        read_latency_ns: window.kernel.read.latency_ns,
        write_latency_ns: window.kernel.write.latency_ns,
        average_queue: m.achieved_in_flight * 0.95,
        utilisation_percent: 99.6,
        flushes_per_s: if m.workload.streams[0].durable { m.write.iops } else { 0.0 },
        agreement_percent: Some(100.0 - agreement.worst_percent),
        agreement: Some(agreement),
    }
}

/// One measurement of a device that serves `most_iops` at most.
pub(crate) fn measurement(load: &Load) -> Measurement {
    let mut dice = Dice(0x9E37_79B9 ^ u64::from(load.depth) << 20 ^ load.block);
    let n = f64::from(load.threads * load.depth);
    let offered = n / load.alone_ns * 1e9;
    let iops = (offered.powi(-4) + load.most_iops.powi(-4)).powf(-0.25);
    let mean = n / iops * 1e9;
    let share = f64::from(load.write) / 100.0;
    let read = statistics(iops * (1.0 - share), load.block, mean, &mut dice);
    let write = statistics(iops * share, load.block, mean * 1.02, &mut dice);
    let total = statistics(iops, load.block, mean, &mut dice);
    let series = series(iops, load, mean, &mut dice);
    let mut m = bare(load, [total, read, write], series);
    m.achieved_in_flight = n * 0.998;
    m.kernel = Some(kernel(&m));
    m
}

fn engine() -> Engine {
    Engine {
        name: "uring".to_owned(),
        reason: "io_uring works here and keeps many I/Os in flight on one thread".to_owned(),
        features: vec!["defer_taskrun".to_owned(), "fixed_buffers".to_owned()],
        clock: "tsc".to_owned(),
    }
}

/// Everything of a measurement that does not depend on how fast the device is.
fn bare(load: &Load, [total, read, write]: [Statistics; 3], series: Vec<Point>) -> Measurement {
    let path = PathBuf::from("/data/pg/iosonde.test");
    let target = Target { path: path.clone(), size_bytes: Some(Bytes(FILE_BYTES)) };
    let sync = Statistics::default();
    let stream_result = StreamResult {
        name: "main".to_owned(),
        threads: load.threads.into(),
        depth: load.depth,
        rate_reached_percent: None,
        total: total.clone(),
        read: read.clone(),
        write: write.clone(),
        sync: sync.clone(),
    };
    let target_result = TargetResult {
        path,
        file_bytes: FILE_BYTES,
        content: "written by iosonde with incompressible data".to_owned(),
        total: total.clone(),
        read: read.clone(),
        write: write.clone(),
        sync: sync.clone(),
    };
    let in_flight = u64::from(load.threads * load.depth);
    let id = format!("20261120T101213Z-{in_flight}");
    let workload = Workload::single(target, stream(load));
    Measurement {
        started: "2026-11-20T10:12:13.402Z".to_owned(),
        engine: engine(),
        seconds: SECONDS,
        threads: load.threads.into(),
        depth: Some(load.depth),
        in_flight,
        achieved_in_flight: 0.0,
        file_bytes: FILE_BYTES,
        total,
        read,
        write,
        sync,
        streams: vec![stream_result],
        targets: vec![target_result],
        series,
        cpu: Cpu {
            user_s: Some(4.1),
            system_s: Some(8.9),
            user_us_per_io: Some(0.9),
            total_us_per_io: Some(3.2),
            busiest_thread_percent: Some(41.2),
            busiest_core_percent: Some(47.0),
            host_percent: Some(9.6),
        },
        stalls: Stalls { longest_gap_ns: 18_400_000, ..Stalls::default() },
        checks: Checks {
            littles_law_percent: Some(0.21),
            tool_ceiling_iops: Some(2_400_000.0),
            rate_reached_percent: None,
            warnings: Vec::new(),
            contradictions: Vec::new(),
        },
        hosts: Vec::new(),
        ..testing::measurement(&id, workload)
    }
}

/// 8 KiB random, 70 % read, 4 threads with 32 each.
pub(crate) fn mixed() -> Measurement {
    measurement(&Load {
        block: 8192,
        pattern: Pattern::Random,
        write: 30,
        durable: true,
        threads: 4,
        depth: 32,
        alone_ns: 110_000.0,
        most_iops: 61_000.0,
    })
}

fn ramp(name: &str, title: &str, base: &Load) -> Ramp {
    let depths = [1, 2, 4, 8, 16, 24, 32, 64, 128, 256];
    let points: Vec<Measurement> = depths
        .iter()
        .map(|depth| measurement(&Load { depth: *depth, threads: 1, ..*base }))
        .collect();
    let curve: Vec<LoadPoint> = points
        .iter()
        .map(|m| LoadPoint {
            in_flight: m.in_flight as f64,
            throughput: m.total.iops,
            latency_ns: m.total.latency_ns.map_or(0.0, |l| l.mean),
            half_width_percent: None,
        })
        .collect();
    Ramp {
        name: name.to_owned(),
        title: title.to_owned(),
        knee: find_knee(&curve).publish(),
        causes: Vec::new(),
        points,
    }
}

fn load(block: u64, pattern: Pattern, write: u8, alone_us: f64, most_iops: f64) -> Load {
    let durable = write > 0;
    Load {
        block,
        pattern,
        write,
        durable,
        threads: 1,
        depth: 1,
        alone_ns: alone_us * 1e3,
        most_iops,
    }
}

fn trial(p: &PatternResult, role: Role) -> Trial {
    let m = &p.measurement;
    let latency = m.total.latency_ns.unwrap_or_default();
    Trial {
        label: p.title.clone(),
        offered: None,
        per_second: if role == Role::DssData { m.total.mib_per_s } else { m.total.iops },
        mean_ns: latency.mean,
        p99_ns: latency.p99.map(|p| p as f64),
        p99_9_ns: latency.p99_9.map(|p| p as f64),
        ios: m.total.ios,
        beyond: [0; 3],
        far_beyond: 0,
        half_width_percent: Some(2.0),
        seconds: m.seconds,
    }
}

/// A verdict on patterns by their names.
fn verdict(role: Role, names: &[&str], doubts: Vec<Doubt>, first: Vec<String>) -> Verdict {
    let patterns = patterns::patterns();
    let of_role = patterns.iter().filter(|p| names.contains(&p.name.as_str()));
    let trials = of_role.map(|p| trial(p, role)).collect();
    judge(&Limits::of(role), None, Basis { trials, doubts, first, ..Basis::default() }).publish()
}

fn method() -> Vec<String> {
    [
        "The test file was wholly written with incompressible, non-repeating data before the \
         first read.",
        "Every load ran 3 s uncounted and 30 s counted, with a pause of 5 s before it.",
        "I/O was direct: past the cache of the operating system. Writes of log and data were \
         durable.",
        "Kernel counters of nvme0n1 were taken over the same windows.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// A whole assessment.
pub(crate) fn assessment() -> Assessment {
    let patterns = patterns::patterns();
    let short = || vec![Doubt::slight("short: credits and caches may outlast it")];
    let verdicts = vec![
        verdict(Role::Log, &["log_write_4k", "log_write_60k"], short(), Vec::new()),
        verdict(Role::OltpData, &["oltp_70_30_8k"], short(), Vec::new()),
        verdict(Role::DssData, &["scan_64k", "scan_512k"], Vec::new(), Vec::new()),
    ];
    let ramps = vec![
        ramp(
            "random_read_8k",
            "8 KiB random read",
            &load(8192, Pattern::Random, 0, 92.0, 92_000.0),
        ),
        ramp(
            "random_write_8k",
            "8 KiB random write, durable",
            &load(8192, Pattern::Random, 100, 260.0, 34_000.0),
        ),
        ramp(
            "scan_512k",
            "512 KiB sequential read",
            &load(512 << 10, Pattern::Sequential, 0, 400.0, 5_900.0),
        ),
    ];
    let windows = patterns.iter().map(|p| (p.measurement.seconds, p.measurement.write.bytes));
    let unseen = Extent::of_windows(windows).map(|extent| extent.unseen());
    let varied = "512 KiB sequential read: throughput varied by 9 % between intervals; the figure \
                  is less certain than the others.";
    Assessment {
        plan: None,
        schema: ASSESSMENT_SCHEMA.to_owned(),
        id: "20261120T101213Z-db01".to_owned(),
        tool_version: "0.1.0".to_owned(),
        started: "2026-11-20T10:12:13Z".to_owned(),
        finished: "2026-11-20T10:31:44Z".to_owned(),
        status: Status::Complete,
        database: Database::Generic,
        pace: Pace::Normal,
        target: PathBuf::from("/data/pg"),
        hosts: Vec::new(),
        file_bytes: FILE_BYTES,
        file_size_reason: "four times the largest cache that was found, within the free space"
            .to_owned(),
        environment: environment::environment(),
        verdicts,
        patterns,
        ramps,
        claims: Vec::new(),
        honesty: None,
        level_changes: Vec::new(),
        unseen: unseen.clone(),
        alignment: None,
        offered: Vec::new(),
        beside: Vec::new(),
        mixed: None,
        captured: None,
        repeats: None,
        tool_ceiling_iops: Some(2_400_000.0),
        tool_ceiling_used_percent: Some(3.8),
        method: method(),
        warnings: [varied.to_owned()].into_iter().chain(unseen).collect(),
    }
}

/// An assessment that was interrupted before anything was measured.
pub(crate) fn empty() -> Assessment {
    Assessment {
        plan: None,
        status: Status::Interrupted,
        environment: Environment { host: None, storage: Vec::new() },
        verdicts: Vec::new(),
        patterns: Vec::new(),
        ramps: Vec::new(),
        claims: Vec::new(),
        honesty: None,
        unseen: None,
        alignment: None,
        offered: Vec::new(),
        beside: Vec::new(),
        mixed: None,
        repeats: None,
        tool_ceiling_iops: None,
        tool_ceiling_used_percent: None,
        method: Vec::new(),
        warnings: Vec::new(),
        ..assessment()
    }
}

/// The assessment of a device whose durable writes are too fast for its reads, and whose reads fell
/// to another level.
pub(crate) fn assessment_in_doubt() -> Assessment {
    let mut found = assessment();
    let honesty = analysis::honesty::judge(&analysis::honesty::Evidence {
        durable_ns: 2e4,
        plain_ns: Some(1.8e4),
        read_ns: Some(8e6),
        ..analysis::honesty::Evidence::default()
    });
    let reason = honesty.as_ref().and_then(|h| h.disbelief()).unwrap_or_default().to_owned();
    found.honesty = honesty.publish();
    let doubts = vec![Doubt::grave("durable writes are not believed")];
    let first = vec![reason.clone()];
    found.verdicts[0] = verdict(Role::Log, &["log_write_4k", "log_write_60k"], doubts, first);
    let run = |iops| analysis::levels::Run { in_flight: 16, iops, half_width_percent: None };
    let levels = [run(90_000.0), run(500.0)];
    found.level_changes =
        analysis::levels::change("8 KiB random read", &levels).publish().into_iter().collect();
    let changes = found.level_changes.iter().map(|c| c.statement.clone());
    let first: Vec<String> = [reason].into_iter().chain(changes).collect();
    found.warnings.splice(0..0, first);
    found
}

/// The assessment with a claim that was not met, log flushes that are too fast and a cost of
/// misalignment.
pub(crate) fn assessment_with_findings() -> Assessment {
    let mut assessment = assessment();
    let claim = analysis::claims::Claim {
        name: Some("the vendor".to_owned()),
        of: analysis::claims::Selector::default(),
        expect: vec![analysis::claims::Expectation {
            figure: analysis::claims::Figure::Iops,
            limit: 200_000.0,
        }],
        documented: None,
    };
    let setting = analysis::claims::Setting {
        load: "random_read_8k".to_owned(),
        title: "8 KiB random read".to_owned(),
        block_bytes: Some(8192),
        random: Some(true),
        write_percent: 0,
        durable: false,
        in_flight: 16,
        file_bytes: FILE_BYTES,
        figures: vec![(analysis::claims::Figure::Iops, 98_000.0)],
        half_width_percent: None,
    };
    assessment.claims = vec![analysis::claims::judge(&claim, &[setting]).publish()];
    assessment.honesty = analysis::honesty::judge(&analysis::honesty::Evidence {
        durable_ns: 2e4,
        plain_ns: Some(1.8e4),
        read_ns: Some(9e4),
        rotational: Some(false),
        write_back: Some(true),
        has_flash: true,
    })
    .publish();
    let run = |iops| analysis::alignment::Run { iops, half_width_percent: Some(1.0) };
    let (aligned, shifted) = (run(80_000.0), run(41_000.0));
    assessment.alignment =
        analysis::alignment::compare("8 KiB random write", 512, &aligned, &shifted).publish();
    assessment
}
