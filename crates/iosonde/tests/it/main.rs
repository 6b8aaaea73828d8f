//! The program itself, and what holds for the whole workspace.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

#[cfg(target_os = "linux")]
mod browser;
#[cfg(target_os = "linux")]
mod cli;
mod dependencies;
#[cfg(target_os = "linux")]
mod fleet;
#[cfg(target_os = "linux")]
#[cfg(feature = "nats")]
mod fleet_nats;
mod golden;
mod journey;
#[cfg(target_os = "linux")]
mod managers;
#[cfg(unix)]
mod schema;
mod tidy;
#[cfg(windows)]
mod windows;
mod words;
