//! Names in an open directory, as Linux looks them up.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags, StatxAttributes, StatxFlags,
};
use rustix::io::Errno;

use super::draft::Readers;
use super::place::{Access, FileId, Place};

/// A directory that stays the same one, whatever its path means later.
#[derive(Debug)]
pub(super) struct Directory(OwnedFd);

/// Never follow a link, never wait for the other end of a FIFO, never take a terminal.
const CAREFUL: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Directory {
    /// Links in the path of a directory are followed: they are the user's own way to it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
    }

    /// Opens an existing file; the caller checks what it is.
    pub(super) fn open_file(&self, name: &OsStr, access: Access) -> io::Result<File> {
        // Opening a device can already do something, such as rewinding a tape. This look keeps
        // that from happening by mistake; what is trusted is the look after the open.
        self.check_kind(name)?;
        let how = match access {
            Access::Read | Access::Remove => OFlags::RDONLY,
            Access::Write => OFlags::RDWR,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
        };
        let opened = rustix::fs::openat(&self.0, name, how | CAREFUL, Mode::empty());
        Ok(File::from(opened.map_err(told)?))
    }

    fn check_kind(&self, name: &OsStr) -> io::Result<()> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        if kind.is_file() { Ok(()) } else { Err(io::Error::other(kind_name(kind))) }
    }

    /// Makes a file; nothing may have its name.
    pub(super) fn create(&self, name: &OsStr, readers: Readers) -> io::Result<File> {
        let mode = match readers {
            Readers::Anybody => 0o666,
            Readers::Owner => 0o600,
        };
        let how = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | CAREFUL;
        Ok(File::from(rustix::fs::openat(&self.0, name, how, Mode::from_raw_mode(mode))?))
    }

    /// What has this name now, if anything; a link is what it is, and not followed.
    pub(super) fn id_of(&self, name: &OsStr) -> io::Result<Option<FileId>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileId { volume: stat.st_dev, number: u128::from(stat.st_ino) })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Renames what has the first name, unless something has the second.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match rustix::fs::renameat_with(&self.0, from, &self.0, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.rename_by_link(from, to),
            renamed => Ok(renamed?),
        }
    }

    /// The same for an open file; Linux renames by names.
    pub(super) fn rename_open(&self, _: &File, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.rename(from, to)
    }

    /// The same where the file system cannot promise it: a second name is never given to what is
    /// there already.
    fn rename_by_link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty()) {
            Ok(()) => Ok(rustix::fs::unlinkat(&self.0, from, AtFlags::empty())?),
            Err(Errno::PERM | Errno::NOSYS | Errno::OPNOTSUPP | Errno::MLINK) => {
                // An empty file of ours keeps the name for the moment until the rename.
                let held = self.create(to, Readers::Owner)?;
                let id = id(&held)?;
                let is_ours = self.id_of(to)? == Some(id) && held.metadata()?.len() == 0;
                if !is_ours {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Lets two files change names at once; `false` where the file system cannot.
    pub(super) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<bool> {
        match rustix::fs::renameat_with(&self.0, one, &self.0, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a name that is private to this program.
    pub(super) fn unlink(&self, name: &OsStr, _: &File) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// The first names in it, no more than `most`.
    pub(super) fn names(&self, most: usize) -> io::Result<Vec<OsString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&self.0, ".", flags, Mode::empty())?;
        let names = rustix::fs::Dir::new(directory)?;
        let names = names.flatten().take(most);
        Ok(names.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned()).collect())
    }

    /// Has new names written to the media. Where directories cannot be flushed, they need not be.
    pub(super) fn sync(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(directory) = rustix::fs::openat(&self.0, ".", flags, Mode::empty()) {
            let _ = rustix::fs::fsync(directory);
        }
    }

    /// Whether an open file of this directory is another file system's, mounted over a name here.
    fn is_mounted_over(&self, file: &File) -> io::Result<bool> {
        let flags = StatxFlags::BASIC_STATS;
        if let Ok(stat) = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, flags)
            && stat.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT)
        {
            return Ok(stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
        }
        // Before Linux 5.8, a bind mount from the same file system does not show.
        Ok(rustix::fs::fstat(&self.0)?.st_dev != file.metadata()?.dev())
    }

    /// Refuses an open file of this directory that is not simply a file in it.
    pub(super) fn check(&self, file: &File) -> io::Result<()> {
        let metadata = file.metadata()?;
        let kind = rustix::fs::FileType::from_raw_mode(metadata.mode());
        if !kind.is_file() {
            return Err(io::Error::other(kind_name(kind)));
        }
        if metadata.nlink() > 1 {
            let names = metadata.nlink();
            return Err(io::Error::other(format!(
                "it is one file with {names} names (hard links), and only one was given"
            )));
        }
        if self.is_mounted_over(file)? {
            return Err(io::Error::other("it is a mount point, so the file lies elsewhere"));
        }
        Ok(())
    }
}

