//! The job of one run, in its own thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use engine::{Clock, Permissions, Prompt, Start};
use jobs::{Event, HeldTargets, Plan, Recording, Session, Sink, conduct, run_held};
use results::Document;
use serde_json::Value;

use super::Input;
use crate::site::SiteReport;

/// A load that waits for its moment checks this often whether it may still begin.
const LOOK: Duration = Duration::from_millis(5);

/// The engine gets its moment so long before it: enough to wake threads on a busy host, too short
/// to miss a stop.
const HAND_OVER_NS: u64 = 100_000_000;

/// Targets that stay ready between the runs of one coordinator.
pub(crate) type Held = Arc<Mutex<Option<HeldTargets>>>;

/// All that the thread of a job needs.
pub(crate) struct Task {
    pub(crate) plan: Plan,
    pub(crate) permissions: Permissions,
    pub(crate) recording: Option<Recording>,
    /// Where targets wait between runs; empty if none are ready yet.
    pub(crate) targets: Held,
    /// Whether the targets stay ready for the next run.
    pub(crate) stay: bool,
}

/// A job, from its preparation to its result.
pub(crate) struct Load {
    gate: Sender<Start>,
    stop: Arc<AtomicBool>,
}

impl Load {
    /// Makes the targets ready, and begins when [`Load::start`] says so. What happens goes to
    /// `inputs`.
    pub(crate) fn prepare(task: Task, inputs: Sender<Input>) -> Self {
        let Task { plan, permissions, recording, targets: held, stay } = task;
        let (gate, opened) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            let mut sink = Relay {
                inputs: inputs.clone(),
                opened,
                stop: Arc::clone(&stopped),
                site: Value::Null,
                prompt: None,
            };
            let mut session = Session {
                permissions,
                recording: recording.as_ref(),
                sink: &mut sink,
                stop: &stopped,
                resumed: None,
            };
            // What is here is used by one load at a time; a load that panicked left it whole.
            let mut targets = held.lock().unwrap_or_else(PoisonError::into_inner);
            let ended = match &plan {
                Plan::Run(workload) => run_held(workload, &mut targets, &mut session),
                plan => {
                    // The job makes its own ready.
                    *targets = None;
                    conduct(plan, &mut session)
                }
            };
            if !stay {
                *targets = None;
            }
            drop(targets);
            // Whoever waits for the end may be the last who has the targets, and removes files.
            drop(held);
            let ended = ended.map_err(|error| error.to_string());
            let _ = inputs.send(Input::Ended(ended.and_then(|conducted| conducted.kept)));
        });
        Self { gate, stop }
    }

    /// Begins at this moment of the engine's clock.
    pub(crate) fn start(&self, at_ns: u64) {
        let _ = self.gate.send(Start::At(at_ns));
    }

    /// Issues no more I/O, or never any.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.gate.send(Start::Never);
    }
}

/// Passes on what the coordinator wants to know.
struct Relay {
    inputs: Sender<Input>,
    opened: Receiver<Start>,
    stop: Arc<AtomicBool>,
    /// What is said of the targets once all is ready.
    site: Value,
    /// From the word to begin until the beginning.
    prompt: Option<Prompt>,
}

impl Relay {
    fn may_start(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
            && matches!(self.opened.try_recv(), Err(TryRecvError::Empty))
    }
}

impl Sink for Relay {
    fn hear(&mut self, event: &Event) {
        self.prompt = None;
        let _ = self.inputs.send(Input::Event(Box::new(event.clone())));
    }

    fn targets_ready(&mut self, targets: &HeldTargets) {
        self.site = serde_json::to_value(SiteReport::of(targets)).unwrap_or_default();
    }

    fn ready(&mut self) -> Start {
        let _ = self.inputs.send(Input::Prepared(Box::new(std::mem::take(&mut self.site))));
        let Ok(Start::At(at_ns)) = self.opened.recv() else { return Start::Never };
        self.prompt = Some(Prompt::take());
        while Clock::get().now().saturating_add(HAND_OVER_NS) < at_ns {
            if !self.may_start() {
                return Start::Never;
            }
            thread::sleep(LOOK);
        }
        if self.may_start() { Start::At(at_ns) } else { Start::Never }
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        let result = serde_json::to_value(document).map_err(|error| error.to_string())?;
        let _ = self.inputs.send(Input::Measured(Box::new(result)));
        Ok(())
    }
}
