//! Results of known figures: measurements and documents made without any storage.

use analysis::noise::trust;
use results::{
    Cpu, Document, Engine, Experiment, Latency, Measurement, Runs, Statistics, TargetResult,
};
use survey::Publish;
use workload::{Stream, Target, Workload};

pub(crate) const FILE: u64 = 1 << 30;
pub(crate) const IOS: u64 = 1_000_000;

/// A load that gave so many IOPS.
pub(crate) fn load(file_bytes: u64, stream: &Stream, iops: f64) -> Measurement {
    let none = Statistics::default;
    let path = "/data";
    let target = Target { path: path.into(), size_bytes: None };
    let mean = 1e9 / iops;
    let tail = |times: f64| Some(whole(mean * times));
    let latency = Latency {
        min: Some(whole(mean * 0.5)),
        mean,
        stddev: Some(mean * 0.2),
        max: Some(whole(mean * 20.0)),
        p50: tail(0.9),
        p90: tail(1.5),
        p95: tail(1.8),
        p99: tail(3.0),
        p99_9: tail(6.0),
        ..Latency::default()
    };
    let total =
        Statistics { ios: IOS, iops, mib_per_s: iops / 128.0, latency_ns: Some(latency), ..none() };
    let content = "a test file of iosonde".to_owned();
    Measurement {
        started: "2026-11-01T00:00:00Z".to_owned(),
        engine: Engine {
            name: "uring".to_owned(),
            reason: String::new(),
            features: Vec::new(),
            clock: "tsc".to_owned(),
        },
        seconds: 30.0,
        threads: u64::from(stream.threads),
        depth: Some(stream.depth),
        file_bytes,
        total,
        targets: vec![TargetResult {
            path: path.into(),
            file_bytes,
            content,
            total: none(),
            read: none(),
            write: none(),
            sync: none(),
        }],
        cpu: Cpu { total_us_per_io: Some(3.0), ..Cpu::default() },
        ..testing::measurement(&format!("m-{iops}"), Workload::single(target, stream.clone()))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made-up figures")]
fn whole(ns: f64) -> u64 {
    ns as u64
}

/// The default load, 8 KiB random reads, on a file of 1 GiB.
pub(crate) fn reads(iops: f64) -> Measurement {
    load(FILE, &Stream::default(), iops)
}

/// A single run as a result.
pub(crate) fn single(measurement: Measurement) -> Document {
    Document::Measurement(Box::new(measurement))
}

/// Several runs as one result.
pub(crate) fn runs(id: &str, started: &str, mut measurements: Vec<Measurement>) -> Document {
    for m in &mut measurements {
        started.clone_into(&mut m.started);
    }
    let iops: Vec<f64> = measurements.iter().map(|m| m.total.iops).collect();
    let conclusion = Runs {
        title: "8 KiB random read".to_owned(),
        asked: 5,
        trust: trust(&iops, None).publish(),
    };
    Document::Runs(Box::new(Experiment {
        plan: None,
        measurements,
        ..testing::experiment(id, started, conclusion)
    }))
}

/// Five runs a percent apart around a mean.
pub(crate) fn five(id: &str, started: &str, mean: f64) -> Document {
    let around = [-0.01, 0.0, 0.01, 0.004, -0.004].map(|part| reads(mean * (1.0 + part)));
    runs(id, started, around.to_vec())
}
