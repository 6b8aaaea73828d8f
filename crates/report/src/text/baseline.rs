//! One line about a baseline, for a journal or a mail.

use results::change::Change;
use results::{ComparedFigure, ComparedLoad, Comparison, Document, Figure};
use workload::show_number;

use super::{clean, moment};

/// How many changes the line names.
const CHANGES_MAX: usize = 3;

/// The line about a baseline that was measured.
#[must_use]
pub fn new_baseline(documents: &[Document], tag: &str) -> String {
    let Some(first) = documents.first() else { return String::new() };
    let targets: Vec<String> =
        first.targets().iter().map(|target| target.display().to_string()).collect();
    let (targets, count) = (clean(&targets.join(", ")), documents.len());
    format!("{targets}: {count} results are the baseline @{}\n", clean(tag))
}

/// The line about a result that was compared with a baseline.
#[must_use]
pub fn against_baseline(comparison: &Comparison, tag: &str) -> String {
    let targets = clean(&comparison.b.targets.join(", "));
    let (tag, id) = (clean(tag), clean(&comparison.b.name));
    let since = comparison.a.results.first().map(|result| moment(&result.started));
    let since = since.unwrap_or_default();
    let more = format!("details: `iosonde history compare {id} --baseline {tag}`");
    let verdict = match comparison.verdict {
        _ if comparison.withheld => {
            let why = clean(&comparison.explanation);
            return format!(
                "{targets}: not comparable with its baseline of {since}: {why}; `iosonde baseline \
                 --renew` measures a new one; {more}\n"
            );
        }
        Change::Better => "better than",
        Change::Same => "the same as",
        Change::Worse => "worse than",
        Change::CannotTell => "not clearly better or worse than",
    };
    let changes = changes(comparison);
    format!("{targets}: {verdict} its baseline of {since}{changes}; {more}\n")
}

/// The changes that count for the verdict: throughput before latency, the largest first.
fn changes(comparison: &Comparison) -> String {
    let figures =
        comparison.loads.iter().flat_map(|load| load.figures.iter().map(move |f| (load, f)));
    let mut found: Vec<(bool, f64, String)> = figures
        .filter(|(load, figure)| load.unlike.is_empty() && figure.decides)
        .filter_map(|(load, figure)| change(load, figure, comparison.verdict))
        .collect();
    found.sort_by(|x, y| x.0.cmp(&y.0).then(y.1.abs().total_cmp(&x.1.abs())));
    let more = found.len().saturating_sub(CHANGES_MAX);
    let words: Vec<String> =
        found.into_iter().take(CHANGES_MAX).map(|(_, _, words)| words).collect();
    match (words.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(": {}", words.join(", ")),
        (false, _) => format!(": {} and {more} more", words.join(", ")),
    }
}

/// One figure that changed as the whole did, with its change in percent.
fn change(
    load: &ComparedLoad,
    figure: &ComparedFigure,
    whole: Change,
) -> Option<(bool, f64, String)> {
    let compared = figure.compared.as_ref()?;
    let counts = matches!(whole, Change::Better | Change::Worse) && compared.verdict == whole;
    let percent = compared.change_percent;
    let sign = if percent < 0.0 { "-" } else { "+" };
    let size = show_number(percent.abs());
    let words = format!("{} {} {sign}{size} %", clean(&load.title), figure.figure.title());
    counts.then_some((figure.figure == Figure::P99Ns, percent, words))
}
