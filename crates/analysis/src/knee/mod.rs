//! The saturation point of a load curve: where more I/O in flight stops giving more throughput.
//!
//! A single "knee" is ambiguous. On a device whose I/Os meet its channels at random, half of the
//! throughput is reached where the asymptotes cross and 95 % only six times deeper. Therefore two
//! figures are given: the *operating point*, which is what one sets, and the *Little knee* N*,
//! which counts how many I/Os the storage truly works on at once.

mod ending;
mod fit;
mod intervals;
mod ramp;
mod search;
mod sentences;

use serde::{Deserialize, Serialize};

pub use intervals::Interval;
pub use ramp::{RampRule, ramp_is_done};
pub use search::Search;

use crate::numbers;
use crate::usl::{self, Usl};
use ending::Ending;
use fit::{FINE, Loads, SoftHinge};

/// Share of the highest throughput that the operating point reaches.
const OPERATING_SHARE: f64 = 0.95;
/// A fit this close to the points (natural log units) represents them, and takes the scatter out of
/// them.
const SMOOTHS: f64 = 0.10;
/// A fit farther off than this is not used.
const DESCRIBES: f64 = 0.25;
/// A point that has less than this share of the highest measured throughput is never the operating
/// point.
const OPERATING_FLOOR: f64 = 0.85;
/// The deepest point must reach this share of a fitted ceiling for the ceiling to count as seen.
const CEILING_SEEN: f64 = 0.8;
/// A figure larger than this cannot be a measurement.
const PLAUSIBLE: f64 = 1e18;

/// One measured load of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// I/Os in flight, over all threads and targets.
    pub in_flight: f64,
    /// I/Os or bytes a second; the same unit throughout a curve.
    pub throughput: f64,
    /// Mean latency in nanoseconds.
    pub latency_ns: f64,
    /// How far the true throughput may be from the measured one, in percent of it, either way, with
    /// 95 % confidence; absent if it is not known.
    #[serde(default)]
    pub half_width_percent: Option<f64>,
}

/// A measured point picked from the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Its place among the points given.
    pub index: usize,
    /// I/Os in flight, over all threads and targets.
    pub in_flight: f64,
    /// Measured throughput, in the unit of the points given.
    pub throughput: f64,
    /// Mean latency that was measured there.
    pub latency_ns: f64,
}

/// Whether throughput stopped growing at the end of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// Throughput stopped growing before the deepest point.
    Saturated,
    /// Throughput was still rising at the deepest point: the capacity is at least what was measured
    /// there.
    NotReached,
    /// Throughput declines past its peak by more than the points scatter.
    Retrograde,
    /// The points scatter too much, or end too early, to tell whether throughput still rises.
    Unclear,
}

impl Reached {
    /// Whether the curve shows where throughput stops growing.
    #[must_use]
    pub fn shows_a_limit(self) -> bool {
        match self {
            Self::Saturated | Self::Retrograde => true,
            Self::NotReached | Self::Unclear => false,
        }
    }
}

/// The saturation point of a load curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The least measured load that gives at least 95 % of the highest throughput.
    pub operating_point: CurvePoint,
    /// The point with the highest measured throughput.
    pub peak: CurvePoint,
    /// Whether throughput stopped growing at the end of the curve.
    pub reached: Reached,
    /// N95: the least load with 95 % of the highest throughput of the loads measured, interpolated
    /// between them. If the curve still rises at the deepest of them, a deeper ramp would put it
    /// deeper.
    pub operating_load: f64,
    /// Where N95 lies with 95 % confidence. Absent if neither the points nor a fit say how certain
    /// they are.
    pub operating_load_interval: Option<Interval>,
    /// N* = saturated throughput x unloaded latency (Little 1961), in I/Os in flight: the load at
    /// which the two asymptotes of the fitted curve meet, and the number of I/Os the storage works
    /// on at once. Never below the shallowest load measured. Absent if the ceiling was not seen or
    /// the curve does not fit the points.
    pub little_knee: Option<f64>,
    /// Where N* lies with 95 % confidence.
    pub little_knee_interval: Option<Interval>,
    /// Latency of an I/O that waits for no other: from the fit if there is a Little knee, otherwise
    /// measured at the shallowest load.
    pub unloaded_latency_ns: f64,
    /// Throughput at unlimited load, in the unit of the points given: from the fit if there is a
    /// Little knee, otherwise the highest measured, which the true one may exceed. For a retrograde
    /// curve, the height of its peak.
    pub saturated_throughput: f64,
    /// Where it lies with 95 % confidence; absent if it is only the highest measured.
    pub saturated_throughput_interval: Option<Interval>,
    /// For a retrograde curve, the universal scalability law fitted to it.
    pub usl: Option<Usl>,
    /// Typical distance of the measured points from the fitted curve; absent if no curve was
    /// fitted.
    pub fit_error_percent: Option<f64>,
    /// The rule that was applied, with its numbers.
    pub rule: String,
    /// What the curve shows, in words.
    pub explanation: String,
}

