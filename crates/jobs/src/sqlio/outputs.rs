//! Files that SQLIO's text goes into: nothing that was there before a script began is lost by it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use dialects::text::decode;
use inspect::files::{Access, Output, Place, Readers, Seal};

/// How much of a file is looked at to know whether it holds results.
const LOOK_BYTES: u64 = 256 << 10;

/// Whether a file has SQLIO's output, or the head of a log of it, in it.
pub(super) fn is_output(file: &File) -> io::Result<bool> {
    let mut found = Vec::new();
    file.take(LOOK_BYTES).read_to_end(&mut found)?;
    let text = decode(&found);
    Ok(text.lines().any(|line| line.starts_with("sqlio v") || line.starts_with("ComputerName:")))
}

/// The files that the steps of a script write to.
#[derive(Default)]
pub(super) struct Outputs {
    /// Whether what was there before may be replaced.
    overwrite: bool,
    /// Files that steps were checked for, or that are open.
    known: HashMap<PathBuf, Out>,
}

struct Out {
    /// None while it is only checked.
    file: Option<File>,
    /// There is nothing in it that was there before, or it may go.
    replaceable: bool,
}

impl Outputs {
    /// None is open yet. With `overwrite`, what was there before may be replaced.
    pub(super) fn new(overwrite: bool) -> Self {
        Self { overwrite, known: HashMap::new() }
    }

    /// Whether a step may write there, as far as is known before the script begins. Touches
    /// nothing.
    pub(super) fn check(&mut self, path: &Path, append: bool) -> io::Result<()> {
        let key = same(path);
        let known = self.known.get(&key).map(|out| out.replaceable);
        let replaceable = match known {
            Some(replaceable) => replaceable,
            None if self.overwrite && !append => {
                Output::check(path, Seal::None, true)?;
                true
            }
            None => match Place::of(path)?.open(Access::Read) {
                Err(error) if error.kind() == ErrorKind::NotFound => true,
                file => self.judged(&file.map_err(another)?)?,
            },
        };
        self.known.entry(key).or_insert(Out { file: None, replaceable });
        if append || replaceable { Ok(()) } else { Err(kept(path)) }
    }

    /// Prepares the file for the output of a step: empty, or with its earlier content.
    ///
    /// It stays open until [`Self::close`], so that output of this script can be distinguished from
    /// what another program writes meanwhile.
    pub(super) fn begin(&mut self, path: &Path, append: bool) -> io::Result<()> {
        let key = same(path);
        if !self.known.contains_key(&key) {
            let place = Place::of(path)?;
            let out = match place.create(Readers::Anybody) {
                Ok(file) => Out { file: Some(file), replaceable: true },
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    self.opened(&place, append)?
                }
                Err(error) => return Err(error),
            };
            self.known.insert(key.clone(), out);
        }
        match self.known.get(&key) {
            _ if append => Ok(()),
            Some(Out { file: Some(file), replaceable: true }) => file.set_len(0),
            _ => Err(kept(path)),
        }
    }

    /// Opens a file that is there; with `--overwrite`, the empty one that replaces it.
    fn opened(&self, place: &Place, append: bool) -> io::Result<Out> {
        let replaces = self.overwrite && !append;
        if replaces {
            Output::claim(place.path(), Seal::None, true)?.write(b"")?;
        }
        let file = place.open(Access::Write).map_err(another)?;
        if replaces && file.metadata()?.len() > 0 {
            return Err(io::Error::other("another program wrote that file meanwhile; it was kept"));
        }
        let replaceable = replaces || self.judged(&file)?;
        Ok(Out { file: Some(file), replaceable })
    }

    /// Appends to a file that was begun.
    pub(super) fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let file = self.known.get_mut(&same(path)).and_then(|out| out.file.as_mut());
        let file = file.ok_or_else(|| io::Error::other("it is not open"))?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(text.as_bytes())
    }

    /// Closes a file that no later step writes to.
    pub(super) fn close(&mut self, path: &Path) {
        self.known.remove(&same(path));
    }

    /// Whether the content of a file may be replaced; an error if even appending is not allowed.
    fn judged(&self, mut file: &File) -> io::Result<bool> {
        file.rewind()?;
        if !is_output(file)? {
            let text = "it exists and is not an output of SQLIO; name another";
            return Err(io::Error::other(text));
        }
        Ok(self.overwrite)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes it")]
fn another(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{error}; name another"))
}

fn kept(path: &Path) -> io::Error {
    io::Error::other(format!(
        "`{}` holds earlier results; `>>` keeps them, and `--overwrite` replaces them",
        path.display()
    ))
}

/// One name of a file, however the directory is written.
pub(super) fn same(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(parent), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sqlio script` with `> app.db` and `--overwrite` emptied the database.
    #[test]
    fn a_database_is_not_replaced_and_another_file_is() {
        let room = tempfile::tempdir().unwrap();
        let (database, notes) = (room.path().join("app.db"), room.path().join("notes.txt"));
        fs::write(&database, b"SQLite format 3\0pages").unwrap();
        fs::write(&notes, "notes").unwrap();
        let mut outputs = Outputs::new(true);
        assert!(outputs.check(&database, false).is_err());
        assert!(outputs.begin(&database, false).is_err());
        assert!(fs::read(&database).unwrap().ends_with(b"pages"));
        outputs.check(&notes, false).unwrap();
        Outputs::new(true).begin(&notes, false).unwrap();
        assert_eq!(fs::read(&notes).unwrap(), b"");
    }
}
