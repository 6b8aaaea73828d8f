//! A new file that has a private name until it is complete.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use super::place::{Access, Place, Stamp, free_private_name};
use super::platform::{self, Directory};

/// Begin and end of the private name of a draft; the number of the file stands between them.
const BEGIN: &str = ".iosonde-";
const END: &str = ".part";
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
/// Its private name is `.iosonde-NUMBER.part`, where NUMBER is that of the file (the inode), and it
/// is locked for as long as its program lives. So a draft that a killed program left is recognised
/// without a look at its content: it has the number that it is named by, one name, this user as its
/// owner, and no lock. The next draft in the same directory removes it.
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
        let first = free_private_name(&place.directory, "new")?;
        let file = place.directory.create(&first, readers)?;
        let mut draft = Self { place: place.clone(), private: Some(first.clone()), file };
        platform::lock_draft(&draft.file);
        let name = name_of(&draft.file)?;
        place.directory.rename_open(&draft.file, &first, &name)?;
        draft.private = Some(name);
        Ok(draft)
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
        if !directory.exchange(&private, &name)? {
            return self.replace_apart(&private, earlier);
        }
        // The earlier file has the private name now, and nobody else knows that name.
        if is_still(&directory, &private, earlier) {
            self.private = None;
            return unlink(&directory, &private);
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

    /// The same in two steps, where names cannot be exchanged.
    fn replace_apart(&mut self, private: &OsStr, earlier: &Stamp) -> io::Result<()> {
        let (directory, name) = (self.place.directory.clone(), self.place.name.clone());
        let aside = free_private_name(&directory, "old")?;
        directory.rename(&name, &aside)?;
        if !is_still(&directory, &aside, earlier) {
            self.place.give_back(&aside)?;
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if let Err(error) = directory.rename_open(&self.file, private, &name) {
            let _ = directory.rename(&aside, &name);
            return Err(error);
        }
        self.private = None;
        unlink(&directory, &aside)
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

/// Whether a name means the file that was looked at, as it was then.
fn is_still(directory: &Directory, name: &OsStr, earlier: &Stamp) -> bool {
    let open = directory.open_file(name, Access::Read);
    open.and_then(|file| Stamp::of(&file)).is_ok_and(|now| now == *earlier)
}

fn unlink(directory: &Directory, name: &OsStr) -> io::Result<()> {
    let file = directory.open_file(name, Access::Remove)?;
    directory.unlink(name, &file)
}

/// The private name of a draft.
fn name_of(file: &File) -> io::Result<OsString> {
    Ok(format!("{BEGIN}{}{END}", platform::id(file)?.number).into())
}

/// Removes the drafts of programs that were killed. What cannot be removed stays for the next time.
fn clean(directory: &std::sync::Arc<Directory>) {
    let names = directory.names(NAMES_MAX).unwrap_or_default();
    for name in names {
        let is_name = name.to_str().is_some_and(|n| n.starts_with(BEGIN) && n.ends_with(END));
        if is_name {
            let place = Place::in_directory(directory, &name);
            let is_ours = |file: &File| name_of(file).is_ok_and(|own| own == name);
            let _ = platform::remove_left(&place, is_ours);
        }
    }
}
