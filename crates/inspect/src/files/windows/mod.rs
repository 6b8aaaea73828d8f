//! Names in an open directory, as Windows looks them up. While a directory is open here, neither it
//! nor any directory above it can be renamed or replaced, so its path keeps its meaning.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::{OsStr, OsString, c_void};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::mem::offset_of;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::windows::io::{AsHandle as _, AsRawHandle as _};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_APPEND_DATA, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_DISPOSITION_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_ID_INFO,
    FILE_INFO_BY_HANDLE_CLASS, FILE_READ_ATTRIBUTES, FILE_RENAME_INFO, FILE_SHARE_READ,
    FILE_SHARE_WRITE, FILE_STANDARD_INFO, FileDispositionInfo, FileIdInfo, FileRenameInfo,
    FileStandardInfo, GetFileInformationByHandleEx, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, MoveFileExW, SetFileInformationByHandle,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::draft::Readers;
use super::place::{Access, FileId, Place};

/// A directory that keeps its path for as long as it is open.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    _open: File,
}

impl Directory {
    /// Opens a directory. Nobody may rename or remove it meanwhile.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut how = OpenOptions::new();
        how.access_mode(GENERIC_READ).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
        let open = how.custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?;
        if !open.metadata()?.is_dir() {
            return Err(io::Error::other("its directory is not a directory"));
        }
        // The working directory may change; this path does not.
        Ok(Self { path: std::path::absolute(path)?, _open: open })
    }

    /// The path of a name. A colon would name a stream of another file.
    fn path(&self, name: &OsStr) -> io::Result<PathBuf> {
        if name.as_encoded_bytes().contains(&b':') {
            let text = "its name has a colon, and would be a stream of another file";
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        Ok(self.path.join(name))
    }

    /// Opens an existing file; the caller checks what it is.
    pub(super) fn open_file(&self, name: &OsStr, access: Access) -> io::Result<File> {
        let rights = match access {
            Access::Read => GENERIC_READ,
            Access::Write => GENERIC_READ | GENERIC_WRITE | DELETE,
            Access::Append => GENERIC_READ | FILE_APPEND_DATA,
            Access::Remove => GENERIC_READ | DELETE,
        };
        let mut how = OpenOptions::new();
        // A directory opens too, so that the check can say that it is one.
        let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
        how.read(true).access_mode(rights).custom_flags(flags).open(self.path(name)?)
    }

    /// Makes a file; nothing may have its name. What others may do with it follows from its
    /// directory.
    pub(super) fn create(&self, name: &OsStr, _: Readers) -> io::Result<File> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).create_new(true);
        how.access_mode(GENERIC_READ | GENERIC_WRITE | DELETE);
        how.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.path(name)?)
    }

    /// What has this name now, if anything; a link is what it is, and not followed.
    pub(super) fn id_of(&self, name: &OsStr) -> io::Result<Option<FileId>> {
        let mut how = OpenOptions::new();
        let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
        match how.access_mode(FILE_READ_ATTRIBUTES).custom_flags(flags).open(self.path(name)?) {
            Ok(file) => id(&file).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Renames what has the first name, unless something has the second.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let wide =
            |path: PathBuf| -> Vec<u16> { path.as_os_str().encode_wide().chain([0]).collect() };
        let (from, to) = (wide(self.path(from)?), wide(self.path(to)?));
        // SAFETY: both names end in 0. Without a flag, nothing is replaced.
        done(unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), 0) })
    }

    /// The same for an open file, which stays usable. It is the open file that gets the name,
    /// whatever has the first one by now.
    pub(super) fn rename_open(&self, file: &File, _: &OsStr, to: &OsStr) -> io::Result<()> {
        let name: Vec<u16> = self.path(to)?.as_os_str().encode_wide().chain([0]).collect();
        let bytes = offset_of!(FILE_RENAME_INFO, FileName) + size_of_val(name.as_slice());
        let too_long = |_| io::Error::from(ErrorKind::InvalidFilename);
        let (length, size) = (u32::try_from(bytes), u32::try_from(size_of_val(&name[1..])));
        let (length, size) = (length.map_err(too_long)?, size.map_err(too_long)?);
        // Whole words, so that the structure is aligned; zeros stand for a name that replaces
        // nothing, and for no other directory.
        let mut room = vec![0_u64; bytes.div_ceil(size_of::<u64>())];
        let info = room.as_mut_ptr().cast::<FILE_RENAME_INFO>();
        // SAFETY: the room is aligned, and has space for the structure with the name at its end,
        // which ends in 0.
        done(unsafe {
            (*info).FileNameLength = size;
            let to = (&raw mut (*info).FileName).cast::<u16>();
            std::ptr::copy_nonoverlapping(name.as_ptr(), to, name.len());
            SetFileInformationByHandle(file.as_raw_handle(), FileRenameInfo, info.cast(), length)
        })
    }

    /// Windows cannot let two files change names at once.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "other systems can, and may fail"
    )]
    pub(super) fn exchange(&self, _: &OsStr, _: &OsStr) -> io::Result<bool> {
        Ok(false)
    }

    /// Removes a name that is private to this program: the file goes with its last handle.
    pub(super) fn unlink(&self, name: &OsStr, file: &File) -> io::Result<()> {
        let named = self.open_file(name, Access::Remove)?;
        if id(&named)? != id(file)? {
            return Err(io::Error::other("another program has taken its private name"));
        }
        remove_on_close(&named)
    }

    /// The first names in it, no more than `most`.
    pub(super) fn names(&self, most: usize) -> io::Result<Vec<OsString>> {
        let names = std::fs::read_dir(&self.path)?.flatten().take(most);
        Ok(names.map(|entry| entry.file_name()).collect())
    }

    /// Windows writes names to the media by itself.
    #[expect(clippy::unused_self, reason = "other systems have to be told")]
    pub(super) fn sync(&self) {}

    /// Refuses an open file that is not simply a file of this directory.
    #[expect(clippy::unused_self, reason = "other systems compare both")]
    pub(super) fn check(&self, file: &File) -> io::Result<()> {
        let attributes = file.metadata()?.file_attributes();
        if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
            let text = "it is a link or another reparse point, and those are not followed";
            return Err(io::Error::other(text));
        }
        if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 {
            return Err(io::Error::other("it is a directory"));
        }
        // SAFETY: the structure is that of the class.
        let standard: FILE_STANDARD_INFO = unsafe { query(file, FileStandardInfo)? };
        if standard.NumberOfLinks > 1 {
            let names = standard.NumberOfLinks;
            return Err(io::Error::other(format!(
                "it is one file with {names} names (hard links), and only one was given"
            )));
        }
        Ok(())
    }
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

