//! One measurement: the engine's figures, the kernel's next to them, and every reason to doubt
//! them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use analysis::agreement::{self, Agreement, DEFAULT_TOLERANCE_PERCENT, Flow, Observed};
use analysis::noise::{self, Traffic};
use counters::{DiskWindow, NoCounts, Sampler, Window};
use engine::{EngineError, Observer, Prepared};
use inspect::{Inspector, Storage};
use results::{Environment, Kernel, Measurement, Statistics};
use workload::Workload;

use crate::Publish;
use crate::watching::Watching;
use crate::{steadiness, warnings};

/// Where measurements are made: looked at once, used for many.
#[derive(Debug)]
pub struct Site {
    environment: Environment,
    devices: Vec<String>,
    /// Why the kernel's counters cannot be set next to the tool's, where they cannot.
    no_counters: Option<NoCounts>,
}

impl Site {
    /// Looks at this host and at the storage under the targets of a workload.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        if workload.engine.is_artificial() {
            let environment = Environment { host: None, storage: Vec::new() };
            return Self { environment, devices: Vec::new(), no_counters: None };
        }
        let paths: Vec<&Path> = workload.targets.iter().map(|t| t.path.as_path()).collect();
        Self::of_paths(&paths)
    }

    /// Looks at this host and at the storage under these paths.
    #[must_use]
    pub fn of_paths(paths: &[&Path]) -> Self {
        let inspector = Inspector::new();
        let mut storage: Vec<Storage> = Vec::new();
        let mut no_counters = None;
        for path in paths {
            match inspector.storage(path) {
                Ok(found) => storage.push(found),
                Err(error) => {
                    no_counters = Some(NoCounts::Unreadable { reason: error.to_string() });
                }
            }
        }
        let mut devices = Vec::new();
        for found in &storage {
            match &found.counted_device {
                Some(device) if !devices.contains(device) => devices.push(device.clone()),
                Some(_) => {}
                None => {
                    no_counters = Some(NoCounts::NoDevice { path: found.target.clone() });
                }
            }
        }
        if let Some((upper, lower)) = stacked(&storage, &devices) {
            let (upper, lower) = (upper.to_owned(), lower.to_owned());
            no_counters = Some(NoCounts::Stacked { upper, lower });
        }
        let environment = Environment { host: Some(inspector.host()), storage };
        Self { environment, devices, no_counters }
    }

    /// A target's whole path, as far as it is known: `.` means nothing to the reader of a report.
    #[must_use]
    pub fn resolved(&self, target: &Path) -> PathBuf {
        let found = self.environment.storage.iter().find(|s| s.target == target);
        found.map_or(target, |s| s.path.as_path()).to_owned()
    }

    /// The host and the storage of the targets.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// Two counted devices of which one is on the other.
fn stacked<'a>(storage: &'a [Storage], devices: &'a [String]) -> Option<(&'a str, &'a str)> {
    storage.iter().find_map(|found| {
        let upper = found.counted_device.as_deref()?;
        let at = found.layers.iter().position(|l| l == upper)?;
        let below = found.layers.get(at + 1..)?;
        let lower = devices.iter().find(|d| *d != upper && below.contains(d))?;
        Some((upper, lower.as_str()))
    })
}

