//! The one stream of events that displays, recordings and other programs read.

use std::io;

use engine::Start;
use results::{Document, Measurement};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use survey::Progress;

use crate::run::HeldTargets;

/// Something that happened in a job. Its JSON form is described in `docs/live.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", remote = "Self")]
pub enum Event {
    /// A result document begins.
    Began {
        /// The id that the document will have.
        id: String,
        /// When it begins: UTC, RFC 3339.
        started: String,
    },
    /// A step of the job begins.
    Step {
        /// Its number in the job, from 1.
        number: usize,
        /// Steps of the whole job, as far as is known now.
        of: usize,
        /// What the step measures, in words.
        title: String,
        /// How long it and the steps after it may take; absent if that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds_left: Option<f64>,
    },
    /// A measurement is finished and, where there is a history, kept.
    #[serde(skip_deserializing)]
    Measured {
        /// The measurement as it is stored, with its series and histograms.
        measurement: Box<Measurement>,
    },
    /// Something that the user should know now, in a sentence.
    Notice {
        /// The message, as a sentence.
        text: String,
    },
    /// Something went wrong that does not end the job, in a sentence.
    Error {
        /// The message, as a sentence.
        text: String,
    },
    /// A document is in the history.
    Kept {
        /// Id of the stored document.
        id: String,
        /// The history, where the caller named it.
        history: Option<String>,
    },
    /// What a simulated database does, and what it found.
    #[serde(untagged)]
    Validation(integrity::Event),
    /// What the engine does within a step.
    #[serde(untagged)]
    Engine(engine::Event),
    /// The devices that are watched, and what they did.
    #[serde(untagged)]
    Monitor(monitor::Event),
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// A measurement in an event is read from JSON values as anywhere else, so the code that reads
/// every part of a measurement exists only once. The rest is read by what serde derives.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut keys = Map::<String, Value>::deserialize(deserializer)?;
        if keys.get("event").is_some_and(|event| event == "measured") {
            let missing = || D::Error::missing_field("measurement");
            let measurement = keys.remove("measurement").ok_or_else(missing)?;
            let measurement = serde_json::from_value(measurement).map_err(D::Error::custom)?;
            return Ok(Self::Measured { measurement });
        }
        Self::deserialize(Value::Object(keys)).map_err(D::Error::custom)
    }
}

impl Event {
    /// An event of a survey as one of the stream.
    #[must_use]
    pub fn of(progress: &Progress<'_>) -> Self {
        match progress {
            Progress::Began { id, started } => {
                Self::Began { id: (*id).to_owned(), started: (*started).to_owned() }
            }
            Progress::Step { number, of, title, seconds_left } => {
                let (title, seconds_left) = ((*title).to_owned(), *seconds_left);
                Self::Step { number: *number, of: *of, title, seconds_left }
            }
            Progress::Engine(event) => Self::Engine((*event).clone()),
            Progress::Measured(measurement) => {
                Self::Measured { measurement: Box::new((*measurement).clone()) }
            }
        }
    }
}

/// Reads the stream: a line on the terminal, a screen, lines of JSON, a coordinator.
pub trait Sink {
    /// Something happened. Called by the thread that conducts the job, between I/Os.
    fn hear(&mut self, event: &Event);

    /// The targets of a run of one workload are ready; threads and buffers come next.
    fn targets_ready(&mut self, targets: &HeldTargets) {
        let _ = targets;
    }

    /// Everything of a run of one workload is ready, threads and buffers too: when does its I/O
    /// begin? A tool or a host that waits for a signal from outside waits here.
    fn ready(&mut self) -> Start {
        Start::Now
    }

    /// Names the files that remain if the program is killed from now on, in words that follow
    /// "which"; `None` once nothing would remain.
    fn leaves_behind(&mut self, words: Option<&str>) {
        let _ = words;
    }

    /// Whether the reader of the output has gone. A waiting job asks about fifty times a second, so
    /// a screen can look here for typed keys.
    fn is_left(&mut self) -> bool {
        false
    }

    /// Where the output of a command goes that runs while a job watches.
    fn command_output(&mut self) -> Box<dyn io::Write + Send> {
        Box::new(io::sink())
    }

    /// A document is finished, and not yet kept: a history that hangs must not keep it from its
    /// reader.
    ///
    /// # Errors
    /// Why the document could not be delivered, as a sentence for the user; it is kept all the
    /// same.
    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        let _ = document;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::tests::glance;
    use counters::{CoreTally, DiskTally, SystemTally, SystemWindow};
    use engine::{WorkerNames, WorkerPoint};
    use integrity::{Notice, NoticeKind, PageDamage, Phase};
    use monitor::{AlertEvent, Chain, Observation, WatchStart};
    use results::RecordedRow;
    use std::time::Duration;
    use workload::{Stream, Target, Workload};

