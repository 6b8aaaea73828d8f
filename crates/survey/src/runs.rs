//! The same workload several times, each run on its own: how well does a figure repeat?
//!
//! What differs from one run to the next is not seen within one. Each run has fresh threads and its
//! own random offsets; the test files stay. Several sides, such as two targets that are to be
//! compared, take turns (A B, B A, A B …), so that what changes slowly meanwhile changes all of
//! them alike.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use analysis::noise;
use engine::{EngineError, Event, Permissions, PrepareError, Prepared};
use jiff::Timestamp;
use results::{Conclusion, Experiment, Measurement, Runs, Status};
use serde::{Deserialize, Serialize};
use workload::{Stream, Violation, Workload};

use crate::Publish;
use crate::doubts;
use crate::lab::{Progress, mix};
use crate::measure::{Site, measure};

/// How many runs there may be.
pub const RUNS: std::ops::RangeInclusive<u32> = 1..=100;

/// What to run, and how often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunsOptions {
    /// The workloads that take turns; each gives a separate document.
    pub sides: Vec<RunSide>,
    /// What may be done to the targets.
    #[serde(skip)]
    pub permissions: Permissions,
    /// Runs of each side, 1 to 100.
    pub repeat: u32,
    /// Pause before a run that writes or follows one that wrote.
    pub settle_seconds: f64,
}

/// One of several workloads that take turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSide {
    /// Unique name of the side's experiment.
    pub id: String,
    /// The workload that every run of it does.
    pub workload: Workload,
}

/// Keeps a finished run of a side (from 0), before the next begins.
pub type KeepRun<'a> = dyn FnMut(usize, &Measurement) + 'a;

/// Runs each side's workload as often as asked; returns a document per side, in their order.
///
/// `stop` ends it early: the results then have what was measured until then, and say so.
///
/// # Errors
/// The options break a rule, or the targets of a side cannot be prepared.
pub fn runs(
    options: &RunsOptions,
    stop: &AtomicBool,
    keep: &mut KeepRun<'_>,
    observe: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Experiment<Runs>>, PrepareError> {
    check(options)?;
    let mut sides = Vec::new();
    for side in &options.sides {
        let title = format!("preparing{}", named(&side.workload));
        observe(Progress::before(&title));
        sides.push(Side::open(side, &options.permissions, stop, observe)?);
    }
    let mut turns = Turns { options, stop, wrote: true, status: Status::Complete };
    let of = sides.len() * options.repeat as usize;
    let mut number = 0;
    'rounds: for round in 0..options.repeat {
        for place in order(sides.len(), round) {
            let Some(side) = sides.get_mut(place) else { continue };
            number += 1;
            let several = options.sides.len() > 1;
            let of_side = if several { named(&side.asked.workload) } else { String::new() };
            let title = format!("run {} of {}{of_side}", round + 1, options.repeat);
            observe(Progress::Step { number, of, title: title.trim_end(), seconds_left: None });
            let before = side.measurements.len();
            turns.take(side, round, observe);
            if let Some(measurement) = side.measurements.get(before) {
                keep(place, measurement);
                observe(Progress::Measured(measurement));
            }
            if turns.is_over() {
                break 'rounds;
            }
        }
    }
    let status = turns.status();
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

/// One side, with its targets ready.
struct Side<'o> {
    asked: &'o RunSide,
    site: Site,
    prepared: Prepared,
    started: Timestamp,
    measurements: Vec<Measurement>,
    error: Option<String>,
}

