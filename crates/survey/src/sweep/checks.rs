//! Random checks of what an adaptive sweep says, and what follows from them.
//!
//! Of each kind of I/O, cells that the design does not use are drawn at random and measured over
//! their whole length. They stay out of the fit. How far they lie outside of their intervals widens
//! all intervals of inferred cells (split conformal prediction: Vovk, Gammerman and Shafer, 2005;
//! Lei et al., 2018). Where that would take too much, more is measured, in steps: whole windows
//! where rates change within a window, then every block size at rising loads, then every cell.
//!
//! Measured cells are checked in the same way by those of them that the design measures again: a
//! window knows nothing of what differs from one measurement to the next.
//!
//! The stage and the role of a measurement are part of the name that it is kept under, so that an
//! interrupted sweep goes through the same stages again.

use analysis::numbers::median;
use results::{Refinement, SweptCheck};
use workload::Bytes;
use workload::sweep::{Cell, Plan};

use super::adaptive::{BUDGET_SHARE, Design, Inferred, Next, same_kind};
use super::rising::{Fitted, Round, Rounds, scatter};

/// Cells of each kind of I/O that are drawn as checks: the fewest whose largest score is the 90 %
/// quantile.
pub(super) const CHECKS: usize = 9;
/// Share of the inferred figures that are to be in their intervals.
const COVERAGE: f64 = 0.9;
/// Intervals that would widen by more than this, in natural log units, call for more measurements …
const WIDEST: f64 = 0.12;
/// … unless repetitions of the same cell scatter so much that these would not help.
const SCATTERS: f64 = 3.0;
/// The beginning of a window differs from the whole by more than this, in natural log units, where
/// rates change.
const CHANGED: f64 = 0.06;
/// Intervals widen by so many times the quantile. Nine checks hold 90 % on average over all
/// drawings; where the quantile is low by chance, nothing more is measured either.
const MARGIN: f64 = 1.5;
/// Names of one stage: more than any cell has rounds.
const STAGE_SLOTS: u32 = 128;
/// The slot of checks, past those of all stages.
const CHECK_SLOT: u32 = 8 * STAGE_SLOTS;

/// A stored measurement of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Record {
    /// Number of the cell in the plan.
    pub(super) cell: u32,
    /// Stage and round, or the slot of checks.
    pub(super) slot: u32,
    pub(super) round: Round,
    /// I/Os per second in the part of the window that a short window has.
    pub(super) start_iops: f64,
}

/// The cell to measure next, and its role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step<'a> {
    pub(super) cell: &'a Cell,
    pub(super) slot: u32,
    /// Nothing of its kind was measured before in this way.
    pub(super) first: bool,
    /// The window has its whole length.
    pub(super) whole: bool,
}

/// A cell that was measured to check its inferred figure.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Check {
    cell: u32,
    /// The natural logarithm of measured over inferred.
    error: f64,
    /// How far that is outside of the interval of the model; negative inside of it.
    score: f64,
    /// ln of the beginning of the window over the whole of it, absolute.
    change: f64,
}

/// One kind of I/O: its measurements, and what to measure next.
pub(super) struct Standing<'a> {
    /// The cells of this kind, measured or not.
    pub(super) cells: Vec<&'a Cell>,
    pub(super) next: Option<Step<'a>>,
    pub(super) design: Design<'a>,
    /// Every cell is measured, and nothing is inferred.
    pub(super) every_cell: bool,
    /// Windows end when their mean is known.
    pub(super) short_windows: bool,
    /// Cells that have a window of their whole length.
    whole: Vec<u32>,
    checks: Vec<Check>,
    /// How far cells that were measured twice are outside their own intervals.
    repeats: Vec<f64>,
    refinements: Vec<Refinement>,
}

/// How much of the kind is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Design,
    EverySize,
    EveryCell,
}

/// How far the stages of a kind have come.
struct SoFar {
    stage: u32,
    extent: Extent,
    /// From this stage on, windows have their whole length.
    whole_from: Option<u32>,
    /// What repetitions in short windows said, where whole windows need not say it again: they
    /// differ by no more.
    short: Option<Repeats>,
    refinements: Vec<Refinement>,
}

