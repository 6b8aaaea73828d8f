//! A new file that has a private name until it is complete.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use super::output::free_place;
use super::place::{Access, Place, Stamp, free_private_name, private_name, private_parts};
use super::platform::{self, Directory};

/// New files that are made before giving up.
const ATTEMPTS: u32 = 100;
/// Names of a directory that are searched for drafts of programs that were killed.
const NAMES_MAX: usize = 10_000;

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Everybody whom the user's mask lets.
    Anybody,
    /// Its owner only.
    Owner,
}

/// A new file, which nobody else uses. It is removed when this is dropped, unless it was
/// published.
///
/// A private name is `.iosonde-NUMBER.part`, where NUMBER is that of the file (the inode); another
/// part of the name may follow. The file is locked for as long as its program lives. So a file that
/// a killed program left is recognised without a look at its content: it has a number that it is
/// named by, this user as its owner, and no lock. The next draft in the same directory removes it.
/// So it does with a new file that was not yet named by its number, which is empty.
#[derive(Debug)]
pub struct Draft {
    place: Place,
    private: Option<OsString>,
    file: File,
}

impl Draft {
    /// A draft of the file of this place, in the same directory.
    pub fn of(place: &Place, readers: Readers) -> io::Result<Self> {
        clean(&place.directory);
        let earlier = place.id().ok().flatten();
        for _ in 0..ATTEMPTS {
            let first = free_private_name(&place.directory, "new")?;
            let file = place.directory.create(&first, readers)?;
            platform::lock_draft(&file);
            let numbers = [Some(platform::id(&file)?), earlier].into_iter().flatten();
            let numbers: Vec<_> = numbers.map(|id| id.number.to_string()).collect();
            let name = private_name(&numbers.join("-"));
            match place.directory.rename_open(&file, &first, &name) {
                // Another draft took the file, before it was locked, for one that was left.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => {
                    renamed?;
                    return Ok(Self { place: place.clone(), private: Some(name), file });
                }
            }
        }
        Err(io::Error::other("another program removes new files from the directory"))
    }

    /// A file that has a name of its own until it gets that of its place.
    pub(super) fn adopt(place: Place, private: OsString, file: File) -> Self {
        Self { place, private: Some(private), file }
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The place that it is for.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Gives the file its name. If something has that name, nothing happens (`AlreadyExists`), and
    /// the draft can get another one.
    pub fn publish(&mut self) -> io::Result<()> {
        let Some(private) = &self.private else { return Ok(()) };
        self.place.directory.rename_open(&self.file, private, &self.place.name)?;
        self.private = None;
        Ok(())
    }

    /// Publishes it, and hands over the open file. A file under another name than its own is an
    /// error like any other.
    pub fn into_file(mut self) -> io::Result<File> {
        self.publish()?;
        self.file.try_clone()
    }

    /// Puts the file in the place of exactly this open file, as it is now.
    ///
    /// # Errors
    /// Anything else has the name by now (`AlreadyExists`), or the system refuses.
    pub fn replace_open(mut self, earlier: &File) -> io::Result<()> {
        self.replace(&Stamp::of(earlier)?)
    }

    /// Changes the name that it is going to have.
    pub(super) fn rename_to(&mut self, place: Place) {
        self.place = place;
    }

    /// Puts the file in the place of exactly this earlier one, which is removed. Anything else that
    /// has the name by now stays (`AlreadyExists`).
    pub(super) fn replace(&mut self, earlier: &Stamp) -> io::Result<()> {
        let Some(private) = self.private.clone() else { return Ok(()) };
        let (directory, name) = (self.place.directory.clone(), self.place.name.clone());
        if self.place.id()?.is_none() {
            return self.publish();
        }
        let Some(held) = unchanged(&directory, &name, earlier) else {
            return Err(io::ErrorKind::AlreadyExists.into());
        };
        // No other draft takes the earlier file for one that was left, while this is undecided.
        platform::lock_draft(&held);
        if !directory.exchange(&private, &name)? {
            return self.replace_apart(&private, earlier);
        }
        // The earlier file has the private name now, and nobody else knows that name.
        if let Some(file) = unchanged(&directory, &private, earlier) {
            self.private = None;
            return directory.unlink(&private, &file);
        }
        directory.exchange(&private, &name)?;
        if directory.id_of(&private)? == Some(platform::id(&self.file)?) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // A third file came in between, and is what has the private name. It is not ours to remove.
        self.private = None;
        let now = self.place.path().with_file_name(&private);
        Err(io::Error::other(format!(
            "other programs replaced it again and again. One of their files is now `{}`",
            now.display()
        )))
    }

    /// The same in two steps, where names cannot be exchanged. A program that is killed between
    /// them leaves the earlier file under a name that shows.
    fn replace_apart(&mut self, private: &OsStr, earlier: &Stamp) -> io::Result<()> {
        let (directory, name) = (&self.place.directory, &self.place.name);
        let mut shown = name.clone();
        shown.push(".earlier");
        let aside = free_place(&self.place.sibling(&shown))?;
        directory.rename(name, &aside.name)?;
        let Some(file) = unchanged(directory, &aside.name, earlier) else {
            self.place.give_back(&aside.name)?;
            return Err(io::ErrorKind::AlreadyExists.into());
        };
        if let Err(error) = directory.rename_open(&self.file, private, name) {
            let _ = directory.rename(&aside.name, name);
            return Err(error);
        }
        self.private = None;
        aside.remove(&file).map(drop)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(private) = self.private.take() {
            // The next draft in this directory tries again.
            let _ = self.place.sibling(&private).remove(&self.file);
        }
    }
}

/// The file of a name, if it is the one that was looked at, as it was then.
fn unchanged(directory: &Directory, name: &OsStr, earlier: &Stamp) -> Option<File> {
    let file = directory.open_file(name, Access::Remove).ok()?;
    Stamp::of(&file).is_ok_and(|now| now == *earlier).then_some(file)
}

/// Removes the files of programs that were killed. What cannot be removed stays for the next time.
fn clean(directory: &std::sync::Arc<Directory>) {
    for name in directory.names(NAMES_MAX).unwrap_or_default() {
        if let Some(parts) = private_parts(&name) {
            let place = Place::in_directory(directory, &name);
            let _ = platform::remove_left(&place, |file| is_left(parts, file).unwrap_or(false));
        }
    }
}

/// Whether a file is the one that a private name was made for.
fn is_left(parts: &str, file: &File) -> io::Result<bool> {
    let number = platform::id(file)?.number.to_string();
    let is_named_by_it = parts.split('-').any(|part| part == number);
    Ok(is_named_by_it || parts.starts_with("new-") && file.metadata()?.len() == 0)
}
