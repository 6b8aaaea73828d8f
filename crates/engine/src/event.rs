//! What happens while the engine works: one stream that every display reads.

use std::path::PathBuf;

use results::Point;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A test file is being written; comes several times a second.
    Filling {
        /// The file.
        path: PathBuf,
        /// Bytes written so far.
        done_bytes: u64,
        /// Bytes to write.
        total_bytes: u64,
        /// Speed so far, bytes for each second.
        bytes_per_s: f64,
    },
    /// I/O has begun; it does not count yet.
    WarmingUp {
        /// Length of the warm-up.
        seconds: f64,
    },
    /// The measured window has begun, just now.
    WindowBegan {
        /// Its planned length.
        seconds: f64,
    },
    /// An interval of the measured window is complete.
    Interval {
        /// What happened in it.
        point: Point,
        /// Seconds of the window that are left.
        seconds_left: f64,
    },
    /// The measured window has ended, just now.
    WindowEnded,
    /// Something that the user should know now.
    Warning(String),
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// To its planned end.
    On,
    /// No further: enough is known. The measurement is then complete.
    Enough,
}

/// Whoever watches a run. Every `FnMut(&Event)` is one that lets it go on to its planned end.
pub trait Observer {
    /// Something happened. Whether to go on is heard after [`Event::Interval`] only.
    fn event(&mut self, event: &Event) -> Go;

    /// Asked once, after the window: how many seconds at its beginning were still warm-up and are to be left out.
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
