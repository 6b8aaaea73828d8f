//! A sweep: every cell of a plan, one after the other, each handed over as soon as it is finished.
//!
//! The plan and the measurements alone decide what to measure next. A sweep that was interrupted,
//! in whatever way, therefore resumes from its stored measurements.

mod adaptive;
mod checks;
mod collected;
mod conclude;
mod forecast;
mod kept;
mod method;
mod rest;
mod rising;
mod rounds;
mod session;
mod window;

use std::sync::atomic::AtomicBool;

use engine::{Permissions, PrepareError, TargetPlan};
use results::{Experiment, Measurement, Sweep};
use workload::sweep::Plan;

use crate::bench::{Bench, Here};
use crate::lab::Progress;

pub use collected::{CollectError, collected_sweeps};
pub use forecast::{Forecast, forecast};

/// The plan of a sweep, and its stored part.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepOptions {
    /// The plan, from which all cells follow.
    pub plan: Plan,
    /// What may be done to the targets.
    pub permissions: Permissions,
    /// Unique name of the sweep, the same after an interruption.
    pub id: String,
    /// When it began, UTC, RFC 3339.
    pub started: String,
    /// The measurements that were kept before an interruption, by the names they were kept under.
    pub kept: Vec<(u32, Measurement)>,
}

/// Keeps a finished measurement under a name, before the next begins. An error ends the sweep.
pub type Keep<'a> = dyn FnMut(u32, &Measurement) -> Result<(), String> + 'a;

/// Measures the missing cells of a plan.
///
/// `stop` ends it early: the result then has what was measured until then, and the status says so.
pub fn sweep(
    options: SweepOptions,
    stop: &AtomicBool,
    keep: &mut Keep<'_>,
    observe: &mut dyn FnMut(Progress<'_>),
) -> Result<Experiment<Sweep>, PrepareError> {
    sweep_on(&mut Here, options, stop, keep, observe)
}

/// The same wherever the targets are.
pub fn sweep_on(
    bench: &mut dyn Bench,
    options: SweepOptions,
    stop: &AtomicBool,
    keep: &mut Keep<'_>,
    observe: &mut dyn FnMut(Progress<'_>),
) -> Result<Experiment<Sweep>, PrepareError> {
    session::Session::new(options).run(bench, stop, keep, observe)
}

/// What a sweep would do to its targets; touches nothing.
pub fn plan_sweep_targets(
    plan: &Plan,
    permissions: &Permissions,
) -> Result<Vec<TargetPlan>, PrepareError> {
    session::plan_targets(plan, permissions)
}
