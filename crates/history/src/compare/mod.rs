//! Compares two sides, like with like: whether the second is better, the same or worse.
//!
//! A side is a list of results; measurements of the same conditions on it are its runs. What is not
//! alike is named, and there is no verdict on it.

mod differences;
pub(crate) mod figures;
mod kept;
pub(crate) mod loads;
mod noise;
mod ranking;
mod setup;
mod warnings;

use analysis::comparison::{Deciding, overall};
use results::change::{Change, Compared};
use results::{
    COMPARISON_SCHEMA, ComparedLoad, Comparison, Document, Figure, Side, SideDifference, SideResult,
};

use crate::published;

pub use kept::{CompareOptions, Side as KeptSide, baseline, compare_kept, noise};
pub use noise::Noise;
pub use ranking::rank_kept;

/// The default band: changes up to this count as no change, in percent either way.
pub const BAND_PERCENT: f64 = 5.0;

/// One side of a comparison, as the caller gives it.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The name that the user typed for it.
    pub name: &'a str,
    /// The documents of the results that the name stands for.
    pub documents: &'a [Document],
}

/// How to compare: the band, the noise, and whether unlike sides get verdicts.
#[derive(Debug, Clone)]
pub struct Rules<'a> {
    /// Changes up to this count as no change, in percent either way.
    pub band_percent: f64,
    /// Draw verdicts although the sides are not alike.
    pub anyway: bool,
    /// How far runs differ by themselves on this host.
    pub noise: &'a Noise,
    /// Version of the program that compares.
    pub tool_version: &'a str,
}

/// Compares `b`, the judged side, with `a`, the baseline.
#[must_use]
pub fn compare(a: Input<'_>, b: Input<'_>, rules: &Rules<'_>) -> Comparison {
    let differences = differences::of_sides(a.documents, b.documents);
    let unlike = differences.iter().any(|d| d.unlike);
    let pairs = loads::pair(a.documents, b.documents);
    let loads: Vec<ComparedLoad> =
        pairs.paired.iter().map(|pair| figures::compare(pair, unlike, rules)).collect();
    let unknown = [a, b].iter().any(|side| side.documents.iter().any(has_unknown_load));
    let judged = Overall::of(&loads, &differences, unknown, rules);
    Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        tool_version: rules.tool_version.to_owned(),
        a: side(a),
        b: side(b),
        band_percent: rules.band_percent,
        anyway: rules.anyway,
        only_a: pairs.only_a,
        only_b: pairs.only_b,
        verdict: judged.verdict,
        withheld: judged.withheld,
        explanation: judged.explanation,
        findings: judged.findings,
        method: method(rules),
        warnings: warnings::all(a.documents, b.documents, &pairs.paired),
        differences,
        loads,
    }
}

/// Whether the load of a measurement is unknown, so that it is like no other.
fn has_unknown_load(document: &Document) -> bool {
    document.measurements().iter().any(|m| m.workload.is_unknown())
}

/// Whether some load has a single run on a side, so that the noise of the host matters.
#[must_use]
pub fn has_single_runs(a: &[Document], b: &[Document]) -> bool {
    let paired = loads::pair(a, b).paired;
    paired.iter().any(|pair| pair.a.runs.len().min(pair.b.runs.len()) == 1)
}

fn side(input: Input<'_>) -> Side {
    let documents = input.documents;
    let mut results: Vec<SideResult> = documents
        .iter()
        .map(|d| SideResult {
            id: d.id().to_owned(),
            kind: d.kind().to_owned(),
            title: d.title(),
            started: d.started().to_owned(),
        })
        .collect();
    results.sort_by(|x, y| x.started.cmp(&y.started));
    Side {
        name: input.name.to_owned(),
        results,
        hosts: differences::hosts(documents),
        targets: differences::targets(documents),
        devices: differences::devices(documents),
    }
}

/// The verdict on all loads together.
struct Overall {
    verdict: Change,
    withheld: bool,
    explanation: String,
    findings: Vec<String>,
}

