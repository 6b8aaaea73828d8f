//! By what a file is known to belong to a database: its name, its content, and where it is.

mod content;
mod location;
mod names;
mod pages;

pub(crate) use content::find;
pub use location::database_at;
pub use names::database_name;
