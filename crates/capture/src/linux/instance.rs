//! A directory of tracefs with buffers and switches that belong to one process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::CaptureError;

const PREFIX: &str = "iosonde-";

/// The instance of this process; removed when it is dropped.
#[derive(Debug)]
pub(super) struct Instance {
    path: PathBuf,
}

/// Why a file of tracefs cannot be used.
pub(super) fn failed(path: &Path, source: io::Error) -> CaptureError {
    let shown = path.display().to_string();
    match source.kind() {
        io::ErrorKind::PermissionDenied => CaptureError::NotAllowed { path: shown, source },
        _ => CaptureError::Failed { path: shown, source },
    }
}

impl Instance {
    pub(super) fn make(root: &Path) -> Result<Self, CaptureError> {
        let path = root.join("instances").join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&path).map_err(|source| failed(&path, source))?;
        Ok(Self { path })
    }

    pub(super) fn read(&self, file: &str) -> Result<String, CaptureError> {
        let path = self.path.join(file);
        fs::read_to_string(&path).map_err(|source| failed(&path, source))
    }

    pub(super) fn write(&self, file: &str, text: &str) -> Result<(), CaptureError> {
        let path = self.path.join(file);
        fs::write(&path, text).map_err(|source| failed(&path, source))
    }

    /// The directories with the buffer of each CPU, sorted by name.
    pub(super) fn cpu_directories(&self) -> Result<Vec<PathBuf>, CaptureError> {
        let path = self.path.join("per_cpu");
        let entries = fs::read_dir(&path).map_err(|source| failed(&path, source))?;
        let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        found.sort();
        Ok(found)
    }

    /// Events that no buffer had room for.
    pub(super) fn lost(&self) -> Result<u64, CaptureError> {
        let mut lost = 0;
        for path in self.cpu_directories()? {
            let path = path.join("stats");
            let text = fs::read_to_string(&path).map_err(|source| failed(&path, source))?;
            lost += lost_of(&text);
        }
        Ok(lost)
    }
}

/// Lost events in the statistics of a CPU: those that were written over, and those that were
/// dropped.
fn lost_of(stats: &str) -> u64 {
    let count = |name: &str| -> u64 {
        let line = stats.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    };
    count("overrun") + count("commit overrun") + count("dropped events")
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Nobody is left to tell; the next start removes what stays.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Removes the instances of processes that are gone.
pub(super) fn remove_dead(root: &Path) {
    for entry in fs::read_dir(root.join("instances")).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lost_events_are_counted() {
        let stats = "entries: 5\noverrun: 7\ncommit overrun: 1\nbytes: 80\noldest event ts: 1.5\n\
                     now ts: 2.0\ndropped events: 30\nread events: 11\n";
        assert_eq!(lost_of(stats), 38);
        assert_eq!(lost_of(""), 0);
    }
}
