//! Results compared: a form to choose them from a list, and what comes of it.

use askama::Template;
use axum::extract::{RawQuery, State};
use history::compare::{BAND_PERCENT, CompareOptions, KeptSide, compare_kept};
use history::{Entry, Filter, History, Order, Page};
use report::OverlaySide;
use report::model::{Block, Chart, Detail, Scale, Section};
use results::{Comparison, Document};
use workload::show_number;

use super::list::BestFigures;
use super::{Answer, html, id, words};
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::store::Store;

/// Results that the form offers at a time.
const OFFERED: u64 = 30;
/// The most tags that the form offers.
const TAGS: usize = 200;
/// The most results on a side.
const SIDE: usize = 100;
/// Sides that are compared with the baseline.
const SIDES: usize = 25;
/// The bands that the form accepts, in percent.
const BANDS: std::ops::RangeInclusive<f64> = 0.1..=50.0;

#[derive(Template)]
#[template(path = "compare.html")]
struct View {
    find: String,
    band: String,
    usual_band: String,
    anyway: bool,
    tags: Vec<TagChoice>,
    rows: Vec<Choice>,
    message: Option<&'static str>,
    sides: Vec<SideView>,
    swapped: Option<String>,
    outcome: String,
}

/// A tag that can be chosen as a side.
struct TagChoice {
    value: String,
    about: String,
    is_a: bool,
    is_b: bool,
}

/// A result that can be chosen.
struct Choice {
    id: String,
    link: String,
    about: String,
    started: String,
    title: String,
    kind: String,
    target: String,
    host: String,
    iops: String,
    best: BestFigures,
    tags: Vec<String>,
    is_a: bool,
    is_b: bool,
}

/// A result by a line of words.
struct ResultLink {
    link: String,
    about: String,
}

struct SideView {
    name: String,
    results: Vec<ResultLink>,
}

/// What the address asks for: sides, filter and band.
struct CompareQuery {
    a: String,
    others: Vec<String>,
    find: String,
    band: f64,
    anyway: bool,
}

impl CompareQuery {
    fn of(parameters: &Parameters) -> Result<Self, Problem> {
        let ticked: Vec<&str> = parameters.all("with").collect();
        // In the list the newest is on top; the oldest is what others are compared with.
        let (a, others) = match ticked.split_last() {
            None => (parameters.text("a"), parameters.all("b").map(str::to_owned).collect()),
            Some((oldest, newer)) => {
                ((*oldest).to_owned(), newer.iter().rev().map(|id| (*id).to_owned()).collect())
            }
        };
        let others: Vec<String> = others;
        let band = match parameters.get("band") {
            None => BAND_PERCENT,
            Some(text) => text.trim_end_matches('%').trim_end().parse().unwrap_or(f64::NAN),
        };
        if !BANDS.contains(&band) {
            let text =
                "A band is a percentage from 0.1 to 50: changes within it count as no change.";
            return Err(Problem::Bad(text.to_owned()));
        }
        if others.len() > SIDES {
            return Err(Problem::Bad(format!(
                "{} results are chosen, and {SIDES} at most are compared with a baseline.",
                others.len()
            )));
        }
        for side in others.iter().chain([&a]).filter(|side| !side.is_empty()) {
            id(side)?;
        }
        let anyway = parameters.get("anyway").is_some();
        Ok(Self { a, others, find: parameters.text("find"), band, anyway })
    }

    /// What the user still has to choose before a comparison.
    fn message(&self) -> Option<&'static str> {
        match (self.a.is_empty(), self.others.is_empty()) {
            (false, true) => Some("Choose a second result to compare with the baseline."),
            (true, false) => Some("Choose the baseline that the others are compared with."),
            _ => None,
        }
    }
}

/// A side that the user chose.
struct Chosen {
    selector: String,
    entries: Vec<Entry>,
}

/// Shows the form and the comparison.
pub(super) async fn page(State(store): State<Store>, RawQuery(query): RawQuery) -> Answer {
    let parameters = Parameters::of(query.as_deref());
    let asked = CompareQuery::of(&parameters)?;
    store.read(move |history| show(history, &asked, &parameters)).await
}