impl SoFar {
    /// Begins the next stage of refinement.
    fn refine(&mut self, refinement: Refinement, repeats: Repeats) {
        self.stage += 1;
        match refinement {
            Refinement::WholeWindows => {
                self.whole_from = Some(self.stage);
                self.short =
                    Some(repeats).filter(|r| quantile(&r.scores, |score| *score) <= CHANGED);
            }
            Refinement::EverySize => self.extent = Extent::EverySize,
            Refinement::EveryCell => self.extent = Extent::EveryCell,
        }
        self.refinements.push(refinement);
    }
}

/// Cells that differ in nothing but block size, threads, depth and length.
pub(super) fn kinds<'a>(cells: &[&'a Cell]) -> Vec<Vec<&'a Cell>> {
    let mut kinds: Vec<Vec<&Cell>> = Vec::new();
    for cell in cells {
        match kinds.iter_mut().find(|kind| same_kind(kind[0], cell)) {
            Some(kind) => kind.push(cell),
            None => kinds.push(vec![cell]),
        }
    }
    kinds
}

impl<'a> Standing<'a> {
    /// Goes through the stages as far as there are measurements for them.
    pub(super) fn of(
        plan: &Plan,
        cells: &[&'a Cell],
        records: &[Record],
        fitted: &mut Fitted,
    ) -> Self {
        let budget_s = BUDGET_SHARE * cells.iter().map(|c| whole_seconds(plan, c)).sum::<f64>();
        let order = drawn(plan, cells);
        let mut so_far = SoFar {
            stage: 0,
            extent: Extent::Design,
            whole_from: plan.precision.is_none().then_some(0),
            short: None,
            refinements: Vec::new(),
        };
        loop {
            let SoFar { stage, extent, whole_from, .. } = so_far;
            let (from, every_cell) = (whole_from.unwrap_or(0), extent == Extent::EveryCell);
            // What every cell adds needs no surface.
            let rounds = rounds(records, from..=if every_cell { stage - 1 } else { stage });
            let known = so_far.short.as_ref().map(|short| short.scatter);
            let every_size = extent >= Extent::EverySize;
            let design = Design::new(&order, &rounds, fitted, every_size, known);
            let repeats = so_far.short.clone().unwrap_or_else(|| Repeats::of(&rounds));
            let next =
                if every_cell { unmeasured(cells, records, from) } else { design.next(budget_s) };
            let step = next.map(|Next { cell, first }| Step {
                cell,
                slot: slot(records, stage, cell),
                first,
                whole: whole_from.is_some(),
            });
            let unused = |c: &&Cell| !rounds.contains_key(&c.number) && design.infers(c);
            let candidates: Vec<&Cell> = order.iter().copied().filter(unused).collect();
            let wanted = &candidates[..candidates.len().min(CHECKS)];
            let checks: Vec<Check> =
                wanted.iter().filter_map(|cell| check(&design, cell, records)).collect();
            let missing = wanted.iter().find(|c| measured(records, c).is_none());
            let step = step.or_else(|| missing.filter(|_| !every_cell).map(|c| check_step(c)));
            let open = step.is_none() && !every_cell && cells.len() > rounds.len() + wanted.len();
            let corners = if whole_from.is_none() && open { corners(cells) } else { Vec::new() };
            let step = step.or_else(|| {
                let missing = corners.iter().find(|c| measured(records, c).is_none());
                missing.map(|c| check_step(c))
            });
            let corners: Vec<Check> =
                corners.iter().filter_map(|cell| check(&design, cell, records)).collect();
            let worst = |value: fn(&Check) -> f64| {
                corners.iter().map(value).fold(quantile(&checks, value), f64::max)
            };
            let limit = WIDEST.max(SCATTERS * repeats.scatter);
            let off = candidates.len() > CHECKS && worst(|c| c.score) > limit;
            // A wide interval is not an excuse for windows that end too soon.
            let short = whole_from.is_none() && worst(|c| c.error.abs()) > limit;
            let changes = short && worst(|c| c.change) > CHANGED;
            if open && step.is_none() && (changes || off) {
                so_far.refine(more(extent, changes), repeats);
                continue;
            }
            return Self {
                whole: with_whole_windows(records, whole_from),
                cells: cells.to_vec(),
                next: step,
                design,
                every_cell,
                short_windows: whole_from.is_none(),
                checks,
                repeats: repeats.scores,
                refinements: so_far.refinements,
            };
        }
    }

    /// What follows for a cell, with the interval that the checks give it.
    pub(super) fn inferred(&self, cell: &Cell) -> Option<Inferred> {
        let found = self.design.inferred(cell)?;
        let error_percent = self.widened(found.error_percent)?;
        Some(Inferred { error_percent, ..found })
    }

    /// A half-width of the model, in percent, widened by the checks; `None` if they give none.
    pub(super) fn widened(&self, error_percent: f64) -> Option<f64> {
        wider(error_percent, MARGIN * quantile(&self.checks, |c| c.score))
    }

    /// The half-width of a measured cell, in percent: as wide as it takes to hold another
    /// measurement of the same cell over its whole length; `None` if nothing was measured twice.
    pub(super) fn of_measured(&self, cell: &Cell, error_percent: f64) -> Option<f64> {
        let whole = self.whole.contains(&cell.number);
        let change = if whole { 0.0 } else { quantile(&self.checks, |c| c.change) };
        wider(self.repeated(error_percent)?, change)
    }

    /// The half-width of a measurement, in percent, as wide as it takes to hold another one of the
    /// same length.
    fn repeated(&self, error_percent: f64) -> Option<f64> {
        let known = !self.repeats.is_empty();
        known.then(|| wider(error_percent, quantile(&self.repeats, |score| *score))).flatten()
    }

    /// Whether rates change within a window, so that a short measurement of a cell is only its
    /// beginning.
    pub(super) fn is_outdated(&self, cell: &Cell) -> bool {
        !self.short_windows && !self.whole.contains(&cell.number)
    }

    /// The checks, for the document; `None` if nothing was checked.
    pub(super) fn publish(&self) -> Option<SweptCheck> {
        let first = self.cells.first().filter(|_| !self.checks.is_empty())?;
        let size = format!("{} ", first.block_bytes);
        let title = first.load_title();
        Some(SweptCheck {
            title: title.strip_prefix(&size).unwrap_or(&title).to_owned(),
            operation: first.operation.clone(),
            targets: first.targets.clone(),
            cells: self.checks.iter().map(|c| c.cell).collect(),
            errors_percent: self.checks.iter().map(|c| 100.0 * c.error.exp_m1()).collect(),
            widened_percent: self.widened(0.0),
            measured_widened_percent: self.repeated(0.0),
            changed_percent: median(&self.checks.iter().map(|c| c.change).collect::<Vec<_>>())
                .map(|change| 100.0 * change.exp_m1())
                .filter(|percent| percent.is_finite()),
            refinements: self.refinements.clone(),
        })
    }
}

/// What else to measure if the checks are too far off.
fn more(extent: Extent, changes: bool) -> Refinement {
    if changes {
        Refinement::WholeWindows
    } else if extent == Extent::Design {
        Refinement::EverySize
    } else {
        Refinement::EveryCell
    }
}

/// The deepest load of the smallest and of the largest block. What a burst, a cache or a bucket of
/// credits hides from short windows is used up there first; the nine that are drawn may miss it.
fn corners<'a>(cells: &[&'a Cell]) -> Vec<&'a Cell> {
    let deepest = |block: Bytes| {
        let here = cells.iter().filter(|c| c.block_bytes == block);
        here.max_by_key(|c| (c.in_flight(), std::cmp::Reverse(c.threads))).copied()
    };
    let blocks = || cells.iter().map(|c| c.block_bytes);
    let (Some(least), Some(most)) = (blocks().min(), blocks().max()) else { return Vec::new() };
    let mut corners: Vec<&Cell> = [least, most].into_iter().filter_map(deepest).collect();
    corners.dedup_by_key(|c| c.number);
    corners
}

