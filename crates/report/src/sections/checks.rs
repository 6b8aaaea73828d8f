//! Whether the figures of one measurement fit together: CPU cost, I/Os in flight, errors, long
//! waits.

use results::{Measurement, Statistics};
use workload::{Nanoseconds, show_number};

use super::make::{column, fact, full, number, section, table, text, whole};
use crate::language::{count, say};
use crate::model::{Block, Cell, Column, Fact, Section, Table, Unit};
use crate::words;

/// The section with the checks of one measurement.
pub(super) fn of(m: &Measurement) -> Option<Section> {
    let mut facts = vec![fact(say!("label-in-flight"), in_flight(m))];
    facts.extend(words::cost(m).map(|cost| fact("CPU", cost)));
    if let Some(reached) = m.checks.rate_reached_percent {
        let text = say!("checks-rate", share = words::percent(Some(reached)));
        facts.push(fact(say!("label-rate"), text));
    }
    facts.extend(steadiness(m));
    // Another tool asked no kernel, and does not tell its longest gap.
    if m.origin.is_none() {
        facts.push(fact(say!("label-stalls"), stalls(m)));
        facts.push(kernel(m));
    }
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(errors(m).map(Block::Table));
    section("checks", say!("heading-do-the-figures-fit-together"), blocks)
}

fn in_flight(m: &Measurement) -> String {
    let known = words::achieved(m);
    let asked = words::asked_in_flight(m);
    let mut text = asked.map_or_else(
        || say!("checks-asked-not-known"),
        |asked| say!("checks-asked", in_flight = words::count(asked)),
    );
    if let Some(achieved) = known {
        text.push_str(&say!("checks-achieved", in_flight = show_number(achieved)));
    }
    if known.is_some() && m.in_flight > 0 && m.achieved_in_flight.is_finite() {
        let share = 100.0 * m.achieved_in_flight / m.in_flight as f64;
        text.push_str(&format!(" ({})", words::percent(Some(share))));
    }
    if let Some(deviation) = m.checks.littles_law_percent {
        let off = words::percent(Some(deviation));
        text.push_str(&say!("checks-off-littles-law", off = off));
    }
    text
}

fn steadiness(m: &Measurement) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(steady) = m.steady.as_ref().filter(|s| !s.explanation.is_empty()) {
        facts.push(fact(say!("label-steadiness"), words::clean(&steady.explanation)));
    }
    if let Some(phases) = m.phases.as_ref().filter(|p| !p.explanation.is_empty()) {
        facts.push(fact(say!("label-levels"), words::clean(&phases.explanation)));
    }
    if let Some(rounds) = &m.rounds {
        let range = words::percent(Some(rounds.range_percent));
        let slope = words::percent(Some(rounds.slope_percent));
        let text = if rounds.settled {
            say!("checks-rounds-steady", range = range, slope = slope)
        } else {
            say!("checks-rounds-not-steady", range = range, slope = slope)
        };
        facts.push(fact(say!("label-five-rounds"), text));
    }
    facts
}

fn stalls(m: &Measurement) -> String {
    let stalls = &m.stalls;
    let gap = Nanoseconds(stalls.longest_gap_ns);
    let mut text = say!("checks-longest-gap", gap = gap.to_string());
    if stalls.over_15_s > 0 {
        text.push_str(&say!("checks-over-15-s", ios = count(stalls.over_15_s)));
    }
    if stalls.unfinished > 0 {
        let oldest = Nanoseconds(stalls.oldest_unfinished_ns);
        let ios = count(stalls.unfinished);
        text.push_str(&say!("checks-unfinished", ios = ios, oldest = oldest.to_string()));
    }
    text
}

fn kernel(m: &Measurement) -> Fact {
    let Some(kernel) = &m.kernel else {
        let text = if m.workload.engine.is_artificial() {
            say!("checks-kernel-no-device")
        } else {
            say!("checks-kernel-no-one-device")
        };
        return fact(say!("label-kernel"), text);
    };
    let mut text = say!(
        "checks-kernel",
        device = words::clean(&kernel.device),
        queue = show_number(kernel.average_queue),
        busy = words::percent(Some(kernel.utilisation_percent)),
        flushes = show_number(kernel.flushes_per_s)
    );
    if let Some(agreement) = &kernel.agreement {
        text.push_str(&format!(". {}", words::clean(&agreement.explanation)));
    }
    fact(say!("label-kernel"), text)
}

