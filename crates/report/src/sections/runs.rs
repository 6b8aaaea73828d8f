//! The same load, measured several times.

use results::{Document, Experiment, Measurement, Runs, Status};
use workload::show_number;

use super::caption::Caption;
use super::cases::{self, Case};
use super::make::{beside, column, fact, full, full_section, greyed, number, section, table, text};
use super::{agreement, latency, loads, tested, time};
use crate::language::{count, say};
use crate::model::{Block, Card, Cell, Judgement, Section, Table, Unit};
use crate::words;

/// Answer, charts and tables of repeated runs.
pub(super) fn sections(e: &Experiment<Runs>) -> Vec<Section> {
    let runs = &e.conclusion;
    let named: Vec<(String, &Measurement)> = e
        .measurements
        .iter()
        .enumerate()
        .map(|(i, m)| (say!("runs-number", number = (i + 1).to_string()), m))
        .collect();
    let cases: Vec<Case> = named.iter().map(|(name, m)| Case::of(name, m)).collect();
    let charts = cases::charts(&cases, &Caption::of(&e.measurements), &say!("chart-mean"));
    let document = Document::Runs(Box::new(e.clone()));
    let every = loads::shown(&document).map(|table| full([Block::Table(table)]));
    let tables = run_by_run(&e.measurements).map(Block::Table).into_iter().chain(every);
    let own = vec![fact(say!("label-runs"), {
        let (done, asked) = (e.measurements.len().to_string(), runs.asked.to_string());
        say!("runs-of", done = done, asked = asked)
    })];
    let sections = [
        section("verdict", say!("heading-result"), answer(e)),
        tested::of_experiment(e, own),
        section("cases", say!("heading-run-by-run"), beside(charts).into_iter().collect()),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        full_section(latency::of(&named, false)),
        section("loads", say!("heading-figures"), tables.collect()),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

fn answer(e: &Experiment<Runs>) -> Vec<Block> {
    let trust = &e.conclusion.trust;
    let within = trust
        .half_width_percent
        .map(|h| say!("runs-interval", percent = show_number(h)))
        .unwrap_or_default();
    let in_flight = e
        .measurements
        .first()
        .map(|m| say!("runs-in-flight", in_flight = words::count(m.in_flight)));
    let headline = say!(
        "runs-headline",
        iops = format!("{} IOPS{within}", show_number(trust.mean)),
        runs = count(trust.runs),
        load = words::clean(&e.conclusion.title) + &in_flight.unwrap_or_default(),
        size = words::size(e.file_bytes)
    );
    let (judgement, answer) = match (trust.runs, trust.noisy) {
        (0 | 1, _) => (Judgement::Unknown, say!("runs-one")),
        (_, true) => (Judgement::Doubtful, say!("runs-not-well")),
        (_, false) => (Judgement::Good, say!("runs-well")),
    };
    let card = Card {
        heading: say!("label-how-well-the-figure-repeats"),
        judgement,
        answer,
        evidence: vec![words::clean(&trust.explanation)],
        original: Vec::new(),
        bullet: None,
    };
    vec![Block::Paragraph(headline), Block::Cards(vec![card])]
}

/// The runs, their mean and how far they differ.
fn run_by_run(measurements: &[Measurement]) -> Option<Table> {
    const FIGURES: [(&str, &str, Unit, Figure); 6] = [
        ("iops", "IOPS", Unit::Iops, |m| Some(m.total.iops)),
        ("mib_per_s", "MiB/s", Unit::MibPerS, |m| Some(m.total.mib_per_s)),
        ("latency_mean_ns", "", Unit::Nanoseconds, |m| words::mean_of(&m.total)),
        ("latency_p50_ns", "p50", Unit::Nanoseconds, |m| as_f64(m.total.latency_ns?.p50)),
        ("latency_p99_ns", "p99", Unit::Nanoseconds, |m| as_f64(m.total.latency_ns?.p99)),
        ("latency_p99_9_ns", "p99.9", Unit::Nanoseconds, |m| as_f64(m.total.latency_ns?.p99_9)),
    ];
    let mut columns = vec![column("run", say!("label-run"), Unit::Text)];
    // The others are called the same in every language.
    let named = |name: &str| if name.is_empty() { say!("label-mean") } else { name.to_owned() };
    columns.extend(FIGURES.iter().map(|(key, name, unit, _)| column(key, named(name), *unit)));
    columns.push(column("status", "", Unit::Text));
    let row = |name: &str, cell: &dyn Fn(Figure) -> Cell, end: &str| {
        let cells = FIGURES.iter().map(|(.., figure)| cell(*figure));
        std::iter::once(text(name)).chain(cells).chain([text(end)]).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<Cell>> = (1..)
        .zip(measurements)
        .map(|(n, m)| {
            let cells = row(&format!("{n}"), &|figure| number(figure(m)), loads::ended(m));
            greyed(&columns, cells, m.is_unsure())
        })
        .collect();
    // A run that was cut short is not compared.
    let whole: Vec<&Measurement> =
        measurements.iter().filter(|m| m.status == Status::Complete).collect();
    if whole.len() > 1 {
        let values = |figure: Figure| whole.iter().map(|m| figure(m)).collect::<Option<Vec<_>>>();
        rows.push(row(&say!("chart-mean"), &|figure| number(values(figure).map(|v| mean(&v))), ""));
        let spread = |figure: Figure| spread_percent(&values(figure)?);
        let shown = |figure| text(words::percent(spread(figure)));
        rows.push(row(&say!("runs-spread"), &shown, ""));
    }
    let caption = Caption::of(measurements).text();
    let caption = say!("runs-caption", caption = caption);
    table("runs", say!("heading-runs"), &caption, columns, rows)
}

/// How to take a figure from a run.
type Figure = fn(&Measurement) -> Option<f64>;

fn as_f64(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
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
