//! The CSV that a sweep leaves: claimed before it begins, written at its end.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::exit::Failure;
use crate::files::create_beside;

/// Only what is not there yet, is empty, or is such a CSV already may be written to.
pub(super) fn claim_csv(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is no ordinary file")),
        Ok(found) if found.len() > 0 && !begins_with(path, report::sections::SWEEP_CSV_HEAD)? => {
            Err(io::Error::other("it is there and no CSV of a sweep; name another"))
        }
        _ => {
            let (beside, _) = create_beside(path, "part")?;
            fs::remove_file(beside)
        }
    }
}

fn begins_with(path: &Path, head: &str) -> io::Result<bool> {
    let mut found = Vec::new();
    fs::File::open(path)?.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}

pub(super) fn csv_failure(path: &Path, error: &io::Error, state: &str) -> Failure {
    let path = path.display();
    Failure::CannotRun(format!("cannot write `{path}`: {error}; {state}"))
}