fn errors(m: &Measurement) -> Option<Table> {
    let columns = vec![
        column("count", say!("label-errors"), Unit::Count),
        column("operation", say!("label-operation"), Unit::Text),
        column("path", say!("label-target"), Unit::Text),
        column("first_offset_bytes", say!("label-first-at"), Unit::Bytes),
        column("message", say!("label-what-the-system-said"), Unit::Text),
    ];
    let row = |e: &results::ErrorRecord| {
        vec![
            whole(e.count),
            text(&e.operation),
            text(words::path(&e.path)),
            whole(e.first_offset_bytes),
            text(&e.message),
        ]
    };
    let rows = m.errors.iter().map(row).collect();
    table("errors", say!("heading-failed-i-os"), &words::caption(m), columns, rows)
}

fn part_columns(what: String, key: &'static str) -> Vec<Column> {
    vec![
        column(key, what, Unit::Text),
        column("size_bytes", say!("label-file-size"), Unit::Bytes),
        column("threads", say!("label-threads"), Unit::Count),
        column("depth", say!("label-depth"), Unit::Count),
        column("ios", say!("label-i-os"), Unit::Count).full(),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_max_ns", say!("label-max"), Unit::Nanoseconds),
        column("errors", say!("label-errors"), Unit::Count),
        column("cpu_percent", "CPU", Unit::Percent),
    ]
}

fn figures(s: &Statistics) -> Vec<Cell> {
    vec![
        whole(s.ios),
        number(s.iops),
        number(s.mib_per_s),
        number(words::mean_of(s)),
        whole(s.latency_ns.and_then(|l| l.p99)),
        whole(s.latency_ns.and_then(|l| l.max)),
        whole(s.errors),
    ]
}

/// Streams, targets and threads, each where there are several.
pub(super) fn parts(m: &Measurement) -> Vec<Block> {
    let caption = words::caption(m);
    let row = |head: Vec<Cell>, total: &Statistics, cpu: Option<f64>| {
        let mut row = head;
        row.extend(figures(total));
        row.push(number(cpu));
        row
    };
    let known = |bytes: &u64| m.origin.is_none() || *bytes > 0;
    let streams = m.streams.iter().map(|s| {
        let depth = Some(u64::from(s.depth)).filter(known);
        let head = vec![text(&s.name), Cell::Empty, whole(s.threads), whole(depth)];
        row(head, &s.total, None)
    });
    let targets = m.targets.iter().map(|t| {
        let head = vec![
            text(words::path(&t.path)),
            whole(Some(t.file_bytes).filter(known)),
            Cell::Empty,
            Cell::Empty,
        ];
        row(head, &t.total, None)
    });
    let threads = m.threads_detail.iter().map(|t| {
        let name = format!(
            "{} {}.{}",
            words::clean(&t.stream),
            t.target.saturating_add(1),
            t.thread.saturating_add(1)
        );
        row(vec![text(&name), Cell::Empty, Cell::Empty, Cell::Empty], &t.total, t.cpu_percent)
    });
    let all = [
        (
            "streams",
            say!("heading-streams"),
            part_columns(say!("label-stream"), "stream"),
            streams.collect::<Vec<_>>(),
        ),
        (
            "targets",
            say!("label-targets"),
            part_columns(say!("label-target"), "target"),
            targets.collect(),
        ),
        (
            "threads",
            say!("label-threads"),
            part_columns(say!("label-stream-target-thread"), "thread"),
            threads.collect(),
        ),
    ];
    let several = all.into_iter().filter(|(.., rows)| rows.len() > 1);
    several
        .filter_map(|(key, title, columns, rows)| table(key, title, &caption, columns, rows))
        .map(
            |table| {
                if table.key == "threads" {
                    full([Block::Table(table)])
                } else {
                    Block::Table(table)
                }
            },
        )
        .collect()
}