fn show(history: &History, asked: &CompareQuery, parameters: &Parameters) -> Answer {
    let baseline = if asked.a.is_empty() { None } else { Some(side(history, &asked.a)?) };
    let others: Vec<Chosen> =
        asked.others.iter().map(|b| side(history, b)).collect::<Result<_, _>>()?;
    let mut view = View {
        find: asked.find.clone(),
        band: parameters.text("band"),
        usual_band: show_number(BAND_PERCENT),
        anyway: asked.anyway,
        tags: tags(history, asked)?,
        rows: rows(history, asked, baseline.iter().chain(&others))?,
        message: asked.message(),
        sides: Vec::new(),
        swapped: None,
        outcome: String::new(),
    };
    if let Some(baseline) = baseline.filter(|_| !others.is_empty()) {
        let (named, blocks) = compared(history, asked, &baseline, &others)?;
        view.outcome = report::html::blocks(&blocks)?;
        let sides = std::iter::once(&baseline).chain(&others).zip(named);
        view.sides = sides
            .map(|(side, name)| SideView {
                name,
                results: side.entries.iter().map(named_by).collect(),
            })
            .collect();
        if let [only] = asked.others.as_slice() {
            let to = [("with", ""), ("a", only.as_str()), ("b", asked.a.as_str())];
            view.swapped = Some(parameters.address("/compare", &to));
        }
    }
    html(&view)
}

