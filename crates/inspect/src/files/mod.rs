//! The one place that opens files for writing, and removes them, whatever they are for: test
//! files, reports, traces, logs, locks.
//!
//! - A [`Place`] is a name in a directory that was opened once. A file is looked at after it was
//!   opened, never before: it is a regular file with one name, neither a link nor a mount point.
//! - A [`Draft`] is a new file. It has a private name until it is complete, and then gets its own
//!   name if nothing has that name, or in the place of exactly the file that it replaces.
//! - An [`Output`] is a file that a user named for a command to write. It replaces only what
//!   iosonde wrote there and nobody changed since ([`Seal`]), or what the user gave up with
//!   `--overwrite`.
//!
//! A file is removed by renaming it to a private name, comparing it with the one that was opened,
//! and then unlinking it. Another file gets its name back.

mod draft;
mod log;
mod output;
mod place;
mod seal;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;

pub use draft::{Draft, Readers};
pub use log::Log;
pub use output::{Begun, Output, OutputWriter, free_place};
pub use place::{Access, FileId, Place};
pub use seal::{Seal, Sealed};
