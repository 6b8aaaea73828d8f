//! The runs of an IOMeter configuration, one after the other on the same targets.
//!
//! Each run is a separate measurement, kept before the next begins. A run that cannot be made on
//! these targets is left out, and the others are made; one in which I/Os fail is not a reason to
//! leave out the next.

use engine::{Permissions, PrepareError};
use results::{Cycle, CycleRun, Experiment, Measurement, Status};
use workload::{TargetFacts, Workload};

use crate::bench::{Bench, Stand};
use crate::lab::{Lab, LabContext, Setup, Timing, mix};

/// Every run, and the targets that they need.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleOptions {
    /// What the document says of the runs; their measurements are not there yet.
    pub cycle: Cycle,
    /// What each run does, in the same order, all on the same targets.
    pub workloads: Vec<Workload>,
    /// Reads and writes what any of them does, and is only made ready.
    pub preparation: Workload,
    /// What may be done to the targets.
    pub permissions: Permissions,
    /// Every run begins with the seed of its workload; otherwise with its own, which follows from
    /// it.
    pub same_seed: bool,
    /// How it is measured, sentence by sentence.
    pub method: Vec<String>,
    /// What is done in another way than asked for.
    pub warnings: Vec<String>,
}

/// Keeps a finished run (from 0), before the next begins. An error ends the cycle.
pub type KeepStep<'a> = dyn FnMut(usize, &Measurement) -> Result<(), String> + 'a;

/// Runs a configuration where `bench` measures. `settle` gets the facts of the targets once they
/// are ready, and may adapt a workload to them.
///
/// # Errors
/// The targets cannot be prepared.
pub fn cycle_on<'a>(
    bench: &'a mut dyn Bench,
    mut options: CycleOptions,
    settle: &dyn Fn(&mut Workload, &[TargetFacts]),
    keep: &mut KeepStep<'_>,
    context: LabContext<'a>,
) -> Result<Experiment<Cycle>, PrepareError> {
    let setup = setup_of(&options);
    let mut lab = Lab::open_for(bench, setup, &options.preparation, context)?;
    let facts = lab.facts();
    for workload in &mut options.workloads {
        settle(workload, &facts);
    }
    lab.expect_steps(options.workloads.len());
    let mut runs = Runs { options, lab, measurements: Vec::new(), failed: false, error: None };
    for index in 0..runs.options.workloads.len() {
        if runs.error.is_some() || runs.lab.is_over() {
            break;
        }
        runs.run(index, keep);
    }
    Ok(runs.document())
}

/// What the runs share.
fn setup_of(options: &CycleOptions) -> Setup {
    let preparation = &options.preparation;
    Setup {
        targets: preparation.targets.clone(),
        permissions: options.permissions.clone(),
        engine: preparation.engine,
        sim: preparation.sim.clone(),
        mode: preparation.mode,
        seed: preparation.seed,
        timing: Timing::default(),
    }
}

/// The runs, as far as they have come.
struct Runs<'a> {
    options: CycleOptions,
    lab: Lab<'a>,
    measurements: Vec<Measurement>,
    /// A run could not be made, or ended early by an error.
    failed: bool,
    /// What ended the cycle, if it was neither its end nor a signal.
    error: Option<String>,
}

impl Runs<'_> {
    fn run(&mut self, index: usize, keep: &mut KeepStep<'_>) {
        let Some(workload) = self.options.workloads.get(index) else { return };
        let title = self.options.cycle.runs.get(index).map(title).unwrap_or_default();
        self.lab.begin(&title);
        let seed = if self.options.same_seed {
            workload.seed
        } else {
            mix(workload.seed, index as u64 + 1)
        };
        let workload = Workload { seed, ..workload.clone() };
        let reason = match unfit(&workload, self.lab.stand()) {
            Err(reason) => Some(reason),
            Ok(()) => match self.lab.measure_workload(&workload, 0.0) {
                Some(measurement) => return self.keep(index, measurement, keep),
                // None without an error was stopped before its window began.
                None => self.lab.forgive(),
            },
        };
        if reason.is_some()
            && let Some(run) = self.options.cycle.runs.get_mut(index)
        {
            self.failed = true;
            run.reason = reason;
        }
    }

    fn keep(&mut self, index: usize, measurement: Measurement, keep: &mut KeepStep<'_>) {
        if measurement.status == Status::Failed {
            // The next run may do better.
            self.lab.forgive();
            self.failed = true;
        }
        self.lab.keep(&measurement);
        if !self.lab.is_answer()
            && let Err(error) = keep(index, &measurement)
        {
            self.error = Some(format!("the runs ended early: {error}"));
        }
        if let Some(run) = self.options.cycle.runs.get_mut(index) {
            run.measurement = Some(self.measurements.len());
        }
        self.measurements.push(measurement);
    }

    fn document(self) -> Experiment<Cycle> {
        let mut warnings = self.options.warnings;
        let reasons = self.options.cycle.runs.iter().enumerate();
        warnings.extend(reasons.filter_map(|(i, run)| {
            run.reason.as_ref().map(|reason| format!("run {} was not made: {reason}", i + 1))
        }));
        warnings.splice(0..0, self.error.clone());
        let (status, failed) = (self.lab.status(), self.failed || self.error.is_some());
        let status = if status == Status::Complete && failed { Status::Failed } else { status };
        let method = self.options.method;
        let made = self.lab.document(self.options.cycle, self.measurements, method);
        warnings.extend(made.warnings);
        Experiment { status, warnings, ..made }
    }
}

/// What a run does, in a phrase.
fn title(run: &CycleRun) -> String {
    format!("{}, {} in flight", run.specs.join(", "), run.in_flight)
}

/// Why a workload cannot be done on these targets, if it cannot.
fn unfit(workload: &Workload, stand: &dyn Stand) -> Result<(), String> {
    let mut violations = workload.violations();
    violations.extend(workload.violations_on(&stand.facts()));
    let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
    if !violations.is_empty() {
        return Err(violations.join("; "));
    }
    stand.unfit(workload).map_or(Ok(()), Err)
}
