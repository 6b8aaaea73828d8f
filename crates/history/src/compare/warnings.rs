//! Reasons to doubt a comparison.

use std::collections::BTreeSet;

use jiff::Timestamp;
use results::{Document, Measurement};
use workload::show_number;

use super::loads::{Group, Pair, is_whole};

/// A baseline is to be measured anew after this many days: half a year.
const OLD_DAYS: i64 = 183;
/// Foreign I/O beyond this, in percent, disturbs a run.
const FOREIGN_PERCENT: f64 = 2.0;
/// Windows that differ by more than this factor are not alike in length.
const LENGTH_RATIO: f64 = 2.0;

pub(super) fn all(a: &[Document], b: &[Document], pairs: &[Pair<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    found.extend(same_results(a, b));
    found.extend(old(a, b));
    found.extend(one_after_the_other(pairs));
    for (name, side) in [("first", a), ("second", b)] {
        found.extend(disturbed(name, side));
        found.extend(left_out(name, side));
    }
    found.extend(lengths(pairs));
    found
}

fn same_results(a: &[Document], b: &[Document]) -> Option<String> {
    let ids: BTreeSet<&str> = a.iter().map(Document::id).collect();
    let both = b.iter().filter(|d| ids.contains(d.id())).count();
    (both > 0).then(|| {
        let results = if both == 1 { "result is" } else { "results are" };
        format!("{both} {results} on both sides: what is compared with itself is always the same")
    })
}

/// When the results of a side began, first and last.
fn span(side: &[Document]) -> Option<(Timestamp, Timestamp)> {
    let times: Vec<Timestamp> = side.iter().filter_map(|d| d.started().parse().ok()).collect();
    Some((*times.iter().min()?, *times.iter().max()?))
}

fn old(a: &[Document], b: &[Document]) -> Option<String> {
    let ((_, last_a), (_, last_b)) = (span(a)?, span(b)?);
    let days = last_b.as_second().saturating_sub(last_a.as_second()) / 86_400;
    (days >= OLD_DAYS).then(|| {
        format!(
            "The first side is old: its newest result is {days} days older than that of the \
             second. Measure a new baseline every 3 to 6 months"
        )
    })
}

/// When the runs of a group began, first and last.
fn begun(group: &Group<'_>) -> Option<(Timestamp, Timestamp)> {
    let times = group.runs.iter().filter_map(|r| r.measurement().started.parse().ok());
    let times: Vec<Timestamp> = times.collect();
    Some((*times.iter().min()?, *times.iter().max()?))
}

fn one_after_the_other(pairs: &[Pair<'_>]) -> Option<String> {
    let several = |p: &&Pair<'_>| p.a.runs.len() > 1 && p.b.runs.len() > 1;
    let apart = |p: &Pair<'_>| {
        let ((first_a, last_a), (first_b, last_b)) = (begun(&p.a)?, begun(&p.b)?);
        Some(last_a < first_b || last_b < first_a)
    };
    let mut judged = pairs.iter().filter(several).peekable();
    judged.peek()?;
    judged.all(|p| apart(p) == Some(true)).then(|| {
        "The runs of the sides were not interleaved, so what drifted between them (temperature, \
         fill, other tenants) counts as a change too; `iosonde run A B --alternate` interleaves \
         two targets"
            .to_owned()
    })
}

fn disturbed(name: &str, side: &[Document]) -> Option<String> {
    let all: Vec<&Measurement> = side.iter().flat_map(Document::measurements).collect();
    let foreign = |m: &Measurement| {
        let percent = m.kernel.as_ref()?.foreign_percent?;
        (percent > FOREIGN_PERCENT).then_some(percent)
    };
    let shares: Vec<f64> = all.iter().filter_map(|m| foreign(m)).collect();
    let most = shares.iter().copied().reduce(f64::max)?;
    Some(format!(
        "{} of {} measurements of the {name} side were disturbed: up to {} % of the device's I/O \
         was not the test's",
        shares.len(),
        all.len(),
        show_number(most)
    ))
}

fn left_out(name: &str, side: &[Document]) -> Option<String> {
    let all: Vec<&Measurement> = side.iter().flat_map(Document::measurements).collect();
    // Why figures of an unknown load are not compared, the verdict says.
    let count = all.iter().filter(|m| !is_whole(m) && !m.workload.is_unknown()).count();
    (count > 0).then(|| {
        format!(
            "{count} of {} measurements of the {name} side are left out: they did not run to \
             their end, or nothing completed",
            all.len()
        )
    })
}

fn lengths(pairs: &[Pair<'_>]) -> Option<String> {
    let seconds = |side: fn(&Pair<'_>) -> f64| {
        let all: Vec<f64> = pairs.iter().map(side).collect();
        analysis::numbers::median(&all)
    };
    let a = seconds(|p| mean_seconds(&p.a))?;
    let b = seconds(|p| mean_seconds(&p.b))?;
    (a.max(b) > LENGTH_RATIO * a.min(b)).then(|| {
        format!(
            "Runs of the first side measured {} s, those of the second {} s: caches and bursts \
             count more in the shorter",
            show_number(a),
            show_number(b)
        )
    })
}

fn mean_seconds(group: &Group<'_>) -> f64 {
    let all: Vec<f64> = group.runs.iter().map(|r| r.measurement().seconds).collect();
    analysis::numbers::mean(&all).unwrap_or(0.0)
}
