//! Documents and a history that an earlier version wrote are read, shown, compared and exported as
//! that version did.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod changes;
mod documents;
mod figures;
mod files;
mod history;
mod tables;
