//! Microsoft's DiskSpd: its command line, its profiles, and its results as text and as XML.

pub mod profile;
pub mod result;
pub mod size;
