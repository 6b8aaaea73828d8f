//! What each target is, and what may be done to it. Nothing here changes anything.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek};
use std::path::Path;

use inspect::files::{Access, Place};
use workload::{Bytes, Stream, Workload};

use crate::databases::database_sign;
use crate::mark::{MARK_BYTES, Mark};
use crate::platform::{files, guard};
use crate::prepare::usual_size_bytes;
use crate::prepared::{Action, Permissions, Refusal, TargetPlan};

/// Name of the test file in a directory.
const FILE_NAME: &str = "iosonde";
/// Test files of other running processes that are passed by.
const NEIGHBOURS_MAX: usize = 1000;
/// A file system is not filled beyond this without being told.
const FULL_PERCENT: f64 = 90.0;

/// The kind of thing that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "raw devices are refused by their names there"))]
pub(crate) enum Node {
    /// A regular file, which may be a test file.
    File,
    /// A block device, by its number.
    Block(u64),
    /// A device of the system that has no end and keeps nothing, such as /dev/null.
    Endless,
    /// What cannot be a target, in words.
    Other(&'static str),
}

/// The space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// Bytes that this user may still take.
    pub(crate) available: u64,
    /// Bytes that are not free.
    pub(crate) used: u64,
    /// All of its bytes; 0 if it has no known size.
    pub(crate) whole: u64,
    /// Whether nothing can be written there.
    pub(crate) read_only: bool,
}

/// What would be done to target number `index`, when `earlier` is done to the targets before it.
pub(crate) fn plan_target(
    workload: &Workload,
    index: usize,
    permissions: &Permissions,
    earlier: &[TargetPlan],
) -> Result<TargetPlan, Refusal> {
    let wanted = TargetNeeds::new(workload, index, permissions, earlier);
    let path = &workload.targets[index].path;
    guard::check_name(path)?;
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => wanted.in_directory(path),
        Ok(metadata) => wanted.existing(path, &metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = directory_of(path);
            if fs::symlink_metadata(path).is_ok() || !directory.is_dir() {
                return Err(Refusal::Missing { path: path.clone() });
            }
            let plan = wanted.make(path, directory, wanted.asked, 0)?;
            let looks_like_a_file = permissions.any_name || path.extension().is_some();
            if looks_like_a_file {
                Ok(plan)
            } else {
                Err(Refusal::NoSuchDirectory { path: path.clone() })
            }
        }
        Err(source) => Err(Refusal::Unreadable { path: path.clone(), source }),
    }
}

/// What a workload wants of one target.
pub(crate) struct TargetNeeds<'a> {
    asked: Option<u64>,
    writes: bool,
    reads: bool,
    permissions: &'a Permissions,
    earlier: &'a [TargetPlan],
}

impl<'a> TargetNeeds<'a> {
    /// The wishes for target number `index`.
    pub(crate) fn new(
        workload: &Workload,
        index: usize,
        permissions: &'a Permissions,
        earlier: &'a [TargetPlan],
    ) -> Self {
        let asked = workload.targets[index].size_bytes.map(|s| s.0);
        let writes = workload.writes_to(index);
        let reads = workload.streams.iter().any(Stream::reads);
        Self { asked, writes, reads, permissions, earlier }
    }

