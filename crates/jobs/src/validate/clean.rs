//! Removes what validations have left that were killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::Cleaned;
use integrity::KeptLedger;
use workload::Bytes;

use super::keeping::files_of;
use crate::conduct::JobError;

/// The files that were removed, and those that could not be.
#[derive(Debug, Default)]
pub struct CleanReport {
    /// The files that were removed or would be, and those that stay because the user kept them; one
    /// line each.
    pub lines: String,
    /// What could not be removed, and why.
    pub failures: Vec<String>,
    dry_run: bool,
}

/// Removes what is left in each of these: a ledger with its files, a directory with test files, or
/// a test file. With `dry_run`, nothing is removed.
///
/// # Errors
/// One of them cannot be read.
pub fn clean(paths: &[PathBuf], dry_run: bool) -> Result<CleanReport, JobError> {
    let mut cleaning = CleanReport { dry_run, ..CleanReport::default() };
    for path in paths {
        cleaning.target(path)?;
    }
    Ok(cleaning)
}

impl CleanReport {
    fn target(&mut self, path: &Path) -> Result<(), JobError> {
        let cannot =
            |e: io::Error| JobError::CannotRun(format!("`{}` cannot be read: {e}", path.display()));
        let metadata = fs::symlink_metadata(path).map_err(cannot)?;
        if metadata.is_dir() {
            let entries = fs::read_dir(path).map_err(cannot)?;
            let mut files: Vec<PathBuf> = entries
                .map(|entry| Ok(entry?.path()))
                .collect::<Result<_, io::Error>>()
                .map_err(cannot)?;
            files.sort();
            files.retain(|f| fs::symlink_metadata(f).is_ok_and(|m| m.is_file()));
            for file in &files {
                self.file(file, false);
            }
            return Ok(());
        }
        if !metadata.is_file() || !KeptLedger::is_one(path) {
            self.file(path, true);
            return Ok(());
        }
        let kept = KeptLedger::look(path)?;
        let before = self.failures.len();
        for file in files_of(path, &kept)? {
            // A device is not changed; and files that are already gone leave nothing.
            if fs::symlink_metadata(&file).is_ok_and(|m| m.is_file()) {
                self.file(&file, false);
            }
        }
        if self.failures.len() == before {
            if !self.dry_run {
                kept.remove()?;
            }
            self.tell(path, metadata.len());
        }
        Ok(())
    }

    /// A file; one that was `named` must be a test file, and goes also if it was to be kept.
    fn file(&mut self, path: &Path, named: bool) {
        let name = path.display();
        match engine::clean(path, named, self.dry_run) {
            Ok(Cleaned::Removed(bytes)) => self.tell(path, bytes),
            Ok(Cleaned::NotOurs) if !named => {}
            Ok(Cleaned::NotOurs) => {
                self.failures.push(format!("`{name}` was not made by iosonde and is not removed"));
            }
            Ok(Cleaned::InUse) => {
                self.failures.push(format!("`{name}` is in use by an iosonde that is running"));
            }
            Ok(Cleaned::Kept) => {
                let line = format!("`{name}` was to be kept; name it to have it removed\n");
                self.lines.push_str(&line);
            }
            Err(error) => self.failures.push(format!("`{name}` cannot be removed: {error}")),
        }
    }

    fn tell(&mut self, path: &Path, bytes: u64) {
        let what = if self.dry_run { "would remove" } else { "removed" };
        let line = format!("{what} `{}`, {}\n", path.display(), Bytes(bytes));
        self.lines.push_str(&line);
    }
}