impl Overall {
    fn of(
        loads: &[ComparedLoad],
        sides: &[SideDifference],
        unknown: bool,
        rules: &Rules<'_>,
    ) -> Self {
        let alike = |load: &&ComparedLoad| load.unlike.is_empty();
        let unlike_sides = sides.iter().any(|d| d.unlike);
        let count = loads.iter().filter(alike).count();
        let any_alike = count > 0 && !unlike_sides;
        if !any_alike && (!rules.anyway || loads.is_empty()) {
            return Self::withheld(loads, sides, unknown);
        }
        let deciding: Vec<Deciding<'_>> = loads
            .iter()
            .filter(|load| count == 0 || alike(load))
            .flat_map(|load| &load.figures)
            .filter(|figure| figure.decides)
            .filter_map(|figure| {
                let says_same = !matches!(figure.figure, Figure::P99Ns);
                let name = figure.figure.title();
                let Compared { verdict, worse_p, better_p, .. } = figure.compared.as_ref()?;
                let verdict = published::as_judged(*verdict);
                Some(Deciding { name, says_same, verdict, worse_p: *worse_p, better_p: *better_p })
            })
            .collect();
        let overall = overall(&deciding);
        let verdict = published::change(overall.verdict);
        let word = match verdict {
            Change::Better => "B is better than A",
            Change::Same => "B is the same as A",
            Change::Worse => "B is worse than A",
            Change::CannotTell => "it cannot be told whether B is better or worse than A",
        };
        let changed = matches!(verdict, Change::Better | Change::Worse);
        let unknown = deciding.iter().any(|d| published::change(d.verdict) == Change::CannotTell);
        let where_told = if changed && unknown { " where that can be told" } else { "" };
        let unlike = if any_alike { "" } else { " (of sides that are not alike)" };
        Self {
            verdict,
            withheld: false,
            explanation: format!("{word}{where_told}{unlike}: {}", overall.findings.join("; ")),
            findings: overall.findings,
        }
    }

    fn withheld(loads: &[ComparedLoad], sides: &[SideDifference], unknown: bool) -> Self {
        let of_sides = sides.iter().filter(|d| d.unlike).map(|d| &d.difference);
        let mut named: Vec<String> = Vec::new();
        for d in of_sides.chain(loads.iter().flat_map(|load| &load.unlike)) {
            let words = format!("{} {} against {}", d.name, d.a, d.b);
            if !named.contains(&words) {
                named.push(words);
            }
        }
        let more = named.len().saturating_sub(3);
        named.truncate(3);
        let explanation = match (named.is_empty(), more) {
            _ if unknown && loads.is_empty() => "no verdict: nobody knows the load of at least \
                                                 one result, because the tool that measured it \
                                                 does not tell it; import the whole output of \
                                                 that tool"
                .to_owned(),
            (true, _) => "no verdict: the sides have no load in common".to_owned(),
            (false, 0) => format!("no verdict: the sides are not alike: {}", named.join(", ")),
            (false, _) => {
                let named = named.join(", ");
                format!("no verdict: the sides are not alike: {named}, and {more} more")
            }
        };
        Self { verdict: Change::CannotTell, withheld: true, explanation, findings: Vec::new() }
    }
}

fn method(rules: &Rules<'_>) -> Vec<String> {
    let band = workload::show_number(rules.band_percent);
    let mut method = vec![
        "Two measurements are comparable if file size, block sizes, pattern, depth, threads, \
         cache, durability, data, rate and place in the file are the same. The runs of one side \
         are all of its measurements under the same conditions."
            .to_owned(),
        format!(
            "One run is one observation: the 90 % interval of the ratio of the geometric means \
             (Welch, on logarithms) is held against a band of {band} % either way. Wholly beyond \
             it is better or worse, wholly inside is the same, anything else cannot be told. The \
             interval within a run never decides."
        ),
        "IOPS decide (of an open loop, the mean latency), the throughput of saturation where both \
         sides have it, and the p99 latency, which may only say better or worse. Of k loads, a \
         change counts where its chance is at most 5 %/k."
            .to_owned(),
    ];
    method.extend(rules.noise.sentence());
    method
}
