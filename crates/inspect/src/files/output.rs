//! A file that a user named for a command to write.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::draft::{Draft, Readers};
use super::place::{Access, Place, Stamp};
use super::platform;
use super::seal::{Seal, Sealed};
use crate::databases::database_sign;
use crate::medium::Medium;
use crate::signatures::signatures;

/// Names that are tried for a new file before giving up.
const NAMES: u32 = 10_000;

/// Where content goes that does not fit in memory.
pub type OutputWriter = BufWriter<File>;

/// A file that a command is going to write, claimed before anything is measured. Two hours of
/// measuring must not end at a file that cannot be written, nor cost somebody a file.
///
/// Until it is written, nothing has changed under its name. Then it is complete at once, or nothing
/// has changed. What another program puts under the name meanwhile stays, and the content gets
/// another name.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    to: To,
}

#[derive(Debug)]
enum To {
    Stream(File),
    File {
        draft: Box<Draft>,
        /// The file that it replaces.
        earlier: Option<Stamp>,
        seal: Seal,
    },
}

impl Output {
    /// Claims a path. `seal` is the way in which files of this kind show that iosonde wrote them;
    /// with `overwrite`, any ordinary file is replaced, except files of databases and disk images.
    ///
    /// # Errors
    /// The path may not be written to, or cannot be: why, and another name. The caller names the
    /// file.
    pub fn claim(path: &Path, seal: Seal, overwrite: bool) -> io::Result<Self> {
        if let Some(stream) = platform::stream(path)? {
            return Ok(Self { path: path.to_owned(), to: To::Stream(stream) });
        }
        let place = Place::of(path)?;
        let earlier = replaceable(&place, seal, overwrite)?;
        let draft = Box::new(Draft::of(&place, Readers::Anybody)?);
        Ok(Self { path: path.to_owned(), to: To::File { draft, earlier, seal } })
    }

    /// The same for a rehearsal: touches nothing.
    ///
    /// # Errors
    /// As for [`claim`](Self::claim).
    pub fn check(path: &Path, seal: Seal, overwrite: bool) -> io::Result<()> {
        if platform::stream(path)?.is_some() {
            return Ok(());
        }
        replaceable(&Place::of(path)?, seal, overwrite).map(|_| ())
    }

    /// The path that was claimed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the whole content, with its checksum.
    ///
    /// # Errors
    /// It cannot be written, or got another name, which the error tells.
    pub fn write(self, content: impl AsRef<[u8]>) -> io::Result<()> {
        let content = content.as_ref();
        match self.to {
            To::Stream(mut stream) => stream.write_all(content).map_err(with_remedy),
            To::File { mut draft, earlier, seal } => {
                draft.file().write_all(&seal.seal(content)).map_err(with_remedy)?;
                finish(&mut draft, earlier.as_ref())
            }
        }
    }

    /// Writes content that does not fit in memory, and has no checksum.
    ///
    /// # Errors
    /// As for [`write`](Self::write), or those of `write`; then nothing has changed.
    pub fn make<T, E: From<io::Error>>(
        self,
        write: impl FnOnce(&mut OutputWriter) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut out = BufWriter::new(match &self.to {
            To::Stream(stream) => stream.try_clone()?,
            To::File { draft, .. } => draft.file().try_clone()?,
        });
        let value = write(&mut out)?;
        out.into_inner().map_err(|error| with_remedy(error.into_error()))?;
        if let To::File { mut draft, earlier, .. } = self.to {
            finish(&mut draft, earlier.as_ref())?;
        }
        Ok(value)
    }

    /// Begins content that is of use before it is complete: its file has a name that shows, next
    /// to the one that it will have, and stays under it if the program is killed. Only an ordinary
    /// file can be that.
    ///
    /// # Errors
    /// It is a stream, or there is no such name.
    pub fn begin(self) -> io::Result<Begun> {
        let To::File { mut draft, earlier, .. } = self.to else {
            return Err(io::Error::other("it is a stream, and an ordinary file is needed"));
        };
        let place = draft.place().clone();
        let mut name = place.name.clone();
        name.push(".unfinished");
        let at = free_place(&place.sibling(&name))?;
        draft.rename_to(at.clone());
        let file = draft.into_file()?;
        Ok(Begun { place, at, file, earlier })
    }
}

/// Content that is being written under another name.
#[derive(Debug)]
pub struct Begun {
    place: Place,
    at: Place,
    file: File,
    earlier: Option<Stamp>,
}

impl Begun {
    /// Where it is until it is complete.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.at.path()
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It got another name, which the error tells.
    pub fn finish(self) -> io::Result<()> {
        let mut draft = Draft::adopt(self.place, self.at.name.clone(), self.file);
        finish(&mut draft, self.earlier.as_ref())
    }
}

