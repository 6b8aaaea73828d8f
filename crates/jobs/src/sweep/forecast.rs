//! How long a sweep takes and what it writes, before it begins.

use std::path::Path;

use engine::{Permissions, PrepareError};
use survey::Site;
use workload::sweep::{Cell, PRESETS, Plan, Preset, Rounds, Speed, Times};
use workload::{Bytes, EngineChoice, show_duration};

use crate::conduct::JobError;
use crate::ends::ends;
use crate::job::Description;

/// The presets, a line each: name, cells, time and title.
#[must_use]
pub fn presets() -> String {
    let line = |one: &Preset| {
        let plan = one.plan();
        let (least, most) = plan.rounds_range();
        let time = show_duration(plan.times(&plan.cells()).total_s() * f64::from(least));
        let time = if least < most { format!("≥ {time}") } else { time };
        let (name, count, title) = (one.name, plan.count(), plan.title);
        let cells = format!("{},", counted(count));
        format!("{name:<19} {cells:>10} {time:<15} {title}\n")
    };
    PRESETS.iter().map(line).collect()
}

/// How many cells there are, how long they take, and until when.
pub(super) fn duration(plan: &Plan, kept: usize) -> String {
    let cells = missing(plan, kept);
    let times = plan.times(&cells);
    let Times { measured_s, warmup_s, settle_s } = times;
    if plan.adaptive {
        let whole = show_duration(plan.times(&plan.cells()).total_s());
        let count = counted(plan.count());
        let text = match survey::sweep_forecast(plan) {
            Ok(forecast) => format!(
                "{count}, of which about {} are measured: about {} instead of {whole}",
                forecast.measurements(),
                show_duration(forecast.seconds().ceil())
            ),
            Err(_) => format!("{count}, of which a part is measured: less than {whole}"),
        };
        return match kept {
            0 => text,
            there => format!("{text}; {there} of the measurements are there already"),
        };
    }
    if let Some(rounds) = &plan.rounds {
        return in_rounds(plan, rounds, kept);
    }
    let count = counted(cells.len() as u64);
    // Windows that end once their mean is known are shorter than the plan has them.
    let forecast = plan.precision.and_then(|_| survey::sweep_forecast(plan).ok());
    let mut parts = vec![match forecast.filter(|_| kept == 0) {
        Some(forecast) => format!(
            "{count}: about {}, at most {}",
            show_duration(forecast.seconds().ceil()),
            show_duration(times.total_s())
        ),
        None => format!(
            "{count}: {} measured, {} of warm-up, pauses of at most {}",
            show_duration(measured_s),
            show_duration(warmup_s),
            show_duration(settle_s)
        ),
    }];
    if kept > 0 {
        parts.push(format!("{} there already", counted(kept as u64)));
    }
    match ends(times.total_s()) {
        _ if plan.engine == EngineChoice::Sim => {
            parts.push("of a simulated device, which needs none of this time".to_owned());
        }
        // How fast they can be written is not known yet.
        Some(end) => {
            parts.push(format!("ends {end} at the latest, once the test files are written"));
        }
        None => {}
    }
    parts.join("; ")
}

fn in_rounds(plan: &Plan, rounds: &Rounds, kept: usize) -> String {
    let once_s = plan.times(&plan.cells()).total_s();
    let (least, most) = plan.rounds_range();
    let time = |rounds: u32| show_duration(once_s * f64::from(rounds));
    let mut parts = vec![format!(
        "{} in {least} to {most} rounds until steady: {} to {}",
        counted(plan.count()),
        time(least),
        time(most)
    )];
    if rounds.precondition_times > 0 {
        let times = rounds.precondition_times;
        parts.push(format!("before them, all of it is written {times} times"));
    }
    if kept > 0 {
        parts.push(format!("{kept} of the measurements are there already"));
    }
    parts.join("; ")
}

/// A count as `1 cell` or `2 cells`.
#[must_use]
pub fn counted(cells: u64) -> String {
    format!("{cells} cell{}", if cells == 1 { "" } else { "s" })
}

fn missing(plan: &Plan, kept: usize) -> Vec<Cell> {
    plan.sequence().into_iter().skip(kept).collect()
}

/// What a sweep would do of which these measurements are kept already.
pub(super) fn describe(
    plan: &Plan,
    kept: usize,
    permissions: &Permissions,
) -> Result<Description, JobError> {
    let wrong = plan.violations();
    if !wrong.is_empty() {
        return Err(PrepareError::Invalid(wrong).into());
    }
    let targets = survey::plan_sweep_targets(plan, permissions)?;
    let work = vec![plan.title.clone(), duration(plan, kept)];
    let mut description = Description { work, ..Description::of(targets) };
    if !plan.engine.is_artificial() {
        description.notes.push(written(plan, kept));
    }
    Ok(description)
}

/// How much the cells write, as far as the kind of storage tells.
fn written(plan: &Plan, kept: usize) -> String {
    let paths: Vec<&Path> = plan.targets.iter().map(|t| t.path.as_path()).collect();
    let site = Site::of_paths(&paths);
    let mut devices = site.environment().storage.iter().flat_map(|s| &s.devices);
    let (speed, kind) = if devices.any(|d| d.rotational == Some(true)) {
        (Speed::ROTATING, "a disk with moving heads")
    } else {
        (Speed::SOLID, "a solid state drive")
    };
    // Of an adaptive sweep, few cells write.
    let share = if plan.adaptive {
        let whole_s = plan.times(&plan.cells()).total_s();
        survey::sweep_forecast(plan).map_or(1.0, |forecast| forecast.seconds() / whole_s)
    } else {
        1.0
    };
    let (_, rounds) = plan.rounds_range();
    let all = f64::from(rounds);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let bytes = Bytes((share * all * plan.written_bytes(&missing(plan, kept), &speed)) as u64);
    let (iops, mb) = (speed.random_iops, speed.bytes_per_s / 1e6);
    format!(
        "written by the cells: about {bytes}, an estimate for {kind} of {iops} random IOPS and \
         {mb} MB/s"
    )
}