fn whole_seconds(plan: &Plan, cell: &Cell) -> f64 {
    plan.times(std::slice::from_ref(cell)).total_s()
}

/// The cells of a kind in the order in which they are drawn: by chance, each block size once before
/// any of them a second time.
fn drawn<'a>(plan: &Plan, cells: &[&'a Cell]) -> Vec<&'a Cell> {
    let chance = |cell: &Cell| plan.seed_of(cell, CHECK_SLOT - 1);
    let turn = |cell: &Cell| {
        let same = cells.iter().filter(|c| c.block_bytes == cell.block_bytes);
        same.filter(|c| (chance(c), c.number) < (chance(cell), cell.number)).count()
    };
    let mut order = cells.to_vec();
    order.sort_by_cached_key(|c| (turn(c), chance(c), c.number));
    order
}

/// What the design knows in some stages.
fn rounds(records: &[Record], stages: std::ops::RangeInclusive<u32>) -> Rounds {
    let mut rounds = Rounds::new();
    let known = |r: &&Record| r.slot < CHECK_SLOT && stages.contains(&(r.slot / STAGE_SLOTS));
    for record in records.iter().filter(known) {
        rounds.entry(record.cell).or_default().push(record.round);
    }
    rounds
}

/// The cells that have a window of their whole length.
fn with_whole_windows(records: &[Record], from: Option<u32>) -> Vec<u32> {
    let is_whole = |r: &&Record| {
        r.slot == CHECK_SLOT || from.is_some_and(|stage| r.slot / STAGE_SLOTS >= stage)
    };
    records.iter().filter(is_whole).map(|r| r.cell).collect()
}