/// Finds the saturation point of a load curve, points in rising order of load.
///
/// Fits the soft hinge `X(N) = ((a N)^-p + b^-p)^(-1/p)`, `1 <= p <= 30`, by least squares in log
/// throughput (a smooth form of the asymptotic bounds `min(N/R0, Xmax)` of Denning & Buzen 1978);
/// points off the curve by more than 10 % count linearly, so that one stalled point does not move
/// it. Where the curve comes within 10 % of the points, the operating point is read from the curve
/// at the measured loads, which takes out the scatter that makes one point of a plateau the
/// highest; otherwise from the points.
///
/// The intervals are those of a parametric bootstrap ([`Interval`]).
///
/// Points that hold anything but positive, finite numbers are left out. None if fewer than two
/// remain.
#[must_use]
pub fn find_knee(points: &[LoadPoint]) -> Option<Knee> {
    let curve = Curve::new(points)?;
    let reached = curve.reached;
    let seen = curve.hinge.filter(|hinge| curve.shows_ceiling(*hinge, reached));
    let peak = curve.peak();
    let saturated_throughput = match seen {
        Some(hinge) => hinge.saturated_throughput,
        None => peak.throughput,
    };
    let unloaded_latency_ns = match seen {
        Some(hinge) => hinge.little_knee / hinge.saturated_throughput * curve.ios_per_unit(),
        None => curve.points[0].1.latency_ns,
    };
    let operating_point = curve.operating_point();
    let intervals = intervals::of(&curve, seen.is_some());
    Some(Knee {
        operating_point,
        peak,
        reached,
        operating_load: curve.operating_load(curve.hinge, &curve.throughputs()),
        operating_load_interval: intervals.operating_load,
        little_knee: seen.map(|hinge| hinge.little_knee),
        little_knee_interval: intervals.little_knee,
        unloaded_latency_ns,
        saturated_throughput,
        saturated_throughput_interval: intervals.saturated_throughput,
        usl: (reached == Reached::Retrograde).then(|| usl::fit(&curve.pairs())).flatten(),
        fit_error_percent: curve.hinge.map(|hinge| 100.0 * hinge.error),
        rule: sentences::rule(curve.smooth().is_some(), curve.hinge, seen.is_some()),
        explanation: sentences::explanation(&curve, &operating_point, &peak),
    })
}

/// The usable points with their places, in rising order of load.
fn usable(points: &[LoadPoint]) -> Vec<(usize, LoadPoint)> {
    let plausible = |value: f64| (1.0 / PLAUSIBLE..=PLAUSIBLE).contains(&value);
    let mut kept: Vec<(usize, LoadPoint)> = points
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, point)| {
            plausible(point.in_flight) && plausible(point.throughput) && plausible(point.latency_ns)
        })
        .collect();
    kept.sort_by(|left, right| left.1.in_flight.total_cmp(&right.1.in_flight));
    kept
}

/// At least two usable points, the hinge fitted to them, and how they end.
struct Curve {
    points: Vec<(usize, LoadPoint)>,
    reached: Reached,
    /// Standard deviation of a point, in natural log units.
    scatter: f64,
    /// Ready for fits; `None` for fewer than three points.
    loads: Option<Loads>,
    hinge: Option<SoftHinge>,
}

impl Curve {
    fn new(points: &[LoadPoint]) -> Option<Self> {
        let points = usable(points);
        if points.len() < 2 {
            return None;
        }
        let in_flight: Vec<f64> = points.iter().map(|(_, point)| point.in_flight).collect();
        let loads = Loads::new(&in_flight);
        let reached = Reached::Unclear;
        let mut curve = Self { points, reached, scatter: 0.0, loads, hinge: None };
        curve.hinge = curve.fit(&curve.throughputs(), FINE);
        curve.scatter = ending::scatter(&curve.points, curve.loads.as_ref(), curve.hinge);
        let has_fallen = ending::has_fallen(&curve.points, curve.scatter);
        curve.reached = Ending {
            points: &curve.points,
            smooth: curve.smooth(),
            operating_point: curve.operating_point(),
            scatter: curve.scatter,
            has_fallen,
        }
        .decide();
        if curve.reached == Reached::Retrograde {
            curve.hinge = curve.fit(&curve.throughputs(), FINE);
        }
        Some(curve)
    }

