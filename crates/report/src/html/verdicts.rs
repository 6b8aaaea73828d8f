//! One card for each role.

use analysis::verdict::{Grade, Limits, Statistic};
use results::Assessment;
use workload::show_ns;

use crate::words;

pub(crate) struct Card {
    /// Class of the style sheet.
    pub(crate) class: &'static str,
    /// The grade without colour and without words.
    pub(crate) symbol: &'static str,
    pub(crate) grade: &'static str,
    pub(crate) title: &'static str,
    pub(crate) headline: String,
    pub(crate) evidence: Vec<String>,
    pub(crate) caveats: Vec<String>,
    pub(crate) limits: String,
    pub(crate) source: String,
}

pub(crate) fn cards(a: &Assessment) -> Vec<Card> {
    a.verdicts.iter().map(card).collect()
}

fn card(verdict: &analysis::verdict::Verdict) -> Card {
    let (class, symbol) = match verdict.grade {
        Grade::Excellent => ("excellent", "●●●"),
        Grade::Good => ("good", "●●○"),
        Grade::Acceptable => ("acceptable", "●○○"),
        Grade::Unfit => ("unfit", "✕"),
        Grade::NotJudged => ("not-judged", "?"),
    };
    let title = verdict.role.title();
    let headline = words::clean(&verdict.headline);
    // Role and grade head the card already.
    let known = format!("{title}: {}. ", verdict.grade.word());
    let headline = headline.strip_prefix(&known).unwrap_or(&headline).to_owned();
    Card {
        class,
        symbol,
        grade: verdict.grade.word(),
        title,
        headline,
        evidence: verdict.evidence.iter().map(|e| words::clean(e)).collect(),
        caveats: verdict.caveats.iter().map(|c| words::clean(c)).collect(),
        limits: limits(&verdict.limits),
        source: words::clean(&verdict.limits.source),
    }
}

fn limits(limits: &Limits) -> String {
    let statistic = match limits.statistic {
        Statistic::Mean => "mean latency",
        Statistic::P99 => "99th percentile of latency",
    };
    let tail = match limits.statistic {
        Statistic::Mean => format!(
            "; a 99th percentile above {} costs one grade",
            show_ns(limits.acceptable_ns as f64 * f64::from(limits.tail_factor))
        ),
        Statistic::P99 => String::new(),
    };
    format!(
        "{statistic} up to {} excellent, {} good, {} acceptable{tail}",
        show_ns(limits.excellent_ns as f64),
        show_ns(limits.ideal_ns as f64),
        show_ns(limits.acceptable_ns as f64)
    )
}
