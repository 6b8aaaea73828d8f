//! A name in a directory that was opened once.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::draft::{Draft, Readers};
use super::platform::{self, Directory};

/// What tells a file from every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    pub(super) volume: u64,
    pub(super) number: u128,
}

/// For what an existing file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read it.
    Read,
    /// To read and to write it.
    Write,
    /// To read it, and to write at its end.
    Append,
    /// To read it, and then to remove it.
    Remove,
}

/// A file as it was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    id: FileId,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let (id, modified) = (platform::id(file)?, metadata.modified().ok());
        Ok(Self { id, bytes: metadata.len(), modified })
    }
}

/// A name in a directory. The directory stays the one that was opened, whatever its path means
/// later; the name is looked up in it each time, and a link of that name is never followed.
#[derive(Debug, Clone)]
pub struct Place {
    pub(super) directory: Arc<Directory>,
    pub(super) name: OsString,
    path: PathBuf,
}

impl Place {
    /// The place that a path names: its directory must exist.
    pub fn of(path: &Path) -> io::Result<Self> {
        let directory = || io::Error::new(io::ErrorKind::InvalidInput, "it names a directory");
        let name = path.file_name().ok_or_else(directory)?;
        // Rust takes the name in `file/` and `file/.` for that of a file.
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
            return Err(directory());
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = Directory::open(parent.unwrap_or(Path::new(".")))?;
        Ok(Self { directory: Arc::new(directory), name: name.to_owned(), path: path.to_owned() })
    }

    /// A name in a directory that is open; only for messages without a path.
    pub(super) fn in_directory(directory: &Arc<Directory>, name: &OsStr) -> Self {
        let (directory, path) = (Arc::clone(directory), PathBuf::from(name));
        Self { directory, name: name.to_owned(), path }
    }

    /// Another name in the same directory.
    #[must_use]
    pub fn sibling(&self, name: &OsStr) -> Self {
        let (directory, path) = (Arc::clone(&self.directory), self.path.with_file_name(name));
        Self { directory, name: name.to_owned(), path }
    }

    /// The path by which the user knows it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What has this name now, if anything.
    pub fn id(&self) -> io::Result<Option<FileId>> {
        self.directory.id_of(&self.name)
    }

    /// Whether the name still means this open file.
    #[must_use]
    pub fn is(&self, file: &File) -> bool {
        let open = platform::id(file).ok();
        open.is_some() && self.id().ok().flatten() == open
    }

    /// Opens the file of this name: a regular file with one name, neither a link nor a mount
    /// point. What it contains is the caller's to recognise, before the first write.
    pub fn open(&self, access: Access) -> io::Result<File> {
        let file = self.directory.open_file(&self.name, access)?;
        self.directory.check(&file)?;
        Ok(file)
    }

    /// Makes an empty file of this name; nothing may have it. It is for files that another library
    /// then opens by their name, such as SQLite; a [`Draft`](super::Draft) has its content first.
    pub fn create(&self, readers: Readers) -> io::Result<File> {
        self.directory.create(&self.name, readers)
    }

    /// Tests whether the directory of a path takes a new file.
    pub fn try_out(path: &Path) -> io::Result<()> {
        Draft::of(&Self::of(path)?, Readers::Anybody).map(drop)
    }

    /// Whether an open file of this place is a regular file with one name, and no mount point; an
    /// error says what else it is.
    pub fn check(&self, file: &File) -> io::Result<()> {
        self.directory.check(file)
    }

    /// Whether an open file belongs to this user. To root, the file of another user is another's.
    #[must_use]
    pub fn is_own(file: &File) -> bool {
        file.metadata().is_ok_and(|metadata| platform::is_own(&metadata))
    }

    /// Locks an open file until it is closed; `false` if another program has locked it. On a file
    /// system without locks, nobody can be asked.
    #[must_use]
    pub fn lock(file: &File) -> bool {
        platform::lock(file).unwrap_or(true)
    }

    /// Removes this name if it still means this open file. Another file of that name stays as it
    /// is; `false` says so.
    pub fn remove(&self, file: &File) -> io::Result<bool> {
        let open = platform::id(file)?;
        if self.id()? != Some(open) {
            return Ok(false);
        }
        // Between that look and an unlink, another file may get the name. A private name has only
        // one user: a draft leaves alone what is locked.
        platform::lock_draft(file);
        let private = free_private_name(&self.directory, &open.number.to_string())?;
        match self.directory.rename(&self.name, &private) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            renamed => renamed?,
        }
        if self.directory.id_of(&private)? == Some(open) {
            self.directory.unlink(&private, file)?;
            return Ok(true);
        }
        self.give_back(&private)?;
        Ok(false)
    }

    /// Gives somebody else's file its name back.
    pub(super) fn give_back(&self, private: &OsStr) -> io::Result<()> {
        self.directory.rename(private, &self.name).map_err(|error| {
            let now = self.path.with_file_name(private);
            io::Error::other(format!(
                "another program put a file there at this moment. That file is now `{}`: {error}",
                now.display()
            ))
        })
    }

    /// Has the name written to the media.
    pub fn sync(&self) {
        self.directory.sync();
    }

    /// Opens a file that must be there, in the same way, and removes it if `is_ours` recognises
    /// it; `false` if it is not there, is another's, or is in use.
    pub fn remove_if(&self, is_ours: impl FnOnce(&File) -> io::Result<bool>) -> io::Result<bool> {
        let file = match self.open(Access::Remove) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        if !is_ours(&file)? {
            return Ok(false);
        }
        self.remove(&file)
    }

    /// The names of other files of its directory, no more than `most`.
    pub fn neighbours(&self, most: usize) -> io::Result<Vec<OsString>> {
        self.directory.names(most)
    }
}

/// Begin and end of a private name.
const BEGIN: &str = ".iosonde-";
const END: &str = ".part";

pub(super) fn private_name(parts: &str) -> OsString {
    format!("{BEGIN}{parts}{END}").into()
}

/// What stands between begin and end of a private name.
pub(super) fn private_parts(name: &OsStr) -> Option<&str> {
    name.to_str()?.strip_prefix(BEGIN)?.strip_suffix(END)
}

/// A private name that nothing in the directory has, and nothing else uses.
pub(super) fn free_private_name(directory: &Directory, begin: &str) -> io::Result<OsString> {
    use std::hash::{BuildHasher as _, RandomState};
    for attempt in 0..100_u32 {
        // Random, so that nobody can wait for the name.
        let number = RandomState::new().hash_one((attempt, std::process::id()));
        let name = private_name(&format!("{begin}-x{number:016x}"));
        if directory.id_of(&name)?.is_none() {
            return Ok(name);
        }
    }
    Err(io::Error::other("there is no free name in the directory"))
}
