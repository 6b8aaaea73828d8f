//! What the system says about the file of a ledger.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// A mapped file can be removed, and is memory for as long as it is used.
pub(crate) const REMOVES_FILES_IN_USE: bool = true;

/// Takes the space of so many zeros.
pub(crate) fn take_space(file: &File, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
        // Without such a call, the space is taken by writing.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(file, bytes),
        made => made.map_err(io::Error::from),
    }
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
