//! How sure the figures of a knee are: a parametric bootstrap.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::Curve;
use super::ending::{deviation, own_deviation};
use super::fit::COARSE;

/// Curves that are drawn and fitted.
const DRAWS: usize = 200;
/// Drawn figures cut off at each end: what remains are 95 %.
const CUT: usize = DRAWS / 40;
/// No interval is narrower than this share of its figure either way: the curve's shape is never
/// exactly the device's.
const FLOOR: f64 = 0.05;
/// The same curve gives the same intervals.
const SEED: u64 = 0x1057_0DE5;

/// Where a figure lies with 95 % confidence.
///
/// From 200 curves, drawn by scattering the points around the fitted curve (around the points
/// themselves where it does not fit) and fitted again: the middle 95 % of what they give, and at
/// least 5 % of the figure either way. The standard deviation of each point is its own half width
/// by 1.96 or the distance of all points from the fit, whichever is larger: a point cannot know how
/// much the storage differs from one measurement to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The intervals of a knee's figures.
#[derive(Default)]
pub(super) struct Intervals {
    pub(super) operating_load: Option<Interval>,
    pub(super) little_knee: Option<Interval>,
    pub(super) saturated_throughput: Option<Interval>,
}

/// The intervals; those of the hinge only where its ceiling was seen.
pub(super) fn of(curve: &Curve, ceiling_seen: bool) -> Intervals {
    let (Some(hinge), Some(deviations)) = (curve.hinge, deviations(curve)) else {
        return Intervals::default();
    };
    let measured = curve.throughputs();
    let center: Vec<f64> = match curve.smooth() {
        Some(hinge) => curve.points.iter().map(|(_, p)| hinge.throughput(p.in_flight)).collect(),
        None => measured.clone(),
    };
    let mut normal = Normal::new();
    let (mut loads, mut knees, mut heights) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..DRAWS {
        let scatter = |(x, deviation): (&f64, &f64)| x * (deviation * normal.draw()).exp();
        let drawn: Vec<f64> = center.iter().zip(&deviations).map(scatter).collect();
        if drawn.iter().any(|x| !x.is_normal()) {
            continue;
        }
        let fitted = curve.fit(&drawn, COARSE);
        loads.push(curve.operating_load(fitted, &drawn));
        if let Some(fitted) = fitted {
            knees.push(fitted.little_knee);
            heights.push(fitted.saturated_throughput);
        }
    }
    let of_hinge = |drawn, figure| interval(drawn, figure).filter(|_| ceiling_seen);
    Intervals {
        operating_load: interval(loads, curve.operating_load(curve.hinge, &measured)),
        little_knee: of_hinge(knees, hinge.little_knee),
        saturated_throughput: of_hinge(heights, hinge.saturated_throughput),
    }
}

/// The standard deviation of each point, in natural log units.
fn deviations(curve: &Curve) -> Option<Vec<f64>> {
    let count = curve.points.len();
    let residual = deviation(curve.hinge?.error, count, count);
    Some(curve.points.iter().map(|(_, point)| own_deviation(point).max(residual)).collect())
}

/// The middle 95 % of the drawn values, around the figure itself.
fn interval(mut drawn: Vec<f64>, figure: f64) -> Option<Interval> {
    drawn.sort_by(f64::total_cmp);
    let low = *drawn.get(CUT)?;
    let high = *drawn.get(drawn.len().checked_sub(CUT + 1)?)?;
    let low = low.min(figure * (1.0 - FLOOR));
    let high = high.max(figure * (1.0 + FLOOR));
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high })
}

/// Normally distributed numbers (Box & Muller 1958).
struct Normal(Xoshiro256PlusPlus);

impl Normal {
    fn new() -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(SEED))
    }

    /// A number in 0 < x <= 1.
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}
