//! One session of a sweep: from its stored measurements to the end of the plan, or to an
//! interruption.

use std::cell::Cell as Shared;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::{Permissions, PrepareError, TargetPlan};
use jiff::Timestamp;
use results::{
    Conclusion, Environment, Experiment, Measurement, Status, Sweep, SweptCell, SweptCheck,
    SweptCurve, SweptRounds,
};
use workload::sweep::{Cell, Plan};
use workload::{Block, Bytes, EngineChoice, Precision, Stream, show_duration};

use super::checks::{self, Record, Standing, kinds};
use super::forecast::forecast;
use super::kept;
use super::method::method_of;
use super::rest::rest;
use super::rising::{Fitted, Round};
use super::rounds::{self, Preparation};
use super::window::{device_seconds, is_slow, slim, start_iops};
use super::{Keep, SweepOptions, conclude};
use crate::bench::Bench;
use crate::doubts;
use crate::lab::{Lab, LabContext, Progress, Setup, Timing, seconds_left};

/// A sweep while it measures.
pub(super) struct Session {
    options: SweepOptions,
    cells: Vec<Cell>,
    sequence: Vec<Cell>,
    /// The measurements, by the name under which they are stored.
    done: BTreeMap<u32, Measurement>,
    left_out: BTreeMap<u32, String>,
    status: Status,
    error: Option<String>,
    environment: Environment,
    targets: Vec<PathBuf>,
    file_bytes: u64,
    method: Vec<String>,
    rested_s: f64,
    fitted: Fitted,
    /// The preparation of each group of targets before its first round.
    preparations: BTreeMap<Vec<usize>, Preparation>,
}

/// The next measurement of the sweep.
struct Step {
    cell: Cell,
    /// How often the cell was measured before; for an adaptive sweep, stage and role as well.
    round: u32,
    /// The window has the length of the plan, however well its mean is known before.
    whole: bool,
    /// The storage is given a pause, and writes have to fill its cache.
    afresh: bool,
}

/// What a sweep concludes from its measurements.
struct Found {
    cells: Vec<SweptCell>,
    curves: Vec<SweptCurve>,
    checks: Vec<SweptCheck>,
    rounds: Vec<SweptRounds>,
}

impl Session {
    pub(super) fn new(mut options: SweepOptions) -> Self {
        let kept = std::mem::take(&mut options.kept);
        let done = kept.into_iter().map(|(name, measurement)| (name, slim(measurement))).collect();
        let (cells, sequence) = (options.plan.cells(), options.plan.sequence());
        Self {
            options,
            cells,
            sequence,
            done,
            left_out: BTreeMap::new(),
            status: Status::Complete,
            error: None,
            environment: Environment { host: None, storage: Vec::new() },
            targets: Vec::new(),
            file_bytes: 0,
            method: Vec::new(),
            rested_s: 0.0,
            fitted: Fitted::new(),
            preparations: BTreeMap::new(),
        }
    }

