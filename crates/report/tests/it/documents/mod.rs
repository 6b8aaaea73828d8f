//! A document of every kind, measured in virtual time on a device of known behaviour.

use std::sync::atomic::AtomicBool;

use analysis::noise::trust;
use engine::Permissions;
use results::verdict::Database;
use results::{Conclusion, Document, Experiment, Measurement, Pace, Runs, Status};
use survey::{
    AssessOptions, KneeOptions, Lab, LabContext, LabRecord, Progress, Publish, ScaleOptions, Setup,
    SizesOptions, SweepOptions, Timing, limits_of,
};
use workload::sweep::{Matrix, Plan};
use workload::{
    Bytes, EngineChoice, Mode, Nanoseconds, Pattern, Precision, SimCache, SimCacheKind, SimDevice,
    SimNoise, Stream, Target,
};

const GIB: u64 = 1 << 30;

fn device() -> SimDevice {
    SimDevice {
        servers: 8,
        read_ns: Nanoseconds(1_000_000),
        write_ns: Nanoseconds(1_500_000),
        noise: Some(SimNoise { io_percent: 20.0, ..SimNoise::default() }),
        ..SimDevice::default()
    }
}

fn setup(targets: &[&str]) -> Setup {
    let target = |path: &&str| Target { path: path.into(), size_bytes: Some(Bytes(GIB)) };
    let precision = Precision { percent: 5.0, at_least_seconds: 1.0, ..Precision::default() };
    Setup {
        targets: targets.iter().map(target).collect(),
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(device()),
        mode: Mode::Direct,
        seed: 1,
        timing: Timing {
            seconds: 8.0,
            warmup_seconds: 0.1,
            precision: Some(precision),
            settle_seconds: 0.0,
        },
    }
}

/// 8 KiB random, 30 % writes, 2 threads with 4 each.
pub(crate) fn measured() -> Measurement {
    let setup =
        Setup { timing: Timing { precision: None, ..setup(&[]).timing }, ..setup(&["sim"]) };
    let stream = Stream { write_percent: 30, threads: 2, depth: 4, ..Stream::default() };
    let stop = AtomicBool::new(false);
    let mut quiet = |_: survey::Progress<'_>| ();
    let mut lab = Lab::open(setup, &stream, LabContext::new(&stop, &mut quiet)).unwrap();
    lab.measure(vec![stream]).unwrap()
}

pub(crate) fn measurement() -> Document {
    Document::Measurement(Box::new(measured()))
}

/// The same measurement twice.
pub(crate) fn runs() -> Document {
    let first = measured();
    let again = Measurement { id: "again".to_owned(), ..first.clone() };
    let iops = [first.total.iops, again.total.iops * 1.01];
    Document::Runs(Box::new(Experiment {
        plan: None,
        schema: Runs::SCHEMA.to_owned(),
        id: "20261121T150000Z-runs".to_owned(),
        tool_version: first.tool_version.clone(),
        started: first.started.clone(),
        finished: first.started.clone(),
        status: Status::Complete,
        targets: vec!["sim".into()],
        file_bytes: first.file_bytes,
        environment: first.environment.clone(),
        conclusion: Runs {
            title: first.workload.title(),
            asked: 2,
            trust: trust(&iops, None).publish(),
        },
        measurements: vec![first, again],
        method: vec!["The load ran twice.".to_owned()],
        warnings: Vec::new(),
    }))
}

pub(crate) fn assessment() -> Document {
    let options = AssessOptions {
        target: "sim".into(),
        size: Some(Bytes(GIB)),
        pace: Pace::Quick,
        database: Database::Generic,
        limits: limits_of(Database::Generic),
        needs: Vec::new(),
        captured: None,
        class: None,
        claims: Vec::new(),
        specs: Vec::new(),
        own_specs: Vec::new(),
        link: None,
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(device()),
        mode: Mode::Direct,
        seed: 1,
    };
    let found =
        survey::assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    Document::Assessment(Box::new(found))
}

/// Of a device reached over a path of 200 MB/s.
pub(crate) fn knee() -> Document {
    let sim = SimDevice { link_bytes_per_s: Some(Bytes(200_000_000)), ..device() };
    let options = KneeOptions {
        setup: Setup { sim: Some(sim), ..setup(&["sim"]) },
        stream: Stream::default(),
        in_flight: (1, 128),
        link: Some("2GFC".parse::<analysis::cause::Link>().unwrap().publish()),
        latency_target: Some("5ms@p99".parse().unwrap()),
    };
    let found =
        survey::knee(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    Document::Knee(Box::new(found))
}

/// Reads and writes, random and sequential, 2 sizes, 2 thread counts, 3 depths.
pub(crate) fn sweep() -> Document {
    let matrix = Matrix {
        writes: vec![0, 100],
        patterns: vec![Pattern::Random, Pattern::Sequential],
        blocks: vec![Bytes(8192), Bytes(65_536)],
        threads: vec![1, 2],
        depths: vec![1, 4, 16],
        seconds: 2.0,
        warmup_seconds: 0.1,
        ..Matrix::default()
    };
    swept(matrix, false)
}

pub(crate) fn swept(matrix: Matrix, adaptive: bool) -> Document {
    let plan = Plan {
        targets: setup(&["sim"]).targets,
        engine: EngineChoice::Sim,
        sim: Some(device()),
        settle_seconds: 0.0,
        adaptive,
        ..Plan::new("everything", vec![matrix])
    };
    let options = SweepOptions { plan, permissions: Permissions::default() };
    let stop = AtomicBool::new(false);
    let record = LabRecord {
        id: "20261121T120000Z-sweep".to_owned(),
        started: "2026-11-21T12:00:00Z".to_owned(),
        measurements: Vec::new(),
    };
    let mut quiet = |_: Progress<'_>| ();
    let context = LabContext { record: Some(record), ..LabContext::new(&stop, &mut quiet) };
    let found = survey::sweep(options, context).unwrap();
    Document::Sweep(Box::new(found))
}

pub(crate) fn sizes() -> Document {
    let cache = SimCache {
        kind: SimCacheKind::Lru,
        size_bytes: Bytes(GIB / 2),
        hit_ns: Nanoseconds(100_000),
    };
    let options = SizesOptions {
        setup: Setup {
            sim: Some(SimDevice { cache: Some(cache), ..device() }),
            targets: vec![Target { path: "sim".into(), size_bytes: None }],
            ..setup(&[])
        },
        stream: Stream { depth: 4, ..Stream::default() },
        sizes: [GIB / 4, GIB / 2, GIB, 2 * GIB, 4 * GIB].map(Bytes).to_vec(),
        fill_seconds: 60.0,
        pass_seconds: 60.0,
    };
    let found =
        survey::sizes(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    Document::Sizes(Box::new(found))
}

pub(crate) fn scale() -> Document {
    let options = ScaleOptions {
        setup: setup(&["volume-a", "volume-b", "volume-c"]),
        stream: Stream { depth: 4, ..Stream::default() },
        pairs: false,
    };
    let found =
        survey::scale(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    Document::Scale(Box::new(found))
}

/// One of each kind.
pub(crate) fn all() -> Vec<Document> {
    vec![measurement(), runs(), assessment(), knee(), sweep(), sizes(), scale()]
}
