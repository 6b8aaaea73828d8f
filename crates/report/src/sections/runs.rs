//! The same load, measured several times.

use results::{Document, Experiment, Measurement, Runs};
use workload::show_number;

use super::caption::Caption;
use super::cases::{self, Case};
use super::make::{beside, fact, section};
use super::{agreement, latency, loads, tested, time};
use crate::model::{Block, Card, Judgement, Section};
use crate::words;

/// Answer, charts and tables of repeated runs.
pub(super) fn sections(e: &Experiment<Runs>) -> Vec<Section> {
    let runs = &e.conclusion;
    let named: Vec<(String, &Measurement)> =
        e.measurements.iter().enumerate().map(|(i, m)| (format!("run {}", i + 1), m)).collect();
    let cases: Vec<Case> = named.iter().map(|(name, m)| Case::of(name, m)).collect();
    let charts = cases::charts(&cases, &Caption::of(&e.measurements), "mean");
    let document = Document::Runs(Box::new(e.clone()));
    let table = loads::shown(&document).map(Block::Table);
    let own = vec![fact("Runs", format!("{} of {}", e.measurements.len(), runs.asked))];
    let sections = [
        section("verdict", "Result", answer(e)),
        tested::of_experiment(e, own),
        section("cases", "Run by run", beside(charts).into_iter().collect()),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        latency::of(&named, false),
        section("loads", "Figures", table.into_iter().collect()),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

fn answer(e: &Experiment<Runs>) -> Vec<Block> {
    let trust = &e.conclusion.trust;
    let within = trust
        .half_width_percent
        .map(|h| format!(" ± {} % (95 % interval of the mean of the runs)", show_number(h)))
        .unwrap_or_default();
    let in_flight =
        e.measurements.first().map(|m| format!(", {} in flight", words::count(m.in_flight)));
    let headline = format!(
        "{} IOPS{within} on average of {}: {}{}, on a file of {}.",
        show_number(trust.mean),
        words::plural(trust.runs as u64, "run", "runs"),
        words::clean(&e.conclusion.title),
        in_flight.unwrap_or_default(),
        words::size(e.file_bytes)
    );
    let (judgement, answer) = match (trust.runs, trust.noisy) {
        (0 | 1, _) => (Judgement::Unknown, "cannot be told from one run"),
        (_, true) => (Judgement::Doubtful, "not well"),
        (_, false) => (Judgement::Good, "well"),
    };
    let card = Card {
        heading: "How well the figure repeats".to_owned(),
        judgement,
        answer: answer.to_owned(),
        evidence: vec![words::clean(&trust.explanation)],
    };
    vec![Block::Paragraph(headline), Block::Cards(vec![card])]
}