/// What tells an open file from every other one of its directory. The volume is left out: links
/// and mount points are not followed, so it is that of the directory, and Wine does not know it for
/// a file that was renamed since it was opened.
pub(super) fn id(file: &File) -> io::Result<FileId> {
    // SAFETY: the structure is that of the class.
    let answer: FILE_ID_INFO = unsafe { query(file, FileIdInfo)? };
    Ok(FileId { volume: 0, number: u128::from_le_bytes(answer.FileId.Identifier) })
}

/// Who owns a file is not asked: what this user may not change, Windows keeps from being changed.
pub(super) fn is_own(_: &Metadata) -> bool {
    true
}

/// The byte that is locked: far beyond the end of every file, since a lock on Windows keeps all
/// other handles from reading and writing what it covers.
const LOCKED_BYTE: u64 = 1 << 62;

/// Locks a file for as long as it is open; `false` where another handle has it locked.
pub(super) fn lock(file: &File) -> io::Result<bool> {
    let mut at = OVERLAPPED::default();
    let [high, low] = [LOCKED_BYTE >> 32, LOCKED_BYTE & 0xFFFF_FFFF];
    at.Anonymous.Anonymous.OffsetHigh = u32::try_from(high).unwrap_or(0);
    at.Anonymous.Anonymous.Offset = u32::try_from(low).unwrap_or(0);
    let how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open, and the structure lives until the call returns, which it does at
    // once.
    let locked = unsafe { LockFileEx(file.as_raw_handle(), how, 0, 1, 0, &raw mut at) };
    match done(locked) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION.cast_signed()) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A draft that is open needs no lock: nobody can open it alone.
pub(super) fn lock_draft(_: &File) {}

/// Removes a file that a killed program left: nobody has it open, and `is_ours` recognises it.
pub(super) fn remove_left(place: &Place, is_ours: impl FnOnce(&File) -> bool) -> io::Result<()> {
    let mut how = OpenOptions::new();
    how.read(true).access_mode(GENERIC_READ | DELETE).share_mode(0);
    how.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    let alone = how.open(place.directory.path(&place.name)?)?;
    place.directory.check(&alone)?;
    if is_ours(&alone) { remove_on_close(&alone) } else { Ok(()) }
}

/// The file goes when its last handle is closed.
fn remove_on_close(file: &File) -> io::Result<()> {
    let info = FILE_DISPOSITION_INFO { DeleteFile: true };
    let bytes = u32::try_from(size_of::<FILE_DISPOSITION_INFO>()).unwrap_or(0);
    // SAFETY: Windows reads `bytes` of the structure, which is that of the class.
    done(unsafe {
        let info = std::ptr::from_ref(&info).cast::<c_void>();
        SetFileInformationByHandle(file.as_raw_handle(), FileDispositionInfo, info, bytes)
    })
}

/// Opens what a path stands for as a stream; `None` for every other path.
pub(super) fn stream(path: &Path) -> io::Result<Option<File>> {
    if path == Path::new("-") {
        return Ok(Some(File::from(io::stdout().as_handle().try_clone_to_owned()?)));
    }
    if path.as_os_str().eq_ignore_ascii_case("NUL") {
        return Ok(Some(OpenOptions::new().write(true).open(path)?));
    }
    Ok(None)
}
