//! One result: what its report says, with tags, notes, and the files it can be saved as.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use history::{Entry, Filter, History, HistoryError, Load, Order, Page};
use report::model::{Block, Cell, Column, Table};
use results::{Document, FigureField, figure};

use super::{downloads, html, id, list, words};
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::store::Store;

/// Measurements of an unfinished experiment that are shown.
const LOADS: u64 = 1000;
/// The figures that the page shows of each.
const SHOWN: [&str; 9] = [
    "load",
    "threads",
    "in_flight",
    "iops",
    "mib_per_s",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "errors",
];

#[derive(Template)]
#[template(path = "result.html")]
struct Whole {
    title: String,
    about: About,
    part: String,
}

#[derive(Template)]
#[template(path = "unfinished.html")]
struct Unfinished {
    title: String,
    kind: String,
    subtitle: String,
    about: About,
    table: String,
}

/// What the page shows besides the report.
struct About {
    tags: Vec<list::Tag>,
    notes: Vec<NoteView>,
    downloads: Vec<downloads::Link>,
    compare: String,
    trends: String,
    live: Option<String>,
}

struct NoteView {
    at: String,
    text: String,
}

/// The page of a result, or one of its files.
pub(super) async fn page(
    State(store): State<Store>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let name = id(&name)?;
    store.read(move |history| answer(history, &name)).await
}

fn answer(history: &History, name: &str) -> Result<Response, Problem> {
    if let Some((id, extension)) = downloads::split(name) {
        match history.find(id) {
            Ok(entry) => return downloads::file(history, &entry.id, extension),
            // An id may hold a dot itself.
            Err(HistoryError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let entry = history.find(name)?;
    if entry.id != name {
        return Ok(Redirect::to(&format!("/result/{}", words::in_path(&entry.id))).into_response());
    }
    let about = about(history, &entry)?;
    match history.document(&entry.id)? {
        Some(document) => whole(&document, &entry, about),
        None => unfinished(history, &entry, about),
    }
}

fn about(history: &History, entry: &Entry) -> Result<About, Problem> {
    let here = words::in_path(&entry.id);
    let live = history.live_runs()?.iter().any(|run| run.id == entry.id);
    let notes = history.notes(&entry.id)?.into_iter().map(|note| NoteView {
        at: report::text::moment(&note.written),
        // Lines stay lines, and nothing else is a control character.
        text: note.text.lines().map(words::clean).collect::<Vec<_>>().join("\n"),
    });
    let none = Parameters::default();
    let host = entry.host.as_deref().unwrap_or_default();
    Ok(About {
        tags: entry.tags.iter().map(|tag| list::Tag::of(tag)).collect(),
        notes: notes.collect(),
        downloads: downloads::links(&entry.id),
        compare: none.address("/compare", &[("a", &entry.id)]),
        trends: none.address("/trends", &[("host", host), ("target", &entry.targets)]),
        live: live.then(|| format!("/live/{here}")),
    })
}

fn whole(document: &Document, entry: &Entry, about: About) -> Result<Response, Problem> {
    let report = report::build(std::slice::from_ref(document));
    let parts = report.results.iter().map(report::html::part).collect::<Result<Vec<_>, _>>()?;
    let title = words::clean(&format!("{}: {}", entry.kind, entry.title));
    Ok(html(&Whole { title, about, part: parts.concat() })?.into_response())
}

fn unfinished(history: &History, entry: &Entry, about: About) -> Result<Response, Problem> {
    let filter = Filter { experiment_id: Some(entry.id.clone()), ..Filter::default() };
    let page = Page { offset: 0, limit: LOADS };
    let loads = history.loads(&filter, Order::OLDEST, page)?;
    let table = report::html::blocks(&[Block::Table(table(&loads))])?;
    let parts = [&entry.targets, entry.host.as_ref().unwrap_or(&entry.targets)];
    let named = if entry.host.is_some() { &parts[..] } else { &parts[..1] };
    let mut subtitle: Vec<String> = named.iter().map(|part| words::clean(part)).collect();
    subtitle.push(format!("since {}", report::text::moment(&entry.started)));
    let page = Unfinished {
        title: words::clean(&entry.title),
        kind: words::clean(&entry.kind),
        subtitle: subtitle.join(" · "),
        about,
        table,
    };
    Ok(html(&page)?.into_response())
}

/// The measurements of an experiment that ended without a result.
fn table(loads: &[Load]) -> Table {
    let figures = || SHOWN.iter().filter_map(|key| figure(key));
    let cell = |load, figure: &'static FigureField| {
        let column = figure.column?;
        Some(Cell::of(figure, &column(load)))
    };
    let row = |load| figures().map(|figure| cell(load, figure).unwrap_or(Cell::Empty)).collect();
    Table {
        key: "loads".to_owned(),
        title: "What was measured".to_owned(),
        caption: loads.first().map(caption).unwrap_or_default(),
        columns: figures().map(Column::of).collect(),
        rows: loads.iter().map(row).collect(),
    }
}

fn caption(load: &Load) -> String {
    let mode = match load.direct {
        Some(true) => ", direct",
        Some(false) => ", buffered",
        None => "",
    };
    format!("{} of {}{mode}", words::size(load.file_bytes), words::clean(&load.target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_that_is_shown_has_a_column() {
        assert!(SHOWN.iter().all(|key| figure(key).is_some_and(|f| f.column.is_some())));
    }
}
