//! A run that is under way, as it tells the history of itself (docs/live.md).
//!
//! The page gets its figures over a stream of server-sent events, each under the number that it has in the history. A
//! browser whose connection broke says which was the last that it got, and goes on from there.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::stream::{Stream, unfold};
use history::{History, HistoryError, LiveEvent, LiveRun};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::{Answer, html, id, words};
use crate::problem::Problem;
use crate::store::Store;

/// Streams at a time.
const VIEWERS: usize = 32;
/// How often the history is asked for more.
const POLL: Duration = Duration::from_millis(500);
/// A sign of life for clients and proxies while nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What the live pages need.
#[derive(Clone)]
pub(crate) struct Live {
    store: Store,
    viewers: Arc<Semaphore>,
    ended: watch::Receiver<bool>,
}

impl Live {
    pub(super) fn new(store: Store, ended: watch::Receiver<bool>) -> Self {
        Self { store, viewers: Arc::new(Semaphore::new(VIEWERS)), ended }
    }
}

#[derive(Template)]
#[template(path = "live.html")]
struct View {
    title: String,
    subtitle: String,
    events: String,
    result: String,
}

/// The page of a run; of one that is over, the way to its result.
pub(super) async fn page(State(live): State<Live>, Path(name): Path<String>) -> Response {
    let found = live.store.read(move |history| look(history, &id(&name)?)).await;
    match found {
        Err(problem) => problem.into_response(),
        Ok(Found::Over(Some(link))) => Redirect::to(&link).into_response(),
        Ok(Found::Over(None)) => no_such_run().into_response(),
        Ok(Found::Running(run)) => view(&run).into_response(),
    }
}

fn view(run: &LiveRun) -> Answer {
    let name = words::in_path(&run.id);
    html(&View {
        title: words::clean(&run.title),
        subtitle: about(run),
        events: format!("/live/{name}/events"),
        result: format!("/result/{name}"),
    })
}

/// Where it runs and since when, in a phrase.
pub(super) fn about(run: &LiveRun) -> String {
    let since = format!("since {} UTC", words::minute(&run.started));
    let host = run.host.as_ref().map(|host| format!("host {}", words::clean(host)));
    let parts =
        [Some(words::clean(&run.kind)), Some(words::clean(&run.targets)), host, Some(since)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

enum Found {
    Running(Box<LiveRun>),
    /// Not under way; the link to what is kept of it, where anything is.
    Over(Option<String>),
}

fn look(history: &History, id: &str) -> Result<Found, Problem> {
    let running = history.live_runs()?.into_iter().find(|run| run.id == id);
    match running {
        Some(run) => Ok(Found::Running(Box::new(run))),
        None => Ok(Found::Over(kept(history, id)?)),
    }
}

/// The link to a result or to what is kept of it.
fn kept(history: &History, id: &str) -> Result<Option<String>, Problem> {
    match history.find(id) {
        Ok(entry) => Ok(Some(format!("/result/{}", words::in_path(&entry.id)))),
        Err(HistoryError::NotFound { .. } | HistoryError::Ambiguous { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn no_such_run() -> Problem {
    Problem::NotFound("No run of this name is under way, and nothing is kept of it.".to_owned())
}

/// The events of a run, from the one after `Last-Event-ID` on.
pub(super) async fn events(
    State(live): State<Live>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let id = match id(&name) {
        Ok(id) => id,
        Err(problem) => return problem.into_response(),
    };
    let Ok(seat) = Arc::clone(&live.viewers).try_acquire_owned() else {
        return Problem::Viewers.into_response();
    };
    let asked = id.clone();
    match live.store.read(move |history| look(history, &asked)).await {
        Err(problem) => return problem.into_response(),
        Ok(Found::Over(None)) => return no_such_run().into_response(),
        Ok(_) => {}
    }
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let after = last.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let watching = Watching { live, id, after, due: VecDeque::new(), over: false, _seat: seat };
    let alive = KeepAlive::new().interval(HEARTBEAT);
    Sse::new(watching.stream()).keep_alive(alive).into_response()
}

/// One viewer of one run.
struct Watching {
    live: Live,
    id: String,
    /// Number of the last event that was sent.
    after: u64,
    due: VecDeque<LiveEvent>,
    over: bool,
    /// Free again when the viewer has gone.
    _seat: OwnedSemaphorePermit,
}

/// The last thing that a viewer is told.
#[derive(Serialize)]
struct Over {
    sentence: &'static str,
    link: Option<String>,
}

impl Watching {
    /// What is told, event by event. Nothing is fetched before the viewer has taken what was there.
    fn stream(self) -> impl Stream<Item = Result<Event, Infallible>> {
        unfold(self, async |mut watching| {
            let event = watching.next().await?;
            Some((Ok(event), watching))
        })
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(next) = self.due.pop_front() {
                self.after = next.number;
                // A line end within would begin another field.
                let data = next.event.replace(['\n', '\r'], " ");
                return Some(Event::default().id(next.number.to_string()).data(data));
            }
            if self.over || *self.live.ended.borrow() {
                return None;
            }
            match self.fetch().await {
                Ok(None) => self.pause().await,
                Ok(Some(over)) => {
                    self.over = true;
                    if self.due.is_empty() {
                        return last(&over);
                    }
                    // What came at the very end is told first.
                    self.over = false;
                }
                // The history is away for a moment: the browser comes again.
                Err(_) => return None,
            }
        }
    }

    /// Takes what has come since; and where the run is over, what to say last.
    async fn fetch(&mut self) -> Result<Option<Over>, Problem> {
        let (id, after) = (self.id.clone(), self.after);
        let read = move |history: &History| {
            // In this order: what a run tells before its end is there when it is seen to be over.
            let running = history.live_runs()?.iter().any(|run| run.id == id);
            let events = history.live_events(&id, after)?;
            if running {
                return Ok((events, None));
            }
            let link = kept(history, &id)?;
            let sentence = if link.is_some() { "Over" } else { "Over; nothing was measured" };
            Ok((events, Some(Over { sentence, link })))
        };
        let (events, over) = self.live.store.read(read).await?;
        self.due = events.into();
        Ok(over)
    }

    async fn pause(&mut self) {
        if self.due.is_empty() {
            let ended = self.live.ended.wait_for(|ended| *ended);
            // Either way there is something to look at.
            let _ = tokio::time::timeout(POLL, ended).await;
        }
    }
}

fn last(over: &Over) -> Option<Event> {
    let data = serde_json::to_string(over).ok()?;
    Some(Event::default().event("over").data(data))
}
