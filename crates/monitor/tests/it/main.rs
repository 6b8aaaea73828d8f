//! Watching disks, and reading the recordings of other tools.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod attach;
mod crop;
mod foreign;
mod identities;
mod metrics;
mod perfmon_forms;
mod sysstat_forms;
mod watch;
