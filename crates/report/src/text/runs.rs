//! The end of `iosonde run --repeat`: the runs, their mean and how far they differ. And what an
//! experiment that never came to its end has left.

use results::{Experiment, Measurement, Runs, Status};
use workload::show_number;

use super::experiment::{foot, head};
use super::layout::{Table, WIDTH, shorten, wrap};
use crate::words;

/// Columns for a load in the table of what was kept.
const LOAD: usize = 44;

/// Several runs of one workload for a terminal.
#[must_use]
pub fn runs(experiment: &Experiment<Runs>) -> String {
    let conclusion = &experiment.conclusion;
    let mut out = head(experiment);
    out.push_str(&table(&experiment.measurements));
    let asked = u64::from(conclusion.asked);
    if (experiment.measurements.len() as u64) < asked {
        let asked = words::plural(asked, "run was", "runs were");
        out.push_str(&wrap("  ", &format!("{asked} asked for."), WIDTH));
    }
    out.push_str("\nTrust\n");
    let explanation = words::clean(&conclusion.trust.explanation);
    out.push_str(&wrap("  ", &format!("{}{explanation}.", known(conclusion)), WIDTH));
    out.push_str(&foot(experiment));
    out
}

/// How well the mean is known.
fn known(conclusion: &Runs) -> String {
    let trust = &conclusion.trust;
    trust.half_width_percent.map_or_else(String::new, |width| {
        let mean = show_number(trust.mean);
        format!("{mean} IOPS ± {} (95 % interval of the mean); ", words::percent(Some(width)))
    })
}

fn table(measurements: &[Measurement]) -> String {
    if measurements.is_empty() {
        return "\nNo run was measured.\n".to_owned();
    }
    let mut table = Table::new(1, &["run", "IOPS", "MiB/s", "mean", "p50", "p99", "p99.9", ""]);
    for (number, m) in measurements.iter().enumerate() {
        let latency = m.total.latency_ns;
        table.row(vec![
            (number + 1).to_string(),
            show_number(m.total.iops),
            show_number(m.total.mib_per_s),
            words::mean_time(latency.map(|l| l.mean)),
            words::time(latency.and_then(|l| l.p50)),
            words::time(latency.and_then(|l| l.p99)),
            words::time(latency.and_then(|l| l.p99_9)),
            ended(m).to_owned(),
        ]);
    }
    // What was cut short is compared with nothing.
    let whole: Vec<&Measurement> =
        measurements.iter().filter(|m| m.status == Status::Complete).collect();
    let mut note = "";
    if whole.len() > 1 {
        let all = |show: fn(&[f64]) -> [String; 2], of: Figure| {
            let values: Option<Vec<f64>> = whole.iter().map(|m| of(m)).collect();
            values.map_or_else(|| [words::NONE.to_owned(), words::NONE.to_owned()], |v| show(&v))
        };
        let figures = [
            all(rates, |m| Some(m.total.iops)),
            all(rates, |m| Some(m.total.mib_per_s)),
            all(times, |m| m.total.latency_ns.map(|l| l.mean)),
            all(times, |m| m.total.latency_ns?.p50.map(|ns| ns as f64)),
            all(times, |m| m.total.latency_ns?.p99.map(|ns| ns as f64)),
            all(times, |m| m.total.latency_ns?.p99_9.map(|ns| ns as f64)),
        ];
        let line = |name: &str, of: usize| {
            let cells = figures.iter().map(|figure| figure[of].clone());
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        table.row(line("mean", 0));
        table.row(line("spread", 1));
        note = "  spread: highest less lowest, in percent of the mean\n";
    }
    format!("\nRuns\n{}{note}", table.show())
}

/// A figure of a run.
type Figure = fn(&Measurement) -> Option<f64>;

/// Mean and spread of numbers.
fn rates(values: &[f64]) -> [String; 2] {
    [show_number(mean(values)), words::percent(spread_percent(values))]
}

/// Mean and spread of times.
fn times(values: &[f64]) -> [String; 2] {
    [words::mean_time(Some(mean(values))), words::percent(spread_percent(values))]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Highest less lowest, in percent of the mean.
fn spread_percent(values: &[f64]) -> Option<f64> {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let percent = 100.0 * (highest - lowest) / mean(values);
    percent.is_finite().then_some(percent)
}

fn ended(m: &Measurement) -> &'static str {
    match m.status {
        Status::Complete if m.errors.is_empty() => "",
        Status::Complete => "errors",
        other => other.word(),
    }
}

/// The measurements of an experiment that did not come to its end.
#[must_use]
pub fn kept(measurements: &[Measurement]) -> String {
    let heads = ["", "file size", "in flight", "IOPS", "MiB/s", "mean", "p99", ""];
    let mut table = Table::new(1, &heads);
    for m in measurements {
        let latency = m.total.latency_ns;
        table.row(vec![
            shorten(&words::clean(&m.workload.title()), LOAD),
            words::size(m.file_bytes),
            words::count(m.in_flight),
            show_number(m.total.iops),
            show_number(m.total.mib_per_s),
            words::mean_time(latency.map(|l| l.mean)),
            words::time(latency.and_then(|l| l.p99)),
            ended(m).to_owned(),
        ]);
    }
    table.show()
}
