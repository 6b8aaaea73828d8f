//! Two results compared, or all results of a tag with others: the form to choose them, and what
//! comes of it.

use askama::Template;
use axum::extract::{RawQuery, State};
use history::compare::{BAND_PERCENT, CompareOptions, KeptSide, compare_kept};
use history::{Entry, Filter, History, Order, Page};
use report::model::Detail;
use workload::show_number;

use super::{Answer, html, id, words};
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::store::Store;

/// Results that the form offers.
const RECENT: u64 = 50;
/// Results on a side.
const SIDE: usize = 100;
/// Bands that make sense, percent.
const BANDS: std::ops::RangeInclusive<f64> = 0.1..=50.0;

#[derive(Template)]
#[template(path = "compare.html")]
struct View {
    a: String,
    b: String,
    band: String,
    usual_band: String,
    anyway: bool,
    recent: Vec<ResultLink>,
    message: Option<&'static str>,
    sides: Vec<SideView>,
    swapped: String,
    outcome: String,
}

/// A result by a line of words.
struct ResultLink {
    id: String,
    link: String,
    about: String,
}

struct SideView {
    name: &'static str,
    results: Vec<ResultLink>,
}

/// What is asked for.
struct CompareQuery {
    a: String,
    b: String,
    band: f64,
    anyway: bool,
    /// More or fewer than two were ticked in the list.
    message: Option<&'static str>,
}

impl CompareQuery {
    fn of(parameters: &Parameters) -> Result<Self, Problem> {
        let ticked: Vec<&str> = parameters.all("with").collect();
        // In the list the newest is on top, and is what is judged.
        let (a, b, message) = match ticked[..] {
            [] => (parameters.text("a"), parameters.text("b"), None),
            [b, a] => (a.to_owned(), b.to_owned(), None),
            [one] => {
                (one.to_owned(), String::new(), Some("Choose a second result to compare with."))
            }
            _ => (String::new(), String::new(), Some("Exactly two results are compared.")),
        };
        let band = match parameters.get("band") {
            None => BAND_PERCENT,
            Some(text) => text.trim_end_matches('%').trim_end().parse().unwrap_or(f64::NAN),
        };
        if !BANDS.contains(&band) {
            let text =
                "A band is a percentage from 0.1 to 50: what lies within counts as no change.";
            return Err(Problem::Bad(text.to_owned()));
        }
        for side in [&a, &b].into_iter().filter(|side| !side.is_empty()) {
            id(side)?;
        }
        Ok(Self { a, b, band, anyway: parameters.get("anyway").is_some(), message })
    }
}

/// The page.
pub(super) async fn page(State(store): State<Store>, RawQuery(query): RawQuery) -> Answer {
    let parameters = Parameters::of(query.as_deref());
    let asked = CompareQuery::of(&parameters)?;
    store.read(move |history| show(history, &asked, &parameters)).await
}

fn show(history: &History, asked: &CompareQuery, parameters: &Parameters) -> Answer {
    let page = Page { offset: 0, limit: RECENT };
    let recent = history.list(&Filter::default(), Order::NEWEST, page)?;
    let mut view = View {
        a: asked.a.clone(),
        b: asked.b.clone(),
        band: parameters.text("band"),
        usual_band: show_number(BAND_PERCENT),
        anyway: asked.anyway,
        recent: recent.entries.iter().map(named).collect(),
        message: asked.message,
        sides: Vec::new(),
        swapped: parameters.address("/compare", &[("with", ""), ("a", &asked.b), ("b", &asked.a)]),
        outcome: String::new(),
    };
    if !asked.a.is_empty() && !asked.b.is_empty() {
        let (a, b) = (side(history, &asked.a)?, side(history, &asked.b)?);
        let how = CompareOptions {
            band_percent: asked.band,
            anyway: asked.anyway,
            tool_version: env!("CARGO_PKG_VERSION"),
        };
        let first = KeptSide { name: &asked.a, entries: &a };
        let second = KeptSide { name: &asked.b, entries: &b };
        let comparison = compare_kept(history, first, second, how)?;
        view.outcome = report::html::blocks(&report::comparison_blocks(&comparison, Detail::Full))?;
        let results = |entries: &[Entry]| entries.iter().map(named).collect();
        view.sides = vec![
            SideView { name: "A", results: results(&a) },
            SideView { name: "B", results: results(&b) },
        ];
    }
    html(&view)
}

fn named(entry: &Entry) -> ResultLink {
    let host = entry.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let started = report::text::moment(&entry.started);
    let about = format!("{started} {}: {}, {}{host}", entry.kind, entry.title, entry.targets);
    ResultLink {
        id: entry.id.clone(),
        link: format!("/result/{}", words::in_path(&entry.id)),
        about: words::clean(&about),
    }
}

/// The results that a side names.
fn side(history: &History, selector: &str) -> Result<Vec<Entry>, Problem> {
    let entries = history.select(selector)?;
    if entries.len() > SIDE {
        let n = entries.len();
        let name = words::clean(selector);
        return Err(Problem::Bad(format!(
            "`{name}` stands for {n} results, and {SIDE} on a side are compared here; iosonde \
             history compare takes more."
        )));
    }
    Ok(entries)
}
