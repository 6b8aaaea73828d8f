//! The same workload several times, each run on its own: how well does a figure repeat?
//!
//! What differs from one run to the next is not seen within one. Each run has fresh threads and its
//! own random offsets; the test files stay. Several sides, such as two targets that are to be
//! compared, take turns (A B, B A, A B …), so that what changes slowly meanwhile changes all of
//! them alike.

use analysis::noise;
use engine::{Permissions, PrepareError};
use results::{Experiment, Measurement, Runs, Status};
use workload::{Stream, Violation, Workload};

use crate::Publish;
use crate::lab::{Lab, LabContext, Setup, Timing, mix};

/// How many runs there may be.
pub const RUNS: std::ops::RangeInclusive<u32> = 1..=100;

/// What to run, and how often.
#[derive(Debug, Clone, PartialEq)]
pub struct RunsOptions {
    /// The workloads that take turns; each gives a separate document.
    pub sides: Vec<Workload>,
    /// What may be done to the targets.
    pub permissions: Permissions,
    /// Runs of each side, 1 to 100.
    pub repeat: u32,
    /// Pause before a run that writes or follows one that wrote.
    pub settle_seconds: f64,
}

/// Runs each side's workload as often as asked; returns a document per side, in their order.
///
/// Each side has its context. A signal ends all of them early: the results then have what was
/// measured until then, and say so.
///
/// # Errors
/// The options break a rule, or the targets of a side cannot be prepared.
pub fn runs<'a>(
    options: &'a RunsOptions,
    contexts: Vec<LabContext<'a>>,
) -> Result<Vec<Experiment<Runs>>, PrepareError> {
    check(options)?;
    let mut sides = Vec::new();
    for (workload, context) in options.sides.iter().zip(contexts) {
        sides.push(Side::open(workload, options, context)?);
    }
    'rounds: for round in 0..options.repeat {
        for place in order(sides.len(), round) {
            let Some(side) = sides.get_mut(place) else { continue };
            side.run(round, options);
            let (over, wrote) = (side.lab.is_over(), side.lab.has_written());
            if over {
                break 'rounds;
            }
            for (other, side) in sides.iter_mut().enumerate() {
                if other != place {
                    side.lab.follow(wrote);
                }
            }
        }
    }
    let status = sides.iter().map(|side| side.lab.status()).fold(Status::Complete, worse);
    Ok(sides.into_iter().map(|side| side.document(options, status)).collect())
}

/// The rules that flags alone cannot keep.
fn check(options: &RunsOptions) -> Result<(), PrepareError> {
    let mut violations = Vec::new();
    let mut refuse = |field: &str, value: String, rule: &str| {
        violations.push(Violation { field: field.to_owned(), value, rule: rule.to_owned() });
    };
    if !RUNS.contains(&options.repeat) {
        refuse("repeat", options.repeat.to_string(), "a workload is run 1 to 100 times");
    }
    let settle = options.settle_seconds;
    if !(0.0..=86_400.0).contains(&settle) {
        refuse("settle", settle.to_string(), "a pause is 0 to 86400 seconds");
    }
    if violations.is_empty() { Ok(()) } else { Err(PrepareError::Invalid(violations)) }
}

/// Whose turn it is, in which order: forwards and backwards by turns.
fn order(sides: usize, round: u32) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..sides).collect() } else { (0..sides).rev().collect() }
}

/// ` on /data`, or nothing where there are several targets.
fn named(workload: &Workload) -> String {
    match workload.targets.as_slice() {
        [target] => format!(" on {}", target.path.display()),
        _ => String::new(),
    }
}

fn worse(one: Status, other: Status) -> Status {
    match (one, other) {
        (Status::Failed, _) | (_, Status::Failed) => Status::Failed,
        (Status::Interrupted, _) | (_, Status::Interrupted) => Status::Interrupted,
        _ => Status::Complete,
    }
}

/// One side, with its targets ready.
struct Side<'a> {
    asked: &'a Workload,
    lab: Lab<'a>,
    measurements: Vec<Measurement>,
}

