//! What a device does now, held against the most that it was measured to do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use counters::{CountersError, DiskWindow, NoCounts, Sampler, Window};
use history::drift::{Capacities, CounterFigures, Place, drift as held_against};
use history::{By, Filter, History, HistoryError, Load, Order, Page};
use inspect::{InspectError, Inspector, Storage};
use results::Drift;
use thiserror::Error;
use workload::PatternKind;

/// Of each kind of load, how many of the best are looked at.
const BEST: u64 = 200;
/// How often a wait looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Why nothing can be said about a device.
#[derive(Debug, Error)]
pub enum DriftError {
    /// The target does not exist or cannot be reached.
    #[error("cannot look at `{}`: {source}; name what is there and is in use", target.display())]
    Target {
        /// The target, as the user named it.
        target: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The target cannot be looked at.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The target has no counts.
    #[error("there is nothing to compare: {0}")]
    NoCounts(NoCounts),
    /// The counters of the system cannot be read.
    #[error(transparent)]
    Counters(#[from] CountersError),
    /// The history cannot be opened or read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// Watches the device under a target for so many seconds, or until it is stopped, and holds it
/// against the history.
///
/// # Errors
/// Nothing can be said, and why.
pub fn drift(
    target: &Path,
    seconds: f64,
    history: &History,
    stop: &AtomicBool,
) -> Result<Drift, DriftError> {
    if let Err(source) = target.metadata() {
        return Err(DriftError::Target { target: target.to_owned(), source });
    }
    let inspector = Inspector::new();
    let host = inspector.host().hostname;
    let storage = inspector.storage(target)?;
    let device = storage.counted_device.clone();
    let no_device = || DriftError::NoCounts(NoCounts::NoDevice { path: target.to_owned() });
    let device = device.ok_or_else(no_device)?;
    let window = watch(&device, seconds, stop)?;
    let Some(disk) = window.disks.first() else {
        let vanished = NoCounts::Vanished { device };
        return Err(DriftError::NoCounts(window.no_counts().unwrap_or(vanished)));
    };
    let names = [target.to_owned(), storage.path.clone()];
    let (loads, elsewhere) = best(history, &host, &names, model(&storage).as_deref())?;
    let place = Place {
        host: &host,
        target: &target.display().to_string(),
        device: &device,
        now: &jiff::Timestamp::now().to_string(),
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let mut drift = held_against(&place, &counted(disk, window.seconds), Capacities::of(&loads));
    drift.warnings.extend(elsewhere);
    Ok(drift)
}

/// What happened on a device in so many seconds, or until the signal.
fn watch(device: &str, seconds: f64, stop: &AtomicBool) -> Result<Window, CountersError> {
    let mut sampler = Sampler::new(vec![device.to_owned()])?;
    let begin = sampler.sample()?;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
    Ok(Window::between(&begin, &sampler.sample()?))
}

fn counted(disk: &DiskWindow, seconds: f64) -> CounterFigures {
    CounterFigures {
        seconds,
        read_iops: disk.read_iops,
        write_iops: disk.write_iops,
        mib_per_s: (disk.read_bytes_per_s + disk.write_bytes_per_s) / 1_048_576.0,
        read_latency_ns: disk.read_latency_ns,
        write_latency_ns: disk.write_latency_ns,
        average_queue: disk.average_queue,
        utilisation_percent: disk.utilisation_percent,
    }
}

/// What a list calls the device under a target.
fn model(storage: &Storage) -> Option<String> {
    let device = storage.devices.first()?;
    Some(device.model.clone().unwrap_or_else(|| device.name.clone()))
}

/// The best loads of the target on this host. If it has none, those of a device of the same model,
/// which the result says.
fn best(
    history: &History,
    host: &str,
    names: &[PathBuf],
    model: Option<&str>,
) -> Result<(Vec<Load>, Option<String>), HistoryError> {
    let on_host = Filter { host: Some(host.to_owned()), ..Filter::default() };
    let mut loads = Vec::new();
    for name in names {
        let target = Some(name.display().to_string());
        loads.extend(kinds(history, &Filter { target, ..on_host.clone() })?);
    }
    if !loads.is_empty() {
        return Ok((loads, None));
    }
    let Some(model) = model else { return Ok((loads, None)) };
    loads.extend(
        kinds(history, &on_host)?.into_iter().filter(|l| l.device.as_deref() == Some(model)),
    );
    let Some(first) = loads.first() else { return Ok((loads, None)) };
    let said = format!(
        "This target was never measured; the figures are those of the same device ({model}) under \
         `{}`",
        first.target
    );
    Ok((loads, Some(said)))
}

/// The best of each kind of load.
fn kinds(history: &History, filter: &Filter) -> Result<Vec<Load>, HistoryError> {
    let pattern = |kind: PatternKind| Some(kind.word().to_owned());
    let wanted = [
        (By::Iops, pattern(PatternKind::Random), Some(0)),
        (By::Iops, None, Some(100)),
        (By::MibPerS, pattern(PatternKind::Sequential), None),
        (By::MibPerS, pattern(PatternKind::SequentialShared), None),
    ];
    let mut loads = Vec::new();
    for (by, pattern, write_percent) in wanted {
        let filter = Filter { pattern, write_percent, ..filter.clone() };
        let (order, page) = (Order { by, rising: false }, Page { offset: 0, limit: BEST });
        loads.extend(history.loads(&filter, order, page)?);
    }
    Ok(loads)
}
