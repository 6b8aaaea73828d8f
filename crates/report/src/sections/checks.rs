//! Whether the figures of one measurement fit together: what it cost, what was in flight, errors,
//! long waits.

use results::{Measurement, Statistics};
use workload::{Nanoseconds, show_number};

use super::make::{column, fact, full, number, section, table, text, whole};
use crate::model::{Block, Cell, Column, Fact, Section, Table, Unit};
use crate::words;

/// The section.
pub(super) fn of(m: &Measurement) -> Option<Section> {
    let mut facts = vec![fact("In flight", in_flight(m))];
    facts.extend(words::cost(m).map(|cost| fact("CPU", cost)));
    if let Some(reached) = m.checks.rate_reached_percent {
        let text = format!("{} of what was offered was reached", words::percent(Some(reached)));
        facts.push(fact("Rate", text));
    }
    facts.extend(steadiness(m));
    // Another tool asked no kernel, and does not tell its longest gap.
    if m.origin.is_none() {
        facts.push(fact("Stalls", stalls(m)));
        facts.push(kernel(m));
    }
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(errors(m).map(Block::Table));
    section("checks", "Do the figures fit together?", blocks)
}

fn in_flight(m: &Measurement) -> String {
    let known = words::achieved(m);
    let asked = words::asked_in_flight(m).map(|asked| format!("{} asked", words::count(asked)));
    let mut text = asked.unwrap_or_else(|| "asked: not known".to_owned());
    if let Some(achieved) = known {
        text.push_str(&format!(", {} achieved on average", show_number(achieved)));
    }
    if known.is_some() && m.in_flight > 0 && m.achieved_in_flight.is_finite() {
        let share = 100.0 * m.achieved_in_flight / m.in_flight as f64;
        text.push_str(&format!(" ({})", words::percent(Some(share))));
    }
    if let Some(deviation) = m.checks.littles_law_percent {
        let off = words::percent(Some(deviation));
        text.push_str(&format!("; {off} off IOPS × service time (Little's law)"));
    }
    text
}

fn steadiness(m: &Measurement) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(steady) = m.steady.as_ref().filter(|s| !s.explanation.is_empty()) {
        facts.push(fact("Steadiness", words::clean(&steady.explanation)));
    }
    if let Some(phases) = m.phases.as_ref().filter(|p| !p.explanation.is_empty()) {
        facts.push(fact("Levels", words::clean(&phases.explanation)));
    }
    if let Some(rounds) = &m.rounds {
        let steady = if rounds.settled { "steady" } else { "not steady" };
        let text = format!(
            "range {}, slope {} of the mean: {steady} (SNIA: 20 %, 10 %)",
            words::percent(Some(rounds.range_percent)),
            words::percent(Some(rounds.slope_percent))
        );
        facts.push(fact("Five rounds", text));
    }
    facts
}

fn stalls(m: &Measurement) -> String {
    let stalls = &m.stalls;
    let gap = Nanoseconds(stalls.longest_gap_ns);
    let mut text = format!("longest time without a completion on one thread {gap}");
    let ios = |n| words::plural(n, "I/O", "I/Os");
    if stalls.over_15_s > 0 {
        text.push_str(&format!("; {} took 15 s or more", ios(stalls.over_15_s)));
    }
    if stalls.unfinished > 0 {
        let oldest = Nanoseconds(stalls.oldest_unfinished_ns);
        let many = ios(stalls.unfinished);
        text.push_str(&format!("; {many} never returned, the oldest after {oldest}"));
    }
    text
}

fn kernel(m: &Measurement) -> Fact {
    let Some(kernel) = &m.kernel else {
        let text = if m.workload.engine.is_artificial() {
            "not asked: there is no real device"
        } else {
            "not asked: there is no one device whose counters cover this target"
        };
        return fact("Kernel", text);
    };
    let mut text = format!(
        "{}: average queue {}, busy {}, {} flushes/s",
        words::clean(&kernel.device),
        show_number(kernel.average_queue),
        words::percent(Some(kernel.utilisation_percent)),
        show_number(kernel.flushes_per_s)
    );
    if let Some(agreement) = &kernel.agreement {
        text.push_str(&format!(". {}", words::clean(&agreement.explanation)));
    }
    fact("Kernel", text)
}

fn errors(m: &Measurement) -> Option<Table> {
    let columns = vec![
        column("count", "Errors", Unit::Count),
        column("operation", "Operation", Unit::Text),
        column("path", "Target", Unit::Text),
        column("first_offset_bytes", "First at", Unit::Bytes),
        column("message", "What the system said", Unit::Text),
    ];
    let row = |e: &results::ErrorRecord| {
        vec![
            whole(e.count),
            text(&e.operation),
            text(&words::path(&e.path)),
            whole(e.first_offset_bytes),
            text(&e.message),
        ]
    };
    let rows = m.errors.iter().map(row).collect();
    table("errors", "Failed I/Os", &words::caption(m), columns, rows)
}

fn part_columns(what: &str, key: &'static str) -> Vec<Column> {
    vec![
        column(key, what, Unit::Text),
        column("size_bytes", "File size", Unit::Bytes),
        column("threads", "Threads", Unit::Count),
        column("depth", "Depth", Unit::Count),
        column("ios", "I/Os", Unit::Count).full(),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", "Mean", Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_max_ns", "Max", Unit::Nanoseconds),
        column("errors", "Errors", Unit::Count),
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
        whole(s.latency_ns.map(|l| l.max)),
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
            text(&words::path(&t.path)),
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
        ("streams", "Streams", part_columns("Stream", "stream"), streams.collect::<Vec<_>>()),
        ("targets", "Targets", part_columns("Target", "target"), targets.collect()),
        ("threads", "Threads", part_columns("Stream, target, thread", "thread"), threads.collect()),
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
