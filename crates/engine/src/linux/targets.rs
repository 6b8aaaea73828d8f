//! What each target on Linux is, and what may be done to it. Nothing here changes anything.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use workload::{Bytes, Stream, Workload};

use super::guard;
use crate::mark::{MARK_BYTES, Mark};
use crate::prepare::usual_size_bytes;
use crate::prepared::{Action, Permissions, Refusal, TargetPlan};

/// Name of the test file in a directory.
const FILE_NAME: &str = "iosonde";
/// Test files of other running processes that are passed by.
const NEIGHBOURS_MAX: usize = 1000;
/// A file system is not filled beyond this without being told.
const FULL_PERCENT: f64 = 90.0;
/// The character devices that can be targets, by their number: null, zero, full.
const MEMORY_DEVICES: [(u32, u32); 3] = [(1, 3), (1, 5), (1, 7)];

/// What would be done to target number `index`, when `earlier` is done to the targets before it.
pub(crate) fn plan_target(
    workload: &Workload,
    index: usize,
    permissions: &Permissions,
    earlier: &[TargetPlan],
) -> Result<TargetPlan, Refusal> {
    let wanted = TargetNeeds::new(workload, index, permissions, earlier);
    let path = &workload.targets[index].path;
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
pub(super) struct TargetNeeds<'a> {
    asked: Option<u64>,
    writes: bool,
    reads: bool,
    permissions: &'a Permissions,
    earlier: &'a [TargetPlan],
}

