//! IOMeter, Intel's measuring tool of 1998 to 2014: its configurations, its order of runs, and its result files.
//!
//! A [`Config`] is what an `.icf` file says; [`read`] takes what is sound in one and names the rest, and [`Config::to_icf`] writes
//! one. [`AccessSpec::stream`] says one in iosonde's words. [`result`] has the result files. [`Config::runs`] is the order of runs that it asks for. [`presets`] has the access specifications that people know by name.

mod config;
mod lines;
pub mod presets;
mod read;
pub mod result;
mod runs;
mod translate;
mod workload;
mod write;

#[cfg(test)]
mod runs_tests;

pub use self::workload::{NothingToDo, StepWorkload, TargetPlace};
pub use config::{
    AccessSpec, Assignment, Config, Cycling, DepthCycling, Kind, Manager, ROWS_MAX, Record, Row,
    SIZE_BYTES_MAX, Setup, Stepping, Target, TestType, Worker, WorkerCount,
};
pub use read::{ConfigError, Note, Read, Version, read};
pub use runs::{Runs, Step};
pub use translate::Translated;

/// The access specification that does nothing. No file defines it.
pub const IDLE: &str = "Idle";
