//! Which load to measure next, so that few measurements show where a curve saturates.

use super::{Curve, LoadPoint, RampRule, ramp_is_done};

/// A search over loads: doubling until nothing more is gained, then once between the two loads
/// where 95 % of the highest throughput is reached.
///
/// It stores only its bounds: the next load follows from the measurements, so an interrupted search
/// can resume. A range of `r` doublings takes at most `r + 3` measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    least: u32,
    most: u32,
    rule: RampRule,
}

impl Search {
    /// From the least load to the most; zero counts as one, and no range reaches below its own
    /// start.
    #[must_use]
    pub fn new(least: u32, most: u32) -> Self {
        let least = least.max(1);
        Self { least, most: most.max(least), rule: RampRule::default() }
    }

    /// The load to measure next; None when the search is over.
    ///
    /// `points` are all that this search asked for, in any order, their `in_flight` being the loads
    /// this gave. A load whose measurement gave nothing usable still counts as measured, when its
    /// point is among them.
    #[must_use]
    pub fn next(&self, points: &[LoadPoint]) -> Option<u32> {
        let mut ramp = Vec::new();
        for load in self.doublings() {
            let Some(point) = points.iter().find(|point| is_at(point, load)) else {
                return Some(load);
            };
            ramp.push(*point);
            if ramp_is_done(&ramp, &self.rule) && !may_rise(&ramp) {
                break;
            }
        }
        let between_was_measured = ramp.len() < points.len();
        if between_was_measured { None } else { between(&ramp) }
    }

    /// The most measurements that this search can take.
    #[must_use]
    pub fn at_most(&self) -> usize {
        self.doublings().count() + 1
    }

    fn doublings(&self) -> impl Iterator<Item = u32> {
        let most = self.most;
        let double = move |load: &u32| (*load < most).then(|| load.saturating_mul(2).min(most));
        std::iter::successors(Some(self.least), double)
    }
}

fn is_at(point: &LoadPoint, load: u32) -> bool {
    (point.in_flight - f64::from(load)).abs() < 0.5
}

/// Whether the points may still rise.
fn may_rise(ramp: &[LoadPoint]) -> bool {
    Curve::new(ramp).is_some_and(|curve| !curve.reached.shows_a_limit())
}

/// The middle, on a log scale, of the two measured loads between which the curve reaches its
/// operating load.
fn between(ramp: &[LoadPoint]) -> Option<u32> {
    let curve = Curve::new(ramp)?;
    let operating_load = curve.operating_load(curve.hinge, &curve.throughputs());
    let above = ramp.iter().position(|point| point.in_flight >= operating_load)?;
    if !curve.reached.shows_a_limit() && above + 1 == ramp.len() {
        return None;
    }
    let low = ramp.get(above.checked_sub(1)?)?.in_flight;
    let high = ramp[above].in_flight;
    let middle = (low * high).sqrt().round();
    // Loads are whole numbers of u32, and so is any load between two of them.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two u32")]
    let load = middle as u32;
    (middle > low && middle < high).then_some(load)
}
