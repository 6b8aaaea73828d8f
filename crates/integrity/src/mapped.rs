//! A mapped file: memory that outlives a killed run.
#![expect(unsafe_code, reason = "memory that is a file")]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use inspect::files::{Access, Draft, Place, Readers};
use memmap2::{MmapOptions, MmapRaw};

use crate::platform;

/// A file that is memory, and that nobody else uses meanwhile.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: MmapRaw,
    /// Comes last: a system may remove no file that is mapped.
    named: Named,
}

/// The file, open and locked, and its name.
#[derive(Debug)]
struct Named {
    place: Place,
    file: File,
    /// The file goes when this is dropped.
    goes: AtomicBool,
}

impl Drop for Named {
    fn drop(&mut self) {
        if self.goes.load(Ordering::Relaxed) {
            // Nobody is left who could be told.
            let _ = self.place.remove(&self.file);
        }
    }
}

impl Mapped {
    /// Makes a file of so many zeros; a file of that name must not exist. Its space is taken at
    /// once: memory without a place to go to would end the program.
    pub(crate) fn create(path: &Path, bytes: u64) -> io::Result<Self> {
        let place = Place::of(path)?;
        let draft = Draft::of(&place, Readers::Owner)?;
        platform::take_space(draft.file(), bytes)?;
        let file = draft.into_file()?;
        let named = Named { place, file, goes: AtomicBool::new(true) };
        let mapped = Self::of(named)?;
        mapped.named.goes.store(false, Ordering::Relaxed);
        Ok(mapped)
    }

    /// Takes a file that is there. The caller recognises it before writing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let place = Place::of(path)?;
        let file = place.open(Access::Write)?;
        Self::of(Named { place, file, goes: AtomicBool::new(false) })
    }

    fn of(named: Named) -> io::Result<Self> {
        if !Place::lock(&named.file) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        if named.file.metadata()?.len() == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let map = MmapOptions::new().map_raw(&named.file)?;
        Ok(Self { map, named })
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
    pub(crate) fn remove(&self) -> io::Result<()> {
        if platform::REMOVES_FILES_IN_USE {
            return self.named.place.remove(&self.named.file).map(|_| ());
        }
        self.named.goes.store(true, Ordering::Relaxed);
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
