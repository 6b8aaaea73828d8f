//! Whether a figure changed between two sides: better, same, worse, or that cannot be told.
//!
//! The unit of observation is one run. What varies in benchmarks varies between runs, and an
//! interval that is taken within one run knows nothing of it (T. Kalibera, R. Jones, "Rigorous
//! Benchmarking in Reasonable Time", 2013): it never decides here.

mod overall;
mod ranks;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::numbers;
use crate::words::{number, percent};

pub use overall::{Deciding, Overall, overall};
pub use ranks::rank_p;

/// Fewest runs of which the spread is taken for known.
pub const KNOWN_RUNS: usize = 3;
/// Fewest runs on each side with which ranks alone can show anything at 5 %.
const RANK_RUNS: usize = 4;
/// Level of each of the two one-sided tests; the interval has twice that outside.
const LEVEL: f64 = 0.05;

/// Whether more or less of a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More is better, as for throughput.
    Higher,
    /// Latency, CPU: the less the better.
    Lower,
}

/// What became of a figure on the second side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// A spread between runs that was seen before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Standard deviation in percent of the mean.
    pub cv_percent: f64,
    /// Runs on this side, one observation each.
    pub runs: usize,
}

/// The runs of one side, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Runs that gave a usable figure.
    pub runs: usize,
    /// Geometric mean of the runs, in the unit of the figure.
    pub mean: f64,
    /// Standard deviation of the runs in percent of their mean; absent for one run.
    pub cv_percent: Option<f64>,
}

/// A figure on two sides, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Changes up to this count as no change, in percent either way.
    pub band_percent: f64,
    /// Chance of such runs if the second side were not worse by more than the band.
    pub worse_p: Option<f64>,
    /// Chance of such runs if the second side were not better by more than the band.
    pub better_p: Option<f64>,
    /// Chance that ranks separate so far where nothing changed (Mann-Whitney, two-sided); absent
    /// for fewer than four runs on a side.
    pub rank_p: Option<f64>,
    /// The verdict in a sentence, with its figures.
    pub explanation: String,
}

/// Compares the runs of two sides: one value per run.
///
/// The difference of the mean logarithms has a 90 % interval by Welch (B. L. Welch, "The
/// generalization of Student's problem", 1947). Wholly beyond the band, it is a change; wholly
/// inside it, there is no change (two one-sided tests, D. Schuirmann, 1987); otherwise the runs
/// cannot tell. If a side has one run, `known` is the spread between runs that was seen on this
/// host; the other side's own spread counts too if it has three runs or more, and the wider
/// decides. Such a comparison never says `same`.
///
/// Values that are not above 0 and finite are left out; `None` if a side has no other. The band is
/// taken between 0.1 and 50 %.
#[must_use]
pub fn compare(
    a: &[f64],
    b: &[f64],
    direction: Direction,
    band_percent: f64,
    known: Option<Spread>,
) -> Option<Compared> {
    let (a, b) = (Logs::of(a)?, Logs::of(b)?);
    let band = Band::new(band_percent);
    let change = b.mean - a.mean;
    let (basis, error) = standard_error(&a, &b, known);
    let interval = error.and_then(|e| e.interval(change));
    let single = basis != Basis::Runs;
    let verdict = match interval {
        Some((low, _)) if low > band.high => band.verdict(direction, true),
        Some((_, high)) if high < band.low => band.verdict(direction, false),
        Some((low, high)) if !single && low >= band.low && high <= band.high => Change::Same,
        _ => Change::CannotTell,
    };
    let beyond =
        |up: bool| error.and_then(|e| e.beyond(change, if up { band.high } else { band.low }, up));
    let (up, down) = (beyond(true), beyond(false));
    let (worse_p, better_p) = match direction {
        Direction::Higher => (down, up),
        Direction::Lower => (up, down),
    };
    let enough = a.values.len().min(b.values.len()) >= RANK_RUNS;
    let rank_p = if enough { rank_p(&a.values, &b.values) } else { None };
    let mut compared = Compared {
        verdict,
        basis,
        a: a.sample()?,
        b: b.sample()?,
        change_percent: in_percent(change)?,
        interval_percent: interval.and_then(|(l, h)| Some((in_percent(l)?, in_percent(h)?))),
        band_percent: band.percent,
        worse_p,
        better_p,
        rank_p,
        explanation: String::new(),
    };
    compared.explanation = explain(&compared);
    Some(compared)
}

/// A change of logarithms as percent.
fn in_percent(change: f64) -> Option<f64> {
    Some(100.0 * change.exp_m1()).filter(|p| p.is_finite())
}

/// The logarithms of the runs of one side.
struct Logs {
    values: Vec<f64>,
    mean: f64,
    /// Their standard deviation; absent for one run.
    spread: Option<f64>,
}

impl Logs {
    fn of(runs: &[f64]) -> Option<Self> {
        let usable = runs.iter().copied().filter(|r| r.is_finite() && *r > 0.0);
        let values: Vec<f64> = usable.map(f64::ln).collect();
        Some(Self { mean: numbers::mean(&values)?, spread: numbers::stddev(&values), values })
    }

    fn runs(&self) -> f64 {
        self.values.len() as f64
    }

    /// Variance of the mean; `None` with one run.
    fn variance(&self) -> Option<f64> {
        Some(self.spread?.powi(2) / self.runs())
    }

    fn sample(&self) -> Option<Sample> {
        let runs: Vec<f64> = self.values.iter().map(|v| v.exp()).collect();
        let mean = Some(self.mean.exp()).filter(|m| m.is_finite() && *m > 0.0)?;
        Some(Sample { runs: runs.len(), mean, cv_percent: numbers::cv_percent(&runs) })
    }
}