    fn pairs(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|(_, point)| (point.in_flight, point.throughput)).collect()
    }

    fn throughputs(&self) -> Vec<f64> {
        self.points.iter().map(|(_, point)| point.throughput).collect()
    }

    /// The hinge through these throughputs at the measured loads.
    fn fit(&self, throughputs: &[f64], step: f64) -> Option<SoftHinge> {
        let loads = self.loads.as_ref()?;
        if self.reached == Reached::Retrograde {
            loads.fit(&hold_the_peak(throughputs), step)
        } else {
            loads.fit(throughputs, step)
        }
    }

    /// The fit, if it is good enough to represent the points.
    fn smooth(&self) -> Option<SoftHinge> {
        let retrograde = self.reached == Reached::Retrograde;
        self.hinge.filter(|hinge| !retrograde && hinge.error <= SMOOTHS)
    }

    /// N95 of these throughputs at the measured loads: from their hinge if the measured hinge
    /// represents the points, otherwise by interpolation between them, on log scales.
    fn operating_load(&self, hinge: Option<SoftHinge>, throughputs: &[f64]) -> f64 {
        let (shallowest, deepest) = self.ends();
        let load = match hinge.filter(|_| self.smooth().is_some()) {
            Some(hinge) => hinge.load_of_share(OPERATING_SHARE, deepest.in_flight),
            None => self.interpolate(throughputs),
        };
        load.clamp(shallowest.in_flight, deepest.in_flight)
    }

    fn interpolate(&self, throughputs: &[f64]) -> f64 {
        let load = |place: usize| self.points[place].1.in_flight;
        let Some(above) = first_near_highest(throughputs) else {
            return load(self.points.len() - 1);
        };
        let Some(below) = above.checked_sub(1) else { return load(0) };
        let enough = OPERATING_SHARE * highest(throughputs);
        let way =
            (enough / throughputs[below]).ln() / (throughputs[above] / throughputs[below]).ln();
        load(below) * (load(above) / load(below)).powf(way)
    }

    fn at(&self, place: usize) -> CurvePoint {
        let (index, point) = self.points[place];
        CurvePoint {
            index,
            in_flight: point.in_flight,
            throughput: point.throughput,
            latency_ns: point.latency_ns,
        }
    }

    fn deepest(&self) -> CurvePoint {
        self.at(self.points.len() - 1)
    }

    fn ends(&self) -> (CurvePoint, CurvePoint) {
        (self.at(0), self.deepest())
    }

    fn peak(&self) -> CurvePoint {
        self.at(peak_place(&self.points))
    }

    fn operating_point(&self) -> CurvePoint {
        let measured: Vec<f64> = self.points.iter().map(|(_, point)| point.throughput).collect();
        let floor = OPERATING_FLOOR * highest(&measured);
        let smoothed = self.smooth().and_then(|hinge| {
            let heights: Vec<f64> =
                self.points.iter().map(|(_, point)| hinge.throughput(point.in_flight)).collect();
            first_near_highest(&heights).filter(|place| measured[*place] >= floor)
        });
        let place = smoothed.or_else(|| first_near_highest(&measured));
        self.at(place.unwrap_or(self.points.len() - 1))
    }

    /// Whether the points go far enough past the hinge to show its ceiling, and are on it. While
    /// throughput still rises, the ceiling is extrapolated, which needs a closer fit and a point
    /// twice as deep as the hinge.
    fn shows_ceiling(&self, hinge: SoftHinge, reached: Reached) -> bool {
        let deepest = self.deepest().in_flight;
        let (error, nearest) = match reached {
            Reached::NotReached | Reached::Unclear => (SMOOTHS, deepest / 2.0),
            Reached::Saturated | Reached::Retrograde => (DESCRIBES, deepest),
        };
        hinge.error <= error
            && hinge.little_knee <= nearest
            && hinge.ceiling_share(deepest) >= CEILING_SEEN
    }

    /// Nanoseconds of latency for each unit of N/X: 10^9 for I/Os a second, and 10^9 times the I/O
    /// size for bytes a second. By Little's law it is the same at every point; the median is taken.
    fn ios_per_unit(&self) -> f64 {
        let factors: Vec<f64> = self
            .points
            .iter()
            .map(|(_, point)| point.latency_ns / point.in_flight * point.throughput)
            .collect();
        numbers::median(&factors).unwrap_or(1e9)
    }
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn first_near_highest(values: &[f64]) -> Option<usize> {
    let enough = OPERATING_SHARE * highest(values);
    values.iter().position(|value| *value >= enough)
}

fn peak_place(points: &[(usize, LoadPoint)]) -> usize {
    let mut peak = 0;
    for (place, (_, point)) in points.iter().enumerate() {
        if point.throughput > points[peak].1.throughput {
            peak = place;
        }
    }
    peak
}

/// The points, with the peak in place of everything past it: the ceiling of a retrograde curve is
/// the height of its peak.
fn hold_the_peak(throughputs: &[f64]) -> Vec<f64> {
    let higher = |peak: &mut f64, throughput: &f64| {
        *peak = peak.max(*throughput);
        Some(*peak)
    };
    throughputs.iter().scan(0.0, higher).collect()
}
