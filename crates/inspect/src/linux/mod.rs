//! Linux: everything comes from /proc, /sys and three system calls (stat, statx, statvfs).

mod cgroup;
mod chain;
mod clock;
mod device;
mod extents;
mod findings;
mod health;
mod host;
mod inspection;
mod interrupts;
mod layers;
mod link;
mod mapper;
mod mountinfo;
mod partitions;
mod processors;
mod reading;
mod settings;
mod storage;
#[cfg(test)]
mod tests;
mod tree;

pub use extents::{Extent, Writeback, extent_map};
pub(crate) use host::host;
pub(crate) use inspection::{inspection, recorded_inspection};
pub(crate) use processors::processors;
pub(crate) use reading::{is_stream, kind_of, open_without_waiting};
pub(crate) use storage::storage;
