//! Whether the intervals of an adaptive sweep hold what windows of their whole length give on
//! average.

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::{Experiment, Refinement, Source, Sweep};
use survey::{LabContext, SweepOptions, sweep};
use workload::sweep::{Matrix, Plan};
use workload::{
    Bytes, EngineChoice, Nanoseconds, Precision, SimAssignment, SimBucket, SimCache, SimCacheKind,
    SimDevice, SimDrift, SimMisaligned, SimNoise, SimService, SimStall, SimWarmup, SimWriteCache,
    Target,
};

use super::table;
use crate::linux::Error;

/// Sweeps of each device, each with other checks.
const SEEDS: u64 = 3;
const MIB: u64 = 1 << 20;

fn ms(value: u64) -> Nanoseconds {
    Nanoseconds(value * 1_000_000)
}

/// Eight servers, as slow as disks are.
fn disks() -> SimDevice {
    SimDevice {
        servers: 8,
        read_ns: ms(5),
        write_ns: ms(6),
        bytes_per_s: Some(Bytes(100 * MIB)),
        ..SimDevice::default()
    }
}

/// Devices that the surface of a sweep describes, but for their noise.
fn inside() -> Vec<(&'static str, SimDevice)> {
    let noise = |run_percent, io_percent| SimNoise { run_percent, io_percent, drift: None };
    vec![
        ("a link of 80 MiB/s", SimDevice { link_bytes_per_s: Some(Bytes(80 * MIB)), ..disks() }),
        ("a queue of 4", SimDevice { queue_limit: Some(4), ..disks() }),
        (
            "channels chosen at random, exponential times",
            SimDevice {
                assignment: SimAssignment::Random,
                service: SimService::Exponential,
                ..disks()
            },
        ),
        (
            "5 % from one measurement to the next, 25 % from I/O to I/O",
            SimDevice { noise: Some(noise(5.0, 25.0)), ..disks() },
        ),
    ]
}

/// Devices that differ from the surface, or change within a window.
fn outside() -> Vec<(&'static str, SimDevice)> {
    let bucket = |bucket: SimBucket| SimDevice { bucket: Some(bucket), ..disks() };
    let misaligned = |align_bytes, factor| SimDevice {
        misaligned: Some(SimMisaligned { align_bytes: Bytes(align_bytes), factor }),
        ..disks()
    };
    let write_cache = SimWriteCache {
        size_bytes: Bytes(512 * MIB),
        drain_bytes_per_s: Bytes(40 * MIB),
        hit_ns: Nanoseconds(500_000),
    };
    let lru = SimCache { kind: SimCacheKind::Lru, size_bytes: Bytes(256 * MIB), hit_ns: ms(1) };
    let stall = SimStall { period_ns: ms(30_000), length_ns: ms(6000) };
    let drift = SimDrift { percent: 30.0, correlation: 0.9, period_ns: ms(5000) };
    vec![
        (
            "credits for 60 000 I/Os, then 400 IOPS",
            bucket(SimBucket { iops: Some(400), burst_ios: 60_000, ..SimBucket::default() }),
        ),
        (
            "slow at first: 3 times, for 20 s",
            SimDevice { warmup: Some(SimWarmup { factor: 3.0, tau_ns: ms(20_000) }), ..disks() },
        ),
        ("a pause of 6 s in every 30 s", SimDevice { stall: Some(stall), ..disks() }),
        ("blocks below 4 KiB take 3 times as long", misaligned(4096, 3.0)),
        ("blocks below 64 KiB take twice as long", misaligned(65_536, 2.0)),
        (
            "a write cache of 512 MiB that drains 40 MiB/s",
            SimDevice { write_cache: Some(write_cache), ..disks() },
        ),
        ("an LRU cache of a quarter of the file", SimDevice { cache: Some(lru), ..disks() }),
        (
            "a busy neighbour: 30 % for seconds at a time",
            SimDevice {
                noise: Some(SimNoise { drift: Some(drift), ..SimNoise::default() }),
                ..disks()
            },
        ),
        (
            "credits for 2 GiB, then 20 MiB/s",
            bucket(SimBucket {
                bytes_per_s: Some(Bytes(20 * MIB)),
                burst_bytes: Bytes(2048 * MIB),
                ..SimBucket::default()
            }),
        ),
    ]
}

