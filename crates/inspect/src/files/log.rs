//! A file that grows: what is in it stays, and more is written at its end.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::draft::{Draft, Readers};
use super::place::{Access, Place};

/// A file that text is appended to. It is new, or of the same kind by its content.
#[derive(Debug)]
pub struct Log {
    place: Place,
    kind: &'static str,
    is_one: fn(&File) -> io::Result<bool>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Nothing has its name yet.
    New(Box<Draft>),
    /// It was there, and nothing was appended to it yet.
    Found(File),
    /// It was appended to.
    Open(File),
}

impl Log {
    /// Claims a path, before anything is done. `kind` names the kind of file, with its article, and
    /// `is_one` recognises an open file of it.
    ///
    /// # Errors
    /// It may not be written to, or cannot be.
    pub fn claim(
        path: &Path,
        kind: &'static str,
        is_one: fn(&File) -> io::Result<bool>,
    ) -> io::Result<Self> {
        let place = Place::of(path)?;
        let state = match Self::found(&place, kind, is_one)? {
            Some(file) => State::Found(file),
            None => State::New(Box::new(Draft::of(&place, Readers::Anybody)?)),
        };
        Ok(Self { place, kind, is_one, state })
    }

    /// The same for a rehearsal: touches nothing.
    ///
    /// # Errors
    /// As for [`claim`](Self::claim).
    pub fn check(
        path: &Path,
        kind: &'static str,
        is_one: fn(&File) -> io::Result<bool>,
    ) -> io::Result<()> {
        Self::found(&Place::of(path)?, kind, is_one).map(|_| ())
    }

    fn found(
        place: &Place,
        kind: &'static str,
        is_one: fn(&File) -> io::Result<bool>,
    ) -> io::Result<Option<File>> {
        let file = match place.open(Access::Append) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(io::Error::new(error.kind(), format!("{error}; name another file")));
            }
            Ok(file) => file,
        };
        recognise(&file, kind, is_one)?;
        Ok(Some(file))
    }

    /// Whether nothing is in it yet.
    #[must_use]
    pub fn is_new(&self) -> bool {
        matches!(self.state, State::New(_))
    }

    /// Whether its last line is complete: a program that was killed may have left half of one.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn ends_a_line(&self) -> io::Result<bool> {
        let (State::Found(file) | State::Open(file)) = &self.state else { return Ok(true) };
        let mut reader = file;
        let end = reader.seek(SeekFrom::End(0))?;
        if end == 0 {
            return Ok(true);
        }
        reader.seek(SeekFrom::Start(end - 1))?;
        let mut last = [0];
        reader.read_exact(&mut last)?;
        Ok(last == *b"\n")
    }

    /// Has what was appended written to the media.
    ///
    /// # Errors
    /// It cannot be.
    pub fn sync(&self) -> io::Result<()> {
        match &self.state {
            State::Open(file) => file.sync_data(),
            State::New(_) | State::Found(_) => Ok(()),
        }
    }

    /// Appends a text in one piece, so that a crash leaves complete texts.
    ///
    /// # Errors
    /// It cannot be written, or is another file by now.
    pub fn append(&mut self, text: &str) -> io::Result<()> {
        match &mut self.state {
            State::New(draft) => {
                draft.file().write_all(text.as_bytes())?;
                draft.file().sync_all()?;
                draft.publish().map_err(|error| match error.kind() {
                    ErrorKind::AlreadyExists => io::Error::other(
                        "another program made that file meanwhile, and it was kept",
                    ),
                    _ => error,
                })?;
                let file = self.place.open(Access::Append)?;
                if !self.place.is(draft.file()) {
                    return Err(io::Error::other("another program replaced it at this moment"));
                }
                self.state = State::Open(file);
                return Ok(());
            }
            State::Found(file) => {
                // What is in it may have changed since the claim.
                recognise(file, self.kind, self.is_one)?;
                self.state = State::Open(file.try_clone()?);
            }
            State::Open(_) => {}
        }
        let State::Open(file) = &mut self.state else { return Ok(()) };
        file.write_all(text.as_bytes())
    }
}

fn recognise(file: &File, kind: &str, is_one: fn(&File) -> io::Result<bool>) -> io::Result<()> {
    let mut reader = file;
    reader.seek(SeekFrom::Start(0))?;
    if is_one(file)? {
        return Ok(());
    }
    Err(io::Error::other(format!("it exists and is not {kind}; name another file")))
}
