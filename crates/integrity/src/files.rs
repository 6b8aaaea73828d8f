//! The files with pages: how many there are, and whether they are there from the start.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ledger::{Claim, Ledger};

/// How a file begins, and whether it becomes shorter and longer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    /// Whether pages stay unwritten until a user needs them. Until then they must be zeros, so the
    /// file must be one great hole.
    pub sparse: bool,
    /// How its size changes; none if it does not.
    pub resize: Option<Resize>,
}

/// How the size of a file changes. It is never longer than its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resize {
    /// The size that it begins with.
    pub begin_bytes: u64,
    /// It becomes shorter or longer by whole steps, and is one step long at least.
    pub step_bytes: u64,
    /// The change that is made to it.
    pub change: Change,
}

/// Makes a file so many bytes long. What comes back when it becomes longer must be zeros.
#[derive(Clone)]
pub struct Change(Arc<ChangeFn>);

type ChangeFn = dyn Fn(u64) -> io::Result<()> + Send + Sync;

impl Change {
    /// What changes the size of one file.
    pub fn new(change: impl Fn(u64) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    pub(crate) fn to(&self, bytes: u64) -> io::Result<()> {
        (self.0)(bytes)
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}

impl PartialEq for Change {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Change {}

/// A file of pages, with the ledger of their versions.
#[derive(Debug)]
pub(crate) struct DataFile {
    /// Index of the target that holds the file.
    pub target: u16,
    pub path: PathBuf,
    pub page_bytes: u64,
    /// Of as many pages as there may ever be.
    pub ledger: Ledger,
    pub shape: Shape,
    /// It is where changed pages are written to before they are written in their places.
    pub is_area: bool,
    /// Whether the device reads writes directly from the program's memory, without a copy by the
    /// operating system.
    pub is_direct: bool,
    /// A read of a page that is in doubt, because a write has failed or was under way when a run
    /// was killed, shows what stays there.
    ///
    /// That write is over: a reader has claimed the page, an I/O that has returned does nothing any
    /// more, and a file of a run that was killed is opened only when nobody has it open any more,
    /// not even the kernel for that run's last I/Os. Two cases are left out. A write through the
    /// cache of the operating system that fails may leave the new version in the cache and the old
    /// one on the media, and that comes back when the cache forgets the other. And nobody can tell
    /// when the last I/Os of a killed run on a whole device are done.
    pub settles: bool,
    /// How many pages there are now.
    pages: AtomicU64,
}

impl DataFile {
    /// A file as it is before the first phase, or as one that was killed left it.
    pub(crate) fn new(
        target: u16,
        path: PathBuf,
        page_bytes: u64,
        ledger: Ledger,
        shape: Shape,
        is_resumed: bool,
    ) -> Self {
        let all = ledger.pages();
        let begin = shape.resize.as_ref().map_or(all, |r| (r.begin_bytes / page_bytes).min(all));
        let zeros = if shape.sparse { 0 } else { begin };
        let new = if is_resumed { all } else { zeros };
        (new..all).for_each(|page| ledger.cut(page));
        let pages = AtomicU64::new(begin);
        let (is_area, is_direct, settles) = (false, false, false);
        Self { target, path, page_bytes, ledger, shape, is_area, is_direct, settles, pages }
    }

    /// The offset at which a page begins.
    pub(crate) fn offset(&self, page: u64) -> u64 {
        page.saturating_mul(self.page_bytes)
    }

    /// How many pages there are now. A thread that shortens the file lowers this before it claims
    /// the pages to remove, and a thread that claims a page looks here after that: one of the two
    /// sees the other.
    pub(crate) fn pages(&self) -> u64 {
        self.pages.load(Ordering::SeqCst)
    }

    pub(crate) fn set_pages(&self, pages: u64) {
        self.pages.store(pages, Ordering::SeqCst);
    }

    /// Claims a page, if nobody else has it and the file reaches to it.
    pub(crate) fn claim(&self, page: u64) -> Option<Claim> {
        let claim = self.ledger.claim(page)?;
        if page < self.pages() {
            return Some(claim);
        }
        self.ledger.release(&claim);
        None
    }

    /// Gives a page back that was read and holds what it should, all of it in this version. Whether
    /// it was in doubt until now.
    pub(crate) fn read(&self, claim: &Claim, version: u32) -> bool {
        let settles = claim.unsure && self.settles;
        if settles {
            self.ledger.settled(claim, version);
        } else {
            self.ledger.release(claim);
        }
        settles
    }

    /// Pages of a step, where its size changes.
    pub(crate) fn step(&self) -> Option<u64> {
        let resize = self.shape.resize.as_ref()?;
        Some((resize.step_bytes / self.page_bytes).max(1))
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
