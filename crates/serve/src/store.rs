//! A few connections to the history, used from threads that may wait.
//!
//! The history is synchronous, so each query runs on a separate thread. A slow query holds up no
//! other answer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use history::{History, Place};
use report::Language;
use report::language::speak;
use tokio::sync::Semaphore;

use crate::problem::Problem;

/// The most queries at a time.
pub(crate) const CONNECTIONS: usize = 4;
/// How long a question may wait for its turn.
const TURN_WITHIN: Duration = Duration::from_secs(10);
/// A connection older than this is opened anew, so that a history that was replaced or removed is
/// noticed.
const FRESH: Duration = Duration::from_secs(5);

/// The history, shared by all pages.
#[derive(Clone)]
pub(crate) struct Store(Arc<Inner>);

struct Inner {
    place: Place,
    /// In which language results are shown.
    language: Language,
    idle: Mutex<Vec<Opened>>,
    turns: Semaphore,
}

struct Opened {
    history: History,
    at: Instant,
}

impl Store {
    pub(crate) fn new(place: Place, first: History, language: Language) -> Self {
        let first = Opened { history: first, at: Instant::now() };
        let (idle, turns) = (Mutex::new(vec![first]), Semaphore::new(CONNECTIONS));
        Self(Arc::new(Inner { place, language, idle, turns }))
    }

    /// Does something with the history, and everything that takes long, away from the thread that
    /// answers.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&History) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = tokio::time::timeout(TURN_WITHIN, self.0.turns.acquire()).await;
        let Ok(_turn) = turn else {
            return Err(Problem::Busy);
        };
        let inner = Arc::clone(&self.0);
        let outcome = tokio::task::spawn_blocking(move || {
            let opened = inner.take()?;
            let outcome = speak(inner.language, || work(&opened.history));
            // One that failed may be broken: the next question opens another.
            if !matches!(outcome, Err(Problem::History(_))) {
                inner.give_back(opened);
            }
            outcome
        });
        outcome.await.unwrap_or(Err(Problem::Internal))
    }
}

impl Inner {
    fn take(&self) -> Result<Opened, Problem> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(opened) = idle.filter(|opened| opened.at.elapsed() < FRESH) {
            return Ok(opened);
        }
        let history = History::open_existing(&self.place)?;
        Ok(Opened { history, at: Instant::now() })
    }

    fn give_back(&self, opened: Opened) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
    }
}
