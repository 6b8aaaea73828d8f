//! One session of a sweep: from its stored measurements to the end of the plan, or to an
//! interruption.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{Permissions, PrepareError, TargetPlan};
use jiff::Timestamp;
use results::{
    Conclusion, Environment, Experiment, Measurement, Status, Sweep, SweptCell, SweptCheck,
    SweptCurve, SweptRounds,
};
use workload::sweep::{Cell, Plan};
use workload::{Block, Bytes, Precision, Stream};

use super::checks::{self, Record, Standing, kinds};
use super::method::method_of;
use super::rising::{Fitted, Round};
use super::rounds::{self, Preparation};
use super::window::{device_seconds, is_slow, slim, start_iops};
use super::{FinishedCell, SweepOptions, conclude};
use crate::bench::Bench;
use crate::doubts;
use crate::lab::{Lab, LabContext, LabCourse, Setup, Timing};

/// A sweep while it measures.
pub(super) struct Session {
    options: SweepOptions,
    cells: Vec<Cell>,
    sequence: Vec<Cell>,
    /// The measurements, by round and cell.
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
    /// How many measurements there will be, as far as is known.
    expected: usize,
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
    pub(super) fn new(options: SweepOptions) -> Self {
        let (cells, sequence) = (options.plan.cells(), options.plan.sequence());
        let (_, rounds) = options.plan.rounds_range();
        Self {
            expected: sequence.len().saturating_mul(rounds as usize),
            options,
            cells,
            sequence,
            done: BTreeMap::new(),
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

    /// Measures every cell of the plan.
    pub(super) fn run(
        mut self,
        bench: &mut dyn Bench,
        finished: &mut FinishedCell<'_>,
        mut context: LabContext<'_>,
    ) -> Result<Experiment<Sweep>, PrepareError> {
        if let Some(foreseen) = &context.foreseen {
            self.expected = foreseen.measurements();
        }
        context.begin();
        for group in self.options.plan.groups() {
            if self.status != Status::Complete {
                break;
            }
            if let Err(error) = self.group(&group, bench, finished, &mut context) {
                if self.done.is_empty() {
                    return Err(error);
                }
                let interrupted = matches!(error, PrepareError::Interrupted);
                self.end_early(&error.to_string());
                if interrupted {
                    self.status = Status::Interrupted;
                }
            }
        }
        self.method.extend(context.course.method());
        Ok(self.document(context.course.begun()))
    }

    fn end_early(&mut self, error: &str) {
        self.status = Status::Failed;
        self.error = Some(format!("the sweep ended early: {error}"));
    }

    /// The cells of one group of targets.
    fn group(
        &mut self,
        group: &[usize],
        bench: &mut dyn Bench,
        finished: &mut FinishedCell<'_>,
        context: &mut LabContext<'_>,
    ) -> Result<(), PrepareError> {
        let before = self.recall(group, finished, &mut context.course);
        if self.status != Status::Complete || self.next(group).is_none() {
            self.look_back(before);
            return Ok(());
        }
        let stream = preparing_stream(self.here(group));
        let later = context.course.set_aside(|next| self.is_elsewhere(next, group));
        let sizes = before.as_ref().map(Measurement::target_bytes);
        let setup = self.setup(group, bench, &stream, sizes.as_deref())?;
        let mut lab = Lab::open_on(bench, setup, &stream, context.lend())?;
        before.map_or(Ok(()), |before| lab.check_targets(&before))?;
        lab.expect_steps(self.expected.saturating_sub(self.done.len()));
        self.look_around(&lab);
        if self.prepare_rounds(group, &mut lab) {
            self.measure_all(group, &mut lab, finished);
        }
        self.method.extend(lab.stand().method());
        context.course = lab.leave();
        context.course.put_back(later);
        Ok(())
    }

    /// Whether a measurement is the first of a cell of another group: of this one, only cells are
    /// left that cannot be measured.
    fn is_elsewhere(&self, measurement: &Measurement, group: &[usize]) -> bool {
        let plan = &self.options.plan;
        let seed = measurement.workload.seed;
        let mut others = self.cells.iter().filter(|cell| cell.targets != group);
        others.any(|cell| plan.seed_of(cell, 0) == seed)
    }

    /// Takes over what the record has of a group, and gives the last of it.
    fn recall(
        &mut self,
        group: &[usize],
        finished: &mut FinishedCell<'_>,
        course: &mut LabCourse,
    ) -> Option<Measurement> {
        let mut last = None;
        while self.status == Status::Complete
            && let Some(step) = self.next(group)
        {
            let seed = self.options.plan.seed_of(&step.cell, step.round);
            let Some(measurement) = course.recall(&[step.cell.stream()], seed) else { break };
            last = Some(measurement.clone());
            self.finish(&step, measurement, false, finished);
        }
        last
    }

    /// Notes where a group was measured that is whole already: it is not made ready again.
    fn look_back(&mut self, last: Option<Measurement>) {
        let Some(last) = last else { return };
        self.file_bytes += last.target_bytes().iter().sum::<u64>();
        self.targets.extend(last.workload.targets.into_iter().map(|target| target.path));
        self.environment.host = self.environment.host.take().or(last.environment.host);
        self.environment.storage.extend(last.environment.storage);
    }

    fn measure_all(&mut self, group: &[usize], lab: &mut Lab<'_>, finished: &mut FinishedCell<'_>) {
        let mut wrote = true;
        while let Some(step) = self.next(group) {
            if let Some(reason) = lab.unfit(&[step.cell.stream()]) {
                self.left_out.insert(step.cell.number, reason);
                lab.expect_fewer(1);
                continue;
            }
            let title = self.title(&step.cell, group);
            let pause_s = if step.afresh { self.options.plan.settle_seconds } else { 0.0 };
            self.rested_s += lab.begin_rested(&title, pause_s, wrote);
            let Some(measurement) = self.measure(&step, lab) else { break };
            wrote = step.cell.write_percent > 0;
            let slow = is_slow(&measurement);
            if slow {
                lab.go_on();
            }
            if slow || measurement.status == Status::Complete {
                lab.keep(&measurement);
                self.finish(&step, measurement, !lab.is_answer(), finished);
            } else if measurement.status != Status::Interrupted {
                self.done.insert(self.name_of(&step), slim(measurement));
            }
            if lab.is_over() || self.status != Status::Complete {
                break;
            }
        }
        if self.status == Status::Complete {
            (self.status, self.error) = (lab.status(), lab.error().map(str::to_owned));
        }
    }

    /// A cell is measured; `is_new` if that was not before an interruption.
    fn finish(
        &mut self,
        step: &Step,
        measurement: Measurement,
        is_new: bool,
        finished: &mut FinishedCell<'_>,
    ) {
        if let Err(error) = finished(&step.cell, &measurement, is_new) {
            self.end_early(&error);
        }
        self.done.insert(self.name_of(step), slim(measurement));
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
            Err(error) => self.end_early(&error),
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

    /// The group with the sizes that its targets have, or had before an interruption.
    fn setup(
        &self,
        group: &[usize],
        bench: &dyn Bench,
        stream: &Stream,
        before: Option<&[u64]>,
    ) -> Result<Setup, PrepareError> {
        let mut setup = setup_of(&self.options.plan, group, &self.options.permissions);
        for (target, bytes) in setup.targets.iter_mut().zip(before.unwrap_or_default()) {
            target.size_bytes = Some(Bytes(*bytes));
        }
        let plans = bench.plan(&setup.workload(vec![stream.clone()]), &setup.permissions)?;
        for (target, plan) in setup.targets.iter_mut().zip(&plans) {
            target.size_bytes = Some(Bytes(plan.size_bytes));
        }
        Ok(setup)
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

    /// What is measured next.
    fn title(&self, cell: &Cell, group: &[usize]) -> String {
        let plan = &self.options.plan;
        let mut title = cell.title();
        if plan.groups().len() > 1 {
            let path = plan.targets.get(group[0]).map(|t| t.path.display().to_string());
            title = format!("{}: {title}", path.unwrap_or_default());
        }
        if plan.rounds.is_some() {
            let count = self.count();
            let measured = self.done.keys().filter(|name| *name % count == cell.number).count();
            return format!("round {}: {title}", measured + 1);
        }
        title
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

    fn document(mut self, (id, started): (String, String)) -> Experiment<Sweep> {
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
            id,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
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
