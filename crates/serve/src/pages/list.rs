//! The list of results: searched, filtered and sorted by links and a form, without script.

use askama::Template;
use axum::extract::{RawQuery, State};
use history::{By, Entry, Filter, History, Listing, LiveRun, Order, Page};
use workload::plural;

use super::{Answer, filters, html, live, words};
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::store::Store;

/// How many results a page shows.
const ROWS: u64 = 50;
/// The last page that is shown. To see more, narrow the list.
const PAGES: u64 = 20_000;
/// The most tags that the form offers.
const TAGS: usize = 200;

/// A column of the list, and how to sort by it.
struct Column {
    key: &'static str,
    name: &'static str,
    /// What the list is sorted by for it; absent if it cannot be.
    by: Option<By>,
    /// Figures are shown on the right, and the largest come first.
    figures: bool,
}

const COLUMNS: [Column; 11] = [
    column("started", "Started", By::Started, false),
    column("kind", "Kind", By::Kind, false),
    column("load", "Load", By::Title, false),
    column("target", "Target", By::Target, false),
    column("host", "Host", By::Host, false),
    column("size", "File size", By::FileBytes, true),
    column("iops", "Best IOPS", By::Iops, true),
    column("mib", "Best MiB/s", By::MibPerS, true),
    of_best("in-flight", "In flight"),
    of_best("mean", "Mean"),
    of_best("p99", "p99"),
];

const fn column(key: &'static str, name: &'static str, by: By, figures: bool) -> Column {
    Column { key, name, by: Some(by), figures }
}

/// A figure of the load with the most IOPS. The list is not sorted by it.
const fn of_best(key: &'static str, name: &'static str) -> Column {
    Column { key, name, by: None, figures: true }
}

#[derive(Template)]
#[template(path = "list.html")]
struct List {
    running: Vec<RunningLine>,
    asked: filters::FilterForm,
    kinds: Vec<&'static str>,
    patterns: Vec<&'static str>,
    tags: Vec<String>,
    order: String,
    heads: Vec<Head>,
    rows: Vec<Row>,
    found: String,
    empty: bool,
    newer: Option<String>,
    older: Option<String>,
}

struct RunningLine {
    link: String,
    title: String,
    about: String,
}

struct Head {
    name: String,
    link: Option<String>,
    figures: bool,
    sorted: Option<&'static str>,
}

struct Row {
    id: String,
    link: String,
    started: String,
    kind: String,
    title: String,
    target: String,
    device: String,
    host: String,
    size: String,
    iops: String,
    mib: String,
    best: BestFigures,
    status: &'static str,
    whole: bool,
    tags: Vec<Tag>,
    notes: Option<String>,
}

/// Depth and latency of the load with the most IOPS, as words.
#[derive(Debug, Default)]
pub(super) struct BestFigures {
    pub(super) in_flight: String,
    pub(super) mean: String,
    pub(super) p99: String,
}

impl BestFigures {
    pub(super) fn of(history: &History, entry: &Entry) -> Result<Self, Problem> {
        let filter = Filter { experiment_id: Some(entry.id.clone()), ..Filter::default() };
        let first = Page { offset: 0, limit: 1 };
        let best = Order { by: By::Iops, rising: false };
        let load = history.loads(&filter, best, first)?.into_iter().next();
        let Some(load) = load.filter(|load| load.ios != Some(0)) else {
            let none = || words::NONE.to_owned();
            return Ok(Self { in_flight: none(), mean: none(), p99: none() });
        };
        Ok(Self {
            in_flight: words::number(load.in_flight.map(|n| n as f64)),
            mean: words::time(load.latency_mean_ns),
            p99: words::time(load.latency_p99_ns.map(|ns| ns as f64)),
        })
    }
}

/// A tag, and the list of what has it.
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) link: String,
}

impl Tag {
    pub(super) fn of(name: &str) -> Self {
        let link = Parameters::default().address("/", &[("tag", name)]);
        Self { name: words::clean(name), link }
    }
}

/// Answers with the list of results.
pub(super) async fn page(State(store): State<Store>, RawQuery(query): RawQuery) -> Answer {
    let parameters = Parameters::of(query.as_deref());
    store.read(move |history| show(history, &parameters)).await
}

