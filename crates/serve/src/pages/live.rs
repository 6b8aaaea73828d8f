//! A run that is under way, from the events that it writes into the history (docs/live.md).
//!
//! The page gets its figures over a stream of server-sent events, each under the number that it has
//! in the history. A browser whose connection broke says which was the last that it got, and
//! continues from there.

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
use history::{Entry, History, HistoryError, LiveEvent, LiveRun};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::{Answer, html, id, words};
use crate::problem::Problem;
use crate::store::Store;

/// The most streams of events at a time.
const VIEWERS: usize = 32;
/// How often the history is asked for more.
const POLL: Duration = Duration::from_millis(500);
/// How often it is asked for the result of a run that ended: it is written a moment later.
const PATIENCE: u32 = 10;
/// A sign of life for clients and proxies while nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The state that the live pages share.
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
        Ok(RunState::Over(Some(link))) => Redirect::to(&link).into_response(),
        Ok(RunState::Over(None)) => no_such_run().into_response(),
        Ok(RunState::Running(run)) => view(&run).into_response(),
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
    let since = format!("since {}", report::text::moment(&run.started));
    let host = run.host.as_ref().map(|host| format!("host {}", words::clean(host)));
    let parts =
        [Some(words::clean(&run.kind)), Some(words::clean(&run.targets)), host, Some(since)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

enum RunState {
    /// Under way, or at its end with the result still to come.
    Running(Box<LiveRun>),
    /// The answer for a run that is not in progress, with a link to its stored part.
    Over(Option<String>),
}

fn look(history: &History, id: &str) -> Result<RunState, Problem> {
    let run = history.live_run(id)?;
    let kept = kept(history, id)?;
    let whole = kept.as_ref().is_some_and(|entry| entry.status.is_some());
    let over = |run: &LiveRun| run.lost() || run.ended && whole;
    match run {
        Some(run) if !over(&run) => Ok(RunState::Running(Box::new(run))),
        _ => Ok(RunState::Over(kept.as_ref().map(link))),
    }
}

/// The result, or the stored part of a result that is not finished.
fn kept(history: &History, id: &str) -> Result<Option<Entry>, Problem> {
    match history.find(id) {
        Ok(entry) => Ok(Some(entry)),
        Err(HistoryError::NotFound { .. } | HistoryError::Ambiguous { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn link(entry: &Entry) -> String {
    format!("/result/{}", words::in_path(&entry.id))
}

fn no_such_run() -> Problem {
    Problem::NotFound(
        "No run of this name is in progress, and the history has nothing of it.".to_owned(),
    )
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
        Ok(RunState::Over(None)) => return no_such_run().into_response(),
        Ok(_) => {}
    }
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let after = last.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let watching = Watching {
        live,
        id,
        after,
        due: VecDeque::new(),
        patience: PATIENCE,
        over: false,
        _seat: seat,
    };
    let alive = KeepAlive::new().interval(HEARTBEAT);
    Sse::new(watching.stream()).keep_alive(alive).into_response()
}

/// One viewer of a run, and what was sent to it.
struct Watching {
    live: Live,
    id: String,
    /// Number of the last event that was sent.
    after: u64,
    due: VecDeque<LiveEvent>,
    /// How often it is still looked whether the result is there.
    patience: u32,
    over: bool,
    /// Free again when the viewer has gone.
    _seat: OwnedSemaphorePermit,
}

/// The last event that a viewer gets.
#[derive(Serialize)]
struct Over {
    sentence: &'static str,
    link: Option<String>,
    /// Nothing more will come of it.
    #[serde(skip)]
    settled: bool,
}

impl Watching {
    /// The stream, event by event. The next events are fetched only after the viewer has taken the
    /// previous ones.
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
                // What came at the very end is sent first.
                Ok(Some(_)) if !self.due.is_empty() => {}
                Ok(Some(over)) if over.settled || self.patience == 0 => {
                    self.over = true;
                    return last(&over);
                }
                Ok(Some(_)) => {
                    self.patience -= 1;
                    self.pause().await;
                }
                Ok(None) => self.pause().await,
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
            let run = history.live_run(&id)?;
            let events = history.live_events(&id, after)?;
            let lost = run.as_ref().is_some_and(LiveRun::lost);
            if !lost && run.is_some_and(|run| !run.ended) {
                return Ok((events, None));
            }
            let kept = kept(history, &id)?;
            let sentence = match (lost, &kept) {
                (true, _) => "Lost: no sign of life for 15 seconds",
                (false, Some(_)) => "Over",
                (false, None) => "Over; nothing was measured",
            };
            let settled = lost || kept.as_ref().is_some_and(|entry| entry.status.is_some());
            let link = kept.as_ref().map(link);
            Ok((events, Some(Over { sentence, link, settled })))
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
