//! A sweep: every cell of a plan, one after the other, each handed over as soon as it is finished.
//!
//! The plan and the measurements alone decide what to measure next. A sweep that was interrupted,
//! in whatever way, therefore resumes from its stored measurements.

mod adaptive;
mod checks;
mod collected;
mod conclude;
mod forecast;
mod method;
mod rising;
mod rounds;
mod session;
mod window;

use engine::{Permissions, PrepareError, TargetPlan};
use results::{Experiment, Measurement, Sweep};
use workload::sweep::{Cell, Plan};

use crate::bench::{Bench, Here};
use crate::lab::LabContext;

pub use collected::{CollectError, collected_sweeps};
pub use forecast::sweep_forecast;

/// The plan of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepOptions {
    /// The plan, from which all cells follow.
    pub plan: Plan,
    /// What may be done to the targets.
    pub permissions: Permissions,
}

/// Hears of each cell that is measured, before the next begins; the last argument is `false` if it
/// was measured before an interruption. An error ends the sweep.
pub type FinishedCell<'a> = dyn FnMut(&Cell, &Measurement, bool) -> Result<(), String> + 'a;

/// Measures the cells of a plan.
///
/// # Errors
/// A target cannot be made ready, and nothing was measured.
pub fn sweep(
    options: SweepOptions,
    context: LabContext<'_>,
) -> Result<Experiment<Sweep>, PrepareError> {
    sweep_on(&mut Here, options, &mut |_, _, _| Ok(()), context)
}

/// The same wherever the targets are.
///
/// # Errors
/// A target cannot be made ready, and nothing was measured.
pub fn sweep_on(
    bench: &mut dyn Bench,
    options: SweepOptions,
    finished: &mut FinishedCell<'_>,
    context: LabContext<'_>,
) -> Result<Experiment<Sweep>, PrepareError> {
    session::Session::new(options).run(bench, finished, context)
}

/// What a sweep would do to its targets; touches nothing.
///
/// # Errors
/// A target cannot be used.
pub fn plan_sweep_targets(
    plan: &Plan,
    permissions: &Permissions,
) -> Result<Vec<TargetPlan>, PrepareError> {
    session::plan_targets(plan, permissions)
}
