//! The directory with the finished packages: every file written there is listed in `SHA256SUMS`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::linux::failure::{Failure, at, write};
use crate::linux::sums::{list, parse, sha256};

const SUMS: &str = "SHA256SUMS";

/// A directory that is being filled.
#[derive(Debug)]
pub(crate) struct Dist {
    directory: PathBuf,
    sums: BTreeMap<String, String>,
}

impl Dist {
    /// Makes the directory, and removes what an earlier run has listed there. Other files stay.
    pub(crate) fn begin(directory: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(directory).map_err(at("create", directory))?;
        let sums = directory.join(SUMS);
        if let Ok(text) = fs::read_to_string(&sums) {
            let names = parse(&text).into_keys().filter(|name| !name.contains('/'));
            for name in names.chain([SUMS.to_owned()]) {
                // One that is gone already need not be removed.
                let _ = fs::remove_file(directory.join(name));
            }
        }
        Ok(Self { directory: directory.to_owned(), sums: BTreeMap::new() })
    }

    /// Writes one file and says so.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        write(&self.directory.join(name), bytes)?;
        self.sums.insert(name.to_owned(), sha256(bytes));
        eprintln!("{:>12}  {name}", bytes.len());
        Ok(())
    }

    /// The digests of the files so far.
    pub(crate) fn sums(&self) -> &BTreeMap<String, String> {
        &self.sums
    }

    /// Writes `SHA256SUMS`: from then on, the directory is complete.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        write(&self.directory.join(SUMS), list(&self.sums).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_run_removes_what_the_last_one_made_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let names = || {
            let mut names: Vec<String> = fs::read_dir(place.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        fs::write(place.path().join("notes"), "mine").unwrap();
        let mut first = Dist::begin(place.path()).unwrap();
        first.add("old.tar.gz", b"old").unwrap();
        first.finish().unwrap();
        assert_eq!(names(), ["SHA256SUMS", "notes", "old.tar.gz"]);
        let mut second = Dist::begin(place.path()).unwrap();
        second.add("new.tar.gz", b"new").unwrap();
        second.finish().unwrap();
        assert_eq!(names(), ["SHA256SUMS", "new.tar.gz", "notes"]);
        let text = fs::read_to_string(place.path().join("SHA256SUMS")).unwrap();
        assert_eq!(text, format!("{}  new.tar.gz\n", sha256(b"new")));
    }
}
