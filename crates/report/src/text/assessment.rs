//! The outcome of an assessment on one screen.

use std::path::Path;

use results::claims::JudgedClaim;
use results::honesty::{Honesty, Sign};
use results::knee::Reached;
use results::verdict::Database;
use results::{Assessment, Measurement, Ramp, Status};
use workload::{show_ns, show_number};

use super::inspection::findings_head;
use super::layout::{Table, shorten, shorten_path, wrap};
use crate::{ramp, words};

/// A screen is this wide.
const SCREEN: usize = 80;
/// Ramps that fit a screen.
const RAMPS: usize = 5;

/// The outcome of an assessment on one screen, and where the whole report is.
#[must_use]
pub fn assessment(a: &Assessment, report_path: Option<&Path>) -> String {
    let mut out = head(a);
    let storage = &a.environment.storage;
    out.push_str(&findings_head(storage, a.environment.host.as_ref(), SCREEN));
    out.push_str(&verdicts(a));
    out.push_str(&unseen(a));
    out.push_str(&claims(a));
    out.push_str(&probes(a));
    out.push_str(&knees(a));
    out.push_str(&best(a));
    out.push_str(&headroom(a));
    out.push_str(&repeats(a));
    out.push_str(&counters(a));
    out.push_str(&warnings(a));
    if let Some(path) = report_path {
        out.push_str(&format!("\nReport: {}\n", words::path(path)));
    }
    out
}

fn head(a: &Assessment) -> String {
    let size = words::size(a.file_bytes);
    let room = SCREEN.saturating_sub(size.chars().count() + 12);
    let target = shorten_path(&words::path(&a.target), room);
    let mut out = format!("{target}, file size {size}\n");
    let mut line = |text: &str| out.push_str(&format!("  {}\n", shorten(text, SCREEN - 2)));
    let storage: Vec<String> = a.environment.storage.iter().map(words::storage).collect();
    if !storage.is_empty() {
        line(&storage.join("; "));
    }
    let host = a.environment.host.as_ref().map(|h| format!("{}, ", words::clean(&h.hostname)));
    line(&format!("{}{}", host.unwrap_or_default(), words::moment(&a.started)));
    if a.database != Database::Generic {
        line(&format!("assessed for {}", a.database.title()));
    }
    match a.status {
        Status::Complete => {}
        Status::Interrupted => {
            line("INTERRUPTED: these are the figures of the part that was measured.");
        }
        Status::Failed => {
            line("FAILED on an I/O error: these are the figures of the part before it.");
        }
    }
    out
}

fn verdicts(a: &Assessment) -> String {
    if a.verdicts.is_empty() {
        return "\nNothing was judged.\n".to_owned();
    }
    let mut out = "\n".to_owned();
    for verdict in &a.verdicts {
        let grade = verdict.grade.word().to_uppercase();
        let title = verdict.role.title();
        let sentence = words::clean(&verdict.headline);
        // Role and grade stand in front of it already.
        let known = format!("{title}: {}. ", verdict.grade.word());
        let sentence = sentence.strip_prefix(&known).unwrap_or(&sentence);
        out.push_str(&wrap(&format!("  {grade:<10} "), &format!("{title}. {sentence}"), SCREEN));
    }
    out
}

/// What the verdicts cannot know.
fn unseen(a: &Assessment) -> String {
    a.unseen.as_ref().map_or_else(String::new, |text| wrap("  ! ", &words::clean(text), SCREEN))
}