/// The error of an open, in words where the system has only a number.
fn told(error: Errno) -> io::Error {
    match error {
        Errno::LOOP => io::Error::other(LINK),
        Errno::NXIO => io::Error::other("it is not an ordinary file"),
        error => error.into(),
    }
}

const LINK: &str = "it is a link, and links are not followed";

fn kind_name(kind: rustix::fs::FileType) -> &'static str {
    use rustix::fs::FileType;
    match kind {
        FileType::Symlink => LINK,
        FileType::Directory => "it is a directory",
        FileType::BlockDevice => "it is a block device",
        FileType::CharacterDevice => "it is a character device",
        FileType::Fifo => "it is a FIFO",
        FileType::Socket => "it is a socket",
        _ => "it is not an ordinary file",
    }
}

/// What tells an open file from every other.
pub(super) fn id(file: &File) -> io::Result<FileId> {
    let metadata = file.metadata()?;
    Ok(FileId { volume: metadata.dev(), number: u128::from(metadata.ino()) })
}

/// Whether an open file belongs to this user, even where that is root.
pub(super) fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Locks a file for as long as it is open; `false` where another program has it locked.
pub(super) fn lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Shows others that the program of a draft lives.
pub(super) fn lock_draft(file: &File) {
    let _ = lock(file);
}

/// Removes a file that a killed program left: nobody has it locked, and `is_ours` recognises it. It
/// may have a second name, if the program was killed in [`Directory::rename_by_link`].
pub(super) fn remove_left(place: &Place, is_ours: impl FnOnce(&File) -> bool) -> io::Result<()> {
    let file = place.directory.open_file(&place.name, Access::Remove)?;
    // Where there are no locks, its program may still be alive.
    if is_own(&file.metadata()?) && is_ours(&file) && lock(&file)? {
        place.remove(&file)?;
    }
    Ok(())
}

/// Opens what a path stands for as a stream: a descriptor of this process that is a pipe or a
/// terminal, or the device that forgets everything. `None` for every other path.
pub(super) fn stream(path: &Path) -> io::Result<Option<File>> {
    if path == Path::new("-") || path == Path::new("/dev/stdout") {
        return Ok(Some(File::from(rustix::io::dup(rustix::stdio::stdout())?)));
    }
    if path == Path::new("/dev/stderr") {
        return Ok(Some(File::from(rustix::io::dup(rustix::stdio::stderr())?)));
    }
    let is_descriptor = ["/dev/fd", "/proc/self/fd"].iter().any(|of| path.starts_with(of));
    if !is_descriptor && path != Path::new("/dev/null") {
        return Ok(None);
    }
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Not to be waited for is a pipe without a reader; one with a reader is written to as usual.
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    let kind = file.metadata()?.file_type();
    if !kind.is_fifo() && !kind.is_char_device() && !kind.is_socket() {
        return Err(io::Error::other("it is neither a pipe nor a terminal; name the file itself"));
    }
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags.difference(OFlags::NONBLOCK))?;
    Ok(Some(file))
}
