//! Calls of Windows in the shapes that the other modules need. Nothing is opened to be read.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, GetDiskFreeSpaceExW, GetDiskFreeSpaceW, GetFinalPathNameByHandleW,
    GetVolumeInformationW, GetVolumeNameForVolumeMountPointW, GetVolumePathNameW,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{
    GetLogicalProcessorInformationEx, GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
    RelationAll,
};

/// Characters of a path or a text that is asked for.
const ROOM: usize = 33_000;
/// Room for the answer of a device: some hundred extents, or the texts of a disk.
const ANSWER_BYTES: usize = 32 << 10;

/// A text as Windows takes it.
pub(super) fn wide(text: impl AsRef<std::ffi::OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// A text as Windows gives it, up to its end.
pub(super) fn text(room: &[u16]) -> String {
    let end = room.iter().position(|c| *c == 0).unwrap_or(room.len());
    String::from_utf16_lossy(&room[..end])
}

pub(super) fn done(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A text of the registry under `HKEY_LOCAL_MACHINE`.
pub(super) fn registry(key: &str, name: &str) -> io::Result<String> {
    let (key, name) = (wide(key), wide(name));
    let mut room = vec![0_u16; 512];
    let mut bytes = 1024;
    // SAFETY: both names end in 0, and Windows writes at most `bytes`.
    let status = unsafe {
        let to = room.as_mut_ptr().cast::<c_void>();
        let (names, none) = ((key.as_ptr(), name.as_ptr()), std::ptr::null_mut());
        let machine = HKEY_LOCAL_MACHINE;
        RegGetValueW(machine, names.0, names.1, RRF_RT_REG_SZ, none, to, &raw mut bytes)
    };
    if status == 0 {
        Ok(text(&room))
    } else {
        Err(io::Error::from_raw_os_error(status.cast_signed()))
    }
}

/// The version of the system: major, minor, build.
pub(super) fn version() -> [u32; 3] {
    let length = u32::try_from(size_of::<OSVERSIONINFOW>()).unwrap_or(0);
    let mut version = OSVERSIONINFOW { dwOSVersionInfoSize: length, ..OSVERSIONINFOW::default() };
    // SAFETY: the structure is as long as it says. The call does not fail.
    unsafe { RtlGetVersion(&raw mut version) };
    [version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber]
}

/// Bytes of memory, and of that what programs can still have. A system without memory did not
/// answer: Wine says so to the second of two threads that ask at once.
pub(super) fn memory() -> io::Result<[u64; 2]> {
    let length = u32::try_from(size_of::<MEMORYSTATUSEX>()).unwrap_or(0);
    let mut status = MEMORYSTATUSEX { dwLength: length, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure is as long as it says.
    done(unsafe { GlobalMemoryStatusEx(&raw mut status) })?;
    if status.ullTotalPhys == 0 {
        return Err(io::Error::other("the system says that it has no memory"));
    }
    Ok([status.ullTotalPhys, status.ullAvailPhys])
}

/// The answer about all logical processors, as Windows gives it.
pub(super) fn processors() -> io::Result<Vec<u8>> {
    let mut bytes = 1 << 20;
    // Of 64 bits each, since the records are aligned to that.
    let mut room = vec![0_u64; 1 << 17];
    // SAFETY: Windows writes at most `bytes`, and then how many it wrote.
    done(unsafe {
        GetLogicalProcessorInformationEx(RelationAll, room.as_mut_ptr().cast(), &raw mut bytes)
    })?;
    Ok(room.iter().flat_map(|word| word.to_le_bytes()).take(bytes as usize).collect())
}

/// Where a path leads, with every link followed.
pub(super) fn final_path(path: &Path) -> io::Result<PathBuf> {
    let mut options = OpenOptions::new();
    let file = options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?;
    let mut room = vec![0_u16; ROOM];
    let size = u32::try_from(room.len()).unwrap_or(0);
    // SAFETY: Windows writes at most `size` characters.
    let length =
        unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), room.as_mut_ptr(), size, 0) };
    if length == 0 || length >= size {
        return Err(io::Error::last_os_error());
    }
    let text = text(&room);
    Ok(PathBuf::from(text.strip_prefix(r"\\?\").filter(|t| !t.starts_with("UNC")).unwrap_or(&text)))
}

/// The directory that the volume of a path is mounted on.
pub(super) fn mount_point(path: &Path) -> io::Result<PathBuf> {
    let path = wide(std::path::absolute(path)?);
    let mut room = vec![0_u16; ROOM];
    let size = u32::try_from(room.len()).unwrap_or(0);
    // SAFETY: the name ends in 0, and Windows writes at most `size` characters.
    done(unsafe { GetVolumePathNameW(path.as_ptr(), room.as_mut_ptr(), size) })?;
    Ok(PathBuf::from(text(&room)))
}

/// The name of the volume that is mounted there, such as `\\?\Volume{…}\`.
pub(super) fn volume(mount_point: &Path) -> io::Result<String> {
    let path = wide(mount_point);
    let mut room = [0_u16; 64];
    // SAFETY: the name ends in 0, and Windows writes at most 64 characters.
    done(unsafe { GetVolumeNameForVolumeMountPointW(path.as_ptr(), room.as_mut_ptr(), 64) })?;
    Ok(text(&room))
}

/// The kind of the file system that is mounted there, and its flags.
pub(super) fn file_system(mount_point: &Path) -> io::Result<(String, u32)> {
    let path = wide(mount_point);
    let (mut flags, mut name) = (0, [0_u16; 64]);
    let none = std::ptr::null_mut::<u32>();
    // SAFETY: the name ends in 0; Windows writes one number and at most 64 characters.
    done(unsafe {
        let (number, room) = (&raw mut flags, name.as_mut_ptr());
        let nothing = (none.cast(), none);
        GetVolumeInformationW(path.as_ptr(), nothing.0, 0, nothing.1, nothing.1, number, room, 64)
    })?;
    Ok((text(&name), flags))
}

/// Bytes of a cluster of the file system that is mounted there.
pub(super) fn cluster_bytes(mount_point: &Path) -> io::Result<u64> {
    let path = wide(mount_point);
    let (mut sectors, mut bytes, mut free, mut all) = (0, 0, 0, 0);
    // SAFETY: the name ends in 0, and each of the four numbers is written once.
    done(unsafe {
        let numbers = (&raw mut sectors, &raw mut bytes, &raw mut free, &raw mut all);
        GetDiskFreeSpaceW(path.as_ptr(), numbers.0, numbers.1, numbers.2, numbers.3)
    })?;
    Ok(u64::from(sectors) * u64::from(bytes))
}

/// Bytes that this user may take, all bytes, and all that are free.
pub(super) fn space(mount_point: &Path) -> io::Result<(u64, u64, u64)> {
    let path = wide(mount_point);
    let (mut available, mut whole, mut free) = (0, 0, 0);
    // SAFETY: the name ends in 0, and each of the three numbers is written once.
    done(unsafe {
        let numbers = (&raw mut available, &raw mut whole, &raw mut free);
        GetDiskFreeSpaceExW(path.as_ptr(), numbers.0, numbers.1, numbers.2)
    })?;
    Ok((available, whole, free))
}

/// What the file system answers about a file or a directory.
pub(super) fn control_file(path: &Path, code: u32) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    let file = options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?;
    control(&file, code, &[])
}

/// Opens a device or a volume only to ask it questions, which needs no rights.
pub(super) fn ask(path: &str) -> io::Result<File> {
    OpenOptions::new().access_mode(0).open(path)
}

/// Sends a control code to a device, and returns its answer.
pub(super) fn control(device: &File, code: u32, input: &[u8]) -> io::Result<Vec<u8>> {
    let mut answer = vec![0_u8; ANSWER_BYTES];
    let lengths =
        (u32::try_from(input.len()).unwrap_or(0), u32::try_from(ANSWER_BYTES).unwrap_or(0));
    let mut returned = 0;
    // SAFETY: takes a handle that is open; Windows reads and writes at most these lengths, and one
    // number.
    done(unsafe {
        let (from, to) = (input.as_ptr().cast::<c_void>(), answer.as_mut_ptr().cast::<c_void>());
        let (handle, none) = (device.as_raw_handle(), std::ptr::null_mut());
        DeviceIoControl(handle, code, from, lengths.0, to, lengths.1, &raw mut returned, none)
    })?;
    answer.truncate(returned as usize);
    Ok(answer)
}
