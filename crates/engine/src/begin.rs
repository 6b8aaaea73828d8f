//! When a run begins, and whether all of its threads did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use jiff::Timestamp;

use crate::clock::Clock;
use crate::drive::sleep_until;
use crate::error::EngineError;
use crate::event::{Event, Observer, Start};
use crate::platform::Prompt;

/// How many threads have begun, and when the last of them did.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    threads: AtomicUsize,
    last_ns: AtomicU64,
    /// The beginning was named: threads are to be prompt.
    is_named: AtomicBool,
}

impl Begun {
    /// Sleeps until the beginning, and notes it.
    pub(crate) fn wait(&self, clock: Clock, start_ns: u64) {
        let _prompt = self.is_named.load(Ordering::Relaxed).then(Prompt::take);
        sleep_until(clock, start_ns);
        self.note(clock.now());
    }

    /// Notes that a thread begins now.
    fn note(&self, now_ns: u64) {
        self.last_ns.fetch_max(now_ns, Ordering::Relaxed);
        self.threads.fetch_add(1, Ordering::Release);
    }

    /// When the last of so many threads began; none before that.
    fn all(&self, threads: usize) -> Option<u64> {
        let begun = self.threads.load(Ordering::Acquire) >= threads;
        begun.then(|| self.last_ns.load(Ordering::Relaxed))
    }
}

/// When a run begins, and the threads that have begun.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// When it was, by the calendar.
    pub started: Timestamp,
    /// The threads that have begun so far.
    pub begun: Arc<Begun>,
    /// The moment that was named and the one that it became, until their event has been sent.
    named_ns: Option<(u64, u64)>,
}

impl Beginning {
    /// A run that has not begun.
    pub(crate) fn new() -> Self {
        Self { started: Timestamp::now(), begun: Arc::default(), named_ns: None }
    }

    /// Asks when to begin, once all is ready; `soon_ns` gives the earliest moment.
    pub(crate) fn ask(
        &mut self,
        observer: &mut dyn Observer,
        soon_ns: impl FnOnce() -> u64,
    ) -> Result<u64, EngineError> {
        let start = observer.start();
        self.started = Timestamp::now();
        match start {
            Start::Now => Ok(soon_ns()),
            Start::At(named) => {
                let start_ns = soon_ns().max(named);
                self.named_ns = Some((named, start_ns));
                self.begun.is_named.store(true, Ordering::Relaxed);
                Ok(start_ns)
            }
            Start::Never => Err(EngineError::CalledOff),
        }
    }

    /// Says once how late the last of so many threads began, where the beginning was named.
    pub(crate) fn say(&mut self, threads: usize, observer: &mut dyn Observer) {
        let Some((named, start_ns)) = self.named_ns else { return };
        if let Some(last) = self.begun.all(threads) {
            self.named_ns = None;
            let (after_ns, late_ns) = (start_ns - named, last.saturating_sub(named));
            observer.event(&Event::ThreadsStarted { after_ns, late_ns });
        }
    }
}
