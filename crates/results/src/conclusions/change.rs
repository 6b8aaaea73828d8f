//! What changed: a figure between two sides, or its level over many dates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a figure on the second side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Better by more than the band.
    Better,
    /// Within the band, so that nothing changed that matters.
    Same,
    /// Worse by more than the band.
    Worse,
    /// The runs scatter too much, or are too few, to tell.
    CannotTell,
}

/// What the verdict is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The spread between the runs of both sides.
    Runs,
    /// One side has a single run; the spread between runs is known from elsewhere, or from the
    /// other side.
    KnownSpread,
    /// One side has a single run, and no spread is known.
    Nothing,
}

/// The runs of one side, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Runs that gave a usable figure.
    pub runs: usize,
    /// Geometric mean of the runs, in the unit of the figure.
    pub mean: f64,
    /// Standard deviation of the runs in percent of their mean; absent for one run.
    pub cv_percent: Option<f64>,
}

/// A figure on two sides, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// The verdict on the second side.
    pub verdict: Change,
    /// What that verdict is based on.
    pub basis: Basis,
    /// The runs of the first side.
    pub a: Sample,
    /// The runs of the second side.
    pub b: Sample,
    /// Change from the first to the second, percent of the first.
    pub change_percent: f64,
    /// 90 % interval of the change, lowest and highest; absent if no spread is known.
    pub interval_percent: Option<(f64, f64)>,
    /// What counts as no change, percent either way.
    pub band_percent: f64,
    /// Chance of such runs if the second side were not worse by more than the band.
    pub worse_p: Option<f64>,
    /// Chance of such runs if the second side were not better by more than the band.
    pub better_p: Option<f64>,
    /// Chance of ranks this far apart if nothing changed (Mann-Whitney, two-sided); absent if a
    /// side has fewer than four runs.
    pub rank_p: Option<f64>,
    /// The verdict in one sentence, for people.
    pub explanation: String,
}

/// A change from one level to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub index: usize,
    /// Geometric mean of the level before.
    pub before: f64,
    /// Geometric mean of the level after.
    pub after: f64,
    /// From before to after, percent of before.
    pub change_percent: f64,
    /// Chance of two such parts if nothing had changed between them; not corrected for the search.
    pub p: f64,
}
