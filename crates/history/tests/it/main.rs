//! A history stores, compares and follows results.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod comparison;
mod sides;
#[cfg(unix)]
mod store;
mod trend;
