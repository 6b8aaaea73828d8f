//! Several results next to each other: the same loads on the same charts, and their figures in the
//! same rows.
//!
//! Which loads are alike, and what the changes between them mean, is not decided here: it is in the
//! comparisons of the first result with each other one.

mod charts;
mod names;
mod tables;

use results::change::Change;
use results::{Comparison, Difference, Document};

pub use names::names;

use super::comparison::untold;
use super::make::{cleaned, fact};
use crate::language::{count, say};
use crate::model::{Block, Fact, Section};
use crate::words;

/// Results that one chart has room for.
pub(super) const DRAWN: usize = 6;
/// Loads that are named because they are not alike.
const NAMED: usize = 3;

/// One side: a result, or several that count as one.
#[derive(Debug, Clone, PartialEq)]
pub struct OverlaySide<'a> {
    /// What tells it from the others, for example a date.
    pub name: String,
    /// The documents of the results that count as this side.
    pub documents: Vec<&'a Document>,
}

/// The section of a report that compares results: `comparisons` are of the first side with each of
/// the others, in their order. None of fewer than two sides, or where nothing was measured in any.
#[must_use]
pub fn overlay(sides: &[OverlaySide<'_>], comparisons: &[Comparison]) -> Option<Section> {
    let measured = |side: &OverlaySide<'_>| side.documents.iter().any(|d| has_loads(d));
    if sides.len() < 2 || !sides.iter().any(measured) {
        return None;
    }
    let named: Vec<Named<'_>> =
        sides.iter().enumerate().map(|(i, side)| Named::of(i, side)).collect();
    let (first, others) = named.split_first()?;
    let compared: Vec<(&Named<'_>, &Comparison)> = others.iter().zip(comparisons).collect();
    let alike: Vec<(&Named<'_>, &Comparison)> =
        compared.iter().copied().filter(|(_, c)| is_alike(c)).collect();
    let mut blocks = vec![Block::Facts(named.iter().map(Named::fact).collect())];
    let said = compared.iter().map(|(side, c)| sentence(side, first, c));
    let why = alike.iter().find_map(|(_, c)| untold(&c.loads));
    blocks.push(Block::List(said.chain(why).collect()));
    if !alike.is_empty() {
        let drawn: Vec<&Named<'_>> =
            std::iter::once(first).chain(alike.iter().map(|(side, _)| *side)).collect();
        blocks.extend(not_drawn(&drawn));
        let shown = drawn.get(..DRAWN).unwrap_or(&drawn);
        blocks.extend(charts::blocks(shown));
        blocks.extend(tables::blocks(first, &alike));
        blocks.push(Block::List(left_out(&alike)));
        blocks.push(Block::Warnings(warnings(&alike)));
    }
    blocks.retain(|block| !is_empty(block));
    Some(Section { key: "comparison", heading: say!("heading-comparison"), blocks })
}

fn is_empty(block: &Block) -> bool {
    match block {
        Block::List(texts) | Block::Warnings(texts) => texts.is_empty(),
        _ => false,
    }
}

/// A side, and the letter or number that stands for it.
pub(super) struct Named<'a> {
    pub(super) letter: String,
    pub(super) side: &'a OverlaySide<'a>,
}

impl<'a> Named<'a> {
    fn of(index: usize, side: &'a OverlaySide<'a>) -> Self {
        let letter = u8::try_from(index).ok().filter(|i| *i < 26).map(|i| char::from(b'A' + i));
        let letter = letter
            .map_or_else(|| say!("overlay-number", number = (index + 1).to_string()), String::from);
        Self { letter, side }
    }

    /// Letter and name, as a legend has them.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.letter, words::clean(&self.side.name))
    }

    fn fact(&self) -> Fact {
        let name = words::clean(&self.side.name);
        let mut parts: Vec<String> = Vec::new();
        for document in &self.side.documents {
            let (kind, title) = (super::kind(document), super::title(document));
            let part = [kind, title, words::moment(document.started())].join(", ");
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        // The names of the results include dates and places.
        if !parts.iter().any(|part| part.contains(&name)) {
            parts.insert(0, name);
        }
        fact(self.letter.clone(), parts.join("; "))
    }
}

fn has_loads(document: &Document) -> bool {
    !document.measurements().is_empty()
}

fn is_alike(comparison: &Comparison) -> bool {
    comparison.loads.iter().any(|load| load.unlike.is_empty())
}

/// The verdict on a side, or why it is not overlaid.
fn sentence(side: &Named<'_>, first: &Named<'_>, c: &Comparison) -> String {
    let (one, other) = (&side.letter, &first.letter);
    if c.loads.is_empty() {
        return say!("overlay-no-common-load", one = one, other = other);
    }
    if !is_alike(c) {
        let differences = c.loads.iter().flat_map(|load| &load.unlike);
        return say!("overlay-unlike", one = one, differences = unlike(differences));
    }
    if c.withheld {
        let why = words::clean(&c.explanation);
        return say!("overlay-withheld", one = one, other = other, why = why);
    }
    let verdict = match c.verdict {
        Change::Better => say!("overlay-better", one = one, other = other),
        Change::Same => say!("overlay-same", one = one, other = other),
        Change::Worse => say!("overlay-worse", one = one, other = other),
        Change::CannotTell => say!("overlay-not-known", one = one, other = other),
    };
    let findings = words::clean(&c.findings.join("; "));
    if findings.is_empty() {
        return verdict;
    }
    say!("two-sentences", first = verdict, second = format!("{findings}."))
}

/// In what loads differ, each difference once: `file size is 2 GiB instead of 1 GiB`.
fn unlike<'a>(differences: impl Iterator<Item = &'a Difference>) -> String {
    let mut all: Vec<String> = Vec::new();
    for d in differences {
        let (a, b) = (words::clean(&d.a), words::clean(&d.b));
        let text = say!("overlay-difference", name = words::clean(&d.name), a = a, b = b);
        if !all.contains(&text) {
            all.push(text);
        }
    }
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    if more > 0 {
        all.push(say!("overlay-more-differ", more = count(more)));
    }
    all.join(", ")
}

/// Loads of sides that are overlaid, which are not alike themselves.
fn left_out(alike: &[(&Named<'_>, &Comparison)]) -> Vec<String> {
    let of_side = |(side, c): &(&Named<'_>, &Comparison)| {
        let loads: Vec<_> = c.loads.iter().filter(|load| !load.unlike.is_empty()).collect();
        let first = loads.first()?;
        Some(say!(
            "overlay-left-out",
            loads = count(loads.len()),
            side = &side.letter,
            example = words::clean(&first.title),
            why = unlike(first.unlike.iter())
        ))
    };
    alike.iter().filter_map(of_side).collect()
}

fn warnings(alike: &[(&Named<'_>, &Comparison)]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in alike.iter().flat_map(|(_, c)| cleaned(&c.warnings)) {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// The sides that charts have no room for.
fn not_drawn(drawn: &[&Named<'_>]) -> Option<Block> {
    let others = drawn.get(DRAWN..).filter(|others| !others.is_empty())?;
    let titles: Vec<String> = others.iter().map(|side| side.title()).collect();
    let (drawn, others) = (count(DRAWN), titles.join("; "));
    Some(Block::Paragraph(say!("overlay-not-drawn", drawn = drawn, others = others)))
}
