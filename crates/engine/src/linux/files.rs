//! Questions about files and file systems.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation, StatVfsMountFlags};
use rustix::io::Errno;
use workload::Bytes;

use super::extents;
use crate::prepared::Refusal;
use crate::targets::{Node, Space};

/// The character devices that can be targets, by their number: null, zero, full.
const MEMORY_DEVICES: [(u32, u32); 3] = [(1, 3), (1, 5), (1, 7)];

/// Opens a file or device that iosonde did not make. The kernel refuses to open a device
/// exclusively if it is mounted or in use by another device.
pub(crate) fn open_foreign(path: &Path, writes: bool, device: bool) -> io::Result<File> {
    let flags = if writes && device { libc::O_EXCL } else { 0 };
    OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path)
}

/// Opens a file or device only to look at it. Never waits, even if the name leads to a pipe by now.
pub(crate) fn open_to_look(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// What a file that exists is.
pub(crate) fn node(metadata: &Metadata) -> Node {
    let kind = metadata.file_type();
    let number = metadata.rdev();
    if kind.is_file() {
        return Node::File;
    }
    if kind.is_block_device() {
        return Node::Block(number);
    }
    let number = (rustix::fs::major(number), rustix::fs::minor(number));
    match (kind.is_char_device(), kind.is_socket()) {
        (true, _) if MEMORY_DEVICES.contains(&number) => Node::Endless,
        (true, _) => Node::Other("a character device"),
        (_, true) => Node::Other("a socket"),
        _ => Node::Other("a pipe"),
    }
}

/// Bytes that a file really takes: one that was left half-filled takes fewer than it is long.
pub(crate) fn allocated(_: &Path, metadata: &Metadata) -> u64 {
    metadata.blocks().saturating_mul(512)
}

/// How many names a file has.
pub(crate) fn names(_: &File, metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// Where an open file is now, with every link followed.
pub(crate) fn real_path(_: &Path, file: &File) -> PathBuf {
    let name = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    fs::read_link(&name).unwrap_or(name)
}

/// What distinguishes the file system of a file from others.
pub(crate) fn volume(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|m| m.dev())
}

/// The space of the file system that a directory is on.
pub(crate) fn space(directory: &Path) -> io::Result<Space> {
    let fs = rustix::fs::statvfs(directory)?;
    let bytes = |blocks: u64| blocks.saturating_mul(fs.f_frsize);
    Ok(Space {
        available: bytes(fs.f_bavail),
        used: bytes(fs.f_blocks.saturating_sub(fs.f_bfree)),
        whole: bytes(fs.f_blocks),
        read_only: fs.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

/// Locks a test file as long as it is open; false where another process has it locked. Where the
/// file system has no locks there is nothing to wait for.
pub(crate) fn lock(file: &File) -> bool {
    let locked = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
    locked != Err(Errno::WOULDBLOCK)
}

/// Whether another process works on this test file. File systems without locks have no answer.
pub(crate) fn is_locked(path: &Path) -> bool {
    open_to_look(path).is_ok_and(|file| !lock(&file))
}

/// Takes the space of a file's first bytes at once, where the file system can.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    allocate(file, FallocateFlags::empty(), 0, bytes)
}

/// The same past the end of a file, whose length does not change.
pub(crate) fn reserve_beyond(file: &File, end: u64, more: u64) -> io::Result<()> {
    allocate(file, FallocateFlags::KEEP_SIZE, end, more)
}

fn allocate(file: &File, flags: FallocateFlags, from: u64, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, flags, from, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Fills a buffer from an offset.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Writes all of a buffer at an offset.
pub(crate) fn write_all_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(buffer, offset)
}

/// Whether the file system keeps a test file as it is written. Here all do.
#[expect(clippy::unnecessary_wraps, reason = "other systems have those that do not")]
pub(crate) fn check_plain(_: &Path, _: Option<&File>) -> Result<(), Refusal> {
    Ok(())
}

/// What a user should know of a file that is read: parts of it are not really there.
pub(crate) fn warnings(path: &Path, file: &File, size_bytes: u64) -> Option<String> {
    let is_file = file.metadata().is_ok_and(|m| m.is_file());
    let missing = extents::missing_bytes(file, size_bytes).filter(|m| is_file && *m > 0)?;
    let percent = 100.0 * missing as f64 / size_bytes.max(1) as f64;
    Some(format!(
        "{percent:.1} % of `{}` ({}) are holes or were never written: reading them measures \
         nothing; let iosonde make a test file, or write the file first",
        path.display(),
        Bytes(missing)
    ))
}
