//! Faults are found and named: in memory, on a device of known behaviour, after a crash.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod detection;
mod durability_crash;
#[cfg(target_os = "linux")]
mod durability_device;
#[cfg(target_os = "linux")]
mod faults;
