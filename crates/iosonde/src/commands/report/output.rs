//! The file that a report goes to: new, or an earlier report of the same kind; never somebody
//! else's.

use std::fs;
use std::path::{Path, PathBuf};

use report::Format;

use crate::exit::Failure;
use crate::files::write_whole;

/// A file that may be written.
pub(super) struct Claimed {
    /// Where it is: where a link leads, that is its end.
    pub(super) path: PathBuf,
    /// It was not there before.
    new: bool,
}

/// Whether the output is a directory, there or by its name.
pub(super) fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// Makes sure that a report can be written, before anything is done.
pub(super) fn claim(path: &Path, format: &Format) -> Result<Claimed, Failure> {
    let refused = |why: String| {
        let path = path.display();
        Failure::CannotRun(format!(
            "cannot write the report `{path}`: {why}; name another with `--output FILE`"
        ))
    };
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&path) {
        Ok(found) if !found.is_file() => Err(refused("it is not an ordinary file".to_owned())),
        Ok(found) if found.len() == 0 => Ok(Claimed { path, new: false }),
        Ok(_) => {
            let content = fs::read(&path).map_err(|e| refused(e.to_string()))?;
            if (format.is_report)(&content) {
                Ok(Claimed { path, new: false })
            } else {
                let what =
                    format!("it is there and no such report of iosonde ({})", format.ending());
                Err(refused(what))
            }
        }
        Err(_) => {
            let made = fs::OpenOptions::new().append(true).create_new(true).open(&path);
            made.map_err(|e| refused(e.to_string()))?;
            Ok(Claimed { path, new: true })
        }
    }
}

impl Claimed {
    /// Writes the report, whole or not at all.
    pub(super) fn write(&self, content: &[u8]) -> Result<(), Failure> {
        write_whole(&self.path, content).map_err(|error| {
            let path = self.path.display();
            Failure::CannotRun(format!("cannot write the report `{path}`: {error}"))
        })
    }

    /// Leaves things as they were.
    pub(super) fn release(self) {
        if self.new && fs::metadata(&self.path).is_ok_and(|m| m.len() == 0) {
            // The empty file that proved that the report can be written.
            let _ = fs::remove_file(&self.path);
        }
    }
}