fn show(history: &History, parameters: &Parameters) -> Answer {
    let asked = filters::FilterForm::of(parameters);
    let (filter, order) = (asked.filter()?, order(parameters)?);
    let page = number(parameters)?;
    let part = Page { offset: (page - 1) * ROWS, limit: ROWS };
    let list = history.list(&filter, order, part)?;
    let all = Parameters::of(None);
    let to = |page: u64| parameters.address("/", &[("page", &page.to_string())]);
    let more = part.offset + (list.entries.len() as u64) < list.total && page < PAGES;
    let mut tags = history.tags()?;
    tags.truncate(TAGS);
    let rows = list.entries.iter().map(|entry| row(history, entry));
    let rows = rows.collect::<Result<Vec<Row>, Problem>>()?;
    html(&List {
        running: history.live_runs()?.iter().map(running).collect(),
        heads: COLUMNS.iter().map(|column| head(column, order, parameters)).collect(),
        found: found(&list, part.offset, &filter),
        empty: *parameters == all && list.total == 0,
        newer: (page > 1).then(|| to(page - 1)),
        older: more.then(|| to(page + 1)),
        rows,
        order: parameters.text("order"),
        kinds: results::kind_words(),
        patterns: filters::patterns(),
        tags: tags.iter().map(|(tag, _)| words::clean(tag)).collect(),
        asked,
    })
}

fn order(parameters: &Parameters) -> Result<Order, Problem> {
    let Some(text) = parameters.get("order") else {
        return Ok(Order::NEWEST);
    };
    let key = text.strip_prefix('-').unwrap_or(text);
    let sorted = || COLUMNS.iter().filter_map(|column| Some((column.key, column.by?)));
    let column = sorted().find(|(known, _)| *known == key);
    column.map(|(_, by)| Order { by, rising: key == text }).ok_or_else(|| {
        let known: Vec<&str> = sorted().map(|(key, _)| key).collect();
        let text = words::clean(text);
        Problem::Bad(format!("The list has no order `{text}`: there are {}.", known.join(", ")))
    })
}

fn number(parameters: &Parameters) -> Result<u64, Problem> {
    let text = parameters.get("page").unwrap_or("1");
    text.parse().ok().filter(|page| (1..=PAGES).contains(page)).ok_or_else(|| {
        Problem::Bad(format!("Pages are counted from 1 to {PAGES}; filters make the list shorter."))
    })
}

/// A heading that sorts by its column, or in the other direction if the list is already sorted by
/// it.
fn head(column: &Column, order: Order, parameters: &Parameters) -> Head {
    let sorted = column.by == Some(order.by);
    let falling = column.figures || column.by == Some(By::Started);
    let rising = if sorted { !order.rising } else { !falling };
    let key = format!("{}{}", if rising { "" } else { "-" }, column.key);
    let way = if order.rising { "ascending" } else { "descending" };
    Head {
        name: match column.by {
            Some(By::Started) => format!("{} ({})", column.name, report::zone::label()),
            _ => column.name.to_owned(),
        },
        link: column.by.map(|_| parameters.address("/", &[("order", &key), ("page", "")])),
        figures: column.figures,
        sorted: sorted.then_some(way),
    }
}

fn found(list: &Listing, before: u64, filter: &Filter) -> String {
    let here = list.entries.len() as u64;
    if here == 0 {
        let nothing = *filter == Filter::default() && before == 0;
        let text = if nothing { "No results yet." } else { "No result fits." };
        return text.to_owned();
    }
    let more = if list.more { "more than " } else { "" };
    let all = plural(list.total, "result", "results");
    if before == 0 && here == list.total && !list.more {
        return all;
    }
    format!("{} to {} of {more}{all}", before + 1, before + here)
}

fn running(run: &LiveRun) -> RunningLine {
    RunningLine {
        link: format!("/live/{}", words::in_path(&run.id)),
        title: words::clean(&run.title),
        about: live::about(run),
    }
}

fn row(history: &History, entry: &Entry) -> Result<Row, Problem> {
    let text = |text: &Option<String>| text.as_deref().map(words::clean).unwrap_or_default();
    let notes = u64::from(entry.notes);
    Ok(Row {
        id: entry.id.clone(),
        link: format!("/result/{}", words::in_path(&entry.id)),
        started: words::minute(&entry.started),
        kind: words::clean(&entry.kind),
        title: words::clean(&entry.title),
        target: words::clean(&entry.targets),
        device: text(&entry.device),
        host: text(&entry.host),
        size: words::size(entry.file_bytes),
        iops: words::number(entry.best_iops),
        mib: words::number(entry.best_mib_per_s),
        status: words::status(entry.status),
        whole: entry.status == Some(results::Status::Complete),
        tags: entry.tags.iter().map(|tag| Tag::of(tag)).collect(),
        notes: (notes > 0).then(|| plural(notes, "note", "notes")),
        best: BestFigures::of(history, entry)?,
    })
}
