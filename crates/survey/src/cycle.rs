//! The runs of an IOMeter configuration, one after the other on the same targets.
//!
//! Each run is a separate measurement, kept before the next begins. A run that cannot be made on
//! these targets is left out, and the others are made; one in which I/Os fail is not a reason to
//! leave out the next.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Event, Permissions, PrepareError};
use jiff::Timestamp;
use results::{Conclusion, Cycle, CycleRun, Experiment, Measurement, Status};
use workload::{TargetFacts, Workload};

use crate::bench::{Bench, Stand};
use crate::doubts;
use crate::lab::{Progress, Start, mix};

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
/// `stop` ends it early: the result then has what was measured until then, and says so.
///
/// # Errors
/// The targets cannot be prepared.
pub fn cycle_on(
    bench: &mut dyn Bench,
    mut options: CycleOptions,
    stop: &AtomicBool,
    settle: &dyn Fn(&mut Workload, &[TargetFacts]),
    keep: &mut KeepStep<'_>,
    observe: &mut dyn FnMut(Progress<'_>),
) -> Result<Experiment<Cycle>, PrepareError> {
    let begun = Start::now(observe);
    observe(Progress::before("preparing"));
    let mut engine_observe = |event: &Event| observe(Progress::Engine(event));
    let (preparation, permissions) = (&options.preparation, &options.permissions);
    let stand = bench.prepare(preparation, permissions, stop, &mut engine_observe)?;
    let facts = stand.facts();
    for workload in &mut options.workloads {
        settle(workload, &facts);
    }
    let mut runs =
        Runs { options, stand, stop, measurements: Vec::new(), failed: false, error: None };
    for index in 0..runs.options.workloads.len() {
        if runs.is_over() {
            break;
        }
        runs.run(index, keep, observe);
    }
    Ok(runs.document(begun))
}

/// The runs, as far as they have come.
struct Runs<'a> {
    options: CycleOptions,
    stand: Box<dyn Stand + 'a>,
    stop: &'a AtomicBool,
    measurements: Vec<Measurement>,
    /// A run could not be made, or ended early by an error.
    failed: bool,
    /// What ended the cycle, if it was neither its end nor a signal.
    error: Option<String>,
}

impl Runs<'_> {
    fn is_over(&self) -> bool {
        self.error.is_some() || self.stop.load(Ordering::Relaxed)
    }

    fn run(
        &mut self,
        index: usize,
        keep: &mut KeepStep<'_>,
        observe: &mut dyn FnMut(Progress<'_>),
    ) {
        let Some(workload) = self.options.workloads.get(index) else { return };
        let of = self.options.workloads.len();
        let title = self.options.cycle.runs.get(index).map(title).unwrap_or_default();
        observe(Progress::Step { number: index + 1, of, title: &title, seconds_left: None });
        let seed = if self.options.same_seed {
            workload.seed
        } else {
            mix(workload.seed, index as u64 + 1)
        };
        let workload = Workload { seed, ..workload.clone() };
        let measured = unfit(&workload, self.stand.as_ref()).and_then(|()| {
            let engine_observe = &mut |event: &Event| observe(Progress::Engine(event));
            let measured = self.stand.measure(&workload, self.stop, engine_observe);
            measured.map_err(|error| error.to_string())
        });
        match measured {
            Ok(measurement) if measurement.seconds > 0.0 => {
                self.failed |= measurement.status == Status::Failed;
                observe(Progress::Measured(&measurement));
                if let Err(error) = keep(index, &measurement) {
                    self.error = Some(format!("the runs ended early: {error}"));
                }
                if let Some(run) = self.options.cycle.runs.get_mut(index) {
                    run.measurement = Some(self.measurements.len());
                }
                self.measurements.push(measurement);
            }
            // It was stopped before its window began.
            Ok(_) => {}
            Err(reason) => {
                self.failed = true;
                if let Some(run) = self.options.cycle.runs.get_mut(index) {
                    run.reason = Some(reason);
                }
            }
        }
    }

    fn status(&self) -> Status {
        let interrupted = self.measurements.iter().any(|m| m.status == Status::Interrupted);
        match () {
            () if self.stop.load(Ordering::Relaxed) || interrupted => Status::Interrupted,
            () if self.failed || self.error.is_some() => Status::Failed,
            () => Status::Complete,
        }
    }

    fn document(self, begun: Start) -> Experiment<Cycle> {
        let status = self.status();
        let mut warnings = self.options.warnings.clone();
        let reasons = self.options.cycle.runs.iter().enumerate();
        warnings.extend(reasons.filter_map(|(i, run)| {
            run.reason.as_ref().map(|reason| format!("run {} was not made: {reason}", i + 1))
        }));
        warnings.splice(0..0, self.error.clone());
        warnings.extend(doubts::each_once(self.measurements.iter().map(|m| ("", m))));
        let targets = self.options.preparation.targets.iter();
        Experiment {
            plan: None,
            schema: Cycle::SCHEMA.to_owned(),
            id: begun.id,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: begun.started.to_string(),
            finished: Timestamp::now().to_string(),
            status,
            targets: targets.map(|t| self.stand.resolved(&t.path)).collect(),
            file_bytes: self.stand.facts().iter().map(|f| f.size_bytes).sum(),
            environment: self.stand.environment().clone(),
            conclusion: self.options.cycle,
            measurements: self.measurements,
            method: [self.options.method, self.stand.method()].concat(),
            warnings,
        }
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
