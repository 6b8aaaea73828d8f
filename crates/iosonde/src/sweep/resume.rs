//! Resuming a sweep that was interrupted.

use engine::Permissions;
use history::{History, HistoryError, Place};
use workload::sweep::Plan;

use super::plan::checked;
use super::{Begun, SweepArgs};
use crate::exit::Failure;
use crate::recording::failure;

/// An unfinished sweep: that of this plan, or the newest.
pub(super) fn begun(
    place: &Place,
    asked: Option<&Plan>,
    permissions: &Permissions,
) -> Result<Begun, Failure> {
    let nothing = |which: &str| {
        Failure::WrongUsage(format!(
            "no unfinished sweep {which}is in {place}; leave `--resume` out to begin one"
        ))
    };
    let history = match History::open_existing(place) {
        // What is not there has nothing to resume, and is not made for that.
        Err(HistoryError::NotThere { .. }) => return Err(nothing("")),
        opened => opened.map_err(failure)?,
    };
    let plan_id = asked.map(Plan::id);
    let found = history.unfinished("sweep", plan_id.as_deref()).map_err(failure)?;
    let Some(experiment) = found.into_iter().next() else {
        return Err(nothing(if asked.is_some() { "of this plan " } else { "" }));
    };
    let plan = Plan::from_json(&experiment.plan).map_err(|e| {
        Failure::CannotRun(format!("the plan of `{}` in {place}: {e}", experiment.id))
    })?;
    let plan = checked(plan)?;
    if let Some(stray) =
        permissions.destroy.iter().find(|d| !plan.targets.iter().any(|t| &t.path == *d))
    {
        let text =
            format!("--destroy {} names no target: it must repeat one exactly", stray.display());
        return Err(Failure::WrongUsage(text));
    }
    let kept = history.measurements(&experiment.id).map_err(failure)?;
    let names = kept.into_iter().map(|kept| kept.cell).collect();
    Ok(Begun { plan, resumed: Some((experiment, names)) })
}

/// Without a plan, `--resume` takes everything from the sweep it goes on with: what would be left
/// aside is refused.
pub(super) fn nothing_left_aside(args: &SweepArgs) -> Result<(), Failure> {
    let (target, lists) = (&args.target, &args.lists);
    let given = [
        (!target.targets.is_empty(), "TARGET"),
        (target.size.is_some(), "--size"),
        (target.engine.is_some(), "--engine"),
        (target.sim.is_some(), "--sim"),
        (target.seed.is_some(), "--seed"),
        (lists.seconds.is_some(), "--seconds"),
        (lists.warmup.is_some(), "--warmup"),
        (lists.durable, "--durable"),
        (args.settle.is_some(), "--settle"),
        (args.together, "--together"),
        (args.shuffle, "--shuffle"),
        (args.adaptive, "--adaptive"),
        (args.precision.is_some(), "--precision"),
        (args.buffered, "--buffered"),
    ];
    let names: Vec<&str> = given.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Failure::WrongUsage(format!(
        "`--resume` alone goes on with the newest sweep as it was begun: leave out {}, or repeat \
         the whole command of the sweep that is meant, with its preset, plan or lists",
        names.join(", ")
    )))
}
