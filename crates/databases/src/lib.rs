//! What a database itself counts about its I/O, as rows with the same columns for PostgreSQL, MySQL
//! or MariaDB, and SQL Server.
//!
//! [`Watched`] is a connection that is asked again and again; a [`DatabaseWindow`] is what happened
//! between two [`DatabaseSample`]s. It only reads, waits for no lock, and mends a lost connection.
//! What exists is asked from the server, not concluded from its version.
//!
//! What it does not do: run a thread, keep anything, or compare with what the operating system
//! counted. A database counts what it asked of the operating system; where that has a page cache in
//! between, most reads never reach a device.
//!
//! Without the feature `clients` there are only the words: no URL is accepted, so nothing connects.

#![cfg_attr(
    not(feature = "clients"),
    expect(dead_code, reason = "what only a connected server uses")
)]

mod address;
mod error;
#[cfg(feature = "clients")]
mod mysql;
#[cfg(feature = "clients")]
mod postgres;
#[cfg(feature = "clients")]
mod record;
mod sample;
#[cfg(feature = "clients")]
mod sqlserver;
#[cfg(feature = "clients")]
mod tls;
mod url;
mod watched;
mod window;

pub use error::DatabaseError;
pub use sample::{DatabaseSample, Kind, NamedCounter, ObjectCounters, ServerFacts, Unit};
pub use url::DatabaseUrl;
pub use watched::Watched;
pub use window::{Clock, CounterRow, DatabaseRow, DatabaseWindow, TOTAL};
