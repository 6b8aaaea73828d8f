//! When a ramp of 1, 2, 4, ... in flight has gone far enough.

use serde::{Deserialize, Serialize};

use super::{LoadPoint, usable};

/// The rule that ends a ramp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RampRule {
    /// A step that raises throughput by less than this, per doubling of the load, gained nothing.
    /// Default 5 %.
    pub min_gain_percent: f64,
    /// Steps in a row, at the deep end, that must have gained nothing. Default 2.
    pub flat_steps: usize,
    /// Share of the latency rise of pure queueing (latency in proportion to the load) that the flat
    /// steps must show together, 0 to 1. Flat throughput at unchanged latency means that the extra
    /// I/O never reached the target, and is not saturation. Default 0.5.
    pub min_latency_rise_share: f64,
    /// The ramp also ends when the last two points are both this far below the highest. Default 10
    /// %.
    pub max_fall_percent: f64,
}

impl Default for RampRule {
    fn default() -> Self {
        Self {
            min_gain_percent: 5.0,
            flat_steps: 2,
            min_latency_rise_share: 0.5,
            max_fall_percent: 10.0,
        }
    }
}

/// Whether the ramp measured so far can stop: throughput has stopped growing while latency rises,
/// or it fell.
///
/// Points in rising order of load. One bad point (a stall) does not end a ramp: both conditions ask
/// for two. A ramp without usable points, or shorter than the rule asks, is not done; the caller
/// sets the deepest load of all.
#[must_use]
pub fn ramp_is_done(points: &[LoadPoint], rule: &RampRule) -> bool {
    let points = usable(points);
    let points: Vec<LoadPoint> = points.into_iter().map(|(_, point)| point).collect();
    is_flat(&points, rule) || has_fallen(&points, rule)
}

fn is_flat(points: &[LoadPoint], rule: &RampRule) -> bool {
    let steps = rule.flat_steps.max(1);
    if points.len() <= steps {
        return false;
    }
    let end = &points[points.len() - 1 - steps..];
    let gained_nothing = end.windows(2).all(|pair| {
        gain_per_doubling_percent(pair[0], pair[1]).is_some_and(|gain| gain < rule.min_gain_percent)
    });
    let (from, to) = (end[0], end[steps]);
    let queueing_rise = to.in_flight / from.in_flight - 1.0;
    let rise = to.latency_ns / from.latency_ns - 1.0;
    gained_nothing && rise >= rule.min_latency_rise_share * queueing_rise
}

fn has_fallen(points: &[LoadPoint], rule: &RampRule) -> bool {
    let highest = points.iter().map(|point| point.throughput).fold(0.0, f64::max);
    let fallen = highest * (1.0 - rule.max_fall_percent / 100.0);
    let last_two = points.len().checked_sub(2).map(|from| &points[from..]);
    last_two.is_some_and(|last| last.iter().all(|point| point.throughput <= fallen))
}

/// Throughput gained from one point to a deeper one, in percent per doubling of the load between
/// them.
pub(super) fn gain_per_doubling_percent(from: LoadPoint, to: LoadPoint) -> Option<f64> {
    let doublings = (to.in_flight / from.in_flight).log2();
    if doublings <= 0.0 {
        return None;
    }
    let gain = 100.0 * (((to.throughput / from.throughput).ln() / doublings).exp() - 1.0);
    gain.is_finite().then_some(gain)
}