/// The names of the sides, and what their comparison says.
fn compared(
    history: &History,
    asked: &CompareQuery,
    baseline: &Chosen,
    others: &[Chosen],
) -> Result<(Vec<String>, Vec<Block>), Problem> {
    let chosen: Vec<&Chosen> = std::iter::once(baseline).chain(others).collect();
    let documents: Vec<Vec<Document>> =
        chosen.iter().map(|side| documents(history, side)).collect::<Result<_, _>>()?;
    let names = names(&chosen, &documents);
    let how = CompareOptions {
        band_percent: asked.band,
        anyway: asked.anyway,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let first = KeptSide { name: &names[0], entries: &baseline.entries };
    let comparisons: Vec<Comparison> = others
        .iter()
        .zip(&names[1..])
        .map(|(side, name)| {
            compare_kept(history, first, KeptSide { name, entries: &side.entries }, how)
        })
        .collect::<Result<_, _>>()?;
    let sides: Vec<OverlaySide<'_>> = names
        .iter()
        .zip(&documents)
        .map(|(name, documents)| OverlaySide {
            name: name.clone(),
            documents: documents.iter().collect(),
        })
        .collect();
    let overlaid = report::overlay(&sides, &comparisons);
    let blocks = match comparisons.as_slice() {
        // The verdict on one result says more than rows of several do.
        [only] => {
            let mut blocks = report::comparison_blocks(only, Detail::Full);
            let at = blocks.iter().position(|b| matches!(b, Block::Charts(_) | Block::Table(_)));
            let curves = overlaid.into_iter().flat_map(curves);
            blocks.splice(at.unwrap_or(blocks.len())..at.unwrap_or(blocks.len()), curves);
            blocks
        }
        _ => overlaid.map(|section| section.blocks).unwrap_or_default(),
    };
    let letters = (b'A'..=b'Z').map(char::from);
    let lettered =
        letters.zip(names).map(|(letter, name)| format!("{letter}: {}", words::clean(&name)));
    Ok((lettered.collect(), blocks))
}

/// The curves of a section; columns are among the charts of a comparison itself.
fn curves(section: Section) -> impl Iterator<Item = Block> {
    let is_curve = |chart: &Chart| !matches!(chart.x.scale, Scale::Names(_));
    let are_curves =
        move |block: &Block| matches!(block, Block::Charts(all) if all.iter().all(is_curve));
    section.blocks.into_iter().filter(are_curves)
}

/// What tells the sides apart: a tag that was chosen, or else what differs between the results.
fn names(chosen: &[&Chosen], documents: &[Vec<Document>]) -> Vec<String> {
    let first: Vec<&Document> = documents.iter().filter_map(|all| all.first()).collect();
    let tags: Vec<Option<String>> = chosen
        .iter()
        .map(|side| side.selector.starts_with('@').then(|| side.selector.clone()))
        .collect();
    if first.len() == chosen.len() {
        return report::names(&first, &tags);
    }
    // A result that was lost before its first measurement has no document to be named by.
    chosen.iter().map(|side| words::clean(&side.selector)).collect()
}

fn documents(history: &History, side: &Chosen) -> Result<Vec<Document>, Problem> {
    let mut documents = Vec::new();
    for entry in &side.entries {
        documents.extend(history.figures(&entry.id)?);
    }
    Ok(documents)
}

/// The tags that can be chosen as a side.
fn tags(history: &History, asked: &CompareQuery) -> Result<Vec<TagChoice>, Problem> {
    let choice = |(tag, count): (String, u64)| {
        let value = format!("@{tag}");
        TagChoice {
            about: format!(
                "{}, {}",
                words::clean(&tag),
                workload::plural(count, "result", "results")
            ),
            is_a: asked.a == value,
            is_b: asked.others.contains(&value),
            value,
        }
    };
    Ok(history.tags()?.into_iter().take(TAGS).map(choice).collect())
}

/// The results that are chosen one by one, then the newest that fit the search.
fn rows<'a>(
    history: &History,
    asked: &CompareQuery,
    chosen: impl Iterator<Item = &'a Chosen>,
) -> Result<Vec<Choice>, Problem> {
    let single = chosen.filter(|side| !side.selector.starts_with('@'));
    let mut entries: Vec<Entry> = Vec::new();
    for entry in single.flat_map(|side| &side.entries) {
        if entries.iter().all(|known| known.id != entry.id) {
            entries.push(entry.clone());
        }
    }
    let text = (!asked.find.is_empty()).then(|| asked.find.clone());
    let filter = Filter { text, ..Filter::default() };
    let page = Page { offset: 0, limit: OFFERED };
    for entry in history.list(&filter, Order::NEWEST, page)?.entries {
        if entries.iter().all(|known| known.id != entry.id) {
            entries.push(entry);
        }
    }
    let newest = entries.first().map(|entry| entry.id.clone());
    let is = |selector: &str, entry: &Entry| {
        selector == entry.id || (selector == "latest" && newest.as_ref() == Some(&entry.id))
    };
    let choice = |entry: &Entry| {
        let text = |text: &Option<String>| text.as_deref().map(words::clean).unwrap_or_default();
        Ok(Choice {
            id: entry.id.clone(),
            link: format!("/result/{}", words::in_path(&entry.id)),
            about: named_by(entry).about,
            started: words::minute(&entry.started),
            title: words::clean(&entry.title),
            kind: words::clean(&entry.kind),
            target: words::clean(&entry.targets),
            host: text(&entry.host),
            iops: words::number(entry.best_iops),
            best: BestFigures::of(history, entry)?,
            tags: entry.tags.iter().map(|tag| words::clean(tag)).collect(),
            is_a: is(&asked.a, entry),
            is_b: asked.others.iter().any(|selector| is(selector, entry)),
        })
    };
    entries.iter().map(choice).collect()
}

fn named_by(entry: &Entry) -> ResultLink {
    let host = entry.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let started = report::text::moment(&entry.started);
    let about = format!("{started} {}: {}, {}{host}", entry.kind, entry.title, entry.targets);
    ResultLink {
        link: format!("/result/{}", words::in_path(&entry.id)),
        about: words::clean(&about),
    }
}

/// The results that a side names.
fn side(history: &History, selector: &str) -> Result<Chosen, Problem> {
    let entries = history.select(selector)?;
    if entries.len() > SIDE {
        let n = entries.len();
        let name = words::clean(selector);
        return Err(Problem::Bad(format!(
            "`{name}` stands for {n} results, and {SIDE} on a side are compared here; iosonde \
             history compare takes more."
        )));
    }
    Ok(Chosen { selector: selector.to_owned(), entries })
}
