//! The figures of a load on both sides.

use analysis::comparison::{Direction, compare as compare_runs};
use results::change::{Change, Compared};
use results::steady::UNSURE_PERCENT;
use results::{ComparedFigure, ComparedLoad, Figure, Measurement, PartOf};

use super::Rules;
use super::loads::{Pair, Run};
use crate::published;

/// Compares every figure that both sides have.
pub(super) fn compare(pair: &Pair<'_>, unlike_sides: bool, rules: &Rules<'_>) -> ComparedLoad {
    let withheld = (unlike_sides || !pair.unlike.is_empty()) && !rules.anyway;
    let unsure = [&pair.a.runs, &pair.b.runs].into_iter().flatten().any(Run::is_unsure);
    let figures = Figure::ALL.iter().filter_map(|figure| {
        let (a, b) = (values(*figure, &pair.a.runs), values(*figure, &pair.b.runs));
        let direction =
            if figure.is_better_higher() { Direction::Higher } else { Direction::Lower };
        let known = rules.noise.known(*figure);
        let compared = compare_runs(&a, &b, direction, rules.band_percent, known)?;
        let tails = [&pair.a.runs, &pair.b.runs].into_iter().flatten();
        let tails = tails.filter_map(|run| tail(*figure, run));
        Some(ComparedFigure {
            figure: *figure,
            decides: decides(*figure, &pair.b.runs),
            a: published::sample(compared.a),
            b: published::sample(compared.b),
            tail_ios: tails.min(),
            compared: (!withheld).then(|| judged(published::compared(compared), unsure)),
        })
    });
    ComparedLoad {
        title: pair.b.title(),
        caption: pair.b.caption(),
        conditions_id: pair.unlike.is_empty().then(|| pair.b.conditions_id()).flatten(),
        unlike: pair.unlike.clone(),
        runs_a: pair.a.names(),
        runs_b: pair.b.names(),
        figures: figures.collect(),
    }
}

/// What to say about a figure: runs that are hardly known themselves tell nothing.
fn judged(compared: Compared, unsure: bool) -> Compared {
    if !unsure {
        return compared;
    }
    Compared {
        verdict: Change::CannotTell,
        interval_percent: None,
        worse_p: None,
        better_p: None,
        rank_p: None,
        explanation: format!(
            "cannot tell: the figure of a run may be more than {UNSURE_PERCENT} % off by its own \
             interval; measure longer"
        ),
        ..compared
    }
}

/// The figure of each run that has it.
pub(crate) fn values(figure: Figure, runs: &[Run<'_>]) -> Vec<f64> {
    runs.iter().filter_map(|run| value(figure, run)).collect()
}

fn value(figure: Figure, run: &Run<'_>) -> Option<f64> {
    match (run, figure) {
        (Run::Curve { knee, .. }, Figure::SaturatedIops) => Some(knee.saturated_throughput),
        (Run::Curve { knee, .. }, Figure::OperatingPointNs) => {
            Some(knee.operating_point.latency_ns)
        }
        (Run::Single { measurement, .. }, figure) => of_measurement(figure, measurement),
        _ => None,
    }
}

/// A figure of one measurement; `None` if it does not have it.
pub(crate) fn of_measurement(figure: Figure, measurement: &Measurement) -> Option<f64> {
    // No figure that is compared says where a measurement belongs.
    let nowhere = PartOf { experiment_id: "", kind: "", cell: 0 };
    let value = figure.field()?.of(measurement, &nowhere).number();
    value.filter(|v| v.is_finite() && *v > 0.0)
}

/// How many I/Os lie above a percentile.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count")]
fn tail(figure: Figure, run: &Run<'_>) -> Option<u64> {
    let quantile = figure.quantile()?;
    let Run::Single { measurement, .. } = run else { return None };
    // A thousandth of a thousand is 0.999… in floating point.
    Some((measurement.total.ios as f64 * (1.0 - quantile) + 1e-6).floor() as u64)
}

/// In a closed loop latency follows from throughput; in an open one throughput is given.
fn decides(figure: Figure, runs: &[Run<'_>]) -> bool {
    let open = runs.iter().any(|run| match run {
        Run::Single { measurement, .. } => {
            measurement.workload.streams.iter().any(|s| s.rate.is_some())
        }
        Run::Curve { .. } => false,
    });
    match figure {
        Figure::SaturatedIops | Figure::P99Ns => true,
        Figure::Iops => !open,
        Figure::MeanNs => open,
        _ => false,
    }
}
