//! Which cells to measure so that the others can be inferred, and what follows for those.
//!
//! Cells that differ only in block size, threads and depth are a *family*: one kind of I/O. Of each
//! family, the largest and the smallest block are measured at rising loads until they saturate; of
//! the blocks between, the least load and twice the knee, because service times are a time per I/O
//! and a time per byte. A surface through all of these gives the rest.
//!
//! Some of these cells, drawn at random, are then measured again. How far a cell is from itself
//! says what a single measurement is worth, and how far a cell may be from the surface before the
//! surface is wrong. A block size that the surface does not describe is measured at rising loads
//! itself; where that is the largest or the smallest, its neighbour takes its place. Control cells
//! with another split of the same load into threads and depth show whether only their product
//! matters. Then cells in saturation are measured again until the best of every load is known well
//! enough, or the time is used.
//!
//! All of it follows from what was measured: the next cell after an interruption is the one it
//! would have been.

use std::collections::BTreeMap;

use analysis::surface::Surface;
use workload::sweep::Cell;

use super::checks::kinds;
use super::rising::{Fitted, Rounds, Size, repeat, scatter};

/// The best of every load is to be known to this many percent (half of the width of its 95 %
/// interval).
pub(super) const BEST_PERCENT: f64 = 3.0;
/// Repetitions stop when this share of the time of the whole matrix is used.
pub(super) const BUDGET_SHARE: f64 = 0.02;
/// The surface does not describe a size whose cells are farther from it than this, in natural log
/// units …
const OFF: f64 = 0.10;
/// … and than so many times the scatter of repetitions.
const OFF_SCATTERS: f64 = 3.5;
/// Cells of the same load and another split differ if they do by more than this on average, in
/// natural log units.
const SPLIT: f64 = 0.15;
/// A load this many times the knee is saturated.
const SATURATED: f64 = 2.0;
/// Throughput of the operating point, as a share of the highest.
const OPERATING_SHARE: f64 = 0.95;
/// More repetitions of one cell teach nothing.
const ROUNDS_MAX: usize = 100;

/// The cell to measure next, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Next<'a> {
    pub(super) cell: &'a Cell,
    /// Nothing of its family was measured before.
    pub(super) first: bool,
}

/// The figures of a cell that was not measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Inferred {
    pub(super) iops: f64,
    pub(super) latency_ns: f64,
    pub(super) error_percent: f64,
}

/// The best throughput of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    pub(super) figures: Inferred,
    pub(super) operating_in_flight: f64,
    pub(super) operating_latency_ns: f64,
    /// Only cells of this load went into it.
    pub(super) own: bool,
}

/// The families of some cells, with their measurements.
pub(super) struct Design<'a> {
    families: Vec<Family<'a>>,
    rounds: Rounds,
    /// The cells in the order in which they are drawn for repetitions.
    order: Vec<&'a Cell>,
    /// Cells are measured again to find out how much one measurement scatters.
    repeats: bool,
}

/// The cells of one kind of I/O.
struct Family<'a> {
    /// The block sizes in rising order.
    sizes: Vec<Size<'a>>,
    /// Places of the smallest and the largest size that the surface has to describe.
    ends: (usize, usize),
    /// Every size is measured at rising loads.
    every_size: bool,
    /// As many cells as are needed were measured twice.
    repeated: bool,
    surface: Option<Surface>,
    /// Standard deviation of one round of a cell, in natural log units, by the repetitions.
    scatter: f64,
}

/// What a family is made from.
struct Measured<'r> {
    rounds: &'r Rounds,
    every_size: bool,
    repeated: bool,
    scatter: f64,
}

