//! A sweep that is new, or what there is of one that was interrupted.

use engine::{Destroy, Permissions, PrepareError};
use history::{History, HistoryError, Place};
use survey::Here;
use workload::Precision;

use super::{Companion, SweepPlan, forecast, sweep_from};
use crate::conduct::{Conducted, JobError, Session};
use crate::job::Description;
use crate::recorder::UnfinishedJob;

/// Of many cells, each need not be known as well as a single one.
const ADAPTIVE_PERCENT: f64 = 5.0;

/// How precise a sweep is: as asked for, as planned, or where few cells speak for many, as those
/// must be.
#[must_use]
pub fn sweep_precision(
    percent: Option<f64>,
    planned: Option<Precision>,
    is_adaptive: bool,
) -> Option<Precision> {
    let usual = is_adaptive && planned.is_none();
    let percent = percent.or(usual.then_some(ADAPTIVE_PERCENT));
    percent.map_or(planned, |percent| Some(Precision { percent, ..planned.unwrap_or_default() }))
}

/// A sweep that can be run.
#[derive(Debug)]
pub struct PreparedSweep {
    /// The plan of the sweep.
    pub plan: SweepPlan,
    /// The sweep of the history that is resumed; `None` if it is new.
    unfinished: Option<UnfinishedJob>,
    /// How many measurements are there already.
    kept: usize,
}

impl PreparedSweep {
    /// A new sweep, from its first cell.
    #[must_use]
    pub fn new(plan: SweepPlan) -> Self {
        Self { plan, unfinished: None, kept: 0 }
    }

    /// An unfinished sweep of a history: the one with this plan, or the newest.
    ///
    /// # Errors
    /// There is none, or it cannot be resumed.
    pub fn resume(
        place: &Place,
        asked: Option<&SweepPlan>,
        permissions: &Permissions,
    ) -> Result<Self, JobError> {
        let nothing = |which: &str| {
            JobError::Usage(format!(
                "no unfinished sweep {which}is in {place}; leave `--resume` out to begin one"
            ))
        };
        let history = match History::open_existing(place) {
            // A history that does not exist has nothing to resume, and is not made for that.
            Err(HistoryError::NotThere { .. }) => return Err(nothing("")),
            opened => opened?,
        };
        let plan_id = asked.map(SweepPlan::id);
        let found = history.unfinished("sweep", plan_id.as_deref())?;
        let Some(experiment) = found.into_iter().next() else {
            return Err(nothing(if asked.is_some() { "of this plan " } else { "" }));
        };
        let plan = SweepPlan::from_json(&experiment.plan).map_err(|e| {
            JobError::Companion(format!("the plan of `{}` in {place}: {e}", experiment.id))
        })?;
        let violations = plan.violations();
        if !violations.is_empty() {
            return Err(PrepareError::Invalid(violations).into());
        }
        let is_stray = |named: &&Destroy| !plan.targets.iter().any(|t| named.names(&t.path));
        if let Some(stray) = permissions.destroy.iter().find(is_stray) {
            return Err(JobError::Usage(format!(
                "--destroy {stray} names no target: it must repeat one exactly"
            )));
        }
        let kept = experiment.cells as usize;
        let unfinished = Some(UnfinishedJob::of(&experiment));
        Ok(Self { plan, unfinished, kept })
    }

    /// The cells that are still missing.
    ///
    /// # Errors
    /// The plan breaks a rule, or a target cannot be used.
    pub fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        forecast::describe(&self.plan, self.kept, permissions)
    }

    /// How many cells there are, how long they take, and until when.
    #[must_use]
    pub fn duration(&self) -> String {
        forecast::duration(&self.plan, self.kept)
    }

    /// Measures the cells that are missing.
    ///
    /// # Errors
    /// Nothing was measured, and why.
    pub fn run(
        &self,
        companion: &mut dyn Companion,
        session: &mut Session<'_>,
    ) -> Result<Conducted, JobError> {
        session.resumed.clone_from(&self.unfinished);
        sweep_from(&mut Here, (&self.plan, &self.plan), companion, session)
    }
}
