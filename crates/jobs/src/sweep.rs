//! A matrix of workloads, kept cell by cell.

mod forecast;
mod prepared;

use std::path::Path;

use engine::Permissions;
use history::History;
use jiff::Timestamp;
use results::{Conclusion, Document, Measurement, Status, Sweep};
use survey::{Bench, Here, SweepOptions};
use workload::EngineChoice;
use workload::sweep::Cell;

pub use forecast::{counted as counted_cells, presets as sweep_presets};
pub use prepared::{PreparedSweep, sweep_precision};
pub use workload::sweep::Plan as SweepPlan;

use crate::conduct::{Conducted, JobError, Relay, Session, resuming};
use crate::event::Event;
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

/// Work for each finished cell of a sweep, such as the result files of another tool.
pub trait Companion {
    /// Called before anything is measured; `kept` are the cells that were measured before an
    /// interruption.
    ///
    /// # Errors
    /// Why the sweep must not begin.
    fn begin(&mut self, kept: &[(&Cell, &Measurement)]) -> Result<(), String>;

    /// A cell was measured.
    ///
    /// # Errors
    /// Why the sweep must end.
    fn measured(&mut self, cell: &Cell, measurement: &Measurement) -> Result<(), String>;

    /// The command that resumes the sweep; `None` if it is `iosonde sweep --resume`.
    fn resumption(&self) -> Option<String> {
        None
    }
}

/// Nothing next to the sweep itself.
pub struct NoCompanion;

impl Companion for NoCompanion {
    fn begin(&mut self, _: &[(&Cell, &Measurement)]) -> Result<(), String> {
        Ok(())
    }

    fn measured(&mut self, _: &Cell, _: &Measurement) -> Result<(), String> {
        Ok(())
    }
}

impl Job for SweepPlan {
    fn plan(&self) -> Plan {
        Plan::Sweep(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        Ok(subject(self))
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.targets)
    }

    fn is_artificial(&self) -> bool {
        self.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        pin_targets(&mut self.targets, document);
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        forecast::describe(self, &[], permissions)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        sweep(self, &mut NoCompanion, session)
    }
}

/// Measures a plan on a bench, as the document of this job.
///
/// # Errors
/// Nothing was measured, and why.
pub fn sweep_on(
    bench: &mut dyn Bench,
    job: &dyn Job,
    plan: &SweepPlan,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    sweep_from(bench, (job, plan), &mut NoCompanion, session)
}

/// Measures the missing cells of a sweep.
fn sweep(
    plan: &SweepPlan,
    companion: &mut dyn Companion,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let conducted = sweep_from(&mut Here, (plan, plan), companion, session)?;
    let is_left =
        |found: &Document| found.status() != Status::Complete && !found.measurements().is_empty();
    if let Some(recording) = session.recording.filter(|_| conducted.documents.iter().any(is_left)) {
        let resumption = || resuming("sweep --resume", recording, &session.permissions);
        let command = companion.resumption().unwrap_or_else(resumption);
        session.sink.hear(&Event::Notice { text: format!("resume it with `{command}`") });
    }
    Ok(conducted)
}

fn sweep_from(
    bench: &mut dyn Bench,
    (job, plan): (&dyn Job, &SweepPlan),
    companion: &mut dyn Companion,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let (permissions, stop) = (session.permissions.clone(), session.stop);
    let relay = Relay::open(session, job)?;
    let (id, started, kept) = open(plan, &relay)?;
    let cells = plan.cells();
    // A repetition has the number of its cell and so many times that of all cells.
    let cell_of = |name: u32| cells.get(name as usize % cells.len().max(1));
    let before: Vec<(&Cell, &Measurement)> =
        kept.iter().filter_map(|(name, m)| Some((cell_of(*name)?, m))).collect();
    companion.begin(&before).map_err(JobError::Companion)?;
    let options = SweepOptions { plan: plan.clone(), permissions, id, started, kept: kept.clone() };
    let mut keep = |name: u32, measurement: &Measurement| -> Result<(), String> {
        relay.recorder().borrow_mut().keep(name, measurement).map_err(|e| e.to_string())?;
        cell_of(name).map_or(Ok(()), |cell| companion.measured(cell, measurement))
    };
    let mut observe = |progress: survey::Progress<'_>| relay.hear(&progress);
    let made = survey::sweep_on(bench, options, stop, &mut keep, &mut observe);
    let experiment = made.inspect_err(|_| relay.give_up())?;
    Ok(relay.finish(Document::Sweep(Box::new(experiment))))
}

type KeptCells = Vec<(u32, Measurement)>;

/// Takes the id of the sweep, and reads its stored cells.
fn open(plan: &SweepPlan, relay: &Relay<'_>) -> Result<(String, String, KeptCells), JobError> {
    let mut recorder = relay.recorder().borrow_mut();
    match relay.resumed() {
        None => {
            let now = Timestamp::now();
            let (id, started) = (engine::new_id(now), now.to_string());
            recorder.began(&id, &started)?;
            drop(recorder);
            note_unfinished(plan, relay)?;
            Ok((id, started, Vec::new()))
        }
        Some(job) => {
            let (id, started) = (job.id.clone(), job.started.clone());
            recorder.resumes(&id, &started)?;
            // Read now that nobody else works on it.
            let kept = recorder.history().map(|history| kept(history, &id)).transpose()?;
            Ok((id, started, kept.unwrap_or_default()))
        }
    }
}

/// The stored cells of a sweep, under their ids.
fn kept(history: &History, id: &str) -> Result<KeptCells, JobError> {
    let kept = history.measurements(id)?;
    Ok(kept.into_iter().map(|k| (k.cell, k.measurement)).collect())
}

/// Says where the cells are kept, and that the same plan was begun before.
fn note_unfinished(plan: &SweepPlan, relay: &Relay<'_>) -> Result<(), JobError> {
    let recorder = relay.recorder().borrow();
    let Some(history) = recorder.history() else {
        relay.notice("not recorded: a sweep that is interrupted cannot be resumed".to_owned());
        return Ok(());
    };
    relay.notice(format!("kept cell by cell in {}", history.place()));
    if let Some(before) = history.unfinished("sweep", Some(&plan.id()))?.first() {
        relay.notice(format!(
            "note: a sweep of the same plan that began {} is unfinished, with {} cells; \
             `--resume` continues it",
            before.started, before.cells
        ));
    }
    Ok(())
}

/// How many cells there are, how long they take, and until when.
pub(crate) fn duration(plan: &SweepPlan) -> String {
    forecast::duration(plan, &[])
}

fn subject(plan: &SweepPlan) -> Subject {
    let name = |path: &Path| path.display().to_string();
    let targets: Vec<String> = plan.targets.iter().map(|target| name(&target.path)).collect();
    Subject {
        kind: "sweep",
        schema: Sweep::SCHEMA,
        title: plan.title.clone(),
        targets: targets.join(", "),
        plan: plan.to_json(),
        plan_id: plan.id(),
        watched: plan.engine != EngineChoice::Sim,
    }
}
