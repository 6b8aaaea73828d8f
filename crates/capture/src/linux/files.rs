//! Where the files under a path are on the recorded disks: the extent maps of ext4 and XFS.
//!
//! Only file systems that are directly on a recorded disk, or on a partition of one, are looked at.
//! Nothing is written back for it, and places that are not settled yet are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use inspect::{Writeback, extent_map};
use trace::{FILES_MAX, FileClass, FileExtent, TracedFile};

use crate::files::{FilesFound, FilesRequest};

/// The types of file systems whose extent maps hold places on their device: ext2 to ext4, and XFS.
const EXT: u64 = 0xef53;
const XFS: u64 = 0x5846_5342;
const SECTOR_BYTES: u64 = 512;
/// The most extents that are recorded; an anonymous copy has more, because it cuts them.
const EXTENTS_MAX: usize = 1 << 18;
/// Directories in each other; more are not a database's.
const DEPTH_MAX: usize = 64;

/// Looks up the files under some paths, once before a recording and once after.
#[derive(Debug)]
pub struct FileWatch {
    roots: Vec<PathBuf>,
    devices: Vec<String>,
    names: bool,
    /// The numbers of files, by device and inode.
    numbers: BTreeMap<(u64, u64), u32>,
}

/// Where a file system is: on a recorded disk, from this byte on.
#[derive(Debug, Clone, Copy)]
struct Volume {
    device: u32,
    start_bytes: u64,
}

/// What a look has met so far.
#[derive(Default)]
struct Look {
    found: FilesFound,
    /// By the number of the file system; none where places are not known.
    volumes: BTreeMap<u64, Option<Volume>>,
    seen: BTreeSet<(u64, u64)>,
    unreadable: usize,
    unmapped: usize,
    too_many: bool,
}

impl FileWatch {
    /// Watches the files under these paths. Paths that do not exist are left out.
    #[must_use]
    pub fn new(request: &FilesRequest<'_>) -> Self {
        let roots = request.roots.iter().map(fs::canonicalize);
        Self {
            roots: roots.filter_map(Result::ok).collect(),
            devices: request.devices.to_vec(),
            names: request.names,
            numbers: BTreeMap::new(),
        }
    }

    /// Finds the files, and where they are now.
    pub fn look(&mut self) -> FilesFound {
        let mut look = Look::default();
        for root in self.roots.clone() {
            match fs::metadata(&root) {
                Ok(metadata) if metadata.is_dir() || metadata.is_file() => {
                    self.walk(&mut look, root, &metadata);
                }
                Ok(_) => {}
                Err(_) => look.unreadable += 1,
            }
        }
        look.finish()
    }

    fn walk(&mut self, look: &mut Look, root: PathBuf, metadata: &Metadata) {
        let mut open = vec![(root, metadata.clone(), 0)];
        while let Some((path, metadata, depth)) = open.pop() {
            if !look.seen.insert((metadata.dev(), metadata.ino())) {
                continue;
            }
            let Some(volume) = self.volume(look, &path, metadata.dev()) else { continue };
            if metadata.is_file() {
                self.file(look, &path, &metadata, volume);
                continue;
            }
            let Ok(entries) = fs::read_dir(&path) else {
                look.unreadable += 1;
                continue;
            };
            if depth == DEPTH_MAX {
                continue;
            }
            for entry in entries.flatten() {
                let inner = entry.path();
                if let Some(metadata) = of_entry(&inner) {
                    open.push((inner, metadata, depth + 1));
                }
            }
        }
    }

    /// Where the file system with this number is.
    fn volume(&self, look: &mut Look, path: &Path, number: u64) -> Option<Volume> {
        if let Some(known) = look.volumes.get(&number) {
            return *known;
        }
        let found = volume(&self.devices, path, number);
        if let Err(why) = &found {
            look.found.notes.push(format!("files are not told apart: {why}"));
        }
        let volume = found.ok();
        look.volumes.insert(number, volume);
        volume
    }