    /// Measures every cell that is missing.
    pub(super) fn run(
        mut self,
        bench: &mut dyn Bench,
        stop: &AtomicBool,
        keep: &mut Keep<'_>,
        observe: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Experiment<Sweep>, PrepareError> {
        observe(Progress::Began { id: &self.options.id, started: &self.options.started });
        for group in self.options.plan.groups() {
            if self.status != Status::Complete {
                break;
            }
            if let Err(error) = self.group(&group, bench, stop, keep, observe) {
                if self.done.is_empty() {
                    return Err(error);
                }
                self.status = match error {
                    PrepareError::Interrupted => Status::Interrupted,
                    _ => Status::Failed,
                };
                self.error = Some(format!("the sweep ended early: {error}"));
            }
        }
        Ok(self.document())
    }

    /// The cells of one group of targets.
    fn group(
        &mut self,
        group: &[usize],
        bench: &mut dyn Bench,
        stop: &AtomicBool,
        keep: &mut Keep<'_>,
        observe: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), PrepareError> {
        let kept_bytes = self.kept_bytes(group);
        if self.next(group).is_none() {
            self.targets.extend(self.options.plan.sized_targets(group).into_iter().map(|t| t.path));
            self.file_bytes += kept_bytes.iter().flatten().sum::<u64>();
            return Ok(());
        }
        let stream = preparing_stream(self.here(group));
        let setup = self.setup(group, bench, &stream, kept_bytes.as_deref())?;
        // The lab counts its own steps; people count cells. Each group has a lab, all are one
        // sweep.
        let number = Shared::new(self.done.len());
        let of = self.expected();
        let (before, begun) = (self.done.len(), Instant::now());
        let in_rounds = self.options.plan.rounds.is_some();
        let mut counted = |progress: Progress<'_>| match progress {
            Progress::Step { title, .. } => {
                let number = number.get() + 1;
                let of = of.max(number);
                let left = seconds_left(begun.elapsed(), number - before, of - before);
                // Nobody knows how many rounds there will be.
                let left = left.filter(|_| !in_rounds);
                observe(Progress::Step { number, of, title, seconds_left: left });
            }
            Progress::Began { .. } => {}
            other => observe(other),
        };
        let mut lab = Lab::open_on(bench, setup, &stream, LabContext::new(stop, &mut counted))?;
        kept::check_targets(self.kept(group), &lab)?;
        self.look_around(&lab);
        if !self.prepare_rounds(group, &mut lab) {
            return Ok(());
        }
        let mut wrote = true;
        while let Some(step) = self.next(group) {
            if let Some(reason) = lab.unfit(&[step.cell.stream()]) {
                self.left_out.insert(step.cell.number, reason);
                continue;
            }
            let title = self.title(&step.cell, group);
            if step.afresh && self.pause_s() > 0.0 {
                lab.begin(&format!(
                    "pause of at most {}, then {title}",
                    show_duration(self.pause_s())
                ));
                self.rested_s += self.rest(&lab, wrote, stop);
            }
            lab.begin(&title);
            let Some(measurement) = self.measure(&step, &mut lab) else { break };
            wrote = step.cell.write_percent > 0;
            let name = self.name_of(&step);
            let slow = is_slow(&measurement);
            if slow {
                lab.go_on();
            }
            if slow || measurement.status == Status::Complete {
                if let Err(error) = keep(name, &measurement) {
                    self.error = Some(format!("the sweep ended early: {error}"));
                    self.status = Status::Failed;
                    // The history does not have it; the result does.
                    self.done.insert(name, slim(measurement));
                    return Ok(());
                }
                lab.kept(&measurement);
            }
            if measurement.status != Status::Interrupted {
                self.done.insert(name, slim(measurement));
                number.set(self.done.len());
            }
            if lab.is_over() {
                break;
            }
        }
        self.end(&lab);
        Ok(())
    }

    /// Takes over the method, the status and the error of the lab.
    fn end(&mut self, lab: &Lab<'_>) {
        self.method.extend(lab.method());
        (self.status, self.error) = (lab.status(), lab.error().map(str::to_owned));
    }

    /// What to measure next on a group of targets; none when all is there.
    fn next(&mut self, group: &[usize]) -> Option<Step> {
        if self.options.plan.adaptive {
            return self.next_adaptive(group);
        }
        if self.options.plan.rounds.is_some() {
            let cells: Vec<&Cell> =
                self.sequence.iter().filter(|c| self.can_be_done(c, group)).collect();
            let (cell, round) = rounds::next(&self.options.plan, &cells, &self.done)?;
            return Some(Step { cell: cell.clone(), round, whole: true, afresh: true });
        }
        let missing = |c: &&Cell| {
            !self.done.contains_key(&c.number) && !self.left_out.contains_key(&c.number)
        };
        let cell = self.here(group).find(missing)?.clone();
        Some(Step { cell, round: 0, whole: false, afresh: true })
    }

    fn next_adaptive(&mut self, group: &[usize]) -> Option<Step> {
        let cells: Vec<Cell> =
            self.cells.iter().filter(|c| self.can_be_done(c, group)).cloned().collect();
        let cells: Vec<&Cell> = cells.iter().collect();
        let step = kinds(&cells).iter().find_map(|kind| self.standing(kind).next)?;
        let checks::Step { cell, slot, first, whole } = step;
        Some(Step { cell: cell.clone(), round: slot, whole, afresh: first })
    }

    /// Purges and writes over what rounds are measured on, before the first; `false` ends the
    /// sweep.
    fn prepare_rounds(&mut self, group: &[usize], lab: &mut Lab<'_>) -> bool {
        let Some(asked) = &self.options.plan.rounds else { return true };
        if self.done.keys().any(|name| self.is_here(name % self.count(), group)) {
            return true;
        }
        let prepared = rounds::prepare(asked, lab);
        (self.status, self.error) = (lab.status(), lab.error().map(str::to_owned));
        match prepared {
            Ok(preparation) => {
                self.method.extend(preparation.method.iter().cloned());
                self.preparations.insert(group.to_vec(), preparation);
            }
            Err(error) => {
                self.status = Status::Failed;
                self.error = Some(format!("the sweep ended early: {error}"));
            }
        }
        self.status == Status::Complete
    }

