//! A matrix of workloads, kept cell by cell.

mod forecast;
mod prepared;

use std::path::Path;

use engine::Permissions;
use history::History;
use results::{Conclusion, Document, Measurement, Sweep};
use survey::{Bench, Here, LabContext, SweepOptions};
use workload::EngineChoice;
use workload::sweep::Cell;

pub use forecast::{counted as counted_cells, presets as sweep_presets};
pub use prepared::{PreparedSweep, sweep_precision};
pub use workload::sweep::Plan as SweepPlan;

use crate::conduct::{Conducted, JobError, Session, conduct_resumed_by};
use crate::event::Event;
use crate::experiments::foreseen;
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::recorder::Recording;
use crate::subject::Subject;

/// Work for each finished cell of a sweep, such as the result files of another tool.
pub trait Companion {
    /// Called before anything is measured.
    ///
    /// # Errors
    /// Why the sweep must not begin.
    fn begin(&mut self) -> Result<(), String>;

    /// A cell was measured; `is_new` if not before an interruption.
    ///
    /// # Errors
    /// Why the sweep must end.
    fn measured(
        &mut self,
        cell: &Cell,
        measurement: &Measurement,
        is_new: bool,
    ) -> Result<(), String>;

    /// The command that resumes the sweep; `None` if it is `iosonde again --resume`.
    fn resumption(&self) -> Option<String> {
        None
    }
}

/// Nothing next to the sweep itself.
pub struct NoCompanion;

impl Companion for NoCompanion {
    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn measured(&mut self, _: &Cell, _: &Measurement, _: bool) -> Result<(), String> {
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
        forecast::describe(self, 0, permissions)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        sweep_from(&mut Here, (self, self), &mut NoCompanion, session)
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

/// Measures the cells of a sweep, or those that are missing.
fn sweep_from(
    bench: &mut dyn Bench,
    (job, plan): (&dyn Job, &SweepPlan),
    companion: &mut dyn Companion,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    companion.begin().map_err(JobError::Companion)?;
    if session.resumed.is_none() {
        for text in notes(plan, session.recording)? {
            session.sink.hear(&Event::Notice { text });
        }
    }
    let options = SweepOptions { plan: plan.clone(), permissions: session.permissions.clone() };
    let command = companion.resumption();
    let mut finished = |cell: &Cell, measurement: &Measurement, is_new: bool| {
        companion.measured(cell, measurement, is_new)
    };
    let foreseen = foreseen(job, || survey::sweep_forecast(plan));
    conduct_resumed_by(command, session, job, |context| {
        let context = LabContext { foreseen, ..context };
        let found = survey::sweep_on(bench, options, &mut finished, context.within())?;
        Ok(Document::Sweep(Box::new(found)))
    })
}

/// Where the cells are kept, and that the same plan was begun before.
fn notes(plan: &SweepPlan, recording: Option<&Recording>) -> Result<Vec<String>, JobError> {
    let Some(recording) = recording else {
        return Ok(vec!["not recorded: a sweep that is interrupted cannot be resumed".to_owned()]);
    };
    let history = History::open(&recording.place)?;
    let kept = format!("kept cell by cell in {}", history.place());
    let before = history.unfinished("sweep", Some(&plan.id()))?;
    let before = before.first().map(|before| {
        format!(
            "note: a sweep of the same plan that began {} is unfinished, with {} cells; \
             `--resume` continues it",
            before.started, before.cells
        )
    });
    Ok([kept].into_iter().chain(before).collect())
}

/// How many cells there are, how long they take, and until when.
pub(crate) fn duration(plan: &SweepPlan) -> String {
    forecast::duration(plan, 0)
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
