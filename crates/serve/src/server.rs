//! The server: from a listener to the last answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use history::{History, Place};
use report::Language;
use tokio::sync::watch;

use crate::{Listener, ServeError, access, connections, pages, store};

/// How often it is looked whether the server is to end.
pub(crate) const STOP_LOOK: Duration = Duration::from_millis(50);

/// A server that is ready to answer.
pub struct Server {
    listener: Listener,
    store: store::Store,
}

impl Server {
    /// Opens the history, so that a wrong place is an error and not a page. Results are shown in
    /// the language.
    pub fn open(listener: Listener, place: &Place, language: Language) -> Result<Self, ServeError> {
        let first = History::open_existing(place)?;
        Ok(Self { listener, store: store::Store::new(place.clone(), first, language) })
    }

    /// The address that it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Answers requests until `stop` is set, and then ends open connections within a second or two.
    pub fn run(self, stop: &Arc<AtomicBool>) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(store::CONNECTIONS + 2)
            .build()
            .map_err(ServeError::Start)?;
        // Connections to a server must not end within the runtime: they have their own.
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