impl<'a> TargetNeeds<'a> {
    /// What is wanted of target number `index`.
    pub(super) fn new(
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
                Ok(metadata) if is_ours(&metadata) => {
                    if let Some(mark) = read_mark(&path)
                        && !is_locked(&path)
                    {
                        let counts = mark.filled || mark.keep;
                        // Nobody asked for the size of a file that a killed run left half-written.
                        let mark = if counts { mark } else { Mark { size_bytes: 0, ..mark } };
                        return self.reuse(&path, mark, allocated(&metadata));
                    }
                }
                Ok(_) => {}
            }
        }
        let what = "a directory full of test files in use";
        Err(Refusal::Unfit { path: directory.to_owned(), what })
    }

    fn existing(&self, path: &Path, metadata: &Metadata) -> Result<TargetPlan, Refusal> {
        let kind = metadata.file_type();
        if kind.is_file() || kind.is_block_device() {
            let file = File::open(path);
            let file =
                file.map_err(|source| Refusal::Unreadable { path: path.to_owned(), source })?;
            return self.opened(path, &file);
        }
        let number = metadata.rdev();
        let number = (rustix::fs::major(number), rustix::fs::minor(number));
        if kind.is_char_device() && MEMORY_DEVICES.contains(&number) {
            let Some(size) = self.asked else {
                return Err(Refusal::SizeNeeded { path: path.to_owned() });
            };
            self.check_named(path)?;
            return self.foreign(path, size);
        }
        let what = match (kind.is_char_device(), kind.is_socket()) {
            (true, _) => "a character device",
            (_, true) => "a socket",
            _ => "a pipe",
        };
        Err(Refusal::Unfit { path: path.to_owned(), what })
    }

    /// The same for a file or device that is open: what is looked at is what will be used, whatever
    /// the name means by now.
    pub(super) fn opened(&self, path: &Path, file: &File) -> Result<TargetPlan, Refusal> {
        let unreadable = |source| Refusal::Unreadable { path: path.to_owned(), source };
        let metadata = file.metadata().map_err(unreadable)?;
        let kind = metadata.file_type();
        if kind.is_char_device() {
            return self.existing(path, &metadata);
        }
        if kind.is_block_device() {
            self.check_device(path, metadata.rdev())?;
            let mut device = file;
            let size = device.seek(io::SeekFrom::End(0)).map_err(unreadable)?;
            return self.foreign(path, size);
        }
        let is_link = fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
        if let Some(mark) = mark_of(file).filter(|_| !is_link) {
            if is_locked(path) {
                let usage = "the test file of an iosonde that is running".to_owned();
                return Err(Refusal::InUse { path: path.to_owned(), usage });
            }
            return self.reuse(path, mark, allocated(&metadata));
        }
        self.check_file(path, file, &metadata)?;
        self.foreign(path, metadata.len())
    }

    fn check_file(&self, path: &Path, file: &File, metadata: &Metadata) -> Result<(), Refusal> {
        if !self.writes {
            return Ok(());
        }
        let real = real_path(file);
        if let Some(sign) = guard::database_sign(path).or_else(|| guard::database_sign(&real)) {
            return Err(Refusal::Database { path: path.to_owned(), sign });
        }
        let in_use = |usage: String| Err(Refusal::InUse { path: path.to_owned(), usage });
        if guard::is_swap_file(&real) {
            return in_use("in use as swap".to_owned());
        }
        if metadata.nlink() > 1 {
            let names = metadata.nlink();
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
        if let Some(sign) = guard::database_sign(path) {
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
        if let Some(sign) = guard::database_sign(path) {
            return Err(Refusal::Database { path: path.to_owned(), sign });
        }
        if guard::is_of_devices(directory) {
            let what = "a device that does not exist";
            return Err(Refusal::Unfit { path: path.to_owned(), what });
        }
        let unreadable =
            |e: rustix::io::Errno| Refusal::Unreadable { path: path.to_owned(), source: e.into() };
        let fs = rustix::fs::statvfs(directory).map_err(unreadable)?;
        if fs.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
            return Err(Refusal::ReadOnly { path: path.to_owned() });
        }
        let size = size.unwrap_or_else(usual_size_bytes);
        // Whole pages, so that every alignment fits.
        let size_bytes = size.div_ceil(MARK_BYTES).saturating_mul(MARK_BYTES);
        let (path, file_bytes, action) = (path.to_owned(), 0, Action::Make);
        let plan = TargetPlan { path, size_bytes, file_bytes, action };
        if fs.f_blocks == 0 {
            // A file system that tells no size (in memory, or far away) can only be tried.
            return Ok(plan);
        }
        let bytes = |blocks: u64| blocks.saturating_mul(fs.f_frsize);
        let promised = self.promised(directory);
        let room = Room {
            available: bytes(fs.f_bavail).saturating_add(reclaimed).saturating_sub(promised),
            used: bytes(fs.f_blocks.saturating_sub(fs.f_bfree)).saturating_sub(reclaimed)
                + promised,
        };
        room.check(&plan.path, size_bytes, self.permissions.overfill)?;
        Ok(plan)
    }

    /// Bytes that the targets before this one will take of the same file system.
    fn promised(&self, directory: &Path) -> u64 {
        let device = |path: &Path| fs::metadata(path).ok().map(|m| m.dev());
        let here = device(directory);
        let makes = |p: &&TargetPlan| matches!(p.action, Action::Make | Action::Refill);
        let same = |p: &&TargetPlan| device(directory_of(&p.path)) == here;
        let more = |p: &TargetPlan| {
            let has = fs::metadata(&p.path).map_or(0, |m| allocated(&m));
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

/// A regular file of this user: in a directory that all may write to, others' test files are
/// theirs.
fn is_ours(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Bytes that a file really takes: one that was left half-filled takes fewer than it is long.
fn allocated(metadata: &Metadata) -> u64 {
    metadata.blocks().saturating_mul(512)
}

/// Where an open file is now, with every link followed.
fn real_path(file: &File) -> PathBuf {
    let name = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    fs::read_link(&name).unwrap_or(name)
}

/// The mark of a test file. An empty file counts as one in which nothing is written: there is
/// nothing to lose in it, and a process that was killed right after making it leaves just that.
fn read_mark(path: &Path) -> Option<Mark> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path).ok()?;
    mark_or_empty(&file)
}

/// The same for a file that is open.
pub(super) fn mark_or_empty(file: &File) -> Option<Mark> {
    let empty = file.metadata().is_ok_and(|m| m.len() == 0);
    let nothing = Mark { size_bytes: 0, filled: false, keep: false };
    if empty { Some(nothing) } else { mark_of(file) }
}

/// The mark of an open file, if it has one.
pub(super) fn mark_of(file: &File) -> Option<Mark> {
    let length = file.metadata().ok()?.len();
    let at = length.checked_sub(MARK_BYTES)?;
    let mut bytes = vec![0; usize::try_from(MARK_BYTES).unwrap_or(4096)];
    file.read_exact_at(&mut bytes, at).ok()?;
    Mark::parse(&bytes, length)
}

/// Whether another process works on this test file. File systems without locks have no answer.
fn is_locked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    locked == Err(rustix::io::Errno::WOULDBLOCK)
}

/// Whether a name still means this open file.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    let named = fs::symlink_metadata(path).map(|m| (m.dev(), m.ino()));
    let open = file.metadata().map(|m| (m.dev(), m.ino()));
    matches!((named, open), (Ok(named), Ok(open)) if named == open)
}
