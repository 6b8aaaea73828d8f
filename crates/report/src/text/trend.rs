//! The end of `iosonde history trend` and of `iosonde history drift`.

use results::{Drift, Trend, TrendLoad};

use super::comparison::{signed, value};
use super::layout::{Table, WIDTH, shorten_path, wrap};
use crate::words;

/// Loads that are shown with their dates.
const LOADS: usize = 12;
/// Dates of a load that are shown, the newest.
const DATES: usize = 30;
/// Columns of the longest bar.
const BAR: f64 = 30.0;

/// A trend for a terminal.
#[must_use]
pub fn trend(trend: &Trend) -> String {
    let mut out = String::new();
    if trend.loads.is_empty() {
        out.push_str("Nothing in the history has this figure for what was asked.\n");
    }
    for load in trend.loads.iter().take(LOADS) {
        out.push_str(&one_load(trend, load));
        out.push('\n');
    }
    if trend.loads.len() > LOADS {
        let more = trend.loads.len() - LOADS;
        let words = words::plural(more as u64, "more load", "more loads");
        out.push_str(&format!("{words}; name one with --load, or ask for --json\n\n"));
    }
    for sentence in &trend.method {
        out.push_str(&wrap("- ", &words::clean(sentence), WIDTH));
    }
    for warning in &trend.warnings {
        out.push_str(&wrap("! ", &words::clean(warning), WIDTH));
    }
    out
}

fn one_load(trend: &Trend, load: &TrendLoad) -> String {
    let host = load.host.as_deref().map_or(String::new(), |h| format!(" on {}", words::clean(h)));
    let head = format!(
        "{} of {}; file {}; {}{host}",
        trend.figure.title(),
        words::clean(&load.title),
        words::size(load.file_bytes),
        shorten_path(&words::clean(&load.target), 50)
    );
    let mut out = wrap("", &head, WIDTH);
    out.push_str(&wrap("  ", &words::clean(&load.explanation), WIDTH));
    let most = load.points.iter().map(|p| p.value).fold(0.0, f64::max);
    let mut table = Table::new(1, &["", trend.figure.title(), "runs", "change"]);
    let first = load.points.len().saturating_sub(DATES);
    let mut bars = vec![String::new()];
    for (index, point) in load.points.iter().enumerate().skip(first) {
        let change = load.changes.iter().find(|c| c.index == index);
        table.row(vec![
            words::moment(&point.started),
            value(trend.figure, point.value),
            words::count(point.runs as u64),
            change.map_or_else(String::new, |c| format!("{} %", signed(c.change_percent))),
        ]);
        bars.push(bar(point.value, most));
    }
    let shown = table.show();
    let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    for (line, bar) in shown.lines().zip(bars) {
        let gap = " ".repeat(widest - line.chars().count());
        out.push_str(format!("{line}{gap}  {bar}").trim_end());
        out.push('\n');
    }
    if first > 0 {
        out.push_str(&format!("  and {first} before\n"));
    }
    out
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the width")]
fn bar(value: f64, most: f64) -> String {
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    "█".repeat((share * BAR).round() as usize)
}

/// The date of a moment.
fn day(moment: &str) -> String {
    words::clean(moment.split('T').next().unwrap_or(moment))
}

/// What a device does now, for a terminal.
#[must_use]
pub fn drift(drift: &Drift) -> String {
    let mut out = String::new();
    for finding in &drift.findings {
        out.push_str(&wrap("- ", &words::clean(finding), WIDTH));
    }
    let head = format!(
        "Now, over {}, {} ({}) on {}: {} in flight on average, busy {} of the time",
        words::seconds(drift.seconds),
        words::clean(&drift.target),
        words::clean(&drift.device),
        words::clean(&drift.host),
        workload::show_number(drift.average_queue),
        words::percent(Some(drift.utilisation_percent))
    );
    out.push_str(&format!("\n{}", wrap("", &head, WIDTH)));
    let mut table =
        Table::new(2, &["", "", "now", "at most", "used", "latency now", "at most", "measured"]);
    for load in &drift.loads {
        let most = load.capacity.as_ref();
        let dash = || words::NONE.to_owned();
        table.row(vec![
            words::clean(&load.name),
            load.figure.title().to_owned(),
            value(load.figure, load.now),
            most.map_or_else(dash, |c| value(load.figure, c.value)),
            words::percent(load.used_percent),
            words::mean_time(load.latency_now_ns),
            words::mean_time(most.and_then(|c| c.latency_ns)),
            most.map_or_else(dash, |c| day(&c.started)),
        ]);
    }
    out.push_str(&table.show());
    for load in &drift.loads {
        if let Some(c) = &load.capacity {
            let text =
                format!("{}: {} in {}", load.name, words::clean(&c.load), words::clean(&c.id));
            out.push_str(&wrap("  ", &text, WIDTH));
        }
    }
    if !drift.warnings.is_empty() {
        out.push_str("\nWarnings\n");
        for warning in &drift.warnings {
            out.push_str(&wrap("  ! ", &words::clean(warning), WIDTH));
        }
    }
    out
}
