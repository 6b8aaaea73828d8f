//! Microsoft's DiskSpd: its command line, its profiles, and its results as text and as XML.

pub mod profile;
