//! A mapped file: memory that outlives a killed run.
#![expect(unsafe_code, reason = "memory that is a file")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, FlockOperation, OFlags};
use rustix::io::Errno;

/// A file that is memory, and that nobody else uses meanwhile.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: MmapRaw,
    /// The open file, which holds the lock.
    _file: File,
}

impl Mapped {
    /// Makes a file of so many zeros; a file of that name must not exist. Its space is taken at
    /// once: memory without a place to go to would end the program.
    pub(crate) fn create(path: &Path, bytes: u64) -> io::Result<Self> {
        let file = options().create_new(true).open(path)?;
        let made = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes);
        let made = match made {
            // Without such a call, the space is taken by writing.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(&file, bytes),
            made => made.map_err(io::Error::from),
        };
        made.and_then(|()| Self::of(file)).inspect_err(|_| {
            // It was made a moment ago and holds nothing.
            let _ = fs::remove_file(path);
        })
    }

    /// Takes a file that is there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::of(options().open(path)?)
    }

    fn of(file: File) -> io::Result<Self> {
        let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        // Where the file system has no locks there is nobody to ask.
        if locked == Err(Errno::WOULDBLOCK) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        if file.metadata()?.len() == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let map = MmapOptions::new().map_raw(&file)?;
        Ok(Self { map, _file: file })
    }

    /// Its length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Has everything written to the file's media.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.map.flush()
    }

    /// The whole mapping as words.
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

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    options.read(true).write(true).mode(0o600).custom_flags(flags);
    options
}

fn write_zeros(mut file: &File, bytes: u64) -> io::Result<()> {
    io::copy(&mut io::repeat(0).take(bytes), &mut file).map(|_| ())
}

/// Whether it is a whole device, and no file on one.
pub(crate) fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// What tells a file from another that later has its name.
pub(crate) fn identity(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if metadata.file_type().is_block_device() {
        return Ok(format!("device {}", metadata.rdev()));
    }
    Ok(format!("file {}", metadata.ino()))
}

/// What tells this start of the machine from another; 0 where nobody knows.
pub(crate) fn boot() -> u64 {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    u64::from_str_radix(&digits, 16).unwrap_or(0)
}
