//! What happens now, told to the history for others to watch: `iosonde serve` shows it.
//! docs/live.md describes the events.
//!
//! The thread that measures only puts events into a channel, which drops them when it is full:
//! watching costs a measurement nothing, whatever the history does.

use std::cell::RefCell;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use engine::{WorkerNames, WorkerPoint};
use history::{History, LiveRun, Place};
use integrity::Glance;
use results::Point;
use serde_json::{Value, json};

use crate::event::Event;
use crate::validate::Notices;

/// What ends sooner is not worth a look: nothing is written.
const SHORT: Duration = Duration::from_secs(2);
/// Events that wait to be written.
const WAITING: usize = 1024;
/// Points of a series and of a fill come at most this often.
const EVERY: Duration = Duration::from_millis(200);
/// Without events, a sign of life comes this often.
const BEAT: Duration = Duration::from_secs(5);
/// How long the end of a run waits at most for events that are not written yet.
const END: Duration = Duration::from_secs(1);

/// Tells the history of one run while it lasts.
pub(crate) struct Live {
    sender: Option<SyncSender<Entry>>,
    done: Receiver<()>,
    notices: RefCell<Notices>,
}

/// An event as it is written.
struct Entry {
    json: Value,
    /// Whether it may be left out where many come: the place of its kind among those.
    thinned: Option<usize>,
}

impl Live {
    /// Starts to publish a run; it becomes visible after two seconds.
    #[must_use]
    pub(crate) fn begin(place: Place, run: LiveRun) -> Self {
        let (sender, entries) = mpsc::sync_channel(WAITING);
        let (ended, done) = mpsc::channel();
        std::thread::spawn(move || {
            tell(&place, &run, &entries);
            // Nobody waits any more where this does not arrive.
            let _ = ended.send(());
        });
        Self { sender: Some(sender), done, notices: RefCell::default() }
    }

    /// Publishes an event, or drops it.
    pub(crate) fn hear(&self, event: &Event) {
        let Some(sender) = &self.sender else { return };
        let entry = match event {
            Event::Validation(event) => {
                translated(event, &mut self.notices.borrow_mut()).and_then(|event| entry(&event))
            }
            event => entry(event),
        };
        if let Some(entry) = entry {
            let _ = sender.try_send(entry);
        }
    }

