//! Microsoft's DiskSpd: its command line, its profiles, and its results as text and as XML.

pub mod command;
pub mod fault;
pub mod lex;
pub mod profile;
pub mod result;
pub mod rules;
pub mod size;
