//! `iosonde history drift`: what a device does now, beside the most that it was measured to do.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use counters::{DiskWindow, Sampler, Window};
use history::drift::{Capacities, Counted, Place, drift as held_against};
use history::{By, Filter, History, Load, Order, Page};
use inspect::{Inspector, Storage};
use workload::PatternKind;

use crate::exit::{Failure, Outcome, print};
use crate::recording::failure;
use crate::run::json;

/// Of each kind of load, how many of the best are looked at.
const BEST: u64 = 200;
/// How often a wait looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// `iosonde history drift`
#[derive(Debug, Args)]
pub(crate) struct DriftArgs {
    /// The directory, file or device whose storage is looked at
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,

    /// How long the counters are watched
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub seconds: f64,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub(crate) fn drift(
    args: &DriftArgs,
    history: &History,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    if !(args.seconds.is_finite() && (0.1..=86_400.0).contains(&args.seconds)) {
        return Err(Failure::WrongUsage("--seconds must be from 0.1 to 86400".to_owned()));
    }
    if let Err(error) = args.target.metadata() {
        let target = args.target.display();
        let text = format!("cannot look at `{target}`: {error}; name what is there and is in use");
        return Err(Failure::CannotRun(text));
    }
    let inspector = Inspector::new();
    let host = inspector.host().hostname;
    let storage = inspector.storage(&args.target).map_err(|e| Failure::CannotRun(e.to_string()))?;
    let Some(device) = storage.counted_device.clone() else {
        let text = format!(
            "no block device of its own is known under `{}`, so there are no counters to look at",
            args.target.display()
        );
        return Err(Failure::CannotRun(text));
    };
    let window = watch(&device, args.seconds, stop)?;
    let Some(disk) = window.disks.first() else {
        let text = format!("the counters of `{device}` began anew or vanished meanwhile");
        return Err(Failure::CannotRun(text));
    };
    let names = [args.target.clone(), storage.path.clone()];
    let (loads, elsewhere) = best(history, &host, &names, model(&storage).as_deref())?;
    let now = jiff::Timestamp::now().to_string();
    let target = args.target.display().to_string();
    let place = Place {
        host: &host,
        target: &target,
        device: &device,
        now: &now,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let mut drift = held_against(&place, &counted(disk, window.seconds), Capacities::of(&loads));
    drift.warnings.extend(elsewhere);
    print(&if args.json { json(&drift)? } else { report::text::drift(&drift) })?;
    Ok(if stop.load(Ordering::Relaxed) { Outcome::Interrupted } else { Outcome::Done })
}

/// What happened on a device in so many seconds, or until the signal.
fn watch(device: &str, seconds: f64, stop: &AtomicBool) -> Result<Window, Failure> {
    let failed = |error: counters::CountersError| Failure::CannotRun(error.to_string());
    let mut sampler = Sampler::new(vec![device.to_owned()]).map_err(failed)?;
    let begin = sampler.sample().map_err(failed)?;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
    Ok(Window::between(&begin, &sampler.sample().map_err(failed)?))
}

fn counted(disk: &DiskWindow, seconds: f64) -> Counted {
    Counted {
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

/// The best loads of the target on this host; where it has none, those of a device of the same
/// model, which is said.
fn best(
    history: &History,
    host: &str,
    names: &[PathBuf],
    model: Option<&str>,
) -> Result<(Vec<Load>, Option<String>), Failure> {
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
fn kinds(history: &History, filter: &Filter) -> Result<Vec<Load>, Failure> {
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
        loads.extend(history.loads(&filter, order, page).map_err(failure)?);
    }
    Ok(loads)
}
