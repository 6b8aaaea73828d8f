//! Writing out what the page cache holds of a target.
#![expect(unsafe_code, reason = "sync_file_range has no safe wrapper")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// A step of writing out. The caller may end it after each, which `fsync` does not allow: it takes
/// minutes where gigabytes are cached.
const STEP_BYTES: u32 = 8 << 20;

/// Writes out the cached pages of a file, while `goes_on`. An error, with its offset, tells of
/// pages that are lost: those of now, and those that the kernel could not write since the file was
/// opened.
pub(crate) fn write_out(
    file: &File,
    size_bytes: u64,
    goes_on: impl Fn() -> bool,
) -> Result<(), (u64, io::Error)> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    for offset in (0..size_bytes).step_by(STEP_BYTES as usize) {
        if !goes_on() {
            break;
        }
        let from = i64::try_from(offset).unwrap_or(i64::MAX);
        // SAFETY: the call takes numbers only.
        let result =
            unsafe { libc::sync_file_range(file.as_raw_fd(), from, i64::from(STEP_BYTES), flags) };
        if result == 0 {
            continue;
        }
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            // No file with a page cache, such as /dev/null.
            Some(libc::ESPIPE | libc::EINVAL | libc::ENOSYS) => Ok(()),
            _ => Err((offset, error)),
        };
    }
    Ok(())
}
