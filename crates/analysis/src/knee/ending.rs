//! How a curve ends: decided here, once, from the points and from how far each of them may be off.
//! Every sentence and every cause follows from this one decision.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::fit::{FINE, Loads, SoftHinge};
use super::ramp::gain_per_doubling_percent;
use super::{CurvePoint, LoadPoint, Reached, hold_the_peak, peak_place};
use crate::{numbers, usl};

/// Throughput rises while a doubling of the load adds this much, in percent: the load before a
/// doubling that adds more has less than 95 % of the highest throughput, so the operating point is
/// beyond it.
const RISING_PERCENT: f64 = 100.0 * (1.0 / 0.95 - 1.0);
/// Standard deviation, in natural log units, that two measurements of the same load are always
/// allowed: what one run shows of itself understates what differs between runs.
const RUN_TO_RUN: f64 = 0.05;
/// Points that scatter by more than this do not tell where a curve is flat.
const TELLS: f64 = 0.25;
/// A rise over two doublings of the load, and one over the last of them, must be so many standard
/// deviations of a difference of two points.
const SURE_TWO_DOUBLINGS: f64 = 2.0;
const SURE_LAST_DOUBLING: f64 = 1.0;
/// A fall must be this many of its standard deviations. The highest of several equal points is
/// higher than they are, which takes up one of them.
const SURE_FALL: f64 = 3.0;
/// Fall at the deepest point, and mean fall of all points past the highest, that make a curve
/// retrograde however sure it is.
const RETROGRADE_LAST: f64 = 0.15;
const RETROGRADE_MEAN: f64 = 0.10;
/// Points with at least this share of the highest throughput make up the level from which a fall is
/// counted.
const NEAR_PEAK: f64 = 0.9;
/// Half widths are given with 95 % confidence, which is this many standard deviations of a normal
/// distribution.
pub(super) const NORMAL_95: f64 = 1.96;
/// Below so many points beyond those that determine the fit, Student's t says no more than that
/// nothing is known.
const FREE_MIN: f64 = 3.0;

/// What the decision is made from.
pub(super) struct Ending<'a> {
    /// Usable points in rising order, two at least.
    pub(super) points: &'a [(usize, LoadPoint)],
    /// The fit that represents the points, if one does.
    pub(super) smooth: Option<SoftHinge>,
    pub(super) operating_point: CurvePoint,
    /// Standard deviation of a point, in natural log units.
    pub(super) scatter: f64,
    /// Whether throughput declines past its peak: see [`has_fallen`].
    pub(super) has_fallen: bool,
}

impl Ending<'_> {
    /// Decides how the curve ends.
    pub(super) fn decide(&self) -> Reached {
        let Some((_, deepest)) = self.points.last() else { return Reached::Unclear };
        if self.has_fallen {
            return Reached::Retrograde;
        }
        if self.scatter > TELLS {
            return Reached::Unclear;
        }
        let last = self.rise(deepest.in_flight / 2.0);
        let gain = (last.ln / last.doublings).exp_m1() * 100.0;
        let plateau = self.operating_point.in_flight < deepest.in_flight;
        if gain < RISING_PERCENT {
            return if plateau { Reached::Saturated } else { Reached::Unclear };
        }
        let of_two = self.scatter * std::f64::consts::SQRT_2;
        let two = self.rise(deepest.in_flight / 4.0);
        let is_highest = peak_place(self.points) + 1 == self.points.len();
        let operates_late = self.operating_point.in_flight > deepest.in_flight / 2.0;
        let is_sure = self.keeps_rising()
            || (two.ln > SURE_TWO_DOUBLINGS * of_two && last.ln > SURE_LAST_DOUBLING * of_two);
        if is_highest && operates_late && is_sure {
            Reached::NotReached
        } else if !is_highest && plateau && last.ln <= SURE_TWO_DOUBLINGS * of_two {
            Reached::Saturated
        } else {
            Reached::Unclear
        }
    }

    /// Whether each of the last three steps gained: noise seldom puts four points in order.
    fn keeps_rising(&self) -> bool {
        let last = self.points.len().checked_sub(4).map(|from| &self.points[from..]);
        let gained = |pair: &[(usize, LoadPoint)]| {
            gain_per_doubling_percent(pair[0].1, pair[1].1)
                .is_some_and(|gain| gain >= RISING_PERCENT)
        };
        last.is_some_and(|points| points.windows(2).all(gained))
    }

    /// From the deepest point that has this load or less (the shallowest, if none has) to the
    /// deepest of all.
    fn rise(&self, load: f64) -> Rise {
        let deepest = self.points[self.points.len() - 1].1;
        let mut before = self.points.iter().rev().map(|(_, point)| *point);
        let from = before.find(|p| p.in_flight <= load).unwrap_or(self.points[0].1);
        let height = |point: LoadPoint| match self.smooth {
            Some(hinge) => hinge.throughput(point.in_flight),
            None => point.throughput,
        };
        Rise {
            ln: (height(deepest) / height(from)).ln(),
            doublings: (deepest.in_flight / from.in_flight).log2(),
        }
    }
}

