//! What a check says, as text for a terminal.

use std::fmt::Write as _;

use crate::judge::Loss;
use crate::plan::{Order, Role};
use crate::report::{Area, Finding, Report, Verdict};

/// So many losses are shown one by one.
const SHOWN: usize = 10;

/// The report as text. What came from outside, such as paths, is as it is: whoever prints it makes it harmless.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = format!("{}.\n", report.sentence);
    let order = match report.order {
        Order::Page => "",
        Order::LogThenPage => ", the log before the pages",
    };
    let _ = writeln!(
        out,
        "{} threads x {} in flight, pages of {} bytes, {}{order}, {:.1} s of writing on {}, begun {}",
        report.threads,
        report.depth,
        report.page_bytes,
        report.sync.name(),
        report.seconds,
        report.host,
        report.started
    );
    for target in &report.targets {
        let role = if target.role == Role::Log { "log" } else { "data" };
        let mib = target.size_bytes as f64 / f64::from(1 << 20);
        let _ = writeln!(out, "  {} ({role}, {mib:.1} MiB)", target.path.display());
    }
    area(&mut out, "pages", &report.data);
    if let Some(log) = &report.log {
        area(&mut out, "log records", log);
    }
    if report.verdict == Verdict::Lost {
        losses(&mut out, report);
    }
    for line in report.advice.iter().chain(&report.warnings) {
        let _ = writeln!(out, "- {line}");
    }
    out
}

fn area(out: &mut String, what: &str, area: &Area) {
    let Area { checked, promised, right, in_doubt, lost, .. } = area;
    let _ = writeln!(
        out,
        "{what}: {checked} read, {promised} promised, {right} as promised, {lost} lost; in doubt, and all right: {} old, {} new, {} in part",
        in_doubt.old, in_doubt.new, in_doubt.torn
    );
}

fn losses(out: &mut String, report: &Report) {
    for loss in &report.losses {
        let _ = writeln!(out, "{:>8} {}", loss.count, loss.loss.words());
    }
    if let Some(seconds) = report.oldest_loss_seconds {
        let _ = writeln!(
            out,
            "the oldest of them was promised about {seconds:.3} s before the last promise"
        );
    }
    for finding in report.findings.iter().take(SHOWN) {
        let _ = writeln!(out, "  {}", line(finding));
    }
    let more: u64 = report.losses.iter().map(|l| l.count).sum();
    if let Some(more) = more.checked_sub(SHOWN as u64).filter(|more| *more > 0) {
        let _ = writeln!(out, "  and {more} more");
    }
}

fn line(finding: &Finding) -> String {
    let Finding { loss, path, offset, bytes, thread, operation, .. } = finding;
    let place = format!("{} at {offset}, {bytes} bytes: {}", path.display(), loss.words());
    let found = match finding.found_operation {
        Some(found) if *loss != Loss::AheadOfLog => format!("; operation {found} is there"),
        _ => String::new(),
    };
    let sectors = match loss {
        Loss::Torn => format!("; {} of {} sectors are right", finding.right_sectors, bytes / 512),
        _ => String::new(),
    };
    format!("{place} (thread {thread}, operation {operation}{found}{sectors})")
}
