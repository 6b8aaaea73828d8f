//! IOMeter, Intel's measuring tool of 1998 to 2014: its configurations, its order of runs, and its
//! result files.
//!
//! A [`Config`] is the content of an `.icf` file. [`read`] takes the sound parts of one and names
//! the rest, and [`Config::to_icf`] writes one. [`AccessSpec::mix`] puts an access specification
//! into iosonde's words, and [`AccessSpec::from_mix`] puts a mix into IOMeter's. [`Config::runs`]
//! is the order of runs that it asks for, [`Config::workload`] one of them. [`result`] has the
//! result files, and [`presets`] the access specifications that people know by name.

mod config;
mod cycle;
mod dialect;
mod export;
mod lines;
mod mix;
pub mod presets;
mod read;
pub mod result;
mod runs;
mod workload;
mod write;

#[cfg(test)]
mod runs_tests;

pub use self::workload::{Need, NothingToDo, StepWorker, StepWorkload, TargetPlace};
pub use config::{
    AccessSpec, Assignment, Config, Cycling, DepthCycling, Kind, Manager, ROWS_MAX, Record, Row,
    SIZE_BYTES_MAX, Setup, Stepping, Target, TestType, Worker, WorkerCount,
};
pub use cycle::{CycleStep, CycleWorkload, TargetUse, settle_sectors};
pub(crate) use dialect::DIALECT;
pub use export::NoConfig;
pub use mix::NoSpec;
pub use read::{ConfigError, Note, Read, Version, read};
pub use runs::{Runs, Step};

/// The access specification that does nothing. No file defines it.
pub const IDLE: &str = "Idle";