impl<'a> Design<'a> {
    /// `cells` in the order in which they are drawn for repetitions. `every_size`: measure every
    /// block size at rising loads, not only the largest and the smallest. `known`: how much one
    /// measurement scatters; without it, cells are measured again to find out.
    pub(super) fn new(
        cells: &[&'a Cell],
        rounds: &Rounds,
        fitted: &mut Fitted,
        every_size: bool,
        known: Option<f64>,
    ) -> Self {
        let mut families = Vec::new();
        for kind in &kinds(cells) {
            let repeated = known.is_some() || repeat(kind, rounds).is_none();
            let scatter = known.unwrap_or_else(|| scatter(rounds));
            let how = Measured { rounds, every_size, repeated, scatter };
            let family = Family::new(kind, &how, fitted);
            if family.depends_on_split(rounds) {
                let mut threads: Vec<u32> = kind.iter().map(|c| c.threads).collect();
                threads.sort_unstable();
                threads.dedup();
                for n in threads {
                    let part: Vec<&Cell> =
                        kind.iter().filter(|c| c.threads == n).copied().collect();
                    families.push(Family::new(&part, &how, fitted));
                }
            } else {
                families.push(family);
            }
        }
        Self { families, rounds: rounds.clone(), order: cells.to_vec(), repeats: known.is_none() }
    }

    /// The next cell; none when everything can be inferred well enough, or `budget_s` of device
    /// time are used.
    pub(super) fn next(&self, budget_s: f64) -> Option<Next<'a>> {
        for family in &self.families {
            if let Some(cell) = family.base(&self.rounds) {
                return Some(Next { cell, first: family.count(&self.rounds) == 0 });
            }
        }
        let again = self.repeats.then(|| repeat(&self.order, &self.rounds)).flatten();
        let more = || self.families.iter().find_map(|family| family.refined(&self.rounds));
        if let Some(cell) = again.or_else(more) {
            return Some(Next { cell, first: false });
        }
        let rounds = || self.rounds.values().flatten();
        let used: f64 = rounds().map(|r| r.seconds).sum();
        let each = used / rounds().count().max(1) as f64;
        if used + each > budget_s {
            return None;
        }
        // What has a peak is not described by a surface, however often it is measured.
        let described = self.families.iter().filter(|f| !f.falls());
        let widths = described.flat_map(|f| f.sizes.iter().map(move |s| (f, s)));
        let widest = widths
            .filter_map(|(f, s)| Some((f, s, f.best(s)?.figures.error_percent)))
            .filter(|(.., width)| *width > BEST_PERCENT)
            .max_by(|a, b| a.2.total_cmp(&b.2));
        let (family, size, _) = widest?;
        let cell = family.saturated_cell(size, &self.rounds)?;
        Some(Next { cell, first: false })
    }

    /// The figures that follow for a cell.
    pub(super) fn inferred(&self, cell: &Cell) -> Option<Inferred> {
        let (family, size) = self.place(cell)?;
        family.at(size, cell.in_flight() as f64)
    }

    /// The best of the load of a cell: over all families that its cells belong to.
    pub(super) fn best(&self, cells: &[&Cell]) -> Option<Best> {
        let best = |cell: &&Cell| {
            let (family, size) = self.place(cell)?;
            family.best(size)
        };
        cells
            .iter()
            .filter_map(best)
            .reduce(|a, b| if b.figures.iops > a.figures.iops { b } else { a })
    }

    /// Whether the throughput of a load falls past a peak, as far as it was measured at rising
    /// loads: of three points, noise alone makes a peak.
    pub(super) fn has_peak(&self, cells: &[&Cell]) -> bool {
        cells.iter().any(|cell| self.place(cell).is_some_and(|(_, size)| size.falls))
    }

    /// Whether a cell that is not measured gets figures.
    pub(super) fn infers(&self, cell: &Cell) -> bool {
        let bytes = cell.block_bytes.0 as f64;
        let sizes = self.families.iter().flat_map(|f| &f.sizes);
        let mut here = sizes.filter(|s| s.bytes.total_cmp(&bytes).is_eq());
        !here.any(|size| size.falls) && self.inferred(cell).is_some()
    }

    fn place(&self, cell: &Cell) -> Option<(&Family<'a>, &Size<'a>)> {
        let sizes = self.families.iter().flat_map(|f| f.sizes.iter().map(move |s| (f, s)));
        sizes.into_iter().find(|(_, s)| {
            let here = s.loads.get(&cell.in_flight());
            here.is_some_and(|cells| cells.iter().any(|c| c.number == cell.number))
        })
    }
}

/// Whether two cells differ in nothing but block size, threads, depth and length.
pub(super) fn same_kind(a: &Cell, b: &Cell) -> bool {
    let key = |c: &Cell| (c.write_percent, c.pattern, c.durable, c.sync);
    let whose = |c: &Cell| (c.targets.clone(), c.operation.clone(), c.spec.clone());
    key(a) == key(b) && whose(a) == whose(b) && a.parts == b.parts
}