/// Devices that nobody looked at while the rule was made.
fn left_out() -> Vec<(&'static str, SimDevice)> {
    let cache =
        SimCache { kind: SimCacheKind::Region, size_bytes: Bytes(256 * MIB), hit_ns: ms(1) };
    let misaligned = SimMisaligned { align_bytes: Bytes(16_384), factor: 2.0 };
    let noise = SimNoise { run_percent: 5.0, ..SimNoise::default() };
    let freeze = SimStall { period_ns: ms(45_000), length_ns: ms(3000) };
    vec![
        (
            "two tiers, blocks below 16 KiB take twice as long, 5 % from one measurement to the \
             next",
            SimDevice {
                cache: Some(cache),
                misaligned: Some(misaligned),
                noise: Some(noise),
                ..disks()
            },
        ),
        (
            "a queue of 4, exponential times, frozen for 3 s in every 45 s",
            SimDevice {
                queue_limit: Some(4),
                service: SimService::Exponential,
                stall: Some(freeze),
                ..disks()
            },
        ),
    ]
}

fn conduct(device: &SimDevice, seed: u64, adaptive: bool) -> Result<Experiment<Sweep>, Error> {
    let matrix = Matrix {
        writes: vec![0, 100],
        blocks: [2048, 4096, 16_384, 65_536, 262_144].map(Bytes).to_vec(),
        threads: vec![1, 4],
        depths: vec![1, 2, 4, 8, 16, 32],
        seconds: 120.0,
        warmup_seconds: 0.0,
        ..Matrix::default()
    };
    let precision = Some(Precision { percent: 5.0, ..Precision::default() });
    let plan = Plan {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(1024 * MIB)) }],
        engine: EngineChoice::Sim,
        sim: Some(device.clone()),
        adaptive,
        precision: precision.filter(|_| adaptive),
        seed,
        ..Plan::new("adaptive", vec![matrix])
    };
    let options = SweepOptions { plan, permissions: Permissions::default() };
    let found = sweep(options, LabContext::new(&AtomicBool::new(false), &mut |_| ()))?;
    if found.status != results::Status::Complete {
        return Err(format!("the sweep ended early: {:?}", found.warnings).into());
    }
    Ok(found)
}

/// What windows of whole length give on average: the full matrix without what differs from one
/// measurement to the next and from time to time. The mean of a speed whose logarithm is normal
/// with the deviation d is exp(d²/2) of the usual one.
fn truth(device: &SimDevice) -> Result<Sweep, Error> {
    let noise = device.noise.unwrap_or_default();
    let quiet = SimNoise { run_percent: 0.0, drift: None, ..noise };
    let quiet = SimDevice { noise: Some(quiet), ..device.clone() };
    let mut full = conduct(&quiet, 1000, false)?.conclusion;
    let deviation = noise.drift.map_or(0.0, |drift| drift.percent / 100.0);
    let mean = (deviation * deviation / 2.0).exp();
    for cell in &mut full.cells {
        cell.iops = cell.iops.map(|iops| iops * mean);
    }
    for curve in &mut full.curves {
        curve.best_iops *= mean;
    }
    Ok(full)
}

/// How many figures there are, and how many are in their intervals.
#[derive(Default)]
struct Held {
    inside: usize,
    of: usize,
}

impl Held {
    fn count(&mut self, found: f64, error_percent: Option<f64>, truth: f64) {
        let limit = error_percent.map_or(0.0, |e| (e / 100.0).ln_1p());
        self.of += 1;
        // A billionth is arithmetic.
        self.inside += usize::from((truth / found).ln().abs() <= limit + 1e-9);
    }

    fn shown(&self) -> String {
        if self.of == 0 {
            return "none".to_owned();
        }
        format!("{:.0} % of {}", 100.0 * self.inside as f64 / self.of as f64, self.of)
    }
}

