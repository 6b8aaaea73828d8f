//! Converts what `analysis` concludes about comparisons and trends into the types that `results`
//! publishes.
//!
//! A new field or variant on either side does not compile until it is here.

use analysis::change_points;
use analysis::comparison;
use results::change::{Basis, Change, ChangePoint, Compared, Sample};

/// A compared figure as documents publish it.
#[must_use]
pub fn compared(from: comparison::Compared) -> Compared {
    let comparison::Compared {
        verdict,
        basis,
        a,
        b,
        change_percent,
        interval_percent,
        band_percent,
        worse_p,
        better_p,
        rank_p,
        explanation,
    } = from;
    Compared {
        verdict: change(verdict),
        basis: match basis {
            comparison::Basis::Runs => Basis::Runs,
            comparison::Basis::KnownSpread => Basis::KnownSpread,
            comparison::Basis::Nothing => Basis::Nothing,
        },
        a: sample(a),
        b: sample(b),
        change_percent,
        interval_percent,
        band_percent,
        worse_p,
        better_p,
        rank_p,
        explanation,
    }
}

/// A verdict on a figure as documents publish it.
#[must_use]
pub fn change(from: comparison::Change) -> Change {
    match from {
        comparison::Change::Better => Change::Better,
        comparison::Change::Same => Change::Same,
        comparison::Change::Worse => Change::Worse,
        comparison::Change::CannotTell => Change::CannotTell,
    }
}

/// What became of a figure, for the verdict on many of them.
pub(crate) fn as_judged(published: Change) -> comparison::Change {
    match published {
        Change::Better => comparison::Change::Better,
        Change::Same => comparison::Change::Same,
        Change::Worse => comparison::Change::Worse,
        Change::CannotTell => comparison::Change::CannotTell,
    }
}

/// The runs of a side as documents publish them.
#[must_use]
pub fn sample(from: comparison::Sample) -> Sample {
    let comparison::Sample { runs, mean, cv_percent } = from;
    Sample { runs, mean, cv_percent }
}

/// A change of level as documents publish it.
#[must_use]
pub fn change_point(from: change_points::ChangePoint) -> ChangePoint {
    let change_points::ChangePoint { index, before, after, change_percent, p } = from;
    ChangePoint { index, before, after, change_percent, p }
}
