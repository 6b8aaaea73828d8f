//! Named events: a file of that name is an event that has happened.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dialects::diskspd::command::Events;
use inspect::files::{Place, Readers};

use crate::conduct::JobError;

/// How often it is looked whether an event has happened.
const PERIOD: Duration = Duration::from_millis(50);

/// Makes an event happen. One that has happened stays as it is.
///
/// # Errors
/// Its file cannot be made.
pub fn set(event: &str) -> Result<(), JobError> {
    let place = Place::of(Path::new(event));
    match place.and_then(|place| place.create(Readers::Anybody)) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(JobError::Companion(
            format!("cannot make the event `{event}`, which is a file: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Waits for the event before which nothing begins, or for a signal.
pub(super) fn await_ready(events: &Events, stop: &AtomicBool) {
    let Some(event) = &events.ready else { return };
    while !Path::new(event).exists() && !stop.load(Ordering::Relaxed) {
        thread::sleep(PERIOD);
    }
}

/// Watches for the event that ends what runs, as long as it lives.
pub(super) struct Watch {
    done: Arc<AtomicBool>,
    happened: Arc<AtomicBool>,
}

impl Watch {
    /// Begins to watch; `stop` is what ends the run.
    pub(super) fn begin<'scope>(
        events: &Events,
        stop: &'scope AtomicBool,
        scope: &'scope thread::Scope<'scope, '_>,
    ) -> Self {
        let watch = Self { done: Arc::default(), happened: Arc::default() };
        if let Some(event) = events.stop.clone() {
            let (done, happened) = (Arc::clone(&watch.done), Arc::clone(&watch.happened));
            let path = PathBuf::from(event);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    if path.exists() {
                        happened.store(true, Ordering::Relaxed);
                        stop.store(true, Ordering::Relaxed);
                        return;
                    }
                    thread::sleep(PERIOD);
                }
            });
        }
        watch
    }

    /// Whether it was this event that ended the run.
    pub(super) fn has_happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
    }
}
