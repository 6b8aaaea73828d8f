//! What happens now, told to the history for others to watch: `iosonde serve` shows it. docs/live.md describes the events.
//!
//! The thread that measures only puts events into a channel, which drops them when it is full: watching costs a
//! measurement nothing, whatever the history does.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use engine::Event;
use history::{History, LiveRun, Place};
use results::Measurement;
use serde_json::{Value, json};
use survey::Progress;

/// What ends sooner is not worth a look: nothing is written.
const SHORT: Duration = Duration::from_secs(2);
/// Events that wait to be written.
const WAITING: usize = 1024;
/// Points of a series and of a fill come at most this often.
const EVERY: Duration = Duration::from_millis(200);
/// Without events, a sign of life comes this often.
const BEAT: Duration = Duration::from_secs(5);
/// The longest that the end waits for what is still to be written.
const END: Duration = Duration::from_secs(1);

/// Whoever measures tells it here.
pub(crate) struct Live {
    sender: Option<SyncSender<Heard>>,
    done: Receiver<()>,
}

/// One thing that happened, as it was heard.
enum Heard {
    Step { number: usize, of: usize, title: String },
    Engine(Event),
    Measured { id: String, title: String, iops: f64, mib_per_s: f64 },
}

impl Live {
    /// Begins to tell of a run; it is visible after two seconds.
    pub(crate) fn begin(place: Place, run: LiveRun) -> Self {
        let (sender, heard) = mpsc::sync_channel(WAITING);
        let (ended, done) = mpsc::channel();
        std::thread::spawn(move || {
            tell(&place, &run, &heard);
            // Nobody waits any more where this does not arrive.
            let _ = ended.send(());
        });
        Self { sender: Some(sender), done }
    }

    /// Tells of what happens, or drops it.
    pub(crate) fn hear(&self, progress: &Progress<'_>) {
        match progress {
            // What each worker does is for the screen alone.
            Progress::Began { .. } | Progress::Engine(Event::Workers { .. }) => {}
            Progress::Step { number, of, title } => {
                self.send(Heard::Step { number: *number, of: *of, title: (*title).to_owned() });
            }
            Progress::Engine(event) => self.send(Heard::Engine((*event).clone())),
            Progress::Measured(measurement) | Progress::Kept(measurement) => {
                self.measured(measurement);
            }
        }
    }

    /// Tells of a finished measurement.
    pub(crate) fn measured(&self, m: &Measurement) {
        let (id, title) = (m.id.clone(), m.workload.title());
        let (iops, mib_per_s) = (m.total.iops, m.total.mib_per_s);
        self.send(Heard::Measured { id, title, iops, mib_per_s });
    }

    fn send(&self, heard: Heard) {
        if let Some(sender) = &self.sender {
            let _ = sender.try_send(heard);
        }
    }

    /// Nothing more comes. Waits for what is still to be written, and for no longer than a second.
    pub(crate) fn end(&mut self) {
        if self.sender.take().is_some() {
            let _ = self.done.recv_timeout(END);
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}

/// Writes what is heard until nothing more comes. What cannot be written is not: it would be of no use later.
fn tell(place: &Place, run: &LiveRun, heard: &Receiver<Heard>) {
    let mut early = Vec::new();
    let until = Instant::now() + SHORT;
    loop {
        match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(one) if early.len() < WAITING => early.push(one),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
    let Ok(history) = History::open_existing(place) else { return };
    if history.live_begin(run).is_err() {
        return;
    }
    let mut thinned = Thinned::default();
    let mut write = |one: &Heard| {
        if let Some(event) = event(one).filter(|_| thinned.is_due(one, Instant::now())) {
            let _ = history.live_event(&run.id, &event.to_string());
        }
    };
    early.iter().for_each(&mut write);
    loop {
        match heard.recv_timeout(BEAT) {
            Ok(one) => write(&one),
            Err(RecvTimeoutError::Timeout) => {
                let _ = history.live_beat(&run.id);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let _ = history.live_end(&run.id);
}

/// When points were last written.
#[derive(Default)]
struct Thinned {
    last: Option<Instant>,
}

impl Thinned {
    fn is_due(&mut self, heard: &Heard, now: Instant) -> bool {
        let Heard::Engine(Event::Interval { .. } | Event::Filling { .. }) = heard else {
            return true;
        };
        let due = self.last.is_none_or(|last| now.saturating_duration_since(last) >= EVERY);
        if due {
            self.last = Some(now);
        }
        due
    }
}

/// An event as docs/live.md describes it.
fn event(heard: &Heard) -> Option<Value> {
    Some(match heard {
        Heard::Step { number, of, title } => {
            json!({ "event": "step", "number": number, "of": of, "title": title })
        }
        Heard::Measured { id, title, iops, mib_per_s } => json!({
            "event": "measured", "id": id, "title": title, "iops": iops, "mib_per_s": mib_per_s
        }),
        Heard::Engine(event) => match event {
            Event::Filling { path, done_bytes, total_bytes, bytes_per_s } => json!({
                "event": "filling",
                "path": path.to_string_lossy(),
                "done_bytes": done_bytes,
                "total_bytes": total_bytes,
                "bytes_per_s": bytes_per_s
            }),
            Event::WarmingUp { seconds } => json!({ "event": "warming_up", "seconds": seconds }),
            Event::WindowBegan { seconds } => {
                json!({ "event": "window_began", "seconds": seconds })
            }
            Event::Interval { point, seconds_left } => json!({
                "event": "interval",
                "point": serde_json::to_value(point).ok()?,
                "seconds_left": seconds_left
            }),
            Event::Workers { .. } => return None,
            Event::WindowEnded => json!({ "event": "window_ended" }),
            Event::Warning(text) => json!({ "event": "warning", "text": text }),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_thinned_and_nothing_else_is() {
        let mut thinned = Thinned::default();
        let begin = Instant::now();
        let filling = Heard::Engine(Event::Filling {
            path: "/data/iosonde.test".into(),
            done_bytes: 1,
            total_bytes: 2,
            bytes_per_s: 1.0,
        });
        let due: Vec<bool> = (0..10)
            .map(|n| thinned.is_due(&filling, begin + Duration::from_millis(100 * n)))
            .collect();
        assert_eq!(due.iter().filter(|due| **due).count(), 5);
        let ended = Heard::Engine(Event::WindowEnded);
        assert!((0..3).all(|_| thinned.is_due(&ended, begin)));
    }
}
