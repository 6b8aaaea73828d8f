//! Test files on a real disk, and experiments on simulated devices.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

#[cfg(target_os = "linux")]
mod databases;
mod files;
mod resizing;
mod simulated;
mod start;
#[cfg(windows)]
mod windows;
