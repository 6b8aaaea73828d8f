//! A mapped file: memory that outlives a killed run.
#![expect(unsafe_code, reason = "memory that is a file")]

use std::fs::{self, File};
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use memmap2::{MmapOptions, MmapRaw};

use crate::platform;

/// A file that is memory, and that nobody else uses meanwhile.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: MmapRaw,
    /// The open file, which holds the lock.
    _file: File,
    /// Comes last: a system may remove no file that is mapped or open.
    removal: Removal,
}

/// The file that goes when this is dropped.
#[derive(Debug, Default)]
struct Removal(OnceLock<PathBuf>);

impl Drop for Removal {
    fn drop(&mut self) {
        if let Some(path) = self.0.get() {
            // Nobody is left who could be told.
            let _ = fs::remove_file(path);
        }
    }
}

impl Mapped {
    /// Makes a file of so many zeros; a file of that name must not exist. Its space is taken at
    /// once: memory without a place to go to would end the program.
    pub(crate) fn create(path: &Path, bytes: u64) -> io::Result<Self> {
        let file = platform::create(path)?;
        let made = platform::take_space(&file, bytes);
        made.and_then(|()| Self::of(file)).inspect_err(|_| {
            // It was made a moment ago and holds nothing.
            let _ = fs::remove_file(path);
        })
    }

    /// Takes a file that is there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::of(platform::open(path)?)
    }

    fn of(file: File) -> io::Result<Self> {
        if !platform::lock(&file) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        if file.metadata()?.len() == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let map = MmapOptions::new().map_raw(&file)?;
        Ok(Self { map, _file: file, removal: Removal::default() })
    }

    /// The length of the file, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Has everything written to the file's media.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.map.flush()
    }

    /// Removes its file: at once, or where the system removes no file that is in use, with the last
    /// use of it.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        if platform::REMOVES_FILES_IN_USE {
            return fs::remove_file(path);
        }
        let _ = self.removal.0.set(path.to_owned());
        Ok(())
    }

    /// The whole file as words that threads may share.
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins at a page")]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        let (start, count) = (self.map.as_ptr().cast::<AtomicU64>(), self.map.len() / 8);
        // SAFETY: a mapping begins at a page, which is aligned; it lives as long as `self`; and
        // every access to it uses these atomics.
        unsafe { std::slice::from_raw_parts(start, count) }
    }
}

/// A part of a file that is memory.
#[derive(Debug)]
pub(crate) struct Part {
    words: *const AtomicU64,
    count: usize,
    _mapped: Arc<Mapped>,
}

// SAFETY: it is a slice of atomics that lives as long as the mapping, which is held.
unsafe impl Send for Part {}
// SAFETY: as above.
unsafe impl Sync for Part {}

impl Part {
    /// These words of a mapping; `None` if it has not so many.
    pub(crate) fn of(mapped: &Arc<Mapped>, words: Range<usize>) -> Option<Self> {
        let part = mapped.words().get(words)?;
        Some(Self { words: part.as_ptr(), count: part.len(), _mapped: Arc::clone(mapped) })
    }
}

impl Deref for Part {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: both are of a slice of the mapping that is held here.
        unsafe { std::slice::from_raw_parts(self.words, self.count) }
    }
}
