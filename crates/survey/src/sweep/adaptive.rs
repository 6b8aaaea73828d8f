//! Which cells to measure so that the others can be inferred, and what follows for those.
//!
//! Cells that differ only in block size, threads and depth are a *family*: one kind of I/O. Of each
//! family, the largest and the smallest block are measured at rising loads until they saturate; of
//! the blocks between, the least load and twice the knee, because service times are a time for each
//! I/O and a time for each byte. A surface through all of these gives the rest. Control cells with
//! another split of the same load into threads and depth show whether only their product matters; a
//! block size that the surface does not describe is measured at rising loads itself. Then cells in
//! saturation are measured again until the best of every load is known well enough, or the time is
//! used.
//!
//! All of it follows from what was measured: the next cell after an interruption is the one it
//! would have been.

use std::collections::BTreeMap;

use analysis::knee::{LoadPoint, RampRule, Reached, find_knee, ramp_is_done};
use analysis::numbers::median;
use analysis::surface::{Surface, SurfacePoint};
use workload::sweep::Cell;

use super::checks::kinds;

/// The best of every load is to be known to this many percent (half of the width of its 95 %
/// interval).
pub(super) const BEST_PERCENT: f64 = 3.0;
/// Repetitions stop when this share of the time of the whole matrix is used.
pub(super) const BUDGET_SHARE: f64 = 0.02;
/// A size whose cells lie farther from the surface than this, in natural log units, is not
/// described by it …
const OFF: f64 = 0.10;
/// … nor if they lie farther than so many times the scatter of all points.
const OFF_SCATTERS: f64 = 3.5;
/// Cells of the same load and another split differ if they do by more than this on average, in
/// natural log units.
const SPLIT: f64 = 0.15;
/// A load this many times the knee is saturated.
const SATURATED: f64 = 2.0;
/// Throughput of the operating point, as a share of the highest.
const OPERATING_SHARE: f64 = 0.95;
/// A fall past a peak is believed when its cells were measured so often.
const PEAK_ROUNDS: usize = 3;
/// More repetitions of one cell teach nothing.
const ROUNDS_MAX: usize = 100;

/// One measurement of a cell, as far as it is needed here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Round {
    pub(super) iops: f64,
    pub(super) latency_ns: f64,
    /// Warm-up and window.
    pub(super) seconds: f64,
}

/// The rounds of every cell that was measured.
pub(super) type Rounds = BTreeMap<u32, Vec<Round>>;

/// What to measure next.
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

/// The best of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    pub(super) figures: Inferred,
    pub(super) operating_in_flight: f64,
    pub(super) operating_latency_ns: f64,
    /// Only cells of this load went into it.
    pub(super) own: bool,
}

/// The families of some cells, and what is known of them.
pub(super) struct Design<'a> {
    families: Vec<Family<'a>>,
    rounds: Rounds,
}

/// Surfaces that were fitted already, by a name of their points.
pub(super) type Fitted = BTreeMap<u64, Option<Surface>>;

/// One kind of I/O.
struct Family<'a> {
    /// In rising order.
    sizes: Vec<Size<'a>>,
    /// Every size is measured at rising loads.
    every_size: bool,
    surface: Option<Surface>,
}

/// The cells of one block size.
struct Size<'a> {
    bytes: f64,
    /// By total in flight; those of the same total by rising threads.
    loads: BTreeMap<u64, Vec<&'a Cell>>,
    /// Of a size that the surface of its family does not describe.
    own: Option<Surface>,
}

impl<'a> Design<'a> {
    /// `every_size`: measure every block size at rising loads, not only the largest and the
    /// smallest.
    pub(super) fn new(
        cells: &[&'a Cell],
        rounds: &Rounds,
        fitted: &mut Fitted,
        every_size: bool,
    ) -> Self {
        let mut families = Vec::new();
        for kind in &kinds(cells) {
            let family = Family::new(kind, rounds, fitted, every_size);
            if family.depends_on_split(rounds) {
                let mut threads: Vec<u32> = kind.iter().map(|c| c.threads).collect();
                threads.sort_unstable();
                threads.dedup();
                for n in threads {
                    let part: Vec<&Cell> =
                        kind.iter().filter(|c| c.threads == n).copied().collect();
                    families.push(Family::new(&part, rounds, fitted, every_size));
                }
            } else {
                families.push(family);
            }
        }
        Self { families, rounds: rounds.clone() }
    }

    /// The next cell; none when everything can be inferred well enough, or `budget_s` of device
    /// time are used.
    pub(super) fn next(&self, budget_s: f64) -> Option<Next<'a>> {
        for family in &self.families {
            if let Some(cell) = family.next(&self.rounds) {
                return Some(Next { cell, first: family.count(&self.rounds) == 0 });
            }
        }
        let rounds = || self.rounds.values().flatten();
        let used: f64 = rounds().map(|r| r.seconds).sum();
        let each = used / rounds().count().max(1) as f64;
        if used + each > budget_s {
            return None;
        }
        // What has a peak is not described by a surface, however often it is measured.
        let described = self.families.iter().filter(|f| !f.falls(&self.rounds));
        let widths = described.flat_map(|f| f.sizes.iter().map(move |s| (f, s)));
        let widest = widths
            .filter_map(|(f, s)| Some((f, s, f.best(s)?.figures.error_percent)))
            .filter(|(.., width)| *width > BEST_PERCENT)
            .max_by(|a, b| a.2.total_cmp(&b.2));
        let (family, size, _) = widest?;
        let cell = family.saturated_cell(size, &self.rounds)?;
        Some(Next { cell, first: false })
    }

