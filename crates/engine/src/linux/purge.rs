//! Purging: a device forgets its content, as if it had never been written.

#![expect(unsafe_code, reason = "a discard is asked for by an ioctl that carries an address")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileTypeExt as _;

/// `_IO(0x12, 119)`: discards a range of a block device.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Discards the first bytes of an open block device. Returns `false` for anything that is not a
/// block device, and for a device that does not support discard.
pub(crate) fn purge(file: &File, bytes: u64) -> io::Result<bool> {
    if !file.metadata()?.file_type().is_block_device() {
        return Ok(false);
    }
    // The same device, whatever its name means by now, and open for writing.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let device = OpenOptions::new().write(true).open(path)?;
    let range = [0u64, bytes];
    // SAFETY: the kernel reads two 64-bit numbers at the address and keeps nothing of it.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD, std::ptr::from_ref(&range)) };
    if result == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::EINVAL | libc::ENOTTY) => Ok(false),
        _ => Err(error),
    }
}