/// Runs a workload on prepared targets, with the kernel's counters next to it.
///
/// `stop` ends the run early; what was measured until then is the result.
pub fn measure(
    workload: &Workload,
    prepared: &Prepared,
    site: &Site,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Measurement, EngineError> {
    let mut sampler = match site.no_counters {
        // Without devices, the sampler still gives the host's CPU.
        Some(_) => Sampler::new(Vec::new()).ok(),
        None => Sampler::new(site.devices.clone()).ok(),
    };
    if workload.engine.is_artificial() {
        sampler = None;
    }
    let mut watching = Watching::new(workload, sampler, observer);
    let mut measurement = engine::run(workload, prepared, stop, &mut watching)?;
    measurement.environment = site.environment.clone();
    // A relative name would mean another place in another directory, and results on one target
    // would not be found alike.
    for target in &mut measurement.workload.targets {
        target.path = site.resolved(&target.path);
    }
    let cut_s: f64 = measurement.warmup_series.iter().map(|p| p.seconds).sum();
    let mut no_counters = site.no_counters.clone();
    if let Some((begin, end)) = watching.edges(cut_s) {
        let window = Window::between(begin, end);
        add_counters(&mut measurement, &window);
        no_counters = no_counters.or_else(|| window.no_counts());
    }
    steadiness::add(&mut measurement, watching.steady());
    warnings::add(&mut measurement, prepared, no_counters.as_ref());
    Ok(measurement)
}

fn add_counters(measurement: &mut Measurement, window: &Window) {
    if let Some(cpu) = &window.cpu {
        measurement.cpu.busiest_core_percent = cpu.busiest_core_percent;
        measurement.cpu.host_percent = Some(cpu.host_percent);
    }
    if !window.disks.is_empty() && window.missing.is_empty() && window.seconds > 0.0 {
        measurement.kernel = Some(beside(measurement, window, DEFAULT_TOLERANCE_PERCENT));
    }
}

/// The kernel's counts in a window, next to the measurement. They agree if they differ by no more
/// than the tolerance.
#[must_use]
pub fn beside(measurement: &Measurement, window: &Window, tolerance_percent: f64) -> Kernel {
    let disks = &window.disks;
    let sum = |of: fn(&DiskWindow) -> f64| disks.iter().map(of).sum::<f64>();
    let names: Vec<&str> = disks.iter().map(|d| d.device.as_str()).collect();
    // Buffered I/O reaches the device at another time and in other pieces; only direct I/O can
    // agree.
    let comparable = measurement.workload.is_direct() && measurement.total.ios > 0;
    let agreement = comparable.then(|| agree(measurement, window, tolerance_percent));
    Kernel {
        device: names.join("+"),
        seconds: window.seconds,
        foreign_percent: comparable.then(|| foreign_percent(measurement, window)).flatten(),
        read_iops: sum(|d| d.read_iops),
        write_iops: sum(|d| d.write_iops),
        read_bytes_per_s: sum(|d| d.read_bytes_per_s),
        write_bytes_per_s: sum(|d| d.write_bytes_per_s),
        read_latency_ns: weighted(disks, |d| d.read_latency_ns, |d| d.reads),
        write_latency_ns: weighted(disks, |d| d.write_latency_ns, |d| d.writes),
        average_queue: sum(|d| d.average_queue),
        utilisation_percent: disks.iter().map(|d| d.utilisation_percent).fold(0.0, f64::max),
        flushes_per_s: flushes_per_s(disks, window.seconds),
        agreement_percent: agreement.as_ref().map(|a| 100.0 - a.worst_percent.abs()),
        agreement: agreement.publish(),
    }
}

fn flushes_per_s(disks: &[DiskWindow], seconds: f64) -> f64 {
    disks.iter().filter_map(|d| d.flushes).sum::<u64>() as f64 / seconds
}

/// Flushes that the workload itself causes and that the kernel counts as writes of no bytes: as
/// many as explain a surplus of writes, and no more than were asked for.
///
/// The kernel joins flushes that come at the same time, and stacked devices count none, so their
/// own counter says less than is needed here.
fn own_flushes_per_s(measurement: &Measurement, kernel_write_iops: f64) -> f64 {
    let streams = measurement.workload.streams.iter().zip(&measurement.streams);
    let durable = streams.filter(|(s, _)| s.durable).map(|(_, r)| r.write.iops).sum::<f64>();
    let asked = durable + measurement.sync.iops;
    (kernel_write_iops - measurement.write.iops).clamp(0.0, asked)
}

/// The share of the devices' I/O that was not this measurement's.
fn foreign_percent(measurement: &Measurement, window: &Window) -> Option<f64> {
    let disks = &window.disks;
    let sum = |of: fn(&DiskWindow) -> f64| disks.iter().map(of).sum::<f64>();
    let write_iops = sum(|d| d.write_iops);
    let device = Traffic {
        ios: sum(|d| d.read_iops) + write_iops - own_flushes_per_s(measurement, write_iops),
        bytes: sum(|d| d.read_bytes_per_s) + sum(|d| d.write_bytes_per_s),
    };
    let total = &measurement.total;
    noise::foreign_percent(
        device,
        Traffic { ios: total.iops, bytes: total.mib_per_s * 1_048_576.0 },
    )
}

/// The tool's figures next to the kernel's.
fn agree(measurement: &Measurement, window: &Window, tolerance_percent: f64) -> Agreement {
    let disks = &window.disks;
    let sum = |of: fn(&DiskWindow) -> f64| disks.iter().map(of).sum::<f64>();
    let merges =
        |of: fn(&DiskWindow) -> u64| disks.iter().map(of).sum::<u64>() as f64 / window.seconds;
    let read = Flow {
        iops: sum(|d| d.read_iops),
        bytes_per_s: sum(|d| d.read_bytes_per_s),
        latency_ns: weighted(disks, |d| d.read_latency_ns, |d| d.reads),
        merges_per_s: merges(|d| d.read_merges),
    };
    let write_iops = sum(|d| d.write_iops);
    let write = Flow {
        iops: write_iops - own_flushes_per_s(measurement, write_iops),
        bytes_per_s: sum(|d| d.write_bytes_per_s),
        latency_ns: weighted(disks, |d| d.write_latency_ns, |d| d.writes),
        merges_per_s: merges(|d| d.write_merges),
    };
    agreement::compare(&agreement::Window {
        tool: Observed { read: tool(&measurement.read), write: tool(&measurement.write) },
        kernel: Observed { read, write },
        in_flight: measurement.achieved_in_flight,
        seconds: window.seconds,
        tolerance_percent,
    })
}

/// What the tool did in one direction, as the kernel would have counted it.
fn tool(statistics: &Statistics) -> Flow {
    Flow {
        iops: statistics.iops,
        bytes_per_s: statistics.mib_per_s * 1_048_576.0,
        // A tool that cuts off fractions of a millisecond may say 0, which cannot be compared.
        latency_ns: statistics
            .service_ns
            .or(statistics.latency_ns)
            .map(|l| l.mean)
            .filter(|mean| *mean > 0.0),
        merges_per_s: 0.0,
    }
}

/// The mean over devices, each weighed by its I/Os.
fn weighted(
    disks: &[DiskWindow],
    value: fn(&DiskWindow) -> Option<f64>,
    weight: fn(&DiskWindow) -> u64,
) -> Option<f64> {
    let parts = || disks.iter().filter_map(|d| Some((value(d)?, weight(d) as f64)));
    let weights: f64 = parts().map(|(_, w)| w).sum();
    (weights > 0.0).then(|| parts().map(|(v, w)| v * w).sum::<f64>() / weights)
}