impl<'o> Side<'o> {
    fn open(
        asked: &'o RunSide,
        permissions: &Permissions,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Self, PrepareError> {
        let started = Timestamp::now();
        observe(Progress::Began { id: &asked.id, started: &started.to_string() });
        let mut permissions = permissions.clone();
        // A side may overwrite only its own targets.
        permissions.destroy.retain(|d| asked.workload.targets.iter().any(|t| d.names(&t.path)));
        let engine_observe = &mut |event: &Event| observe(Progress::Engine(event));
        let prepared = engine::prepare(&asked.workload, &permissions, stop, engine_observe)?;
        let site = Site::of(&asked.workload);
        Ok(Self { asked, site, prepared, started, measurements: Vec::new(), error: None })
    }

    /// How well its figure repeats. A run that was cut short is not compared.
    fn conclude(&self, options: &RunsOptions) -> Runs {
        let whole = || self.measurements.iter().filter(|m| m.status == Status::Complete);
        let iops: Vec<f64> = whole().map(|m| m.total.iops).collect();
        let foreign = whole().filter_map(|m| m.kernel.as_ref()?.foreign_percent);
        Runs {
            title: self.asked.workload.title(),
            asked: options.repeat,
            trust: noise::trust(&iops, foreign.reduce(f64::max)).publish(),
        }
    }

    fn document(self, options: &RunsOptions, status: Status) -> Experiment<Runs> {
        let conclusion = self.conclude(options);
        let mut warnings = doubts::each_once(self.measurements.iter().map(|m| ("", m)));
        if conclusion.trust.noisy {
            warnings.insert(0, conclusion.trust.explanation.clone());
        }
        // The error that ended the runs explains missing figures.
        warnings.splice(0..0, self.error.clone());
        let whole = self.measurements.len() == options.repeat as usize;
        let targets = self.asked.workload.targets.iter();
        Experiment {
            plan: None,
            schema: Runs::SCHEMA.to_owned(),
            id: self.asked.id.clone(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.started.to_string(),
            finished: Timestamp::now().to_string(),
            // A side that had all of its turns is complete, whatever ended the others.
            status: if whole && self.error.is_none() { self.worst() } else { status },
            targets: targets.map(|t| self.site.resolved(&t.path)).collect(),
            file_bytes: self.prepared.facts().iter().map(|f| f.size_bytes).sum(),
            environment: self.site.environment().clone(),
            method: method(options, &self),
            conclusion,
            measurements: self.measurements,
            warnings,
        }
    }

    fn worst(&self) -> Status {
        let statuses = || self.measurements.iter().map(|m| m.status);
        let has = |status| statuses().any(|s| s == status);
        match () {
            () if has(Status::Failed) => Status::Failed,
            () if has(Status::Interrupted) => Status::Interrupted,
            () => Status::Complete,
        }
    }
}

/// The turns, as far as they have come.
struct Turns<'a> {
    options: &'a RunsOptions,
    stop: &'a AtomicBool,
    /// What the fill has left in caches is worked off first.
    wrote: bool,
    status: Status,
}

impl Turns<'_> {
    /// Measures one run of one side.
    fn take(&mut self, side: &mut Side<'_>, round: u32, observe: &mut dyn FnMut(Progress<'_>)) {
        let workload = &side.asked.workload;
        let writes = workload.streams.iter().any(Stream::writes);
        if (writes || self.wrote) && !workload.engine.is_artificial() {
            self.settle();
        }
        if self.is_over() {
            return;
        }
        // The first is the run that the workload alone would be; with its offsets, caches would
        // answer the others.
        let seed = if round == 0 { workload.seed } else { mix(workload.seed, u64::from(round)) };
        let workload = Workload { seed, ..workload.clone() };
        let engine_observe = &mut |event: &Event| observe(Progress::Engine(event));
        self.wrote = writes;
        match measure(&workload, &side.prepared, &side.site, self.stop, engine_observe) {
            Err(error) => self.fail(side, &error),
            Ok(measurement) => {
                if measurement.status != Status::Complete {
                    self.status = measurement.status;
                }
                side.measurements.extend((measurement.seconds > 0.0).then_some(measurement));
            }
        }
    }

    fn fail(&mut self, side: &mut Side<'_>, error: &EngineError) {
        self.status = Status::Failed;
        side.error = Some(format!("the runs ended early: {error}"));
    }

    fn is_over(&self) -> bool {
        self.status() != Status::Complete
    }

    fn status(&self) -> Status {
        match self.status {
            Status::Complete if self.stop.load(Ordering::Relaxed) => Status::Interrupted,
            status => status,
        }
    }

    /// Waits until the storage has done its earlier writes.
    fn settle(&self) {
        let until = Instant::now() + Duration::from_secs_f64(self.options.settle_seconds);
        while Instant::now() < until && !self.is_over() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn method(options: &RunsOptions, side: &Side<'_>) -> Vec<String> {
    let workload = &side.asked.workload;
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
        for target in side.prepared.targets() {
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
