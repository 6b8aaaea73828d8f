//! Databases that are watched next to the devices: each is asked by its own thread, so that one
//! that does not answer delays nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use databases::{DatabaseError, DatabaseRow, DatabaseSample, DatabaseUrl, DatabaseWindow, Watched};
use inspect::Inspector;
use monitor::Extra;
use results::{RecordedDatabase, RecordedRow};

use super::WatchError;

/// How long the first sample is waited for; connecting and asking give up before.
const FIRST: Duration = Duration::from_secs(30);

/// How long an answer is waited for at most; one that comes later belongs to the next window.
const PATIENCE: Duration = Duration::from_millis(500);

/// Part of the interval that an answer is waited for.
const SHARE: u32 = 2;

/// The number of late answers after which the user receives a message.
const LATE: u32 = 3;

/// One connection per watched database, each with its thread.
pub(super) struct Databases(Vec<Watching>);

/// A database, and the thread that asks it.
struct Watching {
    /// The URL without its password, for messages and documents.
    source: String,
    asks: Sender<()>,
    answers: Receiver<Result<DatabaseSample, DatabaseError>>,
    /// The directory of its data, if that is on this host.
    data_directory: Option<String>,
    /// What it is, for the notes.
    title: String,
    patience: Duration,
    state: State,
}

/// The state of the samples so far.
#[derive(Debug, Default)]
struct State {
    last: Option<DatabaseSample>,
    /// Whether the last question has no answer yet.
    waiting: bool,
    /// Windows in a row without an answer.
    late: u32,
    /// Messages that the user gets only once, and has got.
    said: Vec<String>,
    /// Whether the last answer in a window was an error.
    failing: bool,
}

impl Databases {
    /// Connects to all databases; fails at the first that cannot be read.
    pub(super) fn connect(urls: &[DatabaseUrl], interval: Duration) -> Result<Self, WatchError> {
        let connect = |url: &DatabaseUrl| Ok(Watching::begin(Watched::connect(url)?, interval));
        urls.iter().map(connect).collect::<Result<_, _>>().map(Self)
    }

    /// Directories on this host in which they keep their data.
    pub(super) fn data_directories(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|database| database.data_directory.as_deref())
    }

    /// Each with the devices that count the I/O to its files.
    pub(super) fn recorded(&self) -> Vec<RecordedDatabase> {
        let devices = |database: &Watching| {
            let directory = database.data_directory.as_deref().map(Path::new);
            directory.map(devices_of).unwrap_or_default()
        };
        let one = |database: &Watching| RecordedDatabase {
            source: database.source.clone(),
            devices: devices(database),
        };
        self.0.iter().map(one).collect()
    }

    /// How each was read, for the method of the document.
    pub(super) fn methods(&self) -> Vec<String> {
        let method = |database: &Watching| {
            format!(
                "{} ({}) was asked for its own counters at the same time; its reads and writes \
                 are requests to the operating system, of which the page cache may answer some.",
                database.source, database.title
            )
        };
        self.0.iter().map(method).collect()
    }

    /// As what the monitor asks next to the devices.
    pub(super) fn into_extras(self) -> Vec<Box<dyn Extra>> {
        self.0.into_iter().map(|database| Box::new(database) as Box<dyn Extra>).collect()
    }
}

/// The devices under a directory of data, and under what PostgreSQL links from it: its log and
/// its tablespaces. None if a part of them cannot be seen.
fn devices_of(directory: &Path) -> Vec<String> {
    let mut parts = vec![directory.to_owned()];
    parts.extend(Some(directory.join("pg_wal")).filter(|log| log.exists()));
    if let Ok(links) = std::fs::read_dir(directory.join("pg_tblspc")) {
        parts.extend(links.flatten().map(|link| link.path()));
    }
    let inspector = Inspector::new();
    let device = |part: &PathBuf| inspector.storage(part).ok()?.counted_device;
    let found: Option<BTreeSet<String>> = parts.iter().map(device).collect();
    found.into_iter().flatten().collect()
}