    /// The first test file of the directory that nobody else uses.
    fn in_directory(&self, directory: &Path) -> Result<TargetPlan, Refusal> {
        for number in 0..NEIGHBOURS_MAX {
            let suffix = if number == 0 { String::new() } else { format!("-{number}") };
            let path = directory.join(format!("{FILE_NAME}{suffix}.test"));
            if self.earlier.iter().any(|p| p.path == path) {
                continue;
            }
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return self.make(&path, directory, self.asked, 0);
                }
                Err(source) => return Err(Refusal::Unreadable { path, source }),
                // A neighbour's file, or one that only looks like a test file, is left alone.
                Ok(metadata) if metadata.is_file() => {
                    if let Some(mark) = read_mark(&path)
                        && !files::is_locked(&path)
                    {
                        let counts = mark.filled || mark.keep;
                        // Nobody asked for the size of a file that a killed run left half-written.
                        let mark = if counts { mark } else { Mark { size_bytes: 0, ..mark } };
                        return self.reuse(&path, mark, files::allocated(&path, &metadata));
                    }
                }
                Ok(_) => {}
            }
        }
        let what = "a directory full of test files in use";
        Err(Refusal::Unfit { path: directory.to_owned(), what })
    }

    fn existing(&self, path: &Path, metadata: &Metadata) -> Result<TargetPlan, Refusal> {
        match files::node(metadata) {
            Node::File | Node::Block(_) => {
                let unreadable = |source| Refusal::Unreadable { path: path.to_owned(), source };
                let file = File::open(path).map_err(unreadable)?;
                let plan = self.opened(path, &file)?;
                drop(file);
                let is_written = matches!(plan.action, Action::Destroy | Action::DestroyAndFill);
                match guard::held(path).filter(|_| is_written) {
                    Some(usage) => Err(Refusal::InUse { path: path.to_owned(), usage }),
                    None => Ok(plan),
                }
            }
            Node::Endless => {
                let Some(size) = self.asked else {
                    return Err(Refusal::SizeNeeded { path: path.to_owned() });
                };
                self.check_named(path)?;
                self.foreign(path, size)
            }
            Node::Other(what) => Err(Refusal::Unfit { path: path.to_owned(), what }),
        }
    }

    /// The same for a file or device that is open: what is checked is what will be used, whatever
    /// the name means by now.
    pub(crate) fn opened(&self, path: &Path, file: &File) -> Result<TargetPlan, Refusal> {
        let unreadable = |source| Refusal::Unreadable { path: path.to_owned(), source };
        let metadata = file.metadata().map_err(unreadable)?;
        match files::node(&metadata) {
            Node::File => {}
            Node::Block(number) => {
                self.check_device(path, number)?;
                let mut device = file;
                let size = device.seek(io::SeekFrom::End(0)).map_err(unreadable)?;
                return self.foreign(path, size);
            }
            Node::Endless | Node::Other(_) => return self.existing(path, &metadata),
        }
        if let Some(mark) = mark_of(file).filter(|_| is_plain_and_own(path, file)) {
            if files::is_locked(path) {
                let usage = "the test file of an iosonde that is running".to_owned();
                return Err(Refusal::InUse { path: path.to_owned(), usage });
            }
            return self.reuse(path, mark, files::allocated(path, &metadata));
        }
        self.check_file(path, file, &metadata)?;
        self.foreign(path, metadata.len())
    }

    fn check_file(&self, path: &Path, file: &File, metadata: &Metadata) -> Result<(), Refusal> {
        if !self.writes {
            return Ok(());
        }
        let real = files::real_path(path, file);
        if let Some(sign) = database_sign(path).or_else(|| database_sign(&real)) {
            return Err(Refusal::Database { path: path.to_owned(), sign });
        }
        let in_use = |usage: String| Err(Refusal::InUse { path: path.to_owned(), usage });
        if guard::is_swap_file(&real) {
            return in_use("in use as swap".to_owned());
        }
        let names = files::names(file, metadata);
        if names > 1 {
            return in_use(format!(
                "one file with {names} names (hard links), and only one was given"
            ));
        }
        self.check_named(path)?;
        if guard::is_open_elsewhere(file) {
            let usage = "open elsewhere: in a program, or as a loop device's file";
            return in_use(usage.to_owned());
        }
        Ok(())
    }

    fn check_device(&self, path: &Path, number: u64) -> Result<(), Refusal> {
        if !self.writes {
            return Ok(());
        }
        if let Some(usage) = guard::device_usage(number) {
            return Err(Refusal::InUse { path: path.to_owned(), usage });
        }
        self.check_named(path)
    }

    /// Foreign things are written only if their exact name was repeated.
    fn check_named(&self, path: &Path) -> Result<(), Refusal> {
        let named = self.permissions.destroy.iter().any(|d| d == path);
        if self.writes && !named {
            return Err(Refusal::Foreign { path: path.to_owned() });
        }
        Ok(())
    }

    fn foreign(&self, path: &Path, has: u64) -> Result<TargetPlan, Refusal> {
        let size_bytes = self.asked.unwrap_or(has);
        if size_bytes > has {
            let (has, asked) = (Bytes(has), Bytes(size_bytes));
            return Err(Refusal::TooSmall { path: path.to_owned(), has, asked });
        }
        let action = match (self.writes, self.reads) {
            (false, _) => Action::ReadOnly,
            (true, true) => Action::DestroyAndFill,
            (true, false) => Action::Destroy,
        };
        Ok(TargetPlan { path: path.to_owned(), size_bytes, file_bytes: has, action })
    }

    /// An earlier test file. Unless a size was asked for, it is used at the size it has.
    fn reuse(&self, path: &Path, mark: Mark, allocated: u64) -> Result<TargetPlan, Refusal> {
        if let Some(sign) = database_sign(path) {
            return Err(Refusal::Database { path: path.to_owned(), sign });
        }
        let file_bytes = mark.size_bytes;
        let size = self.asked.or((file_bytes > 0).then_some(file_bytes));
        if let Some(size_bytes) = size.filter(|size| mark.filled && *size <= file_bytes) {
            let (path, action) = (path.to_owned(), Action::Reuse);
            return Ok(TargetPlan { path, size_bytes, file_bytes, action });
        }
        let plan = self.make(path, directory_of(path), size, allocated)?;
        Ok(TargetPlan { action: Action::Refill, file_bytes, ..plan })
    }

    /// A test file that is to be made; `reclaimed` bytes come free when it replaces an earlier one.
    fn make(
        &self,
        path: &Path,
        directory: &Path,
        size: Option<u64>,
        reclaimed: u64,
    ) -> Result<TargetPlan, Refusal> {
        if let Some(sign) = database_sign(path) {
            return Err(Refusal::Database { path: path.to_owned(), sign });
        }
        if guard::is_of_devices(directory) {
            let what = "a device that does not exist";
            return Err(Refusal::Unfit { path: path.to_owned(), what });
        }
        let unreadable = |source| Refusal::Unreadable { path: path.to_owned(), source };
        let space = files::space(directory).map_err(unreadable)?;
        if space.read_only {
            return Err(Refusal::ReadOnly { path: path.to_owned() });
        }
        let size = size.unwrap_or_else(usual_size_bytes);
        // Whole pages, so that every alignment fits.
        let size_bytes = size.div_ceil(MARK_BYTES).saturating_mul(MARK_BYTES);
        let (path, file_bytes, action) = (path.to_owned(), 0, Action::Make);
        let plan = TargetPlan { path, size_bytes, file_bytes, action };
        if space.whole == 0 {
            // A file system without a known size (in memory, or remote) can only be tried.
            return Ok(plan);
        }
        let promised = self.promised(directory);
        let room = Room {
            available: space.available.saturating_add(reclaimed).saturating_sub(promised),
            used: space.used.saturating_sub(reclaimed) + promised,
        };
        room.check(&plan.path, size_bytes, self.permissions.overfill)?;
        Ok(plan)
    }

    /// Bytes that the targets before this one will take of the same file system.
    fn promised(&self, directory: &Path) -> u64 {
        let here = files::volume(directory);
        let makes = |p: &&TargetPlan| matches!(p.action, Action::Make | Action::Refill);
        let same = |p: &&TargetPlan| files::volume(directory_of(&p.path)) == here;
        let more = |p: &TargetPlan| {
            let has = fs::metadata(&p.path).map_or(0, |m| files::allocated(&p.path, &m));
            p.size_bytes.saturating_add(MARK_BYTES).saturating_sub(has)
        };
        self.earlier.iter().filter(makes).filter(same).map(more).fold(0, u64::saturating_add)
    }
}

