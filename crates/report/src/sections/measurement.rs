//! One measurement.

use results::steady::UNSURE_PERCENT;
use results::{Document, Measurement, Statistics, Status};
use workload::show_number;

use super::make::{beside, column, doubts, full, greyed, number, section, table, text, whole};
use super::{agreement, checks, latency, loads, tested, time};
use crate::language::{count, say};
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
        section("verdict", say!("heading-result"), answer),
        tested::of_measurement(m),
        section("time", say!("heading-over-time"), beside(over_time(m)).into_iter().collect()),
        latency::of_measurement(load),
        section("loads", say!("heading-figures"), figures),
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
            let mean = words::mean_of_tool(m, l.mean) + &tail.unwrap_or_default();
            say!("measurement-latency", latency = mean)
        }
    };
    let file = match (m.file_bytes, &m.origin) {
        (0, Some(_)) => say!("measurement-file-not-known"),
        (bytes, _) => match (m.targets.len(), words::size(bytes)) {
            (0 | 1, size) => say!("measurement-file", size = size),
            (files, size) => say!("measurement-files", files = files.to_string(), size = size),
        },
    };
    let tool = words::tool(m).map(|tool| say!("measurement-by-tool", tool = tool));
    let load = words::clean(&m.workload.title());
    let load = match (m.in_flight, &m.origin) {
        (0, Some(_)) => load,
        (n, _) => {
            say!("measurement-load-in-flight", load = load, in_flight = words::count(n))
        }
    };
    say!(
        "measurement-headline",
        iops = format!("{} IOPS{within}", show_number(t.iops)),
        mib = format!("{} MiB/s", show_number(t.mib_per_s)),
        latency = latency,
        load = load,
        file = file,
        tool = tool.unwrap_or_default()
    )
}

/// Whether there is a reason to doubt the figures.
fn card(m: &Measurement) -> Card {
    let errors: u64 = m.errors.iter().map(|e| e.count).fold(0, u64::saturating_add);
    let warnings = doubts(m);
    let (judgement, answer) = if m.status == Status::Failed || errors > 0 {
        (Judgement::Bad, say!("measurement-failed", errors = count(errors)))
    } else if m.total.ios == 0 && (m.origin.is_none() || m.total.iops <= 0.0) {
        (Judgement::Unknown, say!("measurement-nothing-completed"))
    } else if m.is_unsure() {
        let percent = show_number(UNSURE_PERCENT);
        (Judgement::Unknown, say!("measurement-unsure", percent = percent))
    } else if m.origin.is_some() && warnings.is_empty() && m.status == Status::Complete {
        (Judgement::Unknown, say!("measurement-of-other-tool"))
    } else if warnings.is_empty() && m.status == Status::Complete {
        (Judgement::Good, say!("measurement-no-doubt"))
    } else {
        (Judgement::Doubtful, say!("measurement-doubts", reasons = count(warnings.len())))
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
    // The kernel's verdict may be among the warnings as well; each reason is listed once.
    evidence.retain(|e| !warnings.contains(e));
    evidence.extend(warnings);
    evidence.retain(|e| !e.is_empty());
    Card {
        heading: say!("label-the-figures"),
        judgement,
        answer,
        evidence,
        original: Vec::new(),
        bullet: None,
    }
}

/// Reads, writes and flushes next to their sum.
fn directions(m: &Measurement) -> Option<Table> {
    let columns = vec![
        column("kind", say!("label-kind"), Unit::Text),
        column("ios", say!("label-i-os"), Unit::Count),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("errors", say!("label-errors"), Unit::Count),
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
    let shown = all.iter().filter(|(.., shown)| *shown);
    let rows = shown.map(|(kind, s, _)| greyed(&columns, row(kind, s), m.is_unsure())).collect();
    table("throughput", say!("heading-throughput"), &words::caption(m), columns, rows)
}