impl Watching {
    fn begin(mut watched: Watched, interval: Duration) -> Self {
        let (asks, asked) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let facts = watched.facts().clone();
        let local = watched.url().is_local();
        let source = watched.url().to_string();
        // It ends when nobody asks any more.
        thread::spawn(move || {
            while asked.recv().is_ok() {
                if answer.send(watched.sample()).is_err() {
                    break;
                }
            }
        });
        Self {
            source,
            asks,
            answers,
            data_directory: facts.data_directory.filter(|_| local),
            title: format!("{} {}", facts.kind, facts.version),
            patience: PATIENCE.min(interval / SHARE),
            state: State::default(),
        }
    }

    fn ask(&mut self) {
        // The thread lives as long as this.
        let _ = self.asks.send(());
        self.state.waiting = true;
    }
}

impl Extra for Watching {
    fn begin(&mut self) {
        self.ask();
        if let Ok(answer) = self.answers.recv_timeout(FIRST) {
            self.state.waiting = false;
            self.state.last = answer.ok();
        }
    }

    fn window(&mut self) -> (Vec<RecordedRow>, Vec<String>) {
        let was_waiting = self.state.waiting;
        if !was_waiting {
            self.ask();
        }
        // One that was asked before is not waited for once more.
        let patience = if was_waiting { Duration::ZERO } else { self.patience };
        match self.answers.recv_timeout(patience) {
            Ok(answer) => {
                self.state.waiting = false;
                self.state.take(&self.source, answer)
            }
            Err(RecvTimeoutError::Timeout) => self.state.is_late(&self.source),
            Err(RecvTimeoutError::Disconnected) => (Vec::new(), Vec::new()),
        }
    }
}

impl State {
    /// The window that an answer ends, and messages for the user.
    fn take(
        &mut self,
        source: &str,
        answer: Result<DatabaseSample, DatabaseError>,
    ) -> (Vec<RecordedRow>, Vec<String>) {
        self.late = 0;
        let sample = match answer {
            Ok(sample) => sample,
            Err(error) => {
                let first = !std::mem::replace(&mut self.failing, true);
                let notice =
                    first.then(|| format!("no figures of {source} until it answers: {error}"));
                return (Vec::new(), notice.into_iter().collect());
            }
        };
        let mut notices = Vec::new();
        if std::mem::take(&mut self.failing) {
            notices.push(format!("{source} answers again"));
        }
        for note in &sample.notes {
            if !self.said.contains(note) {
                self.said.push(note.clone());
                notices.push(format!("{source}: {note}"));
            }
        }
        let mut rows = Vec::new();
        if let Some(last) = &self.last {
            let window = DatabaseWindow::between(last, &sample);
            notices.extend(turns(source, &window));
            rows = rows_of(source, &window);
        }
        self.last = Some(sample);
        (rows, notices)
    }

    fn is_late(&mut self, source: &str) -> (Vec<RecordedRow>, Vec<String>) {
        self.late = self.late.saturating_add(1);
        let notice = format!("{source} answers late; its figures are of longer windows");
        let is_new = self.late == LATE && !self.said.contains(&notice);
        if is_new {
            self.said.push(notice.clone());
        }
        (Vec::new(), is_new.then_some(notice).into_iter().collect())
    }
}

