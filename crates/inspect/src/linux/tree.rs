//! Reading /proc and /sys: small texts that may be missing, unreadable or nonsense.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// More than any file read here takes, except on a system gone mad.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The directory that contains proc, sys, etc and dev.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(crate) fn new(root: &Path) -> Self {
        // Paths are compared with canonical ones below this one.
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Self { root }
    }

    /// The place in the running system of `path`, which is relative to the root of this tree.
    /// A leading slash means the same root.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Where a path leads once all symbolic links are followed, relative to the root; None when it
    /// leads nowhere or out of this tree.
    pub(crate) fn canonical(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = fs::canonicalize(self.at(path)).ok()?;
        Some(path.strip_prefix(&self.root).ok()?.to_owned())
    }

    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = File::open(self.at(path)).ok()?;
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// A file's text without surrounding blanks; None when nothing is left.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        clean(&self.bytes(path)?)
    }

    pub(crate) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// A file that holds 0 or 1.
    pub(crate) fn flag(&self, path: impl AsRef<Path>) -> Option<bool> {
        match self.number(path)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// The paths of a directory's entries, sorted; empty without such a directory.
    pub(crate) fn entries(&self, path: impl AsRef<Path>) -> Vec<PathBuf> {
        let path = path.as_ref();
        let Ok(entries) = fs::read_dir(self.at(path)) else {
            return Vec::new();
        };
        let mut paths: Vec<_> =
            entries.flatten().map(|entry| path.join(entry.file_name())).collect();
        paths.sort();
        paths
    }
}

/// Text without the blanks and zeros that fixed-width fields are filled up with.
pub(crate) fn clean(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}