/// How well the difference of two means is known.
#[derive(Clone, Copy)]
struct StandardError {
    of_change: f64,
    freedom: f64,
}

impl StandardError {
    fn student(self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.freedom).ok()
    }

    fn half_width(self) -> Option<f64> {
        let width = self.student()?.inverse_cdf(1.0 - LEVEL) * self.of_change;
        width.is_finite().then_some(width)
    }

    fn interval(self, change: f64) -> Option<(f64, f64)> {
        let half = self.half_width()?;
        Some((change - half, change + half))
    }

    /// Chance of a change as large as this, upwards or downwards, if the true one were at the edge
    /// of the band.
    fn beyond(self, change: f64, edge: f64, up: bool) -> Option<f64> {
        let past = if up { change - edge } else { edge - change };
        if self.of_change <= 0.0 {
            return Some(if past > 0.0 { 0.0 } else { 1.0 });
        }
        let p = self.student()?.sf(past / self.of_change);
        p.is_finite().then_some(p)
    }
}

fn standard_error(a: &Logs, b: &Logs, known: Option<Spread>) -> (Basis, Option<StandardError>) {
    if let (Some(va), Some(vb)) = (a.variance(), b.variance()) {
        let (fa, fb) = (a.runs() - 1.0, b.runs() - 1.0);
        let both = va + vb;
        let welch = both.powi(2) / (va.powi(2) / fa + vb.powi(2) / fb);
        let freedom = if welch.is_finite() { welch.max(fa.min(fb)) } else { fa + fb };
        return (Basis::Runs, Some(StandardError { of_change: both.sqrt(), freedom }));
    }
    let share = (1.0 / a.runs() + 1.0 / b.runs()).sqrt();
    let from = |spread: f64, runs: usize| StandardError {
        of_change: spread * share,
        freedom: runs as f64 - 1.0,
    };
    let usable =
        |k: &Spread| k.runs >= KNOWN_RUNS && k.cv_percent.is_finite() && k.cv_percent > 0.0;
    // Of a log-normal figure, the spread of the logarithms that belongs to this variation.
    let elsewhere =
        known.filter(usable).map(|k| from((k.cv_percent / 100.0).powi(2).ln_1p().sqrt(), k.runs));
    let own = [a, b].into_iter().filter(|s| s.values.len() >= KNOWN_RUNS);
    let own = own.filter_map(|s| Some(from(s.spread.filter(|s| *s > 0.0)?, s.values.len())));
    let wider = elsewhere.into_iter().chain(own).max_by(|x, y| {
        let width = |e: &StandardError| e.half_width().unwrap_or(f64::INFINITY);
        width(x).total_cmp(&width(y))
    });
    (if wider.is_some() { Basis::KnownSpread } else { Basis::Nothing }, wider)
}

/// What counts as no change, as differences of logarithms.
struct Band {
    percent: f64,
    low: f64,
    high: f64,
}

impl Band {
    fn new(percent: f64) -> Self {
        let percent = if percent.is_finite() { percent.clamp(0.1, 50.0) } else { 5.0 };
        let share = percent / 100.0;
        Self { percent, low: (-share).ln_1p(), high: share.ln_1p() }
    }

    fn verdict(&self, direction: Direction, up: bool) -> Change {
        debug_assert!(self.low < self.high);
        if up == (direction == Direction::Higher) { Change::Better } else { Change::Worse }
    }
}

fn explain(c: &Compared) -> String {
    let band = format!("{} %", number(c.band_percent));
    let change = signed(c.change_percent);
    let by = |c: &Compared| match c.interval_percent {
        Some((low, high)) => {
            format!("{change} (90 % interval {} to {})", signed(low), signed(high))
        }
        None => change.clone(),
    };
    let ranks = match (c.verdict, c.rank_p) {
        (Change::Better | Change::Worse, Some(p)) if p > 2.0 * LEVEL => {
            "; the ranks of the runs alone do not show it, so single runs may decide"
        }
        _ => "",
    };
    match (c.verdict, c.basis) {
        (Change::Better | Change::Worse, Basis::Runs) => {
            let word = if c.verdict == Change::Better { "better" } else { "worse" };
            format!("{word}: {}, wholly beyond the band of {band}{ranks}", by(c))
        }
        (Change::Better | Change::Worse, _) => {
            let word = if c.verdict == Change::Better { "better" } else { "worse" };
            format!("{word}: {}, beyond the spread between runs that is known here", by(c))
        }
        (Change::Same, _) => format!("same: {}, wholly inside the band of {band}", by(c)),
        (Change::CannotTell, Basis::Nothing) => format!(
            "cannot tell: {change}, but {} and how far runs differ is not known here; repeat it \
             (--repeat 5)",
            one_run(c)
        ),
        (Change::CannotTell, Basis::KnownSpread) => format!(
            "cannot tell: {}, and {}; runs differ that much by themselves, or the band does",
            by(c),
            one_run(c)
        ),
        (Change::CannotTell, Basis::Runs) => match c.interval_percent {
            Some((low, high)) if low > 0.0 || high < 0.0 => {
                format!("cannot tell: changed, but by how much is unclear: {}; add runs", by(c))
            }
            _ => format!("cannot tell: {}, wider than the band of {band}; add runs", by(c)),
        },
    }
}

fn one_run(c: &Compared) -> &'static str {
    match (c.a.runs, c.b.runs) {
        (1, 1) => "there is one run on each side",
        (1, _) => "there is one run on the first side",
        _ => "there is one run on the second side",
    }
}

/// A change with its sign: `+3.2 %`, `-12 %`, `0 %`.
fn signed(change: f64) -> String {
    let text = percent(change.abs());
    let sign = match text.as_str() {
        "0" => "",
        _ if change < 0.0 => "-",
        _ => "+",
    };
    format!("{sign}{text} %")
}