/// Events that changed the counters, other than counting.
fn turns(source: &str, window: &DatabaseWindow) -> Vec<String> {
    let mut turns = Vec::new();
    if window.other_instance {
        turns.push(format!(
            "{source} was started anew, or is another server: one window has no figures"
        ));
    } else if window.reconnected {
        turns.push(format!("the connection to {source} was lost and made anew"));
    }
    if !window.anew.is_empty() {
        let first = window.anew.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        let more = window.anew.len().saturating_sub(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        turns.push(format!("{source} set counters to 0: {first}{more}"));
    }
    turns
}

/// The sum of all rows with the counters of the whole database, and each object that did something.
fn rows_of(source: &str, window: &DatabaseWindow) -> Vec<RecordedRow> {
    let mut total = Vec::new();
    for row in &window.rows {
        let object = RecordedRow::TOTAL.to_owned();
        RecordedRow { object, ..recorded(source, row) }.put_into(&mut total);
    }
    let Some(mut total) = total.pop() else { return Vec::new() };
    total.seconds = window.seconds;
    total.counters =
        window.counters.iter().map(|row| (row.name.clone(), row.amount as f64)).collect();
    let busy = window.rows.iter().filter(|row| !row.is_idle() && row.object != RecordedRow::TOTAL);
    std::iter::once(total).chain(busy.map(|row| recorded(source, row))).collect()
}

fn recorded(source: &str, row: &DatabaseRow) -> RecordedRow {
    // Sums, so that windows can be put together.
    let sum = |latency: Option<f64>, count: Option<u64>| Some(latency? * count? as f64);
    RecordedRow {
        source: source.to_owned(),
        object: row.object.clone(),
        seconds: row.seconds,
        reads: row.reads,
        writes: row.writes,
        read_bytes: row.read_bytes,
        written_bytes: row.written_bytes,
        read_ns: sum(row.read_latency_ns, row.reads),
        write_ns: sum(row.write_latency_ns, row.writes),
        syncs: row.syncs,
        sync_ns: sum(row.sync_latency_ns, row.syncs),
        ..RecordedRow::default()
    }
}

#[cfg(test)]
mod tests {
    use databases::{Kind, NamedCounter, ObjectCounters, Unit};

    use super::*;

    const SOURCE: &str = "postgres://db/x";

    fn sample(at_s: u64, reads: u64) -> DatabaseSample {
        let object = |name: &str, reads| ObjectCounters {
            object: name.to_owned(),
            reads: Some(reads),
            read_time_ps: Some(reads * 2_000_000),
            ..ObjectCounters::default()
        };
        DatabaseSample {
            at_ns: at_s * 1_000_000_000,
            database_at_ns: None,
            instance: "a".to_owned(),
            uptime_s: None,
            reconnections: 0,
            objects: vec![object("busy", reads), object("idle", 7)],
            counters: vec![NamedCounter {
                name: "wal_bytes",
                unit: Unit::Bytes,
                value: reads * 10,
                since: None,
            }],
            notes: vec!["times are not counted".to_owned()],
        }
    }

    fn lost() -> DatabaseError {
        DatabaseError::NoConnection {
            kind: Kind::PostgreSql,
            place: SOURCE.to_owned(),
            what: "closed".to_owned(),
        }
    }

    #[test]
    fn a_window_has_the_sum_the_counters_and_what_did_something() {
        let mut state = State::default();
        let (rows, notices) = state.take(SOURCE, Ok(sample(0, 10)));
        assert_eq!((rows.len(), notices.len()), (0, 1), "nothing to subtract yet: {notices:?}");
        let (rows, notices) = state.take(SOURCE, Ok(sample(2, 30)));
        assert_eq!(notices, [""; 0], "a note is said once");
        let names: Vec<&str> = rows.iter().map(|row| row.object.as_str()).collect();
        assert_eq!(names, ["total", "busy"]);
        let total = &rows[0];
        assert_eq!((total.seconds, total.reads, total.writes), (2.0, Some(20), None));
        assert_eq!(total.read_latency_ns(), Some(2000.0));
        assert_eq!(total.counters.get("wal_bytes"), Some(&200.0));
        assert!(rows[1].counters.is_empty());
    }

    #[test]
    fn a_server_that_goes_and_comes_is_told_once() {
        let mut state = State::default();
        state.take(SOURCE, Ok(sample(0, 10)));
        let (_, gone) = state.take(SOURCE, Err(lost()));
        assert!(gone[0].contains("until it answers: cannot reach"), "{gone:?}");
        assert!(state.take(SOURCE, Err(lost())).1.is_empty());
        let mut again = sample(9, 40);
        again.reconnections = 1;
        let (rows, notices) = state.take(SOURCE, Ok(again));
        assert_eq!(notices[0], "postgres://db/x answers again");
        assert!(notices[1].contains("lost and made anew"), "{notices:?}");
        assert_eq!(Some(rows[0].seconds), Some(9.0), "what happened meanwhile was counted");
    }

    #[test]
    fn a_new_start_and_late_answers_are_told() {
        let mut state = State::default();
        state.take(SOURCE, Ok(sample(0, 10)));
        let mut other = sample(1, 3);
        other.instance = "b".to_owned();
        let (rows, notices) = state.take(SOURCE, Ok(other));
        assert!(rows.is_empty() && notices[0].contains("started anew"), "{notices:?}");
        let said: Vec<Vec<String>> = (0..5).map(|_| state.is_late(SOURCE).1).collect();
        assert_eq!(said.iter().filter(|notices| !notices.is_empty()).count(), 1);
        assert!(said[2][0].contains("answers late"), "{said:?}");
    }
}
