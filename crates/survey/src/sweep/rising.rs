//! The cells of one block size at rising loads, and how far rounds of the same cell are apart.

use std::collections::BTreeMap;

use analysis::knee::{LoadPoint, RampRule, Reached, find_knee, ramp_is_done};
use analysis::surface::{Surface, SurfacePoint};
use workload::sweep::Cell;

/// Cells that are measured twice: the fewest whose largest difference is the 90 % quantile.
pub(super) const REPEATS: usize = 9;
/// A fall past a peak is believed when its cells were measured so often.
const PEAK_ROUNDS: usize = 3;
/// A fall ends below this share of the peak, at the least.
const LOW: f64 = 0.9;
/// Half of the width of a 95 % interval, in standard deviations.
const NORMAL_95: f64 = 1.96;

/// One measurement of a cell, as far as it is needed here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Round {
    pub(super) iops: f64,
    pub(super) latency_ns: f64,
    /// Length of the warm-up, what was cut off the window as warm-up, and the window, in seconds.
    pub(super) seconds: f64,
    /// Half of the width of the interval of its mean, as the window itself shows it.
    pub(super) half_width_percent: Option<f64>,
}

/// The rounds of every cell that was measured.
pub(super) type Rounds = BTreeMap<u32, Vec<Round>>;

/// The cells of one block size.
pub(super) struct Size<'a> {
    pub(super) bytes: f64,
    /// By total in flight; those of the same total by rising threads.
    pub(super) loads: BTreeMap<u64, Vec<&'a Cell>>,
    /// Of a size that the surface of its family does not describe.
    pub(super) own: Option<Surface>,
    /// Its throughput falls past a peak by more than rounds of the same cell scatter.
    pub(super) falls: bool,
}

impl<'a> Size<'a> {
    /// Every round of every cell of this size.
    pub(super) fn points(&self, rounds: &Rounds) -> Vec<SurfacePoint> {
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
    pub(super) fn ramp(&self, rounds: &Rounds) -> Result<Vec<LoadPoint>, &'a Cell> {
        self.rising(rounds).map(|rising| rising.into_iter().map(|(_, point)| point).collect())
    }

    /// The cell that should be measured again before a fall is believed: of those from the peak on,
    /// the one that was measured least often.
    pub(super) fn doubtful(&self, rounds: &Rounds) -> Option<&'a Cell> {
        if !self.falls {
            return None;
        }
        let rising = self.rising(rounds).ok()?;
        let highest = rising.iter().map(|(_, p)| p.throughput).fold(0.0, f64::max);
        let from_peak = rising.iter().skip_while(|(_, p)| p.throughput < highest);
        let count = |cell: &Cell| rounds.get(&cell.number).map_or(0, Vec::len);
        let few = from_peak.map(|(cell, _)| *cell).filter(|cell| count(cell) < PEAK_ROUNDS);
        few.min_by_key(|cell| count(cell))
    }

    /// Finds out whether its throughput falls, where one round of a cell scatters by this much.
    pub(super) fn look_for_a_fall(&mut self, rounds: &Rounds, scatter: f64, fitted: &mut Fitted) {
        let Ok(rising) = self.rising(rounds) else { return };
        let known = |(cell, point): (&Cell, LoadPoint)| {
            let count = rounds.get(&cell.number).map_or(1, Vec::len).max(1) as f64;
            let half_width_percent = Some(100.0 * NORMAL_95 * scatter / count.sqrt());
            LoadPoint { half_width_percent, ..point }
        };
        let points: Vec<LoadPoint> = rising.into_iter().map(known).collect();
        self.falls = fitted.falls(&points);
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

/// Fits that were already made, by a name of their points.
#[derive(Default)]
pub(super) struct Fitted {
    surfaces: BTreeMap<u64, Option<Surface>>,
    falls: BTreeMap<u64, bool>,
}

impl Fitted {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Fits a surface once for the same points.
    pub(super) fn surface(&mut self, points: &[SurfacePoint]) -> Option<Surface> {
        let name = name(points.iter().flat_map(|p| [p.in_flight, p.block_bytes, p.iops]));
        self.surfaces.entry(name).or_insert_with(|| Surface::fit(points)).clone()
    }

    /// Whether throughput falls past a peak. A knee takes a while to find, and what stays up has no
    /// fall.
    fn falls(&mut self, points: &[LoadPoint]) -> bool {
        let highest = points.iter().map(|p| p.throughput).fold(0.0, f64::max);
        if points.last().is_none_or(|p| p.throughput >= LOW * highest) {
            return false;
        }
        let widths =
            |p: &LoadPoint| [p.in_flight, p.throughput, p.half_width_percent.unwrap_or(0.0)];
        let falls = || find_knee(points).is_some_and(|knee| knee.reached == Reached::Retrograde);
        *self.falls.entry(name(points.iter().flat_map(widths))).or_insert_with(falls)
    }
}

fn name(numbers: impl Iterator<Item = f64>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325_u64, |hash, number| {
        (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    })
}

/// The cell to measure again: the first in this order, until as many as are needed were measured
/// twice.
pub(super) fn repeat<'a>(order: &[&'a Cell], rounds: &Rounds) -> Option<&'a Cell> {
    let count = |cell: &&&Cell| rounds.get(&cell.number).map_or(0, Vec::len);
    let twice = order.iter().filter(|c| count(c) > 1).count();
    if twice >= REPEATS {
        return None;
    }
    order.iter().find(|c| count(c) == 1).copied()
}

/// Standard deviation of the rounds of the same cell, in natural log units; 0 without repetitions.
pub(super) fn scatter(rounds: &Rounds) -> f64 {
    let (mut squares, mut freedom) = (0.0, 0);
    for found in rounds.values().filter(|found| found.len() > 1) {
        let logs: Vec<f64> = found.iter().map(|r| r.iops.max(f64::MIN_POSITIVE).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        squares += logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>();
        freedom += logs.len() - 1;
    }
    if freedom == 0 { 0.0 } else { (squares / freedom as f64).sqrt() }
}