/// What was expected, and whether it was met.
fn claims(a: &Assessment) -> String {
    let line = |claim: &JudgedClaim| {
        let outcome = words::claim(claim.outcome).to_uppercase();
        wrap(&format!("  {outcome:<12} "), &words::clean(&claim.sentence), SCREEN)
    };
    let lines: String = a.claims.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Durable writes that are too fast, and a cost of misalignment; nothing where all is well.
fn probes(a: &Assessment) -> String {
    let doubtful =
        |h: &&Honesty| matches!(h.sign, Sign::FasterThanMedium | Sign::NoSlowerThanCached);
    let honesty = a.honesty.as_ref().filter(doubtful).map(|h| h.statement.as_str());
    let alignment = a.alignment.as_ref().filter(|l| l.matters).map(|l| l.statement.as_str());
    let found = honesty.into_iter().chain(alignment);
    found.map(|text| wrap("  ? ", &words::clean(text), SCREEN)).collect()
}

/// How far the tool itself was from its own limit on this host.
fn headroom(a: &Assessment) -> String {
    let (Some(ceiling), Some(used)) = (a.tool_ceiling_iops, a.tool_ceiling_used_percent) else {
        return String::new();
    };
    let (ceiling, used) = (show_number(ceiling), words::percent(Some(used)));
    format!("  the tool's own ceiling on this host: {ceiling} IOPS, {used} used\n")
}

/// How well the figures repeat.
fn repeats(a: &Assessment) -> String {
    let Some(repeats) = &a.repeats else { return String::new() };
    let (title, found) = (words::clean(&repeats.title), words::clean(&repeats.trust.explanation));
    wrap("  ", &format!("{title}: {found}"), SCREEN)
}

fn knees(a: &Assessment) -> String {
    let known = |r: &&Ramp| r.knee.is_some();
    if !a.ramps.iter().any(|r| known(&r)) {
        return String::new();
    }
    let mut table =
        Table::new(1, &["saturation", "in flight", "throughput", "latency", "limit", ""]);
    for one in a.ramps.iter().filter(known).take(RAMPS) {
        let Some(knee) = &one.knee else { continue };
        let measured = ramp::named(one, &knee.operating_point);
        let throughput = measured.map_or_else(
            || words::NONE.to_owned(),
            |m| format!("{} {}", show_number(ramp::throughput(one, m)), ramp::unit(one)),
        );
        table.row(vec![
            shorten(&words::clean(&one.title), 30),
            show_number(knee.operating_point.in_flight),
            throughput,
            show_ns(knee.operating_point.latency_ns),
            one.causes
                .first()
                .map_or_else(|| words::NONE.to_owned(), |c| c.cause.word().to_owned()),
            if knee.reached == Reached::Saturated { "" } else { "*" }.to_owned(),
        ]);
    }
    let mut out = format!("\n{}", table.show());
    for one in a.ramps.iter().filter(known).take(RAMPS) {
        let Some(knee) = &one.knee else { continue };
        if knee.reached != Reached::Saturated {
            let text = format!("{}: {}", words::clean(&one.title), ramp::ending(knee));
            out.push_str(&wrap("  * ", &text, SCREEN));
        }
    }
    out
}

/// The largest throughput that was measured, and at what.
fn best(a: &Assessment) -> String {
    let patterns = a.patterns.iter().map(|p| (&p.title, &p.measurement));
    let points = a.ramps.iter().flat_map(|r| r.points.iter().map(move |m| (&r.title, m)));
    let all: Vec<_> = patterns.chain(points).collect();
    let largest = |of: &dyn Fn(&Measurement) -> f64| {
        let finite = all.iter().filter(|(_, m)| of(m).is_finite() && of(m) > 0.0);
        finite.max_by(|x, y| of(x.1).total_cmp(&of(y.1)))
    };
    let mut out = String::new();
    let mut line = |what: &str,
                    best: Option<&(&String, &Measurement)>,
                    value: &dyn Fn(&Measurement) -> f64| {
        if let Some((title, m)) = best {
            let figure = format!("{} {what}", show_number(value(m)));
            let text = format!(
                "{figure}: {}, {} in flight",
                words::clean(title),
                words::count(m.in_flight)
            );
            out.push_str(&format!("  most {}\n", shorten(&text, SCREEN - 7)));
        }
    };
    let mib = |m: &Measurement| m.total.mib_per_s;
    let iops = |m: &Measurement| m.total.iops;
    line("MiB/s", largest(&mib), &mib);
    line("IOPS", largest(&iops), &iops);
    out
}

/// What the kernel's counters say of all that was measured.
fn counters(a: &Assessment) -> String {
    let ramps = a.ramps.iter().flat_map(|r| &r.points);
    let all = a.patterns.iter().map(|p| &p.measurement).chain(ramps);
    let kernels: Vec<_> = all.filter_map(|m| m.kernel.as_ref()).collect();
    let judged: Vec<_> = kernels.iter().filter_map(|k| k.agreement.as_ref()).collect();
    if judged.is_empty() {
        return String::new();
    }
    let mut devices: Vec<String> = kernels.iter().map(|k| words::clean(&k.device)).collect();
    devices.sort();
    devices.dedup();
    let agreed = judged.iter().filter(|agreement| agreement.within_tolerance).count();
    let worst = judged.iter().map(|a| a.worst_percent.abs()).fold(0.0, f64::max);
    let text = format!(
        "  the kernel's counters of {} agree in {agreed} of {}, {} apart at most",
        devices.join(", "),
        words::plural(judged.len() as u64, "load", "loads"),
        words::percent(Some(worst))
    );
    format!("{}\n", shorten(&text, SCREEN))
}

fn warnings(a: &Assessment) -> String {
    let serious = a.environment.storage.iter().flat_map(|s| &s.findings);
    let serious = serious.filter(|f| f.severity == inspect::Severity::Serious);
    let mut all: Vec<String> = serious.map(|f| words::clean(&f.message)).collect();
    // What could not be seen stands under the verdicts already.
    let others = a.warnings.iter().filter(|w| a.unseen.as_ref() != Some(*w));
    all.extend(others.map(|w| words::clean(w)));
    let Some(first) = all.first() else {
        let none = if a.unseen.is_some() { "No other warnings." } else { "No warnings." };
        return format!("\n{none}\n");
    };
    let count = words::plural(all.len() as u64, "warning", "warnings");
    let lead = if all.len() == 1 { format!("{count}: ") } else { format!("{count}, the first: ") };
    format!("\n{}", wrap("! ", &format!("{lead}{first}"), SCREEN))
}
