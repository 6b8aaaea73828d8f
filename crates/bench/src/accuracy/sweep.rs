//! What an adaptive sweep says next to the full matrix.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::{Experiment, Source, Sweep, SweptCurve};
use survey::{LabContext, SweepOptions, sweep};
use workload::sweep::{Plan, preset};
use workload::{
    Bytes, EngineChoice, Nanoseconds, Precision, SimAssignment, SimDevice, SimNoise, SimService,
    Target,
};

use super::table;
use crate::linux::Error;

/// Sweeps of each device, each with noise of its own.
const SEEDS: u64 = 3;
/// Length of the full matrix' windows: without noise they need not be long.
const FULL_S: f64 = 4.0;
/// What the full matrix takes on a real device, in hours.
const FULL_HOURS: f64 = 57.6;

fn ms(value: u64) -> Nanoseconds {
    Nanoseconds(value * 1_000_000)
}

/// Devices as slow as arrays of disks are: the full matrix of a faster one takes the simulation
/// hours.
fn devices() -> Vec<(&'static str, SimDevice)> {
    let array = SimDevice {
        servers: 24,
        read_ns: ms(5),
        write_ns: ms(6),
        bytes_per_s: Some(Bytes(100_000_000)),
        ..SimDevice::default()
    };
    let link = |rate: u64| SimDevice { link_bytes_per_s: Some(Bytes(rate)), ..array.clone() };
    vec![
        ("24 servers, a link of 200 MB/s", link(200_000_000)),
        ("24 servers, no link", array.clone()),
        (
            "8 servers, exponential times, a link of 400 MB/s",
            SimDevice { servers: 8, service: SimService::Exponential, ..link(400_000_000) },
        ),
        (
            "16 channels chosen at random, exponential times",
            SimDevice {
                servers: 16,
                assignment: SimAssignment::Random,
                service: SimService::Exponential,
                ..array.clone()
            },
        ),
        ("24 servers, a queue of 16", SimDevice { queue_limit: Some(16), ..array }),
    ]
}

fn plan(device: &SimDevice, seed: u64) -> Result<Plan, Error> {
    let named = preset("grove-rasmussen").ok_or("there is no such preset")?;
    Ok(Plan {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(64 << 30)) }],
        engine: EngineChoice::Sim,
        sim: Some(device.clone()),
        seed,
        ..named.plan()
    })
}

fn conduct(plan: Plan) -> Result<Experiment<Sweep>, Error> {
    let options = SweepOptions { plan, permissions: Permissions::default() };
    Ok(sweep(options, LabContext::new(&AtomicBool::new(false), &mut |_| ()))?)
}

/// Measures the full matrix without noise.
fn full(device: &SimDevice) -> Result<Experiment<Sweep>, Error> {
    let mut plan = plan(&SimDevice { noise: None, ..device.clone() }, 1)?;
    for matrix in &mut plan.matrix {
        (matrix.seconds, matrix.warmup_seconds) = (FULL_S, 1.0);
    }
    conduct(plan)
}

fn adaptive(device: &SimDevice, seed: u64) -> Result<Experiment<Sweep>, Error> {
    let noise = Some(SimNoise { run_percent: 5.0, ..SimNoise::default() });
    let plan = plan(&SimDevice { noise, ..device.clone() }, seed)?;
    let precision = Some(Precision { percent: 5.0, ..Precision::default() });
    conduct(Plan { adaptive: true, precision, ..plan })
}

/// Errors of the best of each load, and of each cell that was inferred, in percent; and how many of
/// the best are in their interval.
struct Errors {
    best: Vec<f64>,
    cells: Vec<f64>,
    covered: usize,
    near: usize,
}

fn compare(found: &Sweep, full: &Sweep) -> Errors {
    let truth: BTreeMap<&[u32], &SweptCurve> =
        full.curves.iter().map(|c| (c.cells.as_slice(), c)).collect();
    let mut errors = Errors { best: Vec::new(), cells: Vec::new(), covered: 0, near: 0 };
    for curve in &found.curves {
        let Some(right) = truth.get(curve.cells.as_slice()) else { continue };
        let error = 100.0 * (curve.best_iops / right.best_iops - 1.0);
        errors.best.push(error.abs());
        errors.covered += usize::from(curve.error_percent.is_some_and(|e| error.abs() <= e));
        if let (Some(here), Some(there)) = (curve.operating_in_flight, right.operating_in_flight) {
            errors.near += usize::from((here / there).log2().abs() <= 1.0);
        }
    }
    let inferred = found.cells.iter().filter(|c| c.source == Source::Inferred);
    for cell in inferred {
        let right = full.cells.get(cell.cell.number as usize).and_then(|c| c.iops);
        if let (Some(here), Some(there)) = (cell.iops, right) {
            errors.cells.push(100.0 * (here / there - 1.0).abs());
        }
    }
    errors
}

/// The value that this share of all do not exceed.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let place = (share * values.len() as f64).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let mut rows = Vec::new();
    for (name, device) in devices() {
        let full = full(&device)?;
        let mut all = Errors { best: Vec::new(), cells: Vec::new(), covered: 0, near: 0 };
        let (mut measurements, mut seconds) = (0, 0.0);
        for seed in 1..=SEEDS {
            let found = adaptive(&device, seed)?;
            let errors = compare(&found.conclusion, &full.conclusion);
            all.best.extend(errors.best);
            all.cells.extend(errors.cells);
            all.covered += errors.covered;
            all.near += errors.near;
            measurements += found.measurements.len();
            seconds += found.conclusion.device_seconds;
        }
        let count = all.best.len() as f64;
        let share = |n: usize| format!("{:.0} %", 100.0 * n as f64 / count);
        let within = all.best.iter().filter(|e| **e <= 3.0).count();
        let minutes = seconds / SEEDS as f64 / 60.0;
        rows.push(vec![
            name.to_owned(),
            format!("{:.0}", measurements as f64 / SEEDS as f64),
            format!("{minutes:.0} min ({:.1} %)", 100.0 * minutes / 60.0 / FULL_HOURS),
            share(within),
            format!("{:.1} %", quantile(&mut all.best, 0.5)),
            format!("{:.1} %", quantile(&mut all.best, 1.0)),
            share(all.covered),
            share(all.near),
            format!("{:.1} %", quantile(&mut all.cells, 0.95)),
        ]);
    }
    let head = [
        "device",
        "measurements",
        "device time (of 57.6 h)",
        "best within 3 %",
        "median error",
        "worst",
        "in its interval",
        "95 % load within one step",
        "inferred cells: 95 % within",
    ];
    Ok(format!(
        "`iosonde sweep --preset grove-rasmussen --adaptive` made {SEEDS} sweeps of each simulated \
         device. The speed of a device varies by 5 % from one measurement to the next. Each sweep \
         is compared with the full matrix of 576 cells of the same device without noise. There are \
         24 loads: random and sequential, read and write, six block sizes.\n\n{}",
        table(&head, &rows)
    ))
}