/// What throughput gains between two loads.
struct Rise {
    ln: f64,
    doublings: f64,
}

/// Whether throughput has a peak and falls from it by more than the scatter.
///
/// Scatter on a plateau makes some point the highest. So the fall is counted from the middle one of
/// the points within 10 % of the highest, and must be deep at the end and hold on average.
pub(super) fn has_fallen(points: &[(usize, LoadPoint)], scatter: f64) -> bool {
    let peak = peak_place(points);
    let near_peak = NEAR_PEAK * points[peak].1.throughput;
    let throughputs = points.iter().map(|(_, point)| point.throughput);
    let top: Vec<f64> = throughputs.clone().filter(|value| *value >= near_peak).collect();
    let level = numbers::median(&top).unwrap_or(near_peak);
    let falls: Vec<f64> = throughputs.skip(peak + 1).map(|value| (level / value).ln()).collect();
    let (Some(last), Some(mean)) = (falls.last(), numbers::mean(&falls)) else { return false };
    let sure = |points: f64| SURE_FALL * scatter * (1.0 / points + 1.0 / top.len() as f64).sqrt();
    *last >= sure(1.0).max(-(1.0 - RETROGRADE_LAST).ln())
        && mean >= sure(falls.len() as f64).max(-(1.0 - RETROGRADE_MEAN).ln())
}

/// The standard deviation of a point, in natural log units. The largest of three: what always
/// differs between runs, what the least certain point at the deep end says of itself, and the
/// distance of the points from the nearest curve.
pub(super) fn scatter(
    points: &[(usize, LoadPoint)],
    loads: Option<&Loads>,
    hinge: Option<SoftHinge>,
) -> f64 {
    let count = points.len();
    let peak = peak_place(points);
    // Only those that the decision compares.
    let from = points[peak].1.in_flight.min(points[count - 1].1.in_flight / 4.0);
    let compared = points.iter().map(|(_, p)| p).filter(|p| p.in_flight >= from);
    let own = compared.map(own_deviation).fold(RUN_TO_RUN, f64::max);
    let throughputs: Vec<f64> = points.iter().map(|(_, point)| point.throughput).collect();
    let hinged = hinge.map(|hinge| deviation(hinge.error, count, count));
    // Up to the peak only: what a fall does not bend.
    let until = peak + 1;
    let held = (until >= 5).then(|| loads?.fit(&hold_the_peak(&throughputs), FINE)).flatten();
    let held = held.map(|hinge| deviation(hinge.error, count, until));
    let pairs: Vec<(f64, f64)> = points.iter().map(|(_, p)| (p.in_flight, p.throughput)).collect();
    let law = usl::fit(&pairs).map(|law| deviation(law.error_percent / 100.0, count, count));
    let nearest = [hinged, held, law].into_iter().flatten().min_by(f64::total_cmp);
    nearest.map_or(own, |residual| residual.max(own))
}

/// What a point says of itself, in natural log units.
pub(super) fn own_deviation(point: &LoadPoint) -> f64 {
    let percent = point.half_width_percent.filter(|percent| *percent > 0.0);
    percent.unwrap_or(0.0).min(100.0) / 100.0 / NORMAL_95
}

/// The distance of points from a curve as a standard deviation: raised for the three figures that
/// the curve took from them, and for knowing it from few points only (Student's t instead of the
/// normal distribution).
pub(super) fn deviation(error: f64, count: usize, informative: usize) -> f64 {
    let free = informative.saturating_sub(3).max(1) as f64;
    let few = StudentsT::new(0.0, 1.0, free.max(FREE_MIN))
        .map_or(1.0, |student| student.inverse_cdf(0.975) / NORMAL_95);
    error * (count as f64 / free).sqrt() * few
}