/// The sums over all sweeps of one device.
#[derive(Default)]
struct Tally {
    inferred: Held,
    measured: Held,
    best: Held,
    widths: Vec<f64>,
    /// The worst error of an inferred cell, in percent.
    worst: f64,
    measurements: f64,
    share: f64,
    refinements: [usize; 3],
}

impl Tally {
    fn add(&mut self, found: &Experiment<Sweep>, truth: &Sweep) {
        let sweep = &found.conclusion;
        for (here, there) in sweep.cells.iter().zip(&truth.cells) {
            let (Some(iops), Some(truth)) = (here.iops, there.iops) else { continue };
            if here.source == Source::Inferred {
                self.inferred.count(iops, here.error_percent, truth);
                self.widths.extend(here.error_percent);
                self.worst = self.worst.max(100.0 * (iops / truth - 1.0).abs());
            } else {
                self.measured.count(iops, here.error_percent, truth);
            }
        }
        for (here, there) in sweep.curves.iter().zip(&truth.curves) {
            self.best.count(here.best_iops, here.error_percent, there.best_iops);
        }
        self.measurements += found.measurements.len() as f64 / SEEDS as f64;
        self.share += 100.0 * sweep.device_seconds / sweep.matrix_seconds / SEEDS as f64;
        for refinement in sweep.checks.iter().flat_map(|c| &c.refinements) {
            self.refinements[match refinement {
                Refinement::WholeWindows => 0,
                Refinement::EverySize => 1,
                Refinement::EveryCell => 2,
            }] += 1;
        }
    }

    fn row(mut self, name: &str) -> Vec<String> {
        self.widths.sort_by(f64::total_cmp);
        let none = || "none".to_owned();
        let middle = self.widths.get(self.widths.len() / 2);
        let [windows, sizes, cells] = self.refinements;
        let of_each = |count: usize| count as f64 / SEEDS as f64;
        vec![
            name.to_owned(),
            self.inferred.shown(),
            self.measured.shown(),
            self.best.shown(),
            middle.map_or_else(none, |_| format!("{:.1} %", self.worst)),
            middle.map_or_else(none, |width| format!("{width:.1} %")),
            format!("{:.0} ({:.0})", of_each(self.measured.of), self.measurements),
            format!("{:.0} %", self.share),
            format!("{windows}, {sizes}, {cells}"),
        ]
    }
}

const HEAD: [&str; 9] = [
    "device: 8 servers of 5 ms, and",
    "inferred cells inside",
    "measured cells inside",
    "best of a load inside",
    "worst error of an inferred cell",
    "half-width of inferred cells, median",
    "cells measured (measurements)",
    "time of the matrix",
    "refined: windows, sizes, cells",
];

/// The line of the table for a device.
fn row(name: &str, device: &SimDevice) -> Result<Vec<String>, Error> {
    let truth = truth(device)?;
    let mut tally = Tally::default();
    for seed in 1..=SEEDS {
        tally.add(&conduct(device, seed, true)?, &truth);
    }
    Ok(tally.row(name))
}

fn rows(devices: &[(&str, SimDevice)]) -> Result<String, Error> {
    let rows: Result<Vec<_>, Error> = devices.iter().map(|(name, d)| row(name, d)).collect();
    Ok(table(&HEAD, &rows?))
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let known: Vec<_> = inside().into_iter().chain(outside()).collect();
    Ok(format!(
        "`iosonde sweep --adaptive` made {SEEDS} sweeps of each simulated device. A sweep has 2 \
         kinds of load (random read, random write) of 60 cells each (2 KiB to 256 KiB, 1 to 128 in \
         flight), with windows of 120 s. The truth of a cell is what such windows give on average. \
         *Inside* means that the truth is in the interval that the sweep states; the aim is 90 %. \
         *Cells measured* is out of 120; the measurements in brackets include checks and \
         repetitions. *Time of the matrix* is the share of the time that all cells take at full \
         length. *Refined* says in how many of the {} kinds the checks demanded whole windows, \
         every size at rising loads, or every cell.\n\n{}\n### Devices that were left out while \
         the rule was made\n\n{}",
        2 * SEEDS,
        rows(&known)?,
        rows(&left_out())?
    ))
}
