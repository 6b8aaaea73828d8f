//! The pages. Each module makes one.

mod compare;
mod downloads;
mod filters;
mod list;
mod live;
mod result;
mod trends;
mod words;

use askama::Template;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use tokio::sync::watch;

use crate::assets;
use crate::problem::Problem;
use crate::store::Store;

/// A whole page, or why it cannot be shown.
type Answer = Result<Html<String>, Problem>;

/// Longest id that is looked for.
const ID_CHARACTERS: usize = 200;

/// Connects each address to its page.
pub(crate) fn router(store: Store, ended: watch::Receiver<bool>) -> Router {
    let live = live::Live::new(store.clone(), ended);
    let live = Router::new()
        .route("/live/{id}", get(live::page))
        .route("/live/{id}/events", get(live::events))
        .with_state(live);
    Router::new()
        .route("/", get(list::page))
        .route("/result/{name}", get(result::page))
        .route("/compare", get(compare::page))
        .route("/trends", get(trends::page))
        .route("/assets/{name}", get(assets::get))
        .with_state(store)
        .merge(live)
        .fallback(async || Problem::NoSuchPage)
}

fn html(page: &impl Template) -> Answer {
    Ok(Html(page.render()?))
}

/// An id from an address, or why it cannot be one.
fn id(text: &str) -> Result<String, Problem> {
    let fits = (1..=ID_CHARACTERS).contains(&text.chars().count());
    if fits && !text.chars().any(char::is_control) {
        return Ok(text.to_owned());
    }
    Err(Problem::Bad(format!(
        "An id has 1 to {ID_CHARACTERS} characters and no control characters among them."
    )))
}
