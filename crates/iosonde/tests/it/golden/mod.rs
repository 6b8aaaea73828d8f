//! Documents and a history that an earlier version wrote are read, shown, compared and exported as
//! that version did.

mod changes;
mod commands;
mod documents;
mod exchanged;
mod figures;
mod files;
mod history;
mod tables;
