//! The stopping rule on seven kinds of series whose true mean is known, beside two rules that are in use.

use std::fmt::Write as _;

use analysis::noise;
use analysis::steady::{Rule, Watch};

use super::generate::{self, BUCKET_S, BUCKETS_PER_S, LONGEST_S, Make};
use super::table;
use crate::linux::Error;

const SEEDS: u64 = 1000;
/// In place of the rule's own limit, so that the table shows how long the precision takes.
const AT_MOST_S: f64 = 600.0;

/// A kind of series. Its true mean is 100.
struct Kind {
    name: &'static str,
    /// Share of the true mean at `t` seconds, and whether noise is laid over it.
    make: Make,
    /// Seconds during which the volume of writes forbids an end.
    guard_s: f64,
}

const KINDS: [Kind; 8] = [
    Kind { name: "independent noise of 3 %", make: generate::independent, guard_s: 0.0 },
    Kind {
        name: "AR(1) noise of 5 %, coefficient 0.9",
        make: generate::autoregressive,
        guard_s: 0.0,
    },
    Kind { name: "warm-up from 50 %, time constant 8 s", make: generate::warm_up_8, guard_s: 0.0 },
    Kind {
        name: "warm-up from 40 %, time constant 30 s",
        make: generate::warm_up_30,
        guard_s: 0.0,
    },
    Kind { name: "a stall of 0.75 s every 10 s", make: generate::stalls, guard_s: 0.0 },
    Kind { name: "one value in 20 falls by 65 %", make: generate::dips, guard_s: 0.0 },
    Kind { name: "write cliff at 25 s, from 250 %", make: generate::cliff, guard_s: 0.0 },
    Kind { name: "the same, no end before 40 s", make: generate::cliff, guard_s: 40.0 },
];

/// What a rule made of one series.
struct Answer {
    seconds: f64,
    mean: f64,
    half_width_percent: Option<f64>,
    settled: bool,
}

/// The rule of `analysis::steady`.
fn watched(series: &[f64], precision_percent: f64, guard_s: f64) -> Answer {
    let rule = Rule { precision_percent, at_most_s: AT_MOST_S, ..Rule::default() };
    let mut watch = Watch::new(rule, BUCKET_S);
    let mut seconds = 0.0;
    for value in series {
        seconds += BUCKET_S;
        if watch.push(*value, seconds >= guard_s) || seconds >= rule.at_most_s {
            break;
        }
    }
    let steady = watch.conclude();
    Answer {
        seconds,
        mean: steady.mean,
        half_width_percent: steady.half_width_percent,
        settled: steady.settled,
    }
}

/// A minute after five seconds that are not counted.
fn fixed(series: &[f64], _: f64) -> Answer {
    let counted = &series[5 * BUCKETS_PER_S..65 * BUCKETS_PER_S];
    let count = counted.len() as f64;
    let mean = analysis::numbers::mean(counted).unwrap_or(0.0);
    let spread = analysis::numbers::cv_percent(counted);
    let half_width_percent = spread.map(|spread| 1.96 * spread / count.sqrt());
    Answer { seconds: 65.0, mean, half_width_percent, settled: true }
}

/// Rounds of a minute until five in a row pass the rule of SNIA.
fn snia(series: &[f64], guard_s: f64) -> Answer {
    let rounds: Vec<f64> =
        series.chunks_exact(60 * BUCKETS_PER_S).filter_map(analysis::numbers::mean).collect();
    let window = rounds.windows(5).enumerate().find(|(index, window)| {
        (index + 5) as f64 * 60.0 >= guard_s && noise::rounds(window).settled
    });
    let (seconds, kept) = match window {
        Some((index, window)) => ((index + 5) as f64 * 60.0, window),
        None => (f64::from(LONGEST_S), &rounds[rounds.len() - 5..]),
    };
    let mean = analysis::numbers::mean(kept).unwrap_or(0.0);
    Answer { seconds, mean, half_width_percent: None, settled: window.is_some() }
}