    fn is_here(&self, number: u32, group: &[usize]) -> bool {
        self.cells.iter().any(|cell| cell.number == number && cell.targets == group)
    }

    /// The measurements of one kind of I/O.
    fn standing<'c>(&mut self, kind: &[&'c Cell]) -> Standing<'c> {
        let records = self.records(kind);
        Standing::of(&self.options.plan, kind, &records, &mut self.fitted)
    }

    fn can_be_done(&self, cell: &Cell, group: &[usize]) -> bool {
        cell.targets == group && !self.left_out.contains_key(&cell.number)
    }

    /// The measurements of these cells, in the form that surfaces are fitted to.
    fn records(&self, cells: &[&Cell]) -> Vec<Record> {
        let count = self.count();
        let start_s = self.options.plan.precision.map_or(f64::INFINITY, |p| p.at_least_seconds);
        let here = self.done.iter().filter(|(name, _)| {
            let number = *name % count;
            cells.iter().any(|c| c.number == number)
        });
        let record = |(name, m): (&u32, &Measurement)| {
            let latency_ns = m.total.latency_ns.map_or(0.0, |l| l.mean);
            let round = Round {
                iops: m.total.iops,
                latency_ns,
                seconds: device_seconds(m),
                half_width_percent: m.steady.as_ref().and_then(|s| s.half_width_percent),
            };
            let start_iops = start_iops(m, start_s);
            Record { cell: name % count, slot: name / count, round, start_iops }
        };
        here.map(record).collect()
    }

    /// Names of the first round; those of the next follow them.
    fn count(&self) -> u32 {
        u32::try_from(self.cells.len().max(1)).unwrap_or(u32::MAX)
    }

    fn here<'s>(&'s self, group: &'s [usize]) -> impl Iterator<Item = &'s Cell> {
        self.sequence.iter().filter(move |c| c.targets == group)
    }

    /// The name under which the round of a cell is kept.
    fn name_of(&self, step: &Step) -> u32 {
        step.cell.number.saturating_add(step.round.saturating_mul(self.count()))
    }

    /// One of the cells of a group that are kept so far.
    fn kept(&self, group: &[usize]) -> Option<&Measurement> {
        self.here(group).find_map(|c| self.done.get(&c.number))
    }

    /// Bytes of each target of a group that the cells kept so far were measured on.
    fn kept_bytes(&self, group: &[usize]) -> Option<Vec<u64>> {
        Some(self.kept(group)?.targets.iter().map(|t| t.file_bytes).collect())
    }

    /// The group with the sizes that its targets have, or had when the cells kept so far were
    /// measured.
    fn setup(
        &mut self,
        group: &[usize],
        bench: &dyn Bench,
        stream: &Stream,
        kept_bytes: Option<&[u64]>,
    ) -> Result<Setup, PrepareError> {
        let mut setup = setup_of(&self.options.plan, group, &self.options.permissions);
        for (target, bytes) in setup.targets.iter_mut().zip(kept_bytes.unwrap_or_default()) {
            target.size_bytes = Some(Bytes(*bytes));
        }
        let plans = bench.plan(&setup.workload(vec![stream.clone()]), &setup.permissions)?;
        for (target, plan) in setup.targets.iter_mut().zip(&plans) {
            target.size_bytes = Some(Bytes(plan.size_bytes));
        }
        if kept_bytes.is_some() {
            self.note_resumption(group, &plans);
        }
        Ok(setup)
    }

    /// Says what becomes of the test files of an earlier session.
    fn note_resumption(&mut self, group: &[usize], plans: &[TargetPlan]) {
        let kept = self.here(group).filter(|c| self.done.contains_key(&c.number)).count();
        for plan in plans {
            let (path, size) = (plan.path.display(), Bytes(plan.size_bytes));
            let action = plan.describe();
            self.method.push(format!(
                "The sweep was interrupted when {kept} cells on these targets were measured, and \
                 continued with the others. The target was made ready again at the same size, \
                 {path} ({size}): {action}."
            ));
        }
    }

    /// Notes where the lab is.
    fn look_around(&mut self, lab: &Lab<'_>) {
        self.file_bytes += lab.facts().iter().map(|facts| facts.size_bytes).sum::<u64>();
        let site = lab.environment();
        self.environment.host = self.environment.host.take().or_else(|| site.host.clone());
        self.environment.storage.extend(site.storage.iter().cloned());
        let artificial = self.options.plan.engine.is_artificial();
        for target in lab.prepared().iter().filter(|_| !artificial) {
            let path = std::path::absolute(target.path());
            let path = path.unwrap_or_else(|_| target.path().to_owned());
            self.method.push(format!("I/O went to {}: {}.", path.display(), target.content()));
        }
        self.targets.extend(lab.targets());
    }

    /// The longest pause before a cell, in seconds.
    fn pause_s(&self) -> f64 {
        let plan = &self.options.plan;
        if plan.engine.is_artificial() { 0.0 } else { plan.settle_seconds }
    }

    fn rest(&self, lab: &Lab<'_>, wrote: bool, stop: &AtomicBool) -> f64 {
        let storage = &lab.environment().storage;
        let devices: Vec<String> =
            storage.iter().filter_map(|s| s.counted_device.clone()).collect();
        rest(&devices, self.pause_s(), wrote, stop)
    }

    /// How many measurements there will be, as far as is known.
    fn expected(&self) -> usize {
        let plan = &self.options.plan;
        if plan.adaptive {
            forecast(plan).measurements
        } else {
            let (_, rounds) = plan.rounds_range();
            (self.sequence.len() - self.left_out.len()).saturating_mul(rounds as usize)
        }
    }

    /// The next measurement, and how long the whole sweep still takes. Simulated time does not
    /// pass.
    fn title(&self, cell: &Cell, group: &[usize]) -> String {
        let plan = &self.options.plan;
        let mut title = cell.title();
        if plan.groups().len() > 1 {
            let path = plan.targets.get(group[0]).map(|t| t.path.display().to_string());
            title = format!("{}: {title}", path.unwrap_or_default());
        }
        if plan.engine == EngineChoice::Sim {
            return title;
        }
        if plan.adaptive {
            let used: f64 = self.done.values().map(device_seconds).sum();
            let left = forecast(plan).seconds - used - self.rested_s;
            // Longer than was foreseen, it continues until everything can be inferred.
            return if left > 0.0 {
                format!("{title} (sweep: about {} left)", show_duration(left.ceil()))
            } else {
                format!("{title} (sweep: soon done)")
            };
        }
        if plan.rounds.is_some() {
            let count = self.count();
            let measured = self.done.keys().filter(|name| *name % count == cell.number).count();
            return format!("round {}: {title}", measured + 1);
        }
        let there =
            |c: &Cell| self.done.contains_key(&c.number) || self.left_out.contains_key(&c.number);
        let missing: Vec<Cell> = self.sequence.iter().filter(|c| !there(c)).cloned().collect();
        let left = show_duration(plan.times(&missing).total_s().ceil());
        format!("{title} (sweep: ≤ {left} left)")
    }

    fn measure(&self, step: &Step, lab: &mut Lab<'_>) -> Option<Measurement> {
        let Step { cell, round, whole, afresh } = step;
        let plan = &self.options.plan;
        let precision = plan.precision.filter(|_| !whole).map(|precision| {
            let at_least_seconds = precision.at_least_seconds.min(cell.seconds);
            // Once the cache of the device is full, it stays full from one cell to the next, so
            // there is no pause.
            let full = plan.adaptive && !afresh;
            let written_seconds = if full { at_least_seconds } else { precision.written_seconds };
            Precision { at_least_seconds, written_seconds, ..precision }
        });
        let timing = Timing {
            seconds: cell.seconds,
            warmup_seconds: cell.warmup_seconds,
            precision,
            settle_seconds: 0.0,
        };
        lab.measure_seeded(vec![cell.stream()], timing, plan.seed_of(cell, *round))
    }

    /// Runs a function on the measurements of each kind of I/O.
    fn for_each_kind(&mut self, mut does: impl FnMut(&Standing<'_>)) {
        for group in self.options.plan.groups() {
            let here: Vec<Cell> =
                self.cells.iter().filter(|c| self.can_be_done(c, &group)).cloned().collect();
            let here: Vec<&Cell> = here.iter().collect();
            for kind in kinds(&here) {
                does(&self.standing(&kind));
            }
        }
    }

    /// Every cell, the best of each load, and the checks.
    fn conclude(&mut self, measurements: &[Measurement]) -> Found {
        let count = self.count();
        let rounds = self.rounds_found();
        let mut measured: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, name) in self.done.keys().enumerate() {
            // Before the storage is steady, a cell has figures that it will not have again.
            let in_window = |found: &SweptRounds| {
                let from = found.window_from.unwrap_or(1).saturating_sub(1);
                name / count >= from || !self.is_here(name % count, &found.targets)
            };
            if rounds.iter().all(in_window) {
                measured.entry(name % count).or_default().push(place);
            }
        }
        let mut cells = conclude::cells(&self.cells, measurements, &measured, &self.left_out);
        let adaptive = self.options.plan.adaptive;
        if adaptive {
            self.for_each_kind(|standing| conclude::take_back(standing, &mut cells));
        }
        let (mut curves, mut checks) = (conclude::curves(&cells), Vec::new());
        if adaptive {
            self.for_each_kind(|standing| {
                conclude::infer(standing, &mut cells, &mut curves);
                checks.extend(standing.publish());
            });
        }
        Found { cells, curves, checks, rounds }
    }

    /// The state of each group of targets that is measured in rounds.
    fn rounds_found(&self) -> Vec<SweptRounds> {
        let plan = &self.options.plan;
        let of_group = |group: Vec<usize>| {
            let cells: Vec<&Cell> =
                self.cells.iter().filter(|c| self.can_be_done(c, &group)).collect();
            let prepared = self.preparations.get(&group);
            // A sweep that ended before a group knows nothing of it.
            let is_begun = self.done.keys().any(|name| self.is_here(name % self.count(), &group));
            let unknown = Preparation::default();
            (prepared.is_some() || is_begun).then_some(())?;
            rounds::found(plan, &cells, &self.done, prepared.unwrap_or(&unknown))
        };
        plan.groups().into_iter().filter_map(of_group).collect()
    }

    fn document(mut self) -> Experiment<Sweep> {
        let measurements: Vec<Measurement> = self.done.values().cloned().collect();
        let Found { cells, curves, checks, rounds } = self.conclude(&measurements);
        let plan = &self.options.plan;
        let windows: f64 = measurements.iter().map(device_seconds).sum();
        let mut warnings = doubts::each_once(measurements.iter().map(|m| ("", m)));
        warnings.splice(0..0, self.error);
        let mut method = self.method;
        method.extend(method_of(plan));
        Experiment {
            plan: None,
            schema: Sweep::SCHEMA.to_owned(),
            id: self.options.id.clone(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.options.started.clone(),
            finished: Timestamp::now().to_string(),
            status: self.status,
            targets: self.targets,
            file_bytes: self.file_bytes,
            environment: self.environment,
            conclusion: Sweep {
                plan_id: plan.id(),
                curves,
                checks,
                rounds,
                cells,
                device_seconds: windows + self.rested_s,
                matrix_seconds: plan.times(&self.cells).total_s()
                    * f64::from(plan.rounds_range().1),
                plan: self.options.plan,
            },
            measurements,
            method,
            warnings,
        }
    }
}