/// Gives a complete file its name, or another where somebody else's file has that by now.
fn finish(draft: &mut Draft, earlier: Option<&Stamp>) -> io::Result<()> {
    draft.file().sync_all().map_err(with_remedy)?;
    let published = match earlier {
        Some(earlier) => draft.replace(earlier),
        None => draft.publish(),
    };
    match published {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        published => {
            draft.place().sync();
            return published;
        }
    }
    let wanted = draft.place().clone();
    for _ in 0..NAMES {
        draft.rename_to(free_place(&wanted)?);
        match draft.publish() {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            published => {
                published?;
                let shown = draft.place().path().display().to_string();
                draft.place().sync();
                return Err(io::Error::other(format!(
                    "another program wrote that file meanwhile, and it was kept; the output is \
                     in `{shown}`"
                )));
            }
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// The file that an output may replace; `None` if no file has its name.
fn replaceable(place: &Place, seal: Seal, overwrite: bool) -> io::Result<Option<Stamp>> {
    if place.id()?.is_none() {
        return Ok(None);
    }
    let free = free_place(place)?;
    let free = free.path().display();
    let file = match place.open(Access::Read) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // Not even `--overwrite` writes through a link or to a device.
        Err(error) => return Err(because(&error, &format!("name another file, such as `{free}`"))),
        Ok(file) => file,
    };
    let stamp = Stamp::of(&file)?;
    let never =
        |why: String| Err(io::Error::other(format!("{why}; name another file, such as `{free}`")));
    if let Some(content) = content(&file)? {
        return never(format!("it contains other data: {content}"));
    }
    let path = place.path();
    let real = fs::canonicalize(path);
    let paths: Vec<&Path> = [path].into_iter().chain(real.as_deref().ok()).collect();
    let database = database_sign(&paths);
    if overwrite && database.is_none() {
        return Ok(Some(stamp));
    }
    let why = match seal.judge(&file)? {
        Sealed::Unchanged => return Ok(Some(stamp)),
        Sealed::Changed => "it was changed since iosonde wrote it",
        Sealed::Foreign => "it exists, and iosonde did not write it",
        Sealed::Unknown => "it exists already",
    };
    if let Some(sign) = database {
        return never(format!("it may belong to a database: {sign}"));
    }
    Err(io::Error::new(
        ErrorKind::AlreadyExists,
        format!("{why}; name another file, such as `{free}`, or replace it with `--overwrite`"),
    ))
}

/// The database, file system or disk image that a file contains.
fn content(file: &File) -> io::Result<Option<String>> {
    let read = |at: u64, buffer: &mut [u8]| {
        let mut file = file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(buffer)
    };
    let found = signatures(&Medium::new(file.metadata()?.len(), &read))?;
    Ok(found.into_iter().next().map(|signature| signature.what))
}

/// What to do if a file finds no room.
fn with_remedy(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            because(&error, "make room there, or name a file on another file system")
        }
        _ => error,
    }
}

fn because(error: &io::Error, remedy: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{error}; {remedy}"))
}

/// The place next to another that has its name with the first free number: `report-2.html`. A name
/// that is free already stays as it is only if `place` has it.
pub fn free_place(place: &Place) -> io::Result<Place> {
    if place.id()?.is_none() {
        return Ok(place.clone());
    }
    let path = place.path();
    let stem = path.file_stem().unwrap_or_default();
    for number in 2..NAMES {
        let mut name = OsString::from(stem);
        name.push(format!("-{number}"));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        let sibling = place.sibling(&name);
        if sibling.id()?.is_none() {
            return Ok(sibling);
        }
    }
    Err(io::Error::other("there are too many files of that name; name another"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(path: &Path) -> io::Result<()> {
        let checked = Output::check(path, Seal::Markup, true);
        assert_eq!(Output::claim(path, Seal::Markup, true).is_ok(), checked.is_ok());
        checked
    }

    /// `--report ibdata1 --overwrite` replaced the file: only SQLite databases were recognised.
    #[test]
    fn a_database_is_never_replaced_not_even_with_overwrite() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        for (content, what) in [
            (&b"SQLite format 3\0"[..], "SQLite database"),
            (b"\xfebin\0\0", "MySQL binary or relay log"),
            (b"REDIS0011\xfa", "Redis snapshot"),
            (b"LUKS\xba\xbe\0\x02", "LUKS"),
        ] {
            fs::write(at("report.html"), content).unwrap();
            let error = claim(&at("report.html")).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("report-2.html"), "{error}");
            assert_eq!(fs::read(at("report.html")).unwrap(), content);
        }
        for name in ["PG_VERSION", "base/5/1249", "ibdata1", "shop.mdf"] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "17\n").unwrap();
            let error = claim(&at(name)).unwrap_err().to_string();
            assert!(error.contains("belong to a database"), "{name}: {error}");
        }
    }

    /// "No space left on device" was all that a report on a full disk said.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_has_a_remedy() {
        use std::os::fd::AsRawFd as _;
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", full.as_raw_fd()));
        let claim = || Output::claim(&path, Seal::Markup, false).unwrap();
        let written = claim().write("report").unwrap_err();
        let made = claim().make(|out| out.write_all(b"report")).unwrap_err();
        for error in [written, made] {
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            assert!(error.to_string().contains("make room there"), "{error}");
        }
    }

    #[test]
    fn a_report_is_written_next_to_a_database() {
        let room = tempfile::tempdir().unwrap();
        fs::write(room.path().join("PG_VERSION"), "17\n").unwrap();
        let report = room.path().join("report.html");
        for text in ["new", "again"] {
            Output::claim(&report, Seal::Markup, false).unwrap().write(text).unwrap();
        }
        assert!(fs::read_to_string(&report).unwrap().starts_with("again"));
        fs::write(&report, "somebody else's").unwrap();
        assert!(claim(&report).is_err());
    }
}
