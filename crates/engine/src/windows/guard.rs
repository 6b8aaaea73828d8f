//! Whose data it is: what must never be written to, whatever the user says.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;

use crate::prepared::Refusal;
use crate::windows_names::{is_of_system, problem};

/// How long to wait before a file is looked at again.
const STEP: Duration = Duration::from_millis(10);

/// Refuses names that mean something else than they say, and raw drives and volumes.
pub(crate) fn check_name(path: &Path) -> Result<(), Refusal> {
    match problem(&path.to_string_lossy()) {
        Some(problem) => Err(Refusal::Name { path: path.to_owned(), problem }),
        None => Ok(()),
    }
}

/// Windows has no directory of devices.
pub(crate) fn is_of_devices(_: &Path) -> bool {
    false
}

/// Devices are refused by their names.
#[expect(clippy::unnecessary_wraps, reason = "other systems have devices that nobody uses")]
pub(crate) fn device_usage(_: u64) -> Option<String> {
    Some("a device, which this version does not use on Windows".to_owned())
}

/// Other names of a file are names of links, which are followed before.
pub(crate) fn other_paths(_: &File, _: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// Devices are refused by their names.
pub(crate) fn backing_files(_: u64) -> Vec<PathBuf> {
    Vec::new()
}

/// The same.
pub(crate) fn used_below(_: u64) -> Option<String> {
    None
}

/// The same.
pub(crate) fn disk_of(_: u64) -> Option<PathBuf> {
    None
}

/// Windows has no layers through which another program would have the file open unseen.
pub(crate) fn opened_through_layer(_: &File) -> Option<String> {
    None
}

/// Whether a file is swapped to.
pub(crate) fn is_swap_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| is_of_system(&name.to_string_lossy()))
}

/// Always false: Windows cannot tell for an open file, so [`held`] checks before.
pub(crate) fn is_open_elsewhere(_: &File) -> bool {
    false
}

/// Which other program has a file open: Windows opens it for one program alone only if no other has
/// it.
pub(crate) fn held(path: &Path) -> Option<String> {
    let alone = OpenOptions::new().read(true).share_mode(0).open(path);
    is_shared(alone.err()?.raw_os_error()).then(|| "open elsewhere, in a program".to_owned())
}

fn is_shared(error: Option<i32>) -> bool {
    error == Some(ERROR_SHARING_VIOLATION.cast_signed())
}

/// Whether a file that an earlier run used is still open in it.
pub(crate) fn is_left_open(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().read(true).share_mode(0).open(path) {
        Ok(_) => Ok(false),
        Err(error) if is_shared(error.raw_os_error()) => {
            std::thread::sleep(STEP);
            Ok(true)
        }
        Err(error) => Err(error),
    }
}
