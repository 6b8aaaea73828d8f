//! The history in a browser.
//!
//! A small web server that reads a history and shows it: the list, one result, two results
//! compared, trends, and a run that is under way. It only reads: requests other than `GET` and
//! `HEAD` are refused, nothing of a request becomes SQL or a path, and what a page needs (style,
//! script) is inside the program.
//!
//! | module | what it does |
//! |---|---|
//! | [`listen`](mod@listen) | which addresses may be listened on, and under which conditions |
//! | `access` | who may ask: host names, the token, methods, sizes; the headers of every answer |
//! | `connections` | one task for each connection, with limits in time and number |
//! | `store` | a few connections to the history, used from threads that may wait |
//! | `pages` | what is shown |
//! | `problem` | what went wrong, as a page |

mod access;
mod assets;
mod connections;
pub mod listen;
mod metrics;
mod pages;
mod parameters;
mod problem;
mod store;
mod token;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use history::{History, HistoryError, Place};
use thiserror::Error;
use tokio::sync::watch;

pub use listen::Listener;
pub use metrics::{MetricsText, serve_metrics};
pub use token::Token;

/// Why the history cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; name another with `--listen ADDRESS:PORT`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The text is no token.
    #[error("{0}")]
    Token(&'static str),
    /// The operating system has no random numbers, or no means to wait for connections.
    #[error("cannot start the server: {0}")]
    Start(io::Error),
    /// The history cannot be read.
    #[error(transparent)]
    History(Box<HistoryError>),
}

impl From<HistoryError> for ServeError {
    fn from(error: HistoryError) -> Self {
        Self::History(Box::new(error))
    }
}

/// How often it is looked whether the server is to end.
const STOP_LOOK: Duration = Duration::from_millis(50);

/// A server that is ready to answer.
pub struct Server {
    listener: Listener,
    store: store::Store,
}

impl Server {
    /// Opens the history, so that a wrong place is an error and not a page.
    pub fn open(listener: Listener, place: &Place) -> Result<Self, ServeError> {
        let first = History::open_existing(place)?;
        Ok(Self { listener, store: store::Store::new(place.clone(), first) })
    }

    /// The address that it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Answers until `stop` is set, and then ends what is open within a second or two.
    pub fn run(self, stop: &Arc<AtomicBool>) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(store::CONNECTIONS + 2)
            .build()
            .map_err(ServeError::Start)?;
        // Connections to a server must not end within the runtime: they have one of their own.
        let store = self.store.clone();
        let served = runtime.block_on(self.answer(Arc::clone(stop)));
        // A query that still runs is not waited for.
        runtime.shutdown_background();
        drop(store);
        served
    }

    async fn answer(self, stop: Arc<AtomicBool>) -> Result<(), ServeError> {
        let (ending, ended) = watch::channel(false);
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(STOP_LOOK).await;
            }
            ending.send_replace(true);
        });
        let guard = access::Guard::new(&self.listener)?;
        let router = access::guarded(pages::router(self.store, ended.clone()), guard);
        connections::accept(self.listener, router, ended).await
    }
}
