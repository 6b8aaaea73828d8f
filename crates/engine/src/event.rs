//! What happens while the engine works: one stream that every display reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use results::Point;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One thing that happened. Its JSON form is described in `docs/live.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A test file is being written; comes several times a second.
    Filling {
        /// The file that is written. In JSON, anything that is not UTF-8 in its name is replaced.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
        /// Bytes that are written so far.
        done_bytes: u64,
        /// Bytes to write in all.
        total_bytes: u64,
        /// Speed so far, bytes per second.
        bytes_per_s: f64,
    },
    /// I/O has begun; it does not count yet.
    WarmingUp {
        /// Length of the warm-up in seconds.
        seconds: f64,
    },
    /// Every thread has begun its work. Comes only where [`Start::At`] named the moment.
    ThreadsStarted {
        /// How long after that moment the clock of the run began: 0 where all was ready in time.
        after_ns: u64,
        /// How long after that moment the last thread began.
        late_ns: u64,
    },
    /// The measured window has begun, just now.
    WindowBegan {
        /// Planned length of the window in seconds.
        seconds: f64,
    },
    /// An interval of the measured window is complete.
    Interval {
        /// The figures of the interval, all workers together.
        point: Point,
        /// Seconds of the window that are left.
        seconds_left: f64,
    },
    /// What each worker did; sent about once a second of the measured window, for live views.
    Workers {
        /// The streams and targets that the workers' numbers stand for.
        #[serde(serialize_with = "shared", deserialize_with = "names")]
        names: Arc<WorkerNames>,
        /// Each worker, in the order of the measurement.
        #[serde(serialize_with = "shared", deserialize_with = "points")]
        points: Arc<[WorkerPoint]>,
    },
    /// The measured window has ended, just now.
    WindowEnded,
    /// Something that the user should know now.
    Warning {
        /// The warning as a sentence.
        text: String,
    },
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}

fn shared<T: Serialize + ?Sized, S: Serializer>(
    value: &Arc<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().serialize(serializer)
}

fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<WorkerNames>, D::Error> {
    WorkerNames::deserialize(deserializer).map(Arc::new)
}

fn points<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[WorkerPoint]>, D::Error> {
    Vec::deserialize(deserializer).map(Into::into)
}

/// How the streams and targets of a workload are called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerNames {
    /// The name of each stream, by its number.
    pub streams: Vec<String>,
    /// The path of each target, by its number.
    pub targets: Vec<PathBuf>,
}

/// What one worker did since the last such point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkerPoint {
    /// Number of its stream, from 0.
    pub stream: usize,
    /// Number of its target, from 0.
    pub target: usize,
    /// Its number among the threads of the stream on this target, from 0.
    pub thread: u32,
    /// Reads and writes completed a second.
    pub iops: f64,
    /// MiB read and written a second.
    pub mib_per_s: f64,
    /// Mean latency in nanoseconds; `None` if nothing completed.
    pub mean_ns: Option<f64>,
    /// Longest latency in nanoseconds; `None` if nothing completed.
    pub max_ns: Option<u64>,
    /// I/Os that failed so far.
    pub errors: u64,
}

/// What an observer wants a run to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// Continue until the planned end.
    On,
    /// No further: enough is known. The measurement is then complete.
    Enough,
}

/// When a run that is ready begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At once.
    Now,
    /// At this moment of [`Clock`](crate::Clock), or at once if it has passed. A run on a virtual
    /// clock begins at once.
    At(u64),
    /// Not at all: no I/O is issued.
    Never,
}

/// An observer of a run. Every `FnMut(&Event)` is one that lets the run continue to its planned
/// end.
pub trait Observer {
    /// Something happened. Whether to continue is heard after [`Event::Interval`] only.
    fn event(&mut self, event: &Event) -> Go;

    /// Asked once, when every thread has its queue and its buffers and nothing has been issued.
    /// The answer may take its time.
    fn start(&mut self) -> Start {
        Start::Now
    }

    /// Asked once, after the window: how many seconds at its beginning were still warm-up and are
    /// to be left out.
    ///
    /// Only of a workload with a precision; a little more may be left out than asked.
    fn warm_up_s(&mut self) -> f64 {
        0.0
    }
}

impl<F: FnMut(&Event)> Observer for F {
    fn event(&mut self, event: &Event) -> Go {
        self(event);
        Go::On
    }
}
