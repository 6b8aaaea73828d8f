//! A recording reads the kernel's buffers, types and events.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

#[cfg(target_os = "linux")]
mod live;
mod pages;
mod types;
