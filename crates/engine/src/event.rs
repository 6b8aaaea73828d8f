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