    /// The run is over. Waits for events that are not written yet, for at most a second.
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

/// A validation for those who watch runs of every kind: each glance becomes an interval of the
/// window, and a notice becomes a warning.
fn translated(event: &integrity::Event, notices: &mut Notices) -> Option<Event> {
    Some(Event::Engine(match event {
        // A step and a window begin with each phase.
        integrity::Event::Began { .. } => return None,
        integrity::Event::Glance(glance) => engine::Event::Interval {
            point: point(glance),
            seconds_left: glance.left().map_or(0.0, |left| left.as_secs_f64()),
        },
        integrity::Event::Notice(notice) => {
            engine::Event::Warning { text: notices.told(notice, Instant::now())? }
        }
    }))
}

fn point(glance: &Glance) -> Point {
    let (read, write) = (&glance.read, &glance.write);
    Point {
        t: glance.since.as_secs_f64(),
        seconds: glance.seconds,
        read_iops: read.iops,
        write_iops: write.iops,
        read_mib_per_s: read.bytes_per_s / 1_048_576.0,
        write_mib_per_s: write.bytes_per_s / 1_048_576.0,
        read_mean_ns: read.mean_ns,
        write_mean_ns: write.mean_ns,
        read_p99_ns: read.p99_ns,
        write_p99_ns: write.p99_ns,
        max_ns: None,
        // Failed I/Os are reported one by one.
        errors: 0,
    }
}

/// The published form of an event; `None` for events that are meant for one reader only.
fn entry(event: &Event) -> Option<Entry> {
    let json = match event {
        // What each worker does is for the screen alone; the points of a recording are in the
        // history as they come.
        Event::Began { .. }
        | Event::Monitor(_)
        | Event::Kept { .. }
        | Event::Notice { .. }
        | Event::Error { .. } => return None,
        Event::Engine(engine::Event::Workers { names, points }) => hosts(names, points)?,
        // The measurement itself is in the history.
        Event::Measured { measurement: m } => json!({
            "event": "measured",
            "id": m.id,
            "title": m.workload.title(),
            "iops": m.total.iops,
            "mib_per_s": m.total.mib_per_s,
        }),
        event => serde_json::to_value(event).ok()?,
    };
    let thinned = match event {
        Event::Engine(engine::Event::Interval { .. } | engine::Event::Filling { .. }) => Some(0),
        Event::Engine(engine::Event::Workers { .. }) => Some(1),
        _ => None,
    };
    Some(Entry { json, thinned })
}

/// What each host of a fleet does. What workers of one host do is for the screen alone.
fn hosts(names: &WorkerNames, points: &[WorkerPoint]) -> Option<Value> {
    if names.streams != ["host"] {
        return None;
    }
    let host = |point: &WorkerPoint| {
        Some(json!({
            "name": names.targets.get(point.target)?,
            "iops": point.iops,
            "mib_per_s": point.mib_per_s,
            "mean_ns": point.mean_ns,
            "max_ns": point.max_ns,
            "errors": point.errors,
        }))
    };
    let hosts: Vec<Value> = points.iter().filter_map(host).collect();
    Some(json!({ "event": "hosts", "hosts": hosts }))
}

/// Writes what comes until nothing more does. What cannot be written is not: it would be of no use
/// later.
fn tell(place: &Place, run: &LiveRun, entries: &Receiver<Entry>) {
    let mut early = Vec::new();
    let mut wait = SHORT;
    let history = loop {
        if !collect(entries, &mut early, wait) {
            return;
        }
        // A history that is busy or not there yet is asked again: a long run is not to stay unseen.
        match shown(place, run) {
            Some(history) => break history,
            None => wait = BEAT,
        }
    };
    let mut thinning = Thinning::default();
    let mut write = |entry: &Entry| {
        if entry.thinned.is_none_or(|kind| thinning.is_due(kind, Instant::now())) {
            let _ = history.live_event(&run.id, &entry.json.to_string());
        }
    };
    early.iter().for_each(&mut write);
    loop {
        match entries.recv_timeout(BEAT) {
            Ok(entry) => write(&entry),
            Err(RecvTimeoutError::Timeout) => {
                let _ = history.live_beat(&run.id);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let _ = history.live_end(&run.id);
}

/// Keeps the first events that come in this time; whether the run still goes on.
fn collect(entries: &Receiver<Entry>, early: &mut Vec<Entry>, time: Duration) -> bool {
    let until = Instant::now() + time;
    loop {
        match entries.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(one) if early.len() < WAITING => early.push(one),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

/// Shows the run; `None` where the history cannot at the moment.
fn shown(place: &Place, run: &LiveRun) -> Option<History> {
    let history = History::open_existing(place).ok()?;
    history.live_begin(run).ok()?;
    Some(history)
}

/// When an event of each kind was last written.
#[derive(Default)]
struct Thinning([Option<Instant>; 2]);

impl Thinning {
    fn is_due(&mut self, kind: usize, now: Instant) -> bool {
        let Some(last) = self.0.get_mut(kind) else { return true };
        let due = last.is_none_or(|last| now.saturating_duration_since(last) >= EVERY);
        if due {
            *last = Some(now);
        }
        due
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use integrity::{Notice, NoticeKind, Phase, RecentIo};

    /// A second of users at work.
    pub(crate) fn glance() -> Glance {
        let read = RecentIo { iops: 5000.0, p99_ns: Some(1_200_000), ..RecentIo::default() };
        let (since, share) = (Duration::from_secs(30), Some(0.25));
        Glance { phase: Phase::Work, since, share, read, ..Glance::default() }
    }

    #[test]
    fn those_who_watch_hear_of_every_second_of_a_validation() {
        let mut notices = Notices::default();
        let mut told = |event| translated(&event, &mut notices).and_then(|event| entry(&event));
        let began = integrity::Event::Began { phase: Phase::Audit, cycle: 1 };
        assert!(told(began).is_none(), "it is a step of the job");
        let second = told(integrity::Event::Glance(Box::new(glance()))).unwrap();
        assert_eq!(second.thinned, Some(0));
        assert_eq!(
            (&second.json["event"], &second.json["seconds_left"]),
            (&"interval".into(), &90.0.into())
        );
        assert_eq!(second.json["point"]["read_iops"], 5000.0);
        let notice = Notice { kind: NoticeKind::IoFailed, text: "it failed".to_owned() };
        let warning = told(integrity::Event::Notice(notice)).unwrap();
        assert_eq!(warning.json, json!({ "event": "warning", "text": "it failed" }));
    }

    /// A run that found the history busy for a moment was never shown, however long it lasted.
    #[test]
    fn a_history_that_cannot_show_a_run_at_first_is_asked_again() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::File(directory.path().join("history.db"));
        let run = LiveRun { id: "a".to_owned(), kind: "run".to_owned(), ..LiveRun::default() };
        let mut live = Live::begin(place.clone(), run);
        std::thread::sleep(SHORT + Duration::from_millis(500));
        let history = History::open(&place).unwrap();
        let begin = Instant::now();
        while history.live_runs().unwrap().is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it is not shown");
            std::thread::sleep(Duration::from_millis(50));
        }
        live.end();
        assert!(history.live_runs().unwrap().is_empty());
    }

    #[test]
    fn points_are_thinned_and_nothing_else_is() {
        let mut thinning = Thinning::default();
        let begin = Instant::now();
        let due = (0..10).filter(|n| thinning.is_due(0, begin + Duration::from_millis(100 * n)));
        assert_eq!(due.count(), 5);
        assert!(thinning.is_due(1, begin), "the lines of hosts come with the points");
        let filling = Event::Engine(engine::Event::Filling {
            path: "/data/iosonde.test".into(),
            done_bytes: 1,
            total_bytes: 2,
            bytes_per_s: 1.0,
        });
        assert!(entry(&filling).is_some_and(|entry| entry.thinned.is_some()));
        let ended = Event::Engine(engine::Event::WindowEnded);
        assert!(entry(&ended).is_some_and(|entry| entry.thinned.is_none()));
    }

    /// The words of docs/live.md, which the browser and other programs read.
    #[test]
    fn events_are_written_as_the_page_describes_them() {
        let written = |event| entry(&event).map(|entry| entry.json.to_string());
        let step = Event::Step { number: 1, of: 2, title: "one".to_owned(), seconds_left: None };
        let text = r#"{"event":"step","number":1,"of":2,"title":"one"}"#;
        assert_eq!(written(step).as_deref(), Some(text));
        let warning = Event::Engine(engine::Event::Warning { text: "slow".to_owned() });
        assert_eq!(written(warning).as_deref(), Some(r#"{"event":"warning","text":"slow"}"#));
        let ended = Event::Engine(engine::Event::WindowEnded);
        assert_eq!(written(ended).as_deref(), Some(r#"{"event":"window_ended"}"#));
    }

    /// Workers of one host are for the screen; the hosts of a fleet have a line each.
    #[test]
    fn those_who_watch_a_fleet_hear_of_every_host() {
        let point = WorkerPoint {
            stream: 0,
            target: 1,
            thread: 0,
            iops: 10.0,
            mib_per_s: 2.0,
            mean_ns: Some(3.0),
            max_ns: None,
            errors: 0,
        };
        let workers = |stream: &str| {
            let targets = vec!["db1".into(), "db2".into()];
            let names = WorkerNames { streams: vec![stream.to_owned()], targets };
            let points = vec![point].into();
            entry(&Event::Engine(engine::Event::Workers { names: names.into(), points }))
        };
        assert!(workers("main").is_none());
        let hosts = workers("host").unwrap();
        assert_eq!(hosts.json["hosts"][0]["name"], "db2");
        assert_eq!((&hosts.json["event"], hosts.thinned), (&"hosts".into(), Some(1)));
    }
}
