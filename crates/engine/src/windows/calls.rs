//! Calls of Windows in the shapes that the other modules need.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALLOCATION_INFO, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS, FILE_IO_PRIORITY_HINT_INFO,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STANDARD_INFO, FILE_STORAGE_INFO,
    FileAllocationInfo, FileIdInfo, FileIoPriorityHintInfo, FileStandardInfo, FileStorageInfo,
    GetCompressedFileSizeW, GetDiskFreeSpaceExW, GetDiskFreeSpaceW, GetFileInformationByHandleEx,
    GetFinalPathNameByHandleW, GetVolumeInformationW, GetVolumePathNameW, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, ReOpenFile, SetFileInformationByHandle,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, OVERLAPPED};

/// The byte that is locked: far beyond the end of every file, since a lock on Windows keeps all
/// other handles from reading and writing what it covers.
const LOCKED_BYTE: u64 = 1 << 62;
const FSCTL_SET_COMPRESSION: u32 = 0x0009_C040;
const FSCTL_GET_INTEGRITY_INFORMATION: u32 = 0x0009_027C;
/// Room for that answer, and for what a later Windows may add to it.
const INTEGRITY_BYTES: usize = 64;
/// Characters of a path that is asked for.
const PATH_ROOM: usize = 33_000;

/// A path as Windows takes it.
pub(super) fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

fn done(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// # Safety
/// `T` is the structure of plain numbers that Windows fills for this class.
unsafe fn query<T: Default>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let mut answer = T::default();
    let bytes = u32::try_from(size_of::<T>()).unwrap_or(0);
    // SAFETY: Windows writes at most `bytes` to `answer`.
    done(unsafe {
        let room = (&raw mut answer).cast::<c_void>();
        GetFileInformationByHandleEx(file.as_raw_handle(), class, room, bytes)
    })?;
    Ok(answer)
}

/// # Safety
/// `T` is the structure that Windows reads for this class.
unsafe fn set<T>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS, value: &T) -> io::Result<()> {
    let bytes = u32::try_from(size_of::<T>()).unwrap_or(0);
    // SAFETY: Windows reads `bytes` of `value`.
    done(unsafe {
        let value = std::ptr::from_ref(value).cast::<c_void>();
        SetFileInformationByHandle(file.as_raw_handle(), class, value, bytes)
    })
}

/// Opens an open file once more, with other rights and flags. Windows takes the same file, whatever
/// its name means by now. Wine uses the name, so the file is checked before use.
pub(super) fn reopen(file: &File, rights: u32, flags: u32) -> io::Result<File> {
    let again = open_again(file, rights, flags)?;
    if identity(&again)? == identity(file)? {
        Ok(again)
    } else {
        Err(io::Error::other("it was replaced by another file"))
    }
}

fn open_again(file: &File, rights: u32, flags: u32) -> io::Result<File> {
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    // SAFETY: takes a handle that is open and plain numbers; the new handle is owned by the file.
    unsafe {
        let handle = ReOpenFile(file.as_raw_handle(), rights, share, flags);
        if handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from_raw_handle(handle))
    }
}

/// The volume and the number of an open file, which no other has.
pub(super) fn identity(file: &File) -> io::Result<(u64, [u8; 16])> {
    // SAFETY: the structure is that of the class.
    let answer: FILE_ID_INFO = unsafe { query(file, FileIdInfo)? };
    Ok((answer.VolumeSerialNumber, answer.FileId.Identifier))
}

/// How many names an open file has.
pub(super) fn names(file: &File) -> io::Result<u32> {
    // SAFETY: the structure is that of the class.
    let answer: FILE_STANDARD_INFO = unsafe { query(file, FileStandardInfo)? };
    Ok(answer.NumberOfLinks)
}

/// Bytes of a logical sector of the device under an open file.
pub(super) fn sector_bytes(file: &File) -> io::Result<u32> {
    // SAFETY: the structure is that of the class.
    let answer: FILE_STORAGE_INFO = unsafe { query(file, FileStorageInfo)? };
    Ok(answer.LogicalBytesPerSector)
}

/// The same as the file system of a path says it.
pub(super) fn sector_bytes_of_volume(path: &Path) -> io::Result<u32> {
    let root = volume_root(path)?;
    let (mut sectors, mut bytes, mut free, mut all) = (0, 0, 0, 0);
    // SAFETY: the name ends in 0, and each of the four numbers is written once.
    done(unsafe {
        let numbers = (&raw mut sectors, &raw mut bytes, &raw mut free, &raw mut all);
        GetDiskFreeSpaceW(root.as_ptr(), numbers.0, numbers.1, numbers.2, numbers.3)
    })?;
    Ok(bytes)
}

/// Takes space for an open file.
pub(super) fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    // SAFETY: the structure is that of the class.
    unsafe { set(file, FileAllocationInfo, &FILE_ALLOCATION_INFO { AllocationSize: bytes }) }
}

