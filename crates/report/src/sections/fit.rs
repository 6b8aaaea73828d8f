//! How many times the load of a trace storage carries.

use results::{
    Experiment, Fit, FitAttempt, FitCause, FitEdge, FitLimit, FitResult, FitSide, ReplayTiming,
};
use workload::{show_ns, show_number};

use super::capture::word;
use super::make::{column, fact, full, number, section, table, text, whole};
use super::replay::part;
use crate::language::say;
use crate::model::{Block, Cell, Section, Table, Unit};
use crate::words;

/// All sections of a report on a fit.
pub(super) fn sections(e: &Experiment<Fit>) -> Vec<Section> {
    let c = &e.conclusion;
    let mut facts = part(&c.part);
    if let Some(percent) = c.growth_percent {
        let growth = say!("fit-growth", percent = show_number(percent));
        facts.push(fact(say!("label-growth"), growth));
    }
    let load = [Block::Facts(facts)].into_iter().chain(limits(c).map(Block::Table));
    let target = |result: &FitResult| words::clean(&result.target.display().to_string());
    let all = c.results.iter().flat_map(|r| r.attempts.iter().map(move |a| (target(r), a)));
    let sections = [
        section("fit", say!("heading-fit"), answers(c).map(Block::Table).into_iter().collect()),
        section("load", say!("heading-fit-load"), load.collect()),
        section("attempts", say!("heading-attempts"), vec![full(attempts(all).map(Block::Table))]),
    ];
    sections.into_iter().flatten().collect()
}

fn edge(edge: FitEdge) -> String {
    let factor = show_number((edge.users * 100.0).round() / 100.0);
    match edge.side {
        FitSide::At => factor,
        FitSide::Above => say!("fit-above", factor = factor),
        FitSide::Below => say!("fit-below", factor = factor),
    }
}

pub(super) fn cause(cause: Option<FitCause>) -> String {
    match cause {
        None => String::new(),
        Some(FitCause::Throughput) => say!("fit-throughput"),
        Some(FitCause::Host) => say!("fit-host"),
        Some(FitCause::TooFew { kind }) => say!("fit-too-few", kind = word(kind)),
        Some(FitCause::Latency { kind, was_ns, limit_ns }) => {
            let (was, limit) = (show_ns(was_ns as f64), show_ns(limit_ns as f64));
            say!("fit-latency", kind = word(kind), was = was, limit = limit)
        }
    }
}

fn answers(c: &Fit) -> Option<Table> {
    let columns = vec![
        column("target", say!("label-target"), Unit::Text),
        column("lower", say!("label-at-least"), Unit::Text),
        column("upper", say!("label-at-most"), Unit::Text),
        column("cause", say!("label-gives-out"), Unit::Text),
        column("lower_months", say!("label-months-at-least"), Unit::Number),
        column("upper_months", say!("label-months-at-most"), Unit::Number),
        column("made_by", say!("label-answered-by"), Unit::Text),
    ];
    let row = |result: &FitResult| -> Vec<Cell> {
        let by = match result.model {
            Some(_) => say!("fit-model"),
            None => say!("fit-measured"),
        };
        vec![
            text(words::clean(&result.target.display().to_string())),
            text(edge(result.lower)),
            text(edge(result.upper)),
            text(cause(result.cause)),
            number(result.lower_months),
            number(result.upper_months),
            text(by),
        ]
    };
    let rows = c.results.iter().map(row).collect();
    table("answers", say!("heading-fit"), &say!("fit-times"), columns, rows)
}

fn limits(c: &Fit) -> Option<Table> {
    let columns = vec![
        column("kind", say!("label-kind"), Unit::Text),
        column("quantile_percent", say!("label-quantile"), Unit::Percent),
        column("at_most_ns", say!("label-limit"), Unit::Nanoseconds),
    ];
    let row = |limit: &FitLimit| {
        vec![text(word(limit.kind)), number(100.0 * limit.quantile), whole(limit.at_most_ns)]
    };
    table("limits", say!("heading-fit-limits"), "", columns, c.limits.iter().map(row).collect())
}

/// Replays with the targets that they were made on.
pub(super) fn attempts<'a>(all: impl Iterator<Item = (String, &'a FitAttempt)>) -> Option<Table> {
    let columns = vec![
        column("target", say!("label-target"), Unit::Text),
        column("users", say!("label-users"), Unit::Number),
        column("timing", say!("label-timing"), Unit::Text),
        column("held_thirds", say!("label-held"), Unit::Count),
        column("cause", say!("label-did-not-hold"), Unit::Text),
        column("working_percent", say!("label-replay-at-work"), Unit::Percent),
        column("idle_percent", say!("label-processors-idle"), Unit::Percent),
    ];
    let row = |(target, attempt): (String, &FitAttempt)| -> Vec<Cell> {
        let timing = match attempt.timing {
            ReplayTiming::AsTimed => say!("fit-open"),
            _ => say!("fit-waiting"),
        };
        vec![
            text(target),
            number(attempt.users),
            text(timing),
            whole(u64::from(attempt.held_thirds)),
            text(cause(attempt.cause)),
            number(attempt.working_percent),
            number(attempt.idle_percent),
        ]
    };
    table("attempts", say!("heading-attempts"), "", columns, all.map(row).collect())
}
