//! Whether foreign files are as they were: bytes, sizes, names, link counts, owners and modes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// What is compared of a file, besides its names.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    mode: u32,
    owner: (u32, u32),
    links: u64,
    /// The bytes of a regular file, the target of a link, the number of a device.
    content: Vec<u8>,
}

/// Files by device and inode, each with its names.
#[derive(Debug, Default)]
pub(super) struct Watch(BTreeMap<(u64, u64), (Record, BTreeSet<PathBuf>)>);

impl Watch {
    /// Everything in a directory except these files.
    pub(super) fn of(root: &Path, except: &[PathBuf]) -> io::Result<Self> {
        let mut watch = Self::default();
        watch.add(root, except)?;
        Ok(watch)
    }

    fn add(&mut self, directory: &Path, except: &[PathBuf]) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let metadata = fs::symlink_metadata(&path)?;
            let kind = metadata.file_type();
            if kind.is_dir() {
                self.add(&path, except)?;
                continue;
            }
            if except.contains(&path) {
                continue;
            }
            let content = if kind.is_file() {
                fs::read(&path)?
            } else if kind.is_symlink() {
                fs::read_link(&path)?.as_os_str().as_bytes().to_vec()
            } else if kind.is_block_device() {
                metadata.rdev().to_ne_bytes().to_vec()
            } else {
                Vec::new()
            };
            let (mode, owner) = (metadata.mode(), (metadata.uid(), metadata.gid()));
            let record = Record { mode, owner, links: metadata.nlink(), content };
            let id = (metadata.dev(), metadata.ino());
            self.0.entry(id).or_insert((record, BTreeSet::new())).1.insert(path);
        }
        Ok(())
    }

    /// What differs in a later look, a sentence each. Another program swaps the files of these
    /// names; nothing new may be in that directory.
    pub(super) fn differences(
        &self,
        later: &Self,
        swapped: &[PathBuf],
        closed: Option<&Path>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        for (id, (record, names)) in &self.0 {
            let shown = names.first().map(|name| name.display().to_string()).unwrap_or_default();
            let Some((now, names_now)) = later.0.get(id) else {
                found.push(format!("{shown} is gone"));
                continue;
            };
            if record.content != now.content {
                let (was, is) = (record.content.len(), now.content.len());
                found.push(format!("the bytes of {shown} changed ({was} bytes, now {is})"));
            }
            if (record.links, record.mode, record.owner) != (now.links, now.mode, now.owner) {
                found.push(format!("link count, mode or owner of {shown} changed"));
            }
            let is_known = |name: &PathBuf| names.contains(name) || swapped.contains(name);
            let same = names == names_now
                || !swapped.is_empty()
                    && names.len() == names_now.len()
                    && names_now.iter().all(is_known);
            if !same {
                found.push(format!("{shown} is now named {names_now:?}"));
            }
        }
        for (id, (_, names)) in &later.0 {
            let new = names.iter().find(|name| closed.is_some_and(|at| name.starts_with(at)));
            if let Some(new) = new.filter(|_| !self.0.contains_key(id)) {
                found.push(format!("{} was made", new.display()));
            }
        }
        found
    }
}
