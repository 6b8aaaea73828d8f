//! The files of SQLIOSim: its configurations and its log.

mod configuration;
mod log;

pub use configuration::{effective, path_of, save};
pub use log::Log;
