//! Traces are written, read, imported and summarised.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod anonymise;
mod csv;
mod etw;
mod files;
mod foreign;
mod format;
mod profile;