impl<'a> Family<'a> {
    fn new(cells: &[&'a Cell], measured: &Measured<'_>, fitted: &mut Fitted) -> Self {
        let Measured { rounds, every_size, repeated, scatter } = *measured;
        let mut sizes: BTreeMap<u64, BTreeMap<u64, Vec<&'a Cell>>> = BTreeMap::new();
        for cell in cells {
            let loads = sizes.entry(cell.block_bytes.0).or_default();
            let splits = loads.entry(cell.in_flight()).or_default();
            splits.push(cell);
            splits.sort_by_key(|c| (c.threads, c.number));
        }
        let mut sizes: Vec<Size<'a>> = sizes
            .into_iter()
            .map(|(bytes, loads)| Size { bytes: bytes as f64, loads, own: None, falls: false })
            .collect();
        let ends = (0, sizes.len().saturating_sub(1));
        for size in &mut sizes {
            size.look_for_a_fall(rounds, scatter, fitted);
        }
        let mut family = Self { sizes, ends, every_size, repeated, surface: None, scatter };
        family.fit(rounds, fitted);
        // The surface is compared with cells that are measured again, and not with earlier ones.
        while family.is_ready(rounds) && family.leave_out_an_end(rounds, fitted) {}
        family
    }

    /// Fits the surface, and own curves to the sizes that it does not describe.
    fn fit(&mut self, rounds: &Rounds, fitted: &mut Fitted) {
        let (first, last) = self.ends;
        let mut shared = Vec::new();
        for (place, size) in self.sizes.iter_mut().enumerate() {
            // A size between that was measured at rising loads was not described by the others.
            let is_end = place == first || place == last;
            let outside = place < first || place > last;
            if outside || (!is_end && size.ramp(rounds).is_ok()) {
                size.own = fitted.surface(&size.points(rounds));
            } else {
                size.own = None;
                shared.extend(size.points(rounds));
            }
        }
        self.surface = fitted.surface(&shared);
    }

    /// Whether everything is measured from which the surface follows, and some of it twice.
    fn is_ready(&self, rounds: &Rounds) -> bool {
        self.repeated && self.base(rounds).is_none() && !self.falls()
    }

    /// Where the surface describes all sizes but the largest or all but the smallest, that one gets
    /// a separate curve, and its neighbour is measured at rising loads instead.
    fn leave_out_an_end(&mut self, rounds: &Rounds, fitted: &mut Fitted) -> bool {
        let (first, last) = self.ends;
        // Of two sizes, either one is described without the other.
        if last < first + 2 || !self.is_off_anywhere(rounds) {
            return false;
        }
        for ends in [(first + 1, last), (first, last - 1)] {
            self.ends = ends;
            self.fit(rounds, fitted);
            if !self.is_off_anywhere(rounds) {
                return true;
            }
        }
        self.ends = (first, last);
        self.fit(rounds, fitted);
        false
    }

    fn is_off_anywhere(&self, rounds: &Rounds) -> bool {
        self.described().iter().any(|size| size.own.is_none() && self.is_off(size, rounds))
    }

    /// The sizes that the surface has to describe.
    fn described(&self) -> &[Size<'a>] {
        self.sizes.get(self.ends.0..=self.ends.1).unwrap_or_default()
    }

    /// The sizes that the surface describes, without the two at its ends.
    fn inner(&self) -> &[Size<'a>] {
        let here = self.described();
        here.get(1..here.len().saturating_sub(1)).unwrap_or_default()
    }

    /// How many rounds of its cells were measured.
    fn count(&self, rounds: &Rounds) -> usize {
        self.sizes.iter().map(|s| s.points(rounds).len()).sum()
    }

    /// The next cell of those that the surface follows from.
    fn base(&self, rounds: &Rounds) -> Option<&'a Cell> {
        let (first, last) = (self.described().first()?, self.described().last()?);
        // Before anything else is written, a deep load fills the write cache.
        let deep = last.loads.values().nth(last.loads.len() / 2)?.first().copied()?;
        if deep.write_percent > 0 && self.count(rounds) == 0 {
            return Some(deep);
        }
        if let Some(cell) = [last, first].into_iter().find_map(|size| size.ramp(rounds).err()) {
            return Some(cell);
        }
        if let Some(cell) = self.sizes.iter().find_map(|size| size.doubtful(rounds)) {
            return Some(cell);
        }
        // The surface has no peak: every size shows its own.
        let falls = self.falls();
        if (falls || self.every_size)
            && let Some(cell) = self.inner().iter().find_map(|size| size.ramp(rounds).err())
        {
            return Some(cell);
        }
        if falls {
            return None;
        }
        let missing = |cell: &&&Cell| !rounds.contains_key(&cell.number);
        for size in self.inner() {
            let ends = [size.loads.values().next(), self.saturated(size).next()];
            let bases = ends.into_iter().flatten().filter_map(|splits| splits.first());
            if let Some(cell) = bases.into_iter().find(missing) {
                return Some(cell);
            }
        }
        None
    }

