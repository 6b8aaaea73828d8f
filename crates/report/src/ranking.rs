//! Several results in the order of their speed: how many times as fast the fastest is.

use results::{ComparedFigure, ComparedLoad, Comparison, Figure};
use workload::show_number;

use crate::text::{Table, WIDTH, clean, wrap};

/// What to do about sides that are not alike.
pub const ANYWAY: &str = "`--anyway` compares them all the same.\n";

/// A ranking, from comparisons of the fastest (second) with each of the others (first).
#[must_use]
pub fn text(comparisons: &[Comparison]) -> String {
    let Some(first) = comparisons.first() else { return "nothing to rank\n".to_owned() };
    let fastest = clean(&first.b.name);
    let mut out = format!("Ranking of {} results by IOPS\n", comparisons.len() + 1);
    let mut titles: Vec<&str> = Vec::new();
    for load in comparisons.iter().flat_map(|comparison| &comparison.loads) {
        if !titles.contains(&load.title.as_str()) {
            titles.push(&load.title);
        }
    }
    if titles.is_empty() {
        out.push_str("The results have no load in common.\n");
    }
    for title in titles {
        out.push_str(&format!("\n{}\n", clean(title)));
        out.push_str(&of_load(comparisons, title, &fastest));
    }
    let mut unlike: Vec<String> = Vec::new();
    for comparison in comparisons.iter().filter(|comparison| comparison.withheld) {
        let name = clean(&comparison.a.name);
        unlike.push(format!("{name}: {}", clean(&comparison.explanation)));
    }
    if !unlike.is_empty() {
        out.push('\n');
        out.extend(unlike.iter().map(|line| wrap("", line, WIDTH)));
        out.push_str(ANYWAY);
    }
    let method = "± is half of the 90 % interval between runs; without it, a side has too few runs \
                  to know it (`run --repeat 5`). `history compare A B` shows every figure.";
    out.push('\n');
    out.push_str(&wrap("", method, WIDTH));
    out
}

/// The sides of a load, the fastest first, and a sentence on each of the others.
fn of_load(comparisons: &[Comparison], title: &str, fastest: &str) -> String {
    let found: Vec<(&Comparison, &ComparedFigure)> = comparisons
        .iter()
        .filter_map(|comparison| {
            let same = |load: &&ComparedLoad| load.title == title;
            let load = comparison.loads.iter().find(same)?;
            let iops = load.figures.iter().find(|figure| figure.figure == Figure::Iops)?;
            Some((comparison, iops))
        })
        .collect();
    let spread = |cv: Option<f64>| cv.map_or_else(|| "–".to_owned(), |cv| format!("{cv:.1} %"));
    let cells = |name: &str, sample: &results::change::Sample| {
        let runs = show_number(sample.runs as f64);
        vec![clean(name), show_number(sample.mean), spread(sample.cv_percent), runs]
    };
    let mut rows: Vec<(f64, Vec<String>)> = found
        .iter()
        .map(|(comparison, iops)| (iops.a.mean, cells(&comparison.a.name, &iops.a)))
        .collect();
    if let Some((comparison, iops)) = found.first() {
        rows.push((iops.b.mean, cells(&comparison.b.name, &iops.b)));
    }
    rows.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut table = Table::new(1, &["result", "IOPS", "spread", "runs"]);
    for (_, row) in rows {
        table.row(row);
    }
    let mut out = table.show();
    for (comparison, iops) in found {
        let other = clean(&comparison.a.name);
        let sentence = match factor(iops) {
            Some(factor) => format!("{fastest} is {factor} times as fast as {other}"),
            None => format!("{fastest} and {other} are not alike, and not compared"),
        };
        out.push_str(&wrap("  ", &sentence, WIDTH));
    }
    out
}

/// `1.8 ± 0.1`; `None` if nothing may be said.
fn factor(figure: &ComparedFigure) -> Option<String> {
    let compared = figure.compared.as_ref()?;
    let ratio = 1.0 + compared.change_percent / 100.0;
    let shown = |value: f64, digits: usize| format!("{value:.digits$}");
    if !ratio.is_finite() {
        return None;
    }
    let Some((low, high)) = compared.interval_percent.filter(|(l, h)| (h - l).is_finite()) else {
        return Some(shown(ratio, 2));
    };
    let half = (high - low) / 200.0;
    // No more digits than the interval supports.
    let digits = if half >= 0.095 { 1 } else { 2 };
    let mark = if digits == 2 && half < 0.005 { "<" } else { "" };
    let half = if mark.is_empty() { half } else { 0.01 };
    Some(format!("{} ± {mark}{}", shown(ratio, digits), shown(half, digits)))
}
