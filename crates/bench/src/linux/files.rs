//! Test files, and memory that keeps them in the page cache.
#![expect(unsafe_code, reason = "a mapping is what holds a file in memory")]

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::Error;

/// Makes a file of random bytes, wholly on the device.
pub(super) fn make(directory: &Path, name: &str, bytes: u64) -> io::Result<PathBuf> {
    let path = directory.join(name);
    let mut file = File::create(&path)?;
    io::copy(&mut File::open("/dev/urandom")?.take(bytes), &mut file)?;
    file.flush()?;
    file.sync_all()?;
    Ok(path)
}

/// A file whose pages stay in memory while this value lives.
pub(super) struct Cached {
    _pages: Mmap,
}

impl Cached {
    /// Reads a file into the page cache and locks it there.
    pub(super) fn lock(path: &Path) -> Result<Self, Error> {
        let file = File::open(path)?;
        // SAFETY: the file is this program's own, and nobody writes to it or cuts it.
        let pages = unsafe { Mmap::map(&file)? };
        pages.lock().map_err(|error| {
            let size = pages.len() >> 20;
            format!(
                "{size} MiB cannot be locked in memory ({error}): be root, or raise `ulimit -l`"
            )
        })?;
        Ok(Self { _pages: pages })
    }
}

/// Type of the file system that holds a path, and the device under it.
pub(super) fn file_system(path: &Path) -> String {
    let unknown = || "an unknown file system".to_owned();
    let Ok(path) = path.canonicalize() else { return unknown() };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let found = mounts.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mount = before.split(' ').nth(4)?;
        let mut after = after.split(' ');
        let (kind, device) = (after.next()?, after.next()?);
        path.starts_with(mount).then(|| (mount.len(), format!("{kind} on {device}")))
    });
    // The last of equally long ones covers those before it.
    found.max_by_key(|(length, _)| *length).map_or_else(unknown, |(_, text)| text)
}
