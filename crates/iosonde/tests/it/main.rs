//! The program itself, and what holds for the whole workspace.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

#[cfg(target_os = "linux")]
mod browser;
#[cfg(target_os = "linux")]
mod cli;
#[cfg(unix)]
mod dependencies;
#[cfg(target_os = "linux")]
mod fleet;
#[cfg(all(target_os = "linux", feature = "nats"))]
mod fleet_nats;
#[cfg(unix)]
mod golden;
#[cfg(target_os = "linux")]
mod inputs;
#[cfg(unix)]
mod journey;
#[cfg(target_os = "linux")]
mod managers;
#[cfg(unix)]
mod schema;
#[cfg(unix)]
mod tidy;
#[cfg(windows)]
mod windows;
#[cfg(unix)]
mod words;
