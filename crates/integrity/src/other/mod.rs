//! Systems without mapped files yet: what a run knows ends with it.

use std::convert::Infallible;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A mapping that never exists on this system.
#[derive(Debug)]
pub(crate) struct Mapped(Infallible);

impl Mapped {
    pub(crate) fn create(_path: &Path, _bytes: u64) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn open(_path: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn bytes(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn flush(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) fn words(&self) -> &[AtomicU64] {
        match self.0 {}
    }
}

/// A part of a mapping that never exists.
#[derive(Debug)]
pub(crate) struct Part(Infallible);

impl Part {
    pub(crate) fn of(mapped: &Arc<Mapped>, _words: Range<usize>) -> Option<Self> {
        match mapped.0 {}
    }
}

impl Deref for Part {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        match self.0 {}
    }
}

pub(crate) fn identity(_path: &Path) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn is_device(_path: &Path) -> bool {
    false
}

pub(crate) fn boot() -> u64 {
    0
}
