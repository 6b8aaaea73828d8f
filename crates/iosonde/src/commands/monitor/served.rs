//! The figures of the last window on a local port.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use monitor::Observation;
use monitor::metrics::{CONTENT_TYPE, Metrics};
use serve::{Listener, MetricsText, ServeError, serve_metrics};

use crate::commands::serve::token_of;
use crate::exit::Failure;
use screen::Display;

/// A server in its own thread, until it is dropped.
pub(super) struct Served {
    metrics: Metrics,
    text: MetricsText,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Served {
    /// Listens, and prints the address.
    pub(super) fn begin(address: SocketAddr, token: Option<&Path>) -> Result<Self, Failure> {
        let token = token.map(token_of).transpose()?;
        let listener = Listener::for_metrics(address, token);
        let listener = listener.map_err(|error| Failure::CannotRun(error.to_string()))?;
        let url = listener.url(&inspect::Inspector::new().host().hostname);
        // Even with `--quiet`: without the token nobody could ask.
        Display::new(false).aside(&format!("metrics at {url}"));
        let (metrics, text, stop) = (Metrics::default(), MetricsText::default(), Arc::default());
        text.set(metrics.text());
        let (answered, until) = (text.clone(), Arc::clone(&stop));
        let serve = move || serve_metrics(listener, answered, CONTENT_TYPE, &until);
        let thread = Some(std::thread::spawn(serve));
        Ok(Self { metrics, text, stop, thread })
    }

    pub(super) fn hear(&mut self, observation: &Observation) {
        self.metrics.hear(observation);
        self.text.set(self.metrics.text());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Requests that are still open have no reader any more.
            let _ = thread.join();
        }
    }
}
