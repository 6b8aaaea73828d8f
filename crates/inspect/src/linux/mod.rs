//! Linux: everything is told by /proc, /sys and three system calls (stat, statx, statvfs).

mod chain;
mod device;
mod findings;
mod host;
mod mountinfo;
mod processors;
mod storage;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use host::host;
pub(crate) use processors::processors;
pub(crate) use storage::storage;