    /// The devices that are watched, as JSON has them.
    fn watched() -> [Event; 4] {
        let chain = Chain {
            target: "/data".into(),
            file_system: Some("ext4 on /data".to_owned()),
            devices: vec!["vda".to_owned()],
        };
        let began = WatchStart {
            unix: Duration::from_nanos(1_795_262_400_123_456_789),
            interval: Duration::from_millis(100),
            devices: Vec::new(),
            chains: vec![chain],
        };
        let tally = DiskTally { writes: u64::MAX, flushes: Some(3), ..DiskTally::default() };
        let window = SystemWindow {
            seconds: 0.1,
            disks: vec![("vdb".to_owned(), tally), ("vda".to_owned(), DiskTally::default())],
            missing: vec!["vdc".to_owned()],
            system: SystemTally::default(),
            cores: vec![CoreTally { core: 7, ..CoreTally::default() }],
        };
        let row = RecordedRow {
            source: "postgres://db/x".to_owned(),
            counters: [("wal_bytes".to_owned(), 1.5)].into(),
            ..RecordedRow::default()
        };
        let unix = began.unix;
        let observation = Observation { number: 1, unix, t: 0.1, window, rows: vec![row] };
        let alert = AlertEvent {
            condition: "cpu > 90%".to_owned(),
            device: None,
            begins: true,
            figure: "95 %".to_owned(),
            from_s: 0.1,
            t: 0.3,
        };
        [
            monitor::Event::Began(began),
            monitor::Event::Window(Box::new(observation)),
            monitor::Event::Alert(alert),
            monitor::Event::Notice { text: "postgres://db/x answers again".to_owned() },
        ]
        .map(Event::Monitor)
    }

    /// What one process writes, another reads: a coordinator hears the same events as a screen.
    #[test]
    fn every_event_goes_through_json() {
        let point = WorkerPoint {
            stream: 0,
            target: 1,
            thread: 2,
            iops: 10.5,
            mib_per_s: 1.25,
            mean_ns: Some(2.5),
            max_ns: None,
            errors: 3,
        };
        let names = WorkerNames { streams: vec!["main".to_owned()], targets: vec!["/data".into()] };
        let target = Target { path: "/data".into(), size_bytes: None };
        let workload = Workload::single(target, Stream::default());
        let text = || "a sentence".to_owned();
        let notice =
            |kind| Event::Validation(integrity::Event::Notice(Notice { kind, text: text() }));
        let events = [
            Event::Validation(integrity::Event::Began { phase: Phase::Log, cycle: 3 }),
            Event::Validation(integrity::Event::Glance(Box::new(glance()))),
            notice(NoticeKind::WrongData(PageDamage::TornPage)),
            notice(NoticeKind::WrongLog(PageDamage::LostWrite)),
            notice(NoticeKind::IoFailed),
            notice(NoticeKind::LongIo),
            notice(NoticeKind::EndWaits),
            Event::Began { id: "a".to_owned(), started: "2026-11-23T12:00:00Z".to_owned() },
            Event::Step { number: 1, of: 2, title: text(), seconds_left: None },
            Event::Step { number: 5, of: 9, title: text(), seconds_left: Some(90.0) },
            Event::Notice { text: text() },
            Event::Error { text: text() },
            Event::Kept { id: "a".to_owned(), history: Some("/h.db".to_owned()) },
            Event::Kept { id: "a".to_owned(), history: None },
            Event::Engine(engine::Event::Filling {
                path: "/data/iosonde.test".into(),
                done_bytes: 1,
                total_bytes: 2,
                bytes_per_s: 3.5,
            }),
            Event::Engine(engine::Event::WarmingUp { seconds: 1.0 }),
            Event::Engine(engine::Event::WindowBegan { seconds: 1.0 }),
            Event::Engine(engine::Event::Workers {
                names: names.into(),
                points: vec![point].into(),
            }),
            Event::Engine(engine::Event::WindowEnded),
            Event::Measured { measurement: Box::new(testing::measurement("m", workload)) },
            Event::Engine(engine::Event::Warning { text: text() }),
        ];
        for event in events.into_iter().chain(watched()) {
            let json = serde_json::to_string(&event).unwrap();
            assert!(json.starts_with("{\"event\":\""), "{json}");
            assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event, "{json}");
        }
    }
}