/// The slot of the next round of a cell.
fn slot(records: &[Record], stage: u32, cell: &Cell) -> u32 {
    let here = |r: &&Record| r.cell == cell.number && r.slot / STAGE_SLOTS == stage;
    let round = u32::try_from(records.iter().filter(here).count()).unwrap_or(u32::MAX);
    stage * STAGE_SLOTS + round.min(STAGE_SLOTS - 1)
}

/// The measurement of a cell as a check.
fn measured<'r>(records: &'r [Record], cell: &Cell) -> Option<&'r Record> {
    records.iter().find(|r| r.cell == cell.number && r.slot == CHECK_SLOT)
}

/// The next cell that was not measured from a stage on.
fn unmeasured<'a>(cells: &[&'a Cell], records: &[Record], stage: u32) -> Option<Next<'a>> {
    let there =
        |c: &Cell| records.iter().any(|r| r.cell == c.number && r.slot / STAGE_SLOTS >= stage);
    cells.iter().find(|c| !there(c)).map(|cell| Next { cell, first: false })
}

fn check_step(cell: &Cell) -> Step<'_> {
    Step { cell, slot: CHECK_SLOT, first: false, whole: true }
}

/// Compares a check with the inferred figure. Its own interval is not subtracted: if rates change
/// within a window it is wide, and would excuse what the inference did not see.
fn check(design: &Design<'_>, cell: &Cell, records: &[Record]) -> Option<Check> {
    let found = measured(records, cell)?;
    let inferred = design.inferred(cell)?;
    let error = (found.round.iops / inferred.iops).ln();
    let score = error.abs() - (inferred.error_percent / 100.0).ln_1p();
    let change = (found.start_iops / found.round.iops).ln().abs();
    // Nothing was done at the start, or at all: as far from the rest as can be.
    let change = if change.is_nan() { f64::INFINITY } else { change };
    Some(Check { cell: cell.number, error, score, change })
}

/// What cells that were measured twice say.
#[derive(Debug, Clone)]
struct Repeats {
    /// How far each is outside its own interval, in natural log units.
    scores: Vec<f64>,
    /// Standard deviation of one measurement, in natural log units.
    scatter: f64,
}

impl Repeats {
    fn of(rounds: &Rounds) -> Self {
        let scores = rounds.values().filter_map(|found| repeat_score(found)).collect();
        Self { scores, scatter: scatter(rounds) }
    }
}

/// How far the second measurement of a cell is outside of the interval of the first, in natural log
/// units.
fn repeat_score(found: &[Round]) -> Option<f64> {
    let (first, second) = (found.first()?, found.get(1)?);
    let own = first.half_width_percent.map_or(0.0, |percent| (percent / 100.0).ln_1p());
    let apart = (second.iops / first.iops).ln().abs();
    // Of a cell that did nothing, nothing is known.
    Some(if apart.is_nan() { f64::INFINITY } else { apart - own })
}

/// The value of rank ceil((n + 1) times the coverage), at least 0: a further check exceeds it with
/// at most the probability that the coverage leaves. The largest where there are too few.
fn quantile<T>(checks: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let mut values: Vec<f64> = checks.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    let rank = (COVERAGE * (values.len() + 1) as f64).ceil() as usize;
    let place = rank.min(values.len()).saturating_sub(1);
    values.get(place).copied().unwrap_or(0.0).max(0.0)
}

/// A half-width in percent with so many natural log units more; `None` if it has no end.
fn wider(error_percent: f64, more: f64) -> Option<f64> {
    let wide = 100.0 * ((error_percent / 100.0).ln_1p() + more).exp_m1();
    wide.is_finite().then_some(wide)
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