/// How the I/O of an open file is ranked.
pub(super) fn set_priority(file: &File, hint: i32) -> io::Result<()> {
    // SAFETY: the structure is that of the class.
    unsafe { set(file, FileIoPriorityHintInfo, &FILE_IO_PRIORITY_HINT_INFO { PriorityHint: hint }) }
}

/// Locks a file as long as this handle is open; false where another handle has it locked. Where the
/// file system has no locks there is nothing to wait for.
pub(super) fn lock(file: &File) -> bool {
    let mut place = OVERLAPPED::default();
    // SAFETY: takes a handle that is open, and a structure that lives until the call returns; the
    // handle is not for overlapped I/O, so the call does not return before it is done.
    let result = unsafe {
        place.Anonymous.Anonymous.OffsetHigh = u32::try_from(LOCKED_BYTE >> 32).unwrap_or(0);
        let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
        LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place)
    };
    let violated = Some(ERROR_LOCK_VIOLATION.cast_signed());
    result != 0 || io::Error::last_os_error().raw_os_error() != violated
}

/// Where an open file is, with every link followed and in long names.
pub(super) fn final_path(file: &File) -> io::Result<PathBuf> {
    let mut room = vec![0_u16; PATH_ROOM];
    let size = u32::try_from(room.len()).unwrap_or(0);
    // SAFETY: Windows writes at most `size` characters.
    let length = unsafe {
        GetFinalPathNameByHandleW(file.as_raw_handle(), room.as_mut_ptr(), size, 0) as usize
    };
    match room.get(..length) {
        Some(path) if length > 0 => Ok(PathBuf::from(String::from_utf16_lossy(path))),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The root of the volume that a path is on, as Windows takes it.
fn volume_root(path: &Path) -> io::Result<Vec<u16>> {
    let path = wide(&std::path::absolute(path)?);
    let mut room = vec![0_u16; PATH_ROOM];
    let size = u32::try_from(room.len()).unwrap_or(0);
    // SAFETY: the name ends in 0, and Windows writes at most `size` characters.
    done(unsafe { GetVolumePathNameW(path.as_ptr(), room.as_mut_ptr(), size) })?;
    Ok(room)
}

/// Flags of the file system that a path is on.
pub(super) fn volume_flags(path: &Path) -> io::Result<u32> {
    let root = volume_root(path)?;
    let mut flags = 0;
    let none = std::ptr::null_mut();
    // SAFETY: the name ends in 0; of all answers, only the flags are asked for.
    done(unsafe {
        let number = &raw mut flags;
        GetVolumeInformationW(root.as_ptr(), none, 0, none.cast(), none.cast(), number, none, 0)
    })?;
    Ok(flags)
}

/// Bytes that this user may take of the file system of a directory, all of its bytes, and all that
/// are free.
pub(super) fn free_space(directory: &Path) -> io::Result<(u64, u64, u64)> {
    let directory = wide(directory);
    let (mut available, mut whole, mut free) = (0, 0, 0);
    // SAFETY: the name ends in 0, and each of the three numbers is written once.
    done(unsafe {
        let numbers = (&raw mut available, &raw mut whole, &raw mut free);
        GetDiskFreeSpaceExW(directory.as_ptr(), numbers.0, numbers.1, numbers.2)
    })?;
    Ok((available, whole, free))
}

/// Bytes that a file takes on its volume.
pub(super) fn allocated(path: &Path) -> Option<u64> {
    let path = wide(path);
    let mut high = 0;
    // SAFETY: the name ends in 0, and one number is written.
    let low = unsafe { GetCompressedFileSizeW(path.as_ptr(), &raw mut high) };
    let failed = low == u32::MAX && io::Error::last_os_error().raw_os_error() != Some(0);
    (!failed).then(|| u64::from(high) << 32 | u64::from(low))
}

/// What the file system answers when it is asked for the checksums of an open file; fewer bytes
/// where it keeps none.
pub(super) fn integrity(file: &File) -> io::Result<Vec<u8>> {
    let (mut answer, mut returned) = (vec![0_u8; INTEGRITY_BYTES], 0);
    let room = u32::try_from(answer.len()).unwrap_or(0);
    // SAFETY: Windows writes at most `room` bytes and one number.
    done(unsafe {
        let (input, none) = (std::ptr::null(), std::ptr::null_mut());
        let (handle, output) = (file.as_raw_handle(), answer.as_mut_ptr().cast::<c_void>());
        let code = FSCTL_GET_INTEGRITY_INFORMATION;
        DeviceIoControl(handle, code, input, 0, output, room, &raw mut returned, none)
    })?;
    answer.truncate(returned as usize);
    Ok(answer)
}

/// Writes of this file are not compressed from now on.
pub(super) fn do_not_compress(file: &File) -> io::Result<()> {
    let (format, mut returned) = (0_u16, 0);
    // SAFETY: Windows reads two bytes and writes one number.
    done(unsafe {
        let input = (&raw const format).cast::<c_void>();
        let (output, none) = (std::ptr::null_mut(), std::ptr::null_mut());
        let code = FSCTL_SET_COMPRESSION;
        DeviceIoControl(file.as_raw_handle(), code, input, 2, output, 0, &raw mut returned, none)
    })
}