impl<'a> Side<'a> {
    fn open(
        asked: &'a Workload,
        options: &RunsOptions,
        context: LabContext<'a>,
    ) -> Result<Self, PrepareError> {
        let mut permissions = options.permissions.clone();
        // A side may overwrite only its own targets.
        permissions.destroy.retain(|d| asked.targets.iter().any(|t| d.names(&t.path)));
        let setup = Setup {
            targets: asked.targets.clone(),
            permissions,
            engine: asked.engine,
            sim: asked.sim.clone(),
            mode: asked.mode,
            seed: asked.seed,
            timing: Timing::default(),
        };
        let mut lab = Lab::open_here(setup, asked, context)?;
        lab.expect_steps(options.sides.len() * options.repeat as usize);
        Ok(Self { asked, lab, measurements: Vec::new() })
    }

    fn run(&mut self, round: u32, options: &RunsOptions) {
        let several = options.sides.len() > 1;
        let of_side = if several { named(self.asked) } else { String::new() };
        self.lab.begin(&format!("run {} of {}{of_side}", round + 1, options.repeat));
        // The first is the run that the workload alone would be; with its offsets, caches would
        // answer the others.
        let seed = self.asked.seed;
        let seed = if round == 0 { seed } else { mix(seed, u64::from(round)) };
        let workload = Workload { seed, ..self.asked.clone() };
        if let Some(measurement) = self.lab.measure_workload(&workload, options.settle_seconds) {
            self.lab.keep(&measurement);
            self.measurements.push(measurement);
        }
    }

    /// How well its figure repeats. A run that was cut short is not compared.
    fn conclude(&self, options: &RunsOptions) -> Runs {
        let whole = || self.measurements.iter().filter(|m| m.status == Status::Complete);
        let iops: Vec<f64> = whole().map(|m| m.total.iops).collect();
        let foreign = whole().filter_map(|m| m.kernel.as_ref()?.foreign_percent);
        Runs {
            title: self.asked.title(),
            asked: options.repeat,
            trust: noise::trust(&iops, foreign.reduce(f64::max)).publish(),
        }
    }

    fn document(self, options: &RunsOptions, status: Status) -> Experiment<Runs> {
        let conclusion = self.conclude(options);
        let (noisy, explanation) = (conclusion.trust.noisy, conclusion.trust.explanation.clone());
        let method = method(options, &self);
        let has_all = self.measurements.len() == options.repeat as usize;
        let own = self.measurements.iter().map(|m| m.status).fold(Status::Complete, worse);
        let error = self.lab.error().is_some();
        let mut found = self.lab.document(conclusion, self.measurements, method);
        if noisy {
            // The error that ended the runs comes first.
            found.warnings.insert(usize::from(error), explanation);
        }
        // A side that had all of its turns is complete, whatever ended the others.
        found.status = if has_all && !error { own } else { status };
        found
    }
}

fn method(options: &RunsOptions, side: &Side<'_>) -> Vec<String> {
    let workload = side.asked;
    let mut method = vec![format!(
        "The same workload was run {} times on the same test files, each time with new threads and \
        new random offsets. The spread of these runs shows how far to trust the figures.",
        options.repeat
    )];
    if options.sides.len() > 1 {
        method.push(format!(
            "{} such series took turns, in the one order and then in the other, so that what \
             changes meanwhile changes all of them alike.",
            options.sides.len()
        ));
    }
    if workload.streams.iter().any(Stream::writes) && !workload.engine.is_artificial() {
        let seconds = options.settle_seconds;
        method.push(format!("Each run was preceded by a pause of {seconds} s."));
    }
    if !workload.engine.is_artificial() {
        for target in side.lab.prepared() {
            let path = std::path::absolute(target.path());
            let path = path.unwrap_or_else(|_| target.path().to_owned());
            method.push(format!("I/O went to {}: {}.", path.display(), target.content()));
        }
    }
    method
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_take_turns_in_one_order_and_in_the_other() {
        let turns: Vec<usize> = (0..3).flat_map(|round| order(2, round)).collect();
        assert_eq!(turns, [0, 1, 1, 0, 0, 1]);
        assert_eq!(order(1, 7), [0]);
    }
}
