//! Figures for programs that ask from time to time, such as Prometheus, under `/metrics`: the same
//! rules for addresses and tokens as for the history.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::sync::watch;

use crate::server::STOP_LOOK;
use crate::{Listener, ServeError, access, connections};

/// The answer: the recorder replaces it when it has newer figures.
#[derive(Debug, Clone, Default)]
pub struct MetricsText(Arc<Mutex<String>>);

impl MetricsText {
    /// From now on this is answered.
    pub fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Answers `GET /metrics` with a text of this media type until `stop` is set.
pub fn serve_metrics(
    listener: Listener,
    text: MetricsText,
    content_type: &'static str,
    stop: &Arc<AtomicBool>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(ServeError::Start)?;
    let answer = move || {
        let text = text.get();
        async move { ([(CONTENT_TYPE, content_type)], text) }
    };
    let router = Router::new().route("/metrics", get(answer));
    let stop = Arc::clone(stop);
    runtime.block_on(async move {
        let (ending, ended) = watch::channel(false);
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(STOP_LOOK).await;
            }
            ending.send_replace(true);
        });
        let guard = access::Guard::new(&listener)?;
        connections::accept(listener, access::guarded(router, guard), ended).await
    })
}
