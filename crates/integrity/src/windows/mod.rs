//! What Windows says about the file of a ledger.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_ID_INFO, FILE_READ_ATTRIBUTES, FileIdInfo,
    GetFileInformationByHandleEx,
};

/// The page that Windows shows to every process, and where it keeps the number of its start.
const SHARED_DATA: usize = 0x7FFE_0000;
const BOOT_ID: usize = 0x2C4;

/// Windows removes no file that is mapped.
pub(crate) const REMOVES_FILES_IN_USE: bool = false;

/// Takes the space of so many zeros: a file that is not sparse has it as soon as it is so long.
pub(crate) fn take_space(file: &File, bytes: u64) -> io::Result<()> {
    file.set_len(bytes)
}

/// What tells a file from another that later has its name.
pub(crate) fn identity(path: &Path) -> io::Result<String> {
    let mut options = OpenOptions::new();
    let flags = FILE_FLAG_BACKUP_SEMANTICS;
    let file = options.access_mode(FILE_READ_ATTRIBUTES).custom_flags(flags).open(path)?;
    let mut answer = FILE_ID_INFO::default();
    let bytes = u32::try_from(size_of::<FILE_ID_INFO>()).unwrap_or(0);
    // SAFETY: Windows writes at most `bytes` to `answer`, which is the structure of that class.
    let result = unsafe {
        let room = (&raw mut answer).cast::<c_void>();
        GetFileInformationByHandleEx(file.as_raw_handle(), FileIdInfo, room, bytes)
    };
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    let number = u128::from_le_bytes(answer.FileId.Identifier);
    Ok(format!("file {number} of volume {:x}", answer.VolumeSerialNumber))
}

/// Devices are refused by their names.
pub(crate) fn is_device(_path: &Path) -> bool {
    false
}

/// What tells this start of the machine from another; 0 where nobody knows.
pub(crate) fn boot() -> u64 {
    // SAFETY: every process of Windows may read this page, which is always there. The number is
    // aligned and does not change.
    u64::from(unsafe {
        std::ptr::with_exposed_provenance::<u32>(SHARED_DATA + BOOT_ID).read_volatile()
    })
}
