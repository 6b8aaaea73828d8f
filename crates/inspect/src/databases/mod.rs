//! Recognises the files of databases by their names, their content and their directories.

use std::path::Path;

mod content;
mod location;
mod names;
mod pages;

pub(crate) use content::find;
use location::database_at;
pub use names::database_name;

/// The sign by which a file belongs to a database, as the end of a sentence: one of its names, or a
/// directory that it is in.
#[must_use]
pub fn database_sign(paths: &[&Path]) -> Option<String> {
    let by_name = paths.iter().find_map(|path| database_name(path));
    by_name.or_else(|| paths.iter().find_map(|path| database_at(path)))
}
