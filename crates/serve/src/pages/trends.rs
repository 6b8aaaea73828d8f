//! One figure of the same load over many dates.

use askama::Template;
use axum::extract::{RawQuery, State};
use history::trend::{Dated, trend};
use history::{Filter, History, Order, Page};
use report::model::Detail;
use results::{Figure, Trend};

use super::{Answer, html, words};
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::store::Store;

/// Measurements that are looked at, the newest.
const MEASUREMENTS: u64 = 5_000;
/// Loads that are shown, those with the most dates.
const LOADS: usize = 12;

/// The figures that every measurement has.
const FIGURES: [Figure; 8] = [
    Figure::Iops,
    Figure::MibPerS,
    Figure::MeanNs,
    Figure::P50Ns,
    Figure::P95Ns,
    Figure::P99Ns,
    Figure::P999Ns,
    Figure::CpuUsPerIo,
];

#[derive(Template)]
#[template(path = "trends.html")]
struct View {
    host: String,
    target: String,
    load: String,
    conditions: String,
    figures: Vec<Choice>,
    nothing: bool,
    more: Option<String>,
    outcome: String,
}

struct Choice {
    word: &'static str,
    title: &'static str,
    chosen: bool,
}

/// Shows the trends of a figure.
pub(super) async fn page(State(store): State<Store>, RawQuery(query): RawQuery) -> Answer {
    let parameters = Parameters::of(query.as_deref());
    store.read(move |history| show(history, &parameters)).await
}

fn show(history: &History, parameters: &Parameters) -> Answer {
    let figure = figure(parameters.get("figure"))?;
    let mut trend = drawn(history, parameters, figure)?;
    let more = shorten(&mut trend);
    let nothing = trend.loads.is_empty();
    let blocks = if nothing { Vec::new() } else { report::trend_blocks(&trend, Detail::Full) };
    html(&View {
        host: parameters.text("host"),
        target: parameters.text("target"),
        load: parameters.text("load"),
        conditions: parameters.text("conditions"),
        figures: FIGURES.iter().map(|f| choice(*f, figure)).collect(),
        nothing,
        more,
        outcome: report::html::blocks(&blocks)?,
    })
}

/// Keeps the loads with the most dates, and reports what is left out. A single date is shown only
/// if there is nothing else.
fn shorten(trend: &mut Trend) -> Option<String> {
    let all = trend.loads.len();
    if trend.loads.iter().any(|load| load.points.len() > 1) {
        trend.loads.retain(|load| load.points.len() > 1);
    }
    trend.loads.truncate(LOADS);
    let shown = trend.loads.len();
    (shown < all).then(|| {
        format!(
            "{shown} of {all} loads are shown, those with the most dates; name a target or a load \
             for others."
        )
    })
}

fn choice(figure: Figure, chosen: Figure) -> Choice {
    Choice { word: figure.word(), title: figure.title(), chosen: figure == chosen }
}

fn figure(word: Option<&str>) -> Result<Figure, Problem> {
    let word = word.unwrap_or(Figure::Iops.word());
    FIGURES.into_iter().find(|figure| figure.word() == word).ok_or_else(|| {
        let known: Vec<&str> = FIGURES.iter().map(|figure| figure.word()).collect();
        let word = words::clean(word);
        Problem::Bad(format!("There is no figure `{word}`: there are {}.", known.join(", ")))
    })
}

fn drawn(history: &History, parameters: &Parameters, figure: Figure) -> Result<Trend, Problem> {
    let text = |name: &str| parameters.get(name).map(str::to_owned);
    let filter = Filter {
        host: text("host"),
        target: text("target"),
        conditions_id: text("conditions"),
        ..Filter::default()
    };
    let page = Page { offset: 0, limit: MEASUREMENTS };
    let loads = history.loads(&filter, Order::NEWEST, page)?;
    let cut = loads.len() as u64 == MEASUREMENTS;
    let wanted = parameters.text("load").to_lowercase();
    let named = |dated: &Dated| {
        let title = dated.title.to_lowercase();
        wanted.split_whitespace().all(|word| title.contains(word))
    };
    let dated =
        loads.into_iter().filter_map(|load| Dated::of(load, figure)).filter(named).collect();
    let mut trend = trend(dated, figure, env!("CARGO_PKG_VERSION"));
    if cut {
        trend.warnings.push(format!(
            "Only the newest {MEASUREMENTS} measurements were looked at; name a host or a target"
        ));
    }
    Ok(trend)
}