/// What would be done to the targets of a plan.
pub(super) fn plan_targets(
    plan: &Plan,
    permissions: &Permissions,
) -> Result<Vec<TargetPlan>, PrepareError> {
    let cells = plan.cells();
    let mut plans = Vec::new();
    for group in plan.groups() {
        let stream = preparing_stream(cells.iter().filter(|c| c.targets == group));
        let setup = setup_of(plan, &group, permissions);
        plans.extend(engine::plan(&setup.workload(vec![stream]), permissions)?);
    }
    Ok(plans)
}

fn setup_of(plan: &Plan, group: &[usize], permissions: &Permissions) -> Setup {
    Setup {
        targets: plan.sized_targets(group),
        permissions: permissions.clone(),
        engine: plan.engine,
        sim: plan.sim.clone(),
        mode: plan.mode,
        seed: plan.seed,
        timing: Timing { precision: plan.precision, ..Timing::default() },
    }
}

/// A stream that reads and writes if any of the cells does, and fits where any of them fits.
fn preparing_stream<'c>(cells: impl Iterator<Item = &'c Cell>) -> Stream {
    let cells: Vec<&Cell> = cells.collect();
    let smallest = cells.iter().min_by_key(|c| c.block_bytes);
    let mut stream = smallest.map_or_else(Stream::default, |c| c.stream());
    if stream.mix.take().is_some() {
        // The share of reads and writes is set here, and a mix has its own.
        let bytes = Bytes(stream.largest_block());
        stream = Stream { blocks: vec![Block { bytes, weight: 1 }], ..Stream::default() };
    }
    let reads = cells.iter().any(|c| c.write_percent < 100);
    let writes = cells.iter().any(|c| c.write_percent > 0);
    stream.write_percent = match (reads, writes) {
        (true, true) => 50,
        (false, true) => 100,
        _ => 0,
    };
    (stream.threads, stream.depth, stream.durable, stream.sync) = (1, 1, false, None);
    stream
}
