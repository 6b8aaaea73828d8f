//! SQLIOSim, Microsoft's test of the way from SQL Server to its storage: its configuration, and
//! what it prints at the end.
//!
//! A [`Configuration`] is what `sqliosim.cfg.ini` says. It is read by [`read`], written by
//! [`write()`](write()), and there are five by [name](shipped). A [`Summary`] is what SQLIOSim says
//! of a file at the end; [`log`] writes its log, and [`recording`] reads one.

use crate::dialect::Dialect;

mod command;
mod config;
mod effective;
mod keys;
pub mod log;
mod read;
#[cfg(test)]
mod read_tests;
mod recording;
mod rules;
mod shipped;
mod summary;
mod write;

pub use command::{Command, CommandError, Invocation, USAGE, parse};
pub use config::{
    AuditUser, BulkUpdateUser, Configuration, DataFile, General, RandomUser, ReadAheadUser,
    ShrinkUser,
};
pub use read::{Complaints, Reading, read};
pub use recording::{LOG_ABOUT, recording};
pub use rules::Violation;
pub use shipped::{NAMES, shipped};
pub use summary::Summary;
pub use write::{WriteError, write};

/// iosonde reads neither measurements nor workloads of SQLIOSim, only its command line.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "sqliosim",
    title: "SQLIOSim",
    is_command: true,
    results: &[],
    workloads: None,
};