/// The space of a file system, in bytes.
struct Room {
    available: u64,
    used: u64,
}

impl Room {
    fn check(&self, path: &Path, size_bytes: u64, overfill: bool) -> Result<(), Refusal> {
        let path = path.to_owned();
        let needed = size_bytes.saturating_add(MARK_BYTES);
        if needed > self.available {
            let (needed, available) = (Bytes(needed), Bytes(self.available));
            return Err(Refusal::NoSpace { path, needed, available });
        }
        let whole = self.used.saturating_add(self.available) as f64;
        let percent = 100.0 * self.used.saturating_add(needed) as f64 / whole.max(1.0);
        if percent > FULL_PERCENT && !overfill {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below u64::MAX"
            )]
            let room = (whole * FULL_PERCENT / 100.0) as u64;
            let room = Bytes(room.saturating_sub(self.used + MARK_BYTES) >> 20 << 20);
            return Err(Refusal::Overfill { path, needed: Bytes(size_bytes), percent, room });
        }
        Ok(())
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The mark of a test file of this user. A file without one is never ours, not even an empty one:
/// a test file has its mark before it has its name.
fn read_mark(path: &Path) -> Option<Mark> {
    let file = Place::of(path).and_then(|place| place.open(Access::Read)).ok()?;
    mark_of(&file).filter(|_| Place::is_own(&file))
}

/// Whether an open file is a regular file of exactly this name and of this user. Only then its
/// mark counts: a file with a second name, or of another user, is somebody's.
fn is_plain_and_own(path: &Path, file: &File) -> bool {
    let place = Place::of(path);
    place.is_ok_and(|place| place.is(file) && place.check(file).is_ok()) && Place::is_own(file)
}

/// The mark of an open file, if it has one.
pub(crate) fn mark_of(file: &File) -> Option<Mark> {
    let length = file.metadata().ok()?.len();
    let at = length.checked_sub(MARK_BYTES)?;
    let mut bytes = vec![0; usize::try_from(MARK_BYTES).unwrap_or(4096)];
    files::read_exact_at(file, &mut bytes, at).ok()?;
    Mark::parse(&bytes, length)
}
