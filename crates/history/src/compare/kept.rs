//! Compares results of a history, for the command line and the browser alike.

use results::{Comparison, Conclusion as _, Document, Durability, Runs, SideResult, Validation};

use super::{Input, Noise, Rules, compare, has_single_runs};
use crate::{Entry, Filter, History, HistoryError, Order, Page};

/// The newest results in which repeated runs are looked for, to know how far runs differ on a host.
const NOISE_RESULTS: u64 = 200;
/// How many of those that hold repeated runs are read.
const NOISE_READ: usize = 20;

/// One side of a comparison, as a history knows it.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The name that the user typed for it.
    pub name: &'a str,
    /// The results that the name stands for.
    pub entries: &'a [Entry],
}

/// How to compare what a history holds.
#[derive(Debug, Clone, Copy)]
pub struct CompareOptions<'a> {
    /// Changes up to this count as no change, in percent either way.
    pub band_percent: f64,
    /// Draw verdicts although the sides are not alike.
    pub anyway: bool,
    /// Version of the program that compares.
    pub tool_version: &'a str,
}

/// Compares `b` with `a`. Where a side has single runs, the repeated ones of the same host tell how
/// far runs differ.
pub fn compare_kept(
    history: &History,
    a: Side<'_>,
    b: Side<'_>,
    how: CompareOptions<'_>,
) -> Result<Comparison, HistoryError> {
    for side in [&a, &b] {
        let entries = || side.entries.iter().map(|entry| (entry, says(entry)));
        if let Some((first, Some(says))) = entries().next()
            && entries().all(|(_, says)| says.is_some())
        {
            return Err(HistoryError::NotCompared { id: first.id.clone(), says });
        }
    }
    let (documents_a, documents_b) =
        (documents(history, a.entries)?, documents(history, b.entries)?);
    let asked = has_single_runs(&documents_a, &documents_b);
    let noise = if asked { noise(history, b.entries, &documents_b)? } else { Noise::default() };
    let rules = Rules {
        band_percent: how.band_percent,
        anyway: how.anyway,
        noise: &noise,
        tool_version: how.tool_version,
    };
    let inputs = (
        Input { name: a.name, documents: &documents_a },
        Input { name: b.name, documents: &documents_b },
    );
    let mut comparison = compare(inputs.0, inputs.1, &rules);
    // Of a result that did not come to its end there are only measurements, which are not results.
    comparison.a.results = results(a.entries);
    comparison.b.results = results(b.entries);
    Ok(comparison)
}

/// What a result says that has no figures; `None` for one that has.
fn says(entry: &Entry) -> Option<&'static str> {
    match entry.schema.as_str() {
        Validation::SCHEMA => {
            Some("a validation: it says whether the storage returns what was written")
        }
        Durability::SCHEMA => {
            Some("a check after a crash: it says whether what was acknowledged as durable is there")
        }
        _ => None,
    }
}

/// The results of a side, the oldest first.
fn results(entries: &[Entry]) -> Vec<SideResult> {
    let mut results: Vec<SideResult> = entries
        .iter()
        .map(|entry| SideResult {
            id: entry.id.clone(),
            kind: entry.kind.clone(),
            title: entry.title.clone(),
            started: entry.started.clone(),
        })
        .collect();
    results.sort_by(|x, y| x.started.cmp(&y.started));
    results
}

/// Every result with the tag that is older than the judged one, of the same hosts and targets.
pub fn baseline(
    history: &History,
    tag: &str,
    judged: &[Entry],
) -> Result<Vec<Entry>, HistoryError> {
    let tag = tag.strip_prefix('@').unwrap_or(tag);
    let filter = Filter { tag: Some(tag.to_owned()), ..Filter::default() };
    let tagged = history.list(&filter, Order::OLDEST, Page::ALL)?.entries;
    let begun = judged.iter().map(|e| e.started.as_str()).min().unwrap_or_default();
    let place = |e: &Entry| (e.host.clone(), e.targets.clone());
    let same = |e: &Entry| judged.iter().any(|j| place(j) == place(e));
    let all = tagged.len();
    let older: Vec<Entry> = tagged
        .into_iter()
        .filter(|e| same(e) && e.started.as_str() < begun && judged.iter().all(|j| j.id != e.id))
        .collect();
    if !older.is_empty() {
        return Ok(older);
    }
    let tag = tag.to_owned();
    if all == 0 {
        return Err(HistoryError::NoTagged { tag });
    }
    let places = judged
        .iter()
        .map(|e| format!("{} on {}", e.targets, e.host.as_deref().unwrap_or("no host")))
        .collect();
    Err(HistoryError::NoBaseline { tag, all, places })
}

fn documents(history: &History, entries: &[Entry]) -> Result<Vec<Document>, HistoryError> {
    let mut documents = Vec::new();
    for entry in entries {
        documents.extend(history.figures(&entry.id)?);
    }
    Ok(documents)
}

/// How far repeated runs differ on the host of the judged result, from the newest results that
/// repeat and from its own runs.
pub fn noise(history: &History, judged: &[Entry], own: &[Document]) -> Result<Noise, HistoryError> {
    let Some(first) = judged.first() else { return Ok(Noise::default()) };
    let filter =
        Filter { kind: Some("run".to_owned()), host: first.host.clone(), ..Filter::default() };
    let page = Page { offset: 0, limit: NOISE_RESULTS };
    let listing = history.list(&filter, Order::NEWEST, page)?;
    let artificial =
        |e: &Entry| e.engine.as_deref().is_some_and(|name| ["sim", "null"].contains(&name));
    let repeated = listing.entries.into_iter().filter(|e| {
        e.schema == Runs::SCHEMA && e.host == first.host && artificial(e) == artificial(first)
    });
    let entries: Vec<Entry> = repeated.take(NOISE_READ).collect();
    Ok(Noise::of(documents(history, &entries)?.iter().chain(own)))
}
