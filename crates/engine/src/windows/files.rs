//! Questions about files and file systems.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_COMPRESSED, FILE_FLAG_BACKUP_SEMANTICS, FILE_READ_ATTRIBUTES,
};
use windows_sys::Win32::System::SystemServices::FILE_READ_ONLY_VOLUME;

use super::{calls, guard};
use crate::prepared::Refusal;
use crate::targets::{Node, Space};
use crate::windows_names::{falsifier, integrity};

/// Opens a file that iosonde did not make; for writing, only if no other program has it open.
pub(crate) fn open_foreign(path: &Path, writes: bool, _device: bool) -> io::Result<File> {
    if let Some(usage) = guard::held(path).filter(|_| writes) {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, format!("it is {usage}")));
    }
    OpenOptions::new().read(true).write(writes).open(path)
}

/// Opens a file or device only to look at it.
pub(crate) fn open_to_look(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// What a file that exists is.
pub(crate) fn node(metadata: &Metadata) -> Node {
    if metadata.is_file() { Node::File } else { Node::Other("not a file") }
}

/// Bytes that a file really takes.
pub(crate) fn allocated(path: &Path, metadata: &Metadata) -> u64 {
    calls::allocated(path).unwrap_or(metadata.len())
}

/// How many names a file has.
pub(crate) fn names(file: &File, _: &Metadata) -> u64 {
    calls::names(file).map_or(1, u64::from)
}

/// Where an open file is now, with every link followed and without short names.
pub(crate) fn real_path(path: &Path, file: &File) -> PathBuf {
    calls::final_path(file).unwrap_or_else(|_| path.to_owned())
}

/// What distinguishes the file system of a file from others.
pub(crate) fn volume(path: &Path) -> Option<u64> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS;
    let directory =
        OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).custom_flags(flags).open(path);
    calls::identity(&directory.ok()?).ok().map(|(volume, _)| volume)
}

/// The space of the file system that a directory is on.
pub(crate) fn space(directory: &Path) -> io::Result<Space> {
    let (available, whole, free) = calls::free_space(directory)?;
    let flags = calls::volume_flags(directory).unwrap_or(0);
    Ok(Space {
        available,
        used: whole.saturating_sub(free),
        whole,
        read_only: flags & FILE_READ_ONLY_VOLUME != 0,
    })
}

/// Locks a test file as long as it is open; false where it is locked already.
pub(crate) fn lock(file: &File) -> bool {
    calls::lock(file)
}

/// Whether another process works on this test file.
pub(crate) fn is_locked(path: &Path) -> bool {
    open_to_look(path).is_ok_and(|file| !lock(&file))
}

/// The mark at the end of the file has taken the space of all that is before it.
#[expect(clippy::unnecessary_wraps, reason = "other systems take it here, and may fail")]
pub(crate) fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Takes the space beyond the end of a file, which is as long as before.
pub(crate) fn reserve_beyond(file: &File, end: u64, more: u64) -> io::Result<()> {
    match calls::allocate(file, end.saturating_add(more)) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(error),
        // A file system that cannot says so when the file is written.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Fills a buffer from an offset.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match file.seek_read(&mut buffer[done..], offset + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => done += bytes,
        }
    }
    Ok(())
}

/// Writes all of a buffer at an offset.
pub(crate) fn write_all_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match file.seek_write(&buffer[done..], offset + done as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            bytes => done += bytes,
        }
    }
    Ok(())
}

/// A test file must be written as it is. If its directory compresses files, that is switched off
/// for this file. If that fails, or if files are encrypted, the file is refused.
pub(crate) fn check_plain(path: &Path, file: Option<&File>) -> Result<(), Refusal> {
    let Some(file) = file else { return Ok(()) };
    let attributes = || file.metadata().map_or(0, |m| m.file_attributes());
    if attributes() & FILE_ATTRIBUTE_COMPRESSED != 0 {
        // What comes of it is looked at below.
        let _ = calls::do_not_compress(file);
    }
    match falsifier(attributes()) {
        Some(_) => Err(Refusal::Name {
            path: path.to_owned(),
            problem: "would be compressed, encrypted, sparse or kept elsewhere, as its directory \
                says, so that no figure would be that of the disk; choose another directory",
        }),
        None => Ok(()),
    }
}

/// What a user should know of a file that is read.
pub(crate) fn warnings(path: &Path, file: &File, _: u64) -> Option<String> {
    let Some(what) = falsifier(file.metadata().ok()?.file_attributes()) else {
        // Only ReFS answers.
        let checksums = integrity(&calls::integrity(file).ok()?)?;
        return Some(format!(
            "`{}` has integrity streams of ReFS ({checksums}): ReFS checks every read, and puts \
             every write in another place. The figures are those of ReFS with checksums; \
             Set-FileIntegrity switches them off",
            path.display()
        ));
    };
    Some(format!(
        "`{}` is {what}: what is read from it is not what its disk delivers; let iosonde make a \
         test file",
        path.display()
    ))
}