    /// What follows for a cell.
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
        let ramp = |cell: &&Cell| self.place(cell)?.1.ramp(&self.rounds).ok();
        cells.iter().filter_map(ramp).any(|points| is_retrograde(&points))
    }

    /// Whether a cell that is not measured gets figures.
    pub(super) fn infers(&self, cell: &Cell) -> bool {
        let falls =
            |size: &Size<'_>| size.ramp(&self.rounds).is_ok_and(|points| is_retrograde(&points));
        let sizes = self.families.iter().flat_map(|f| &f.sizes);
        let bytes = cell.block_bytes.0 as f64;
        let load_falls = sizes.filter(|s| s.bytes.total_cmp(&bytes).is_eq()).any(falls);
        !load_falls && self.inferred(cell).is_some()
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
    key(a) == key(b) && a.targets == b.targets && a.operation == b.operation && a.spec == b.spec
}

impl<'a> Family<'a> {
    fn new(cells: &[&'a Cell], rounds: &Rounds, fitted: &mut Fitted, every_size: bool) -> Self {
        let mut sizes: BTreeMap<u64, BTreeMap<u64, Vec<&'a Cell>>> = BTreeMap::new();
        for cell in cells {
            let loads = sizes.entry(cell.block_bytes.0).or_default();
            let splits = loads.entry(cell.in_flight()).or_default();
            splits.push(cell);
            splits.sort_by_key(|c| (c.threads, c.number));
        }
        let sizes = sizes
            .into_iter()
            .map(|(bytes, loads)| Size { bytes: bytes as f64, loads, own: None })
            .collect();
        let mut family = Self { sizes, every_size, surface: None };
        family.fit(rounds, fitted);
        family
    }

    /// Fits the surface, and own curves to the sizes that it does not describe.
    fn fit(&mut self, rounds: &Rounds, fitted: &mut Fitted) {
        let last = self.sizes.len().saturating_sub(1);
        let mut shared = Vec::new();
        for (place, size) in self.sizes.iter_mut().enumerate() {
            // A size between that was measured at rising loads was not described by the others.
            let inner = place > 0 && place < last;
            if inner && size.ramp(rounds).is_ok() {
                size.own = remembered(fitted, &size.points(rounds));
            } else {
                shared.extend(size.points(rounds));
            }
        }
        self.surface = remembered(fitted, &shared);
    }

    /// How many rounds of its cells were measured.
    fn count(&self, rounds: &Rounds) -> usize {
        self.sizes.iter().map(|s| s.points(rounds).len()).sum()
    }

    /// The next cell of the design, repetitions apart.
    fn next(&self, rounds: &Rounds) -> Option<&'a Cell> {
        let (first, last) = (self.sizes.first()?, self.sizes.last()?);
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
        let inner = self.sizes.get(1..self.sizes.len() - 1).unwrap_or_default();
        // The surface has no peak: every size shows its own.
        let falls = self.falls(rounds);
        if (falls || self.every_size)
            && let Some(cell) = inner.iter().find_map(|size| size.ramp(rounds).err())
        {
            return Some(cell);
        }
        if falls {
            return None;
        }
        let missing = |cell: &&&Cell| !rounds.contains_key(&cell.number);
        for size in inner {
            let ends = [size.loads.values().next(), self.saturated(size).next()];
            let bases = ends.into_iter().flatten().filter_map(|splits| splits.first());
            if let Some(cell) = bases.into_iter().find(missing) {
                return Some(cell);
            }
        }
        for size in inner.iter().filter(|size| size.own.is_none() && self.is_off(size, rounds)) {
            if let Err(cell) = size.ramp(rounds) {
                return Some(cell);
            }
        }
        let pairs = self.controls().flat_map(|(base, control)| [base, control]);
        pairs.into_iter().find(|cell| !rounds.contains_key(&cell.number))
    }

    /// Whether throughput has a peak and falls past it, at the largest or the smallest block.
    fn falls(&self, rounds: &Rounds) -> bool {
        let ends = [self.sizes.last(), self.sizes.first()];
        let ramps = ends.into_iter().flatten().filter_map(|size| size.ramp(rounds).ok());
        ramps.into_iter().any(|points| is_retrograde(&points))
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
        let ends = [self.sizes.last(), self.sizes.first()];
        ends.into_iter().flatten().filter_map(|size| {
            let splits = self.saturated(size).next()?;
            (splits.len() > 1).then_some((*splits.first()?, *splits.last()?))
        })
    }

