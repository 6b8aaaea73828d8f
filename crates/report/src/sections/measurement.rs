//! One measurement.

use results::{Document, Measurement, Statistics, Status};
use workload::show_number;

use super::make::{beside, cleaned, column, full, number, section, table, text, whole};
use super::{agreement, checks, latency, loads, tested, time};
use crate::model::{Block, Card, Chart, Judgement, Section, Table, Unit};
use crate::words;

/// Answer, charts and tables of a measurement.
pub(super) fn sections(m: &Measurement) -> Vec<Section> {
    let named = [(words::clean(&m.workload.title()), m)];
    let [load] = &named;
    let mut answer = vec![Block::Paragraph(headline(m)), full([Block::Cards(vec![card(m)])])];
    answer.extend(directions(m).map(Block::Table));
    let mut figures = checks::parts(m);
    let document = Document::Measurement(Box::new(m.clone()));
    figures.extend(loads::shown(&document).map(Block::Table).map(|table| full([table])));
    // Another tool asked no kernel.
    let own = m.origin.is_none();
    let sections = [
        section("verdict", "Result", answer),
        tested::of_measurement(m),
        section("time", "Over time", beside(over_time(m)).into_iter().collect()),
        latency::of_measurement(load),
        section("loads", "Figures", figures),
        own.then(|| agreement::of_each(&named)).flatten(),
        checks::of(m),
    ];
    sections.into_iter().flatten().collect()
}

fn over_time(m: &Measurement) -> Vec<Chart> {
    let name = words::clean(&m.workload.title());
    [time::course(&name, m), time::latencies(&name, m)].into_iter().flatten().collect()
}

/// The figures in a sentence, with the load and the file size they hold for.
pub(super) fn headline(m: &Measurement) -> String {
    let t = &m.total;
    let known = m.steady.as_ref().and_then(|s| s.half_width_percent);
    let within = known.map(|h| format!(" ± {} %", show_number(h))).unwrap_or_default();
    let latency = match t.latency_ns {
        None => String::new(),
        Some(l) => {
            let tail = l.p99.map(|p| format!(" (p99 {})", words::time(Some(p))));
            let mean = words::mean_of_tool(m, l.mean);
            format!(" at a mean latency of {mean}{}", tail.unwrap_or_default())
        }
    };
    let file = match (m.file_bytes, &m.origin) {
        (0, Some(_)) => "on a file of unknown size".to_owned(),
        (bytes, _) => format!("on a file of {}", words::size(bytes)),
    };
    let tool = words::tool(m).map(|tool| format!(", measured by {tool}")).unwrap_or_default();
    let in_flight = match (m.in_flight, &m.origin) {
        (0, Some(_)) => String::new(),
        (n, _) => format!(", {} in flight", words::count(n)),
    };
    format!(
        "{} IOPS{within}, {} MiB/s{latency}: {}{in_flight}, {file}{tool}.",
        show_number(t.iops),
        show_number(t.mib_per_s),
        words::clean(&m.workload.title()),
    )
}

/// Whether anything speaks against the figures.
fn card(m: &Measurement) -> Card {
    let errors: u64 = m.errors.iter().map(|e| e.count).fold(0, u64::saturating_add);
    let warnings = cleaned(&m.checks.warnings);
    let (judgement, answer) = if m.status == Status::Failed || errors > 0 {
        let errors = words::plural(errors, "I/O failed", "I/Os failed");
        (Judgement::Bad, errors)
    } else if m.total.ios == 0 && (m.origin.is_none() || m.total.iops <= 0.0) {
        (Judgement::Unknown, "nothing completed".to_owned())
    } else if m.origin.is_some() && warnings.is_empty() && m.status == Status::Complete {
        (Judgement::Unknown, "as the other tool tells them".to_owned())
    } else if warnings.is_empty() && m.status == Status::Complete {
        (Judgement::Good, "nothing speaks against them".to_owned())
    } else {
        (
            Judgement::Doubtful,
            words::plural(warnings.len() as u64, "reason", "reasons") + " to doubt",
        )
    };
    let mut evidence: Vec<String> = Vec::new();
    if let Some(steady) = &m.steady {
        evidence.push(words::clean(&steady.explanation));
    }
    if let Some(phases) = &m.phases {
        evidence.push(words::clean(&phases.explanation));
    }
    if let Some(agreement) = m.kernel.as_ref().and_then(|k| k.agreement.as_ref()) {
        evidence.push(words::clean(&agreement.explanation));
    }
    // The kernel's verdict may be among the warnings as well; each reason stands there once.
    evidence.retain(|e| !warnings.contains(e));
    evidence.extend(warnings);
    evidence.retain(|e| !e.is_empty());
    Card { heading: "The figures".to_owned(), judgement, answer, evidence, bullet: None }
}

/// Reads, writes and flushes beside their sum.
fn directions(m: &Measurement) -> Option<Table> {
    let columns = vec![
        column("kind", "Kind", Unit::Text),
        column("ios", "I/Os", Unit::Count),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", "Mean", Unit::Nanoseconds),
        column("errors", "Errors", Unit::Count),
    ];
    let happened = |s: &Statistics| s.ios > 0 || s.errors > 0;
    // Of another tool, a rate may have no count: nobody knows how long it was measured.
    let uncounted = m.total.ios == 0 && m.total.iops > 0.0;
    let mixed = happened(&m.read) && happened(&m.write);
    let all = [
        ("total", &m.total, mixed || uncounted),
        ("read", &m.read, happened(&m.read)),
        ("write", &m.write, happened(&m.write)),
        ("sync", &m.sync, happened(&m.sync)),
    ];
    let row = |kind: &str, s: &Statistics| {
        vec![
            text(kind),
            whole((!uncounted).then_some(s.ios)),
            number(s.iops),
            number((kind != "sync").then_some(s.mib_per_s)),
            number(words::mean_of(s)),
            whole(s.errors),
        ]
    };
    let rows = all.iter().filter(|(.., shown)| *shown).map(|(kind, s, _)| row(kind, s)).collect();
    table("throughput", "Throughput", &words::caption(m), columns, rows)
}