/// What a rule made of many series of a kind; errors in percent of the truth.
#[derive(Debug, Default)]
struct Record {
    /// Median length of the run.
    seconds: f64,
    /// Mean error.
    bias: f64,
    /// Root of the mean squared error.
    rmse: f64,
    /// Percent of the runs whose error is within the precision.
    within: f64,
    /// Percent of the runs whose interval holds the truth.
    covered: f64,
    /// Percent of the runs that ended as settled.
    settled: f64,
}

fn record(kind: &Kind, seeds: u64, precision: f64, rule: impl Fn(&[f64]) -> Answer) -> Record {
    let mut record = Record::default();
    let mut lengths = Vec::new();
    for seed in 0..seeds {
        let series = generate::series(kind.make, seed);
        let answer = rule(&series);
        let error = answer.mean - 100.0;
        let width = answer.half_width_percent.map(|width| width / 100.0 * answer.mean);
        lengths.push(answer.seconds);
        record.bias += error;
        record.rmse += error * error;
        record.within += percent_if(error.abs() <= precision);
        record.covered += percent_if(width.is_some_and(|width| error.abs() <= width));
        record.settled += percent_if(answer.settled);
    }
    let count = seeds as f64;
    record.seconds = analysis::numbers::median(&lengths).unwrap_or(0.0);
    record.bias /= count;
    record.rmse = (record.rmse / count).sqrt();
    record.within /= count;
    record.covered /= count;
    record.settled /= count;
    record
}

fn percent_if(holds: bool) -> f64 {
    if holds { 100.0 } else { 0.0 }
}

const HEAD: [&str; 7] = [
    "series",
    "seconds",
    "rmse %",
    "bias %",
    "within precision %",
    "interval holds %",
    "settled %",
];

/// The section.
pub(super) fn run() -> Result<String, Error> {
    let mut text = String::new();
    for precision in [2.0, 2.5, 5.0] {
        let rows: Vec<Vec<String>> = KINDS
            .iter()
            .map(|kind| {
                let record = record(kind, SEEDS, precision, |series| {
                    watched(series, precision, kind.guard_s)
                });
                cells(kind, &record, true)
            })
            .collect();
        write!(text, "### Precision of {precision} %\n\n{}\n", table(&HEAD, &rows))?;
    }
    for (name, rule) in [
        ("A minute after 5 s of warm-up", fixed as fn(&[f64], f64) -> Answer),
        ("SNIA, rounds of a minute", snia),
    ] {
        let rows: Vec<Vec<String>> = KINDS
            .iter()
            .map(|kind| {
                let record = record(kind, SEEDS, 2.0, |series| rule(series, kind.guard_s));
                cells(kind, &record, name.starts_with('A'))
            })
            .collect();
        write!(text, "### {name}\n\n{}\n", table(&HEAD, &rows))?;
    }
    Ok(text)
}

fn cells(kind: &Kind, record: &Record, interval: bool) -> Vec<String> {
    vec![
        kind.name.to_owned(),
        format!("{:.0}", record.seconds),
        format!("{:.2}", record.rmse),
        format!("{:+.2}", record.bias),
        format!("{:.0}", record.within),
        if interval { format!("{:.0}", record.covered) } else { "–".to_owned() },
        format!("{:.0}", record.settled),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: u64 = 40;

    #[test]
    fn the_true_mean_of_every_series_is_100() {
        for kind in &KINDS {
            let mut means = Vec::new();
            for seed in 0..10 {
                let series = generate::series(kind.make, seed);
                means.extend(analysis::numbers::mean(&series[series.len() / 2..]));
            }
            let mean = analysis::numbers::mean(&means).unwrap();
            assert!((mean - 100.0).abs() < 0.5, "{}: {mean}", kind.name);
        }
    }

    #[test]
    fn a_warm_up_is_not_in_the_mean() {
        for kind in &KINDS[2..4] {
            let record = record(kind, FEW, 2.0, |series| watched(series, 2.0, kind.guard_s));
            assert!(record.bias.abs() < 1.0 && record.within > 90.0, "{}: {record:?}", kind.name);
        }
    }
}