    /// How far the rounds of a cell lie from the surface, in natural log units.
    fn distance(&self, cell: &Cell, rounds: &Rounds) -> Option<f64> {
        let surface = self.surface.as_ref()?;
        let found = rounds.get(&cell.number)?;
        let mean = found.iter().map(|r| r.iops).sum::<f64>() / found.len() as f64;
        let expected = surface.iops(cell.in_flight() as f64, cell.block_bytes.0 as f64);
        (mean > 0.0).then(|| (mean / expected).ln())
    }

    /// The scatter is that of the middle of all cells, which a size that does not fit hardly moves;
    /// for normal noise, the standard deviation is 1.48 times the median.
    fn limit(&self, rounds: &Rounds) -> f64 {
        let cells = self.sizes.iter().flat_map(|s| s.loads.values().flatten());
        let distances: Vec<f64> =
            cells.filter_map(|c| self.distance(c, rounds)).map(f64::abs).collect();
        median(&distances).map_or(OFF, |middle| OFF.max(OFF_SCATTERS * 1.48 * middle))
    }

    /// Whether the surface does not describe a size.
    fn is_off(&self, size: &Size<'a>, rounds: &Rounds) -> bool {
        let limit = self.limit(rounds);
        let mut bases = size.loads.values().filter_map(|splits| splits.first());
        bases.any(|c| self.distance(c, rounds).is_some_and(|d| d.abs() > limit))
    }

    /// Whether it matters how a load is split into threads and depth.
    fn depends_on_split(&self, rounds: &Rounds) -> bool {
        if self.next(rounds).is_some() {
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

impl<'a> Size<'a> {
    /// Every round of every cell of this size.
    fn points(&self, rounds: &Rounds) -> Vec<SurfacePoint> {
        let cells = self.loads.values().flatten();
        let of_cell = |cell: &&Cell| {
            let point = |round: &Round| SurfacePoint {
                in_flight: cell.in_flight() as f64,
                block_bytes: self.bytes,
                iops: round.iops,
            };
            rounds.get(&cell.number).into_iter().flatten().map(point).collect::<Vec<_>>()
        };
        cells.flat_map(of_cell).collect()
    }

    /// The measured points of rising loads, each at least twice the one before, up to saturation;
    /// or the cell that is missing.
    fn ramp(&self, rounds: &Rounds) -> Result<Vec<LoadPoint>, &'a Cell> {
        self.rising(rounds).map(|rising| rising.into_iter().map(|(_, point)| point).collect())
    }

    /// The cell that should be measured again before a fall is believed: of those from the peak on,
    /// the one that was measured least often.
    fn doubtful(&self, rounds: &Rounds) -> Option<&'a Cell> {
        let rising = self.rising(rounds).ok()?;
        let points: Vec<LoadPoint> = rising.iter().map(|(_, point)| *point).collect();
        let highest = points.iter().map(|p| p.throughput).fold(0.0, f64::max);
        let from_peak = rising.iter().skip_while(|(_, p)| p.throughput < highest);
        let count = |cell: &Cell| rounds.get(&cell.number).map_or(0, Vec::len);
        let few = from_peak.map(|(cell, _)| *cell).filter(|cell| count(cell) < PEAK_ROUNDS);
        few.min_by_key(|cell| count(cell)).filter(|_| is_retrograde(&points))
    }

    /// The cells of rising loads with their points.
    fn rising(&self, rounds: &Rounds) -> Result<Vec<(&'a Cell, LoadPoint)>, &'a Cell> {
        let (mut cells, mut points): (Vec<&Cell>, Vec<LoadPoint>) = (Vec::new(), Vec::new());
        for (load, splits) in &self.loads {
            let Some(cell) = splits.first() else { continue };
            let in_flight = *load as f64;
            if points.last().is_some_and(|p| in_flight < 2.0 * p.in_flight) {
                continue;
            }
            let Some(found) = rounds.get(&cell.number) else { return Err(cell) };
            let count = found.len() as f64;
            cells.push(cell);
            points.push(LoadPoint {
                in_flight,
                throughput: found.iter().map(|r| r.iops).sum::<f64>() / count,
                latency_ns: found.iter().map(|r| r.latency_ns).sum::<f64>() / count,
                half_width_percent: None,
            });
            if ramp_is_done(&points, &RampRule::default()) {
                break;
            }
        }
        Ok(cells.into_iter().zip(points).collect())
    }
}

fn is_retrograde(points: &[LoadPoint]) -> bool {
    find_knee(points).is_some_and(|knee| knee.reached == Reached::Retrograde)
}

/// Fits a surface once for the same points.
fn remembered(fitted: &mut Fitted, points: &[SurfacePoint]) -> Option<Surface> {
    let numbers = points.iter().flat_map(|p| [p.in_flight, p.block_bytes, p.iops]);
    let name = numbers.fold(0xcbf2_9ce4_8422_2325_u64, |hash, number| {
        (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    });
    fitted.entry(name).or_insert_with(|| Surface::fit(points)).clone()
}

#[cfg(test)]
#[path = "adaptive_tests.rs"]
mod tests;