    /// The next cell where the surface is off, and of the controls.
    fn refined(&self, rounds: &Rounds) -> Option<&'a Cell> {
        if self.falls() {
            return None;
        }
        for size in self.inner().iter().filter(|s| s.own.is_none() && self.is_off(s, rounds)) {
            if let Err(cell) = size.ramp(rounds) {
                return Some(cell);
            }
        }
        let pairs = self.controls().flat_map(|(base, control)| [base, control]);
        pairs.into_iter().find(|cell| !rounds.contains_key(&cell.number))
    }

    /// Whether throughput has a peak and falls past it, at the largest or the smallest block.
    fn falls(&self) -> bool {
        let ends = [self.described().last(), self.described().first()];
        ends.into_iter().flatten().any(|size| size.falls)
    }

    /// Loads that are saturated, or the deepest where none is.
    fn saturated<'s>(&'s self, size: &'s Size<'a>) -> impl Iterator<Item = &'s Vec<&'a Cell>> {
        let surface = size.own.as_ref().or(self.surface.as_ref());
        let knee = surface.map_or(f64::INFINITY, |s| s.knee(size.bytes));
        let deepest = size.loads.keys().next_back().copied().unwrap_or(0);
        let enough = move |n: u64| n as f64 >= SATURATED * knee || n == deepest;
        size.loads.iter().filter(move |(n, _)| enough(**n)).map(|(_, splits)| splits)
    }

    /// The saturated cell of a size that was measured least often; none when all were measured
    /// often enough.
    fn saturated_cell(&self, size: &Size<'a>, rounds: &Rounds) -> Option<&'a Cell> {
        let count = |cell: &Cell| rounds.get(&cell.number).map_or(0, Vec::len);
        let cells = self.saturated(size).flatten().copied();
        cells.filter(|c| count(c) < ROUNDS_MAX).min_by_key(|c| (count(c), c.in_flight(), c.threads))
    }

    /// Cells of the same load, with the fewest and with the most threads.
    fn controls(&self) -> impl Iterator<Item = (&'a Cell, &'a Cell)> {
        let ends = [self.described().last(), self.described().first()];
        ends.into_iter().flatten().filter_map(|size| {
            let splits = self.saturated(size).next()?;
            (splits.len() > 1).then_some((*splits.first()?, *splits.last()?))
        })
    }

    /// How far the rounds of a cell are from the surface, in natural log units.
    fn distance(&self, cell: &Cell, rounds: &Rounds) -> Option<f64> {
        let surface = self.surface.as_ref()?;
        let found = rounds.get(&cell.number)?;
        let mean = found.iter().map(|r| r.iops).sum::<f64>() / found.len() as f64;
        let expected = surface.iops(cell.in_flight() as f64, cell.block_bytes.0 as f64);
        (mean > 0.0).then(|| (mean / expected).ln())
    }

    /// Whether the surface does not describe a size.
    fn is_off(&self, size: &Size<'a>, rounds: &Rounds) -> bool {
        let limit = OFF.max(OFF_SCATTERS * self.scatter);
        let mut bases = size.loads.values().filter_map(|splits| splits.first());
        bases.any(|c| self.distance(c, rounds).is_some_and(|d| d.abs() > limit))
    }

    /// Whether it matters how a load is split into threads and depth.
    fn depends_on_split(&self, rounds: &Rounds) -> bool {
        if !self.is_ready(rounds) || self.refined(rounds).is_some() {
            return false;
        }
        let mean = |cell: &Cell| {
            let found = rounds.get(&cell.number)?;
            Some(found.iter().map(|r| r.iops).sum::<f64>() / found.len() as f64)
        };
        let differences: Vec<f64> = self
            .controls()
            .filter_map(|(base, control)| Some((mean(control)? / mean(base)?).ln()))
            .filter(|d| d.is_finite())
            .collect();
        let sum: f64 = differences.iter().sum();
        !differences.is_empty() && sum.abs() / differences.len() as f64 > SPLIT
    }

    /// The figures at a load of a size.
    fn at(&self, size: &Size<'a>, in_flight: f64) -> Option<Inferred> {
        let surface = size.own.as_ref().or(self.surface.as_ref())?;
        let iops = surface.iops(in_flight, size.bytes);
        let error_percent = surface.half_width_percent(in_flight, size.bytes);
        let finite = iops > 0.0 && iops.is_finite() && error_percent.is_finite();
        finite.then(|| Inferred { iops, latency_ns: 1e9 * in_flight / iops, error_percent })
    }

    /// The best that a size gives at any load of the plan.
    fn best(&self, size: &Size<'a>) -> Option<Best> {
        let deepest = *size.loads.keys().next_back()? as f64;
        let figures = self.at(size, deepest)?;
        let enough = |n: &u64| {
            let here = self.at(size, *n as f64)?;
            (here.iops >= OPERATING_SHARE * figures.iops).then_some((*n, here))
        };
        let (load, operating) = size.loads.keys().find_map(enough)?;
        Some(Best {
            figures,
            operating_in_flight: load as f64,
            operating_latency_ns: operating.latency_ns,
            own: size.own.is_some() || self.sizes.len() == 1,
        })
    }
}

#[cfg(test)]
#[path = "adaptive_tests.rs"]
mod tests;
