//! Microsoft's DiskSpd: its command line, its profiles, and its results as text and as XML.

pub mod command;
mod dialect;
pub mod export;
pub mod fault;
pub mod import;
pub mod job;
pub mod lex;
pub mod measured;
pub mod notes;
pub mod profile;
pub mod result;
pub mod rules;
pub mod size;
pub mod usage;

pub(crate) use dialect::DIALECT;
