//! Watches what the operating system counts, window by window: Performance Monitor's job.
//!
//! A [`Monitor`] takes samples from a [`Source`] at times of a [`Clock`], and gives [`Event`]s;
//! both are the caller's, so that hours are watched in no time in tests. A [`Series`] is what a
//! recording keeps of the windows, in bounded memory. An [`Alert`] is a limit that is watched.
//! [`crop`] finds a run in a recording and sets its figures next to those of the operating system.
//! The formats are [`csv`], [`lines`] (JSON lines) and [`metrics`] (OpenMetrics).
//!
//! Other counters, such as those of databases, come through [`Extra`].
//!
//! What it does not do: show anything, or keep anything on a disk.

pub mod alert;
pub mod attach;
mod chain;
mod clock;
pub mod crop;
pub mod csv;
pub mod foreign;
pub mod lines;
pub mod metrics;
mod moment;
mod nanoseconds;
mod series;
mod watch;

pub use alert::Alert;
pub use chain::{Chain, Watched};
pub use clock::{Clock, SystemClock};
pub use series::{Change, Series};
pub use watch::{
    AlertEvent, End, Event, Extra, INTERVALS, Monitor, MonitorError, Observation, Source,
    WatchStart, Why,
};