    fn file(&mut self, look: &mut Look, path: &Path, metadata: &Metadata, volume: Volume) {
        if metadata.len() == 0 || look.too_many {
            return;
        }
        let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
        let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else {
            look.unreadable += 1;
            return;
        };
        let Some(places) = places(&file) else {
            look.unmapped += 1;
            return;
        };
        let room = EXTENTS_MAX - look.found.extents.len();
        let is_new = !self.numbers.contains_key(&(metadata.dev(), metadata.ino()));
        if places.len() > room || (is_new && self.numbers.len() == FILES_MAX) {
            look.too_many = true;
            return;
        }
        if places.is_empty() {
            return;
        }
        let number = self.number_of(look, path, metadata);
        let Volume { device, start_bytes } = volume;
        look.found.extents.extend(places.into_iter().map(|(place, length_bytes)| FileExtent {
            device,
            file: number,
            offset_bytes: place.saturating_add(start_bytes),
            length_bytes,
        }));
    }

    fn number_of(&mut self, look: &mut Look, path: &Path, metadata: &Metadata) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry((metadata.dev(), metadata.ino())).or_insert(next);
        if number == next {
            let name = path.to_string_lossy();
            let class = FileClass::of(&name);
            let name = self.names.then(|| name.into_owned());
            look.found.files.push(TracedFile { class, name });
        }
        number
    }
}

impl Look {
    fn finish(mut self) -> FilesFound {
        let notes = &mut self.found.notes;
        if self.unreadable > 0 {
            notes.push(format!("{} files or directories could not be read", self.unreadable));
        }
        if self.unmapped > 0 {
            notes.push(format!("the places of {} files are not known", self.unmapped));
        }
        if self.too_many {
            notes.push("there are too many files or pieces of files; some are left out".to_owned());
        }
        self.found.extents.sort_by_key(|extent| (extent.device, extent.offset_bytes));
        self.found
    }
}

/// A file or directory; of links, only those by which PostgreSQL puts its log and its tablespaces
/// elsewhere.
fn of_entry(path: &Path) -> Option<Metadata> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_symlink() {
        return (metadata.is_dir() || metadata.is_file()).then_some(metadata);
    }
    let is_named = |path: Option<&std::ffi::OsStr>, names: &[&str]| {
        path.and_then(|name| name.to_str()).is_some_and(|name| names.contains(&name))
    };
    let above = path.parent().and_then(Path::file_name);
    let is_followed =
        is_named(path.file_name(), &["pg_wal", "pg_xlog"]) || is_named(above, &["pg_tblspc"]);
    fs::metadata(path).ok().filter(|metadata| is_followed && metadata.is_dir())
}

/// The pieces of a file on its device; `None` if its file system does not tell them.
fn places(file: &File) -> Option<Vec<(u64, u64)>> {
    let (mut at, mut found) = (0, Vec::new());
    loop {
        let batch = extent_map(file, at, Writeback::Never)?;
        let Some(last) = batch.last() else { break };
        found.extend(batch.iter().filter_map(inspect::Extent::place));
        if last.is_last() || last.logical_end() <= at || found.len() > EXTENTS_MAX {
            break;
        }
        at = last.logical_end();
    }
    Some(found)
}

/// The recorded disk that a file system is directly on; a reason, without names of files, if it is
/// not on one or does not tell places.
fn volume(devices: &[String], path: &Path, number: u64) -> Result<Volume, String> {
    let kind = rustix::fs::statfs(path).map_err(|error| error.to_string())?.f_type;
    #[expect(clippy::cast_sign_loss, reason = "a number without a sign, in a type of the system")]
    let kind = kind as u64;
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    if major == 0 || (kind != EXT && kind != XFS) {
        return Err("only ext4 and XFS tell the places of files on their disk".to_owned());
    }
    let block = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))
        .map_err(|_| "its device is not in /sys".to_owned())?;
    let sectors = fs::read_to_string(block.join("partition"))
        .ok()
        .map(|_| fs::read_to_string(block.join("start")).unwrap_or_default());
    let start = sectors.map(|text| text.trim().parse::<u64>()).transpose();
    let start = start.map_err(|_| "where its partition begins is not known".to_owned())?;
    let disk = if start.is_some() { block.parent() } else { Some(block.as_path()) };
    let name = disk.and_then(Path::file_name).map(|name| name.to_string_lossy().replace('!', "/"));
    let name = name.unwrap_or_default();
    let device = devices.iter().position(|device| *device == name);
    let device = device.and_then(|device| u32::try_from(device).ok()).ok_or_else(|| {
        format!("it is on {name}, which is not a recorded disk or a partition of one")
    })?;
    Ok(Volume { device, start_bytes: start.unwrap_or(0).saturating_mul(SECTOR_BYTES) })
}
