//! Targets on Linux: what each of them is, whether it may be used, and how it is made ready.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rustix::fs::{AtFlags, FallocateFlags, FlockOperation, StatxFlags};
use workload::{Bytes, Mode, Stream, Workload};

use super::{extents, fill, guard};
use crate::error::EngineError;
use crate::event::Event;
use crate::mark::{MARK_BYTES, Mark};
use crate::prepare::DEFAULT_SIZE_BYTES;
use crate::prepared::{Action, Permissions, PrepareError, PreparedTarget, Refusal, TargetPlan};

/// Name of the test file in a directory.
const FILE_NAME: &str = "iosonde";
/// Test files of other running processes that are passed by.
const NEIGHBOURS_MAX: usize = 1000;
/// A file system is not filled beyond this without being told.
const FULL_PERCENT: f64 = 90.0;

/// What would be done to target number `index`.
pub(crate) fn plan_target(
    workload: &Workload,
    index: usize,
    permissions: &Permissions,
) -> Result<TargetPlan, Refusal> {
    let target = &workload.targets[index];
    let path = target.path.clone();
    let wanted = Wanted {
        asked: target.size_bytes.map(|s| s.0),
        writes: workload.writes_to(index),
        reads: workload.streams.iter().any(Stream::reads),
        permissions,
    };
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => wanted.in_directory(&path),
        Ok(metadata) => wanted.existing(&path, &metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            if fs::symlink_metadata(&path).is_ok() || !parent.is_dir() {
                return Err(Refusal::Missing { path });
            }
            wanted.make(&path, parent, 0)
        }
        Err(source) => Err(Refusal::Unreadable { path, source }),
    }
}

/// What a workload wants of one target.
struct Wanted<'a> {
    asked: Option<u64>,
    writes: bool,
    reads: bool,
    permissions: &'a Permissions,
}

impl Wanted<'_> {
    /// The first test file of the directory that no other process uses.
    fn in_directory(&self, directory: &Path) -> Result<TargetPlan, Refusal> {
        for number in 0..NEIGHBOURS_MAX {
            let suffix = if number == 0 { String::new() } else { format!("-{number}") };
            let path = directory.join(format!("{FILE_NAME}{suffix}.test"));
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return self.make(&path, directory, 0);
                }
                Err(source) => return Err(Refusal::Unreadable { path, source }),
                // A neighbour's file, or one that only looks like a test file, is left alone.
                Ok(metadata) if metadata.is_file() && !is_locked(&path) => {
                    if let Some(mark) = read_mark(&path) {
                        return self.reuse(&path, directory, mark);
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
        if kind.is_file() {
            if let Some(mark) = read_mark(path) {
                if is_locked(path) {
                    let usage = "the test file of an iosonde that is running".to_owned();
                    return Err(Refusal::InUse { path: path.to_owned(), usage });
                }
                let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
                return self.reuse(path, parent.unwrap_or(Path::new(".")), mark);
            }
            self.check_file(path)?;
            return self.foreign(path, metadata.len());
        }
        if kind.is_block_device() {
            self.check_device(path)?;
            let size = File::open(path).and_then(|mut f| f.seek(io::SeekFrom::End(0)));
            let size =
                size.map_err(|source| Refusal::Unreadable { path: path.to_owned(), source })?;
            return self.foreign(path, size);
        }
        if kind.is_char_device() {
            let Some(size) = self.asked else {
                return Err(Refusal::SizeNeeded { path: path.to_owned() });
            };
            self.check_named(path)?;
            return self.foreign(path, size);
        }
        let what = if kind.is_socket() { "a socket" } else { "a pipe" };
        Err(Refusal::Unfit { path: path.to_owned(), what })
    }

    fn check_file(&self, path: &Path) -> Result<(), Refusal> {
        if !self.writes {
            return Ok(());
        }
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let extension =
            guard::database_extension(path).or_else(|| guard::database_extension(&real));
        if let Some(extension) = extension {
            return Err(Refusal::Database { path: path.to_owned(), extension });
        }
        if guard::is_swap_file(&real) {
            let usage = "in use as swap".to_owned();
            return Err(Refusal::InUse { path: path.to_owned(), usage });
        }
        self.check_named(path)
    }

    fn check_device(&self, path: &Path) -> Result<(), Refusal> {
        if !self.writes {
            return Ok(());
        }
        if let Some(usage) = guard::device_usage(path) {
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
        Ok(TargetPlan { path: path.to_owned(), size_bytes, action })
    }

    fn reuse(&self, path: &Path, directory: &Path, mark: Mark) -> Result<TargetPlan, Refusal> {
        let size_bytes = self.asked.unwrap_or(mark.size_bytes);
        if mark.filled && mark.size_bytes >= size_bytes {
            return Ok(TargetPlan { path: path.to_owned(), size_bytes, action: Action::Reuse });
        }
        let plan = self.make(path, directory, mark.size_bytes)?;
        Ok(TargetPlan { action: Action::Refill, ..plan })
    }

    /// A test file that is to be made; `reclaimed` bytes come free when it replaces an earlier one.
    fn make(&self, path: &Path, directory: &Path, reclaimed: u64) -> Result<TargetPlan, Refusal> {
        if let Some(extension) = guard::database_extension(path) {
            return Err(Refusal::Database { path: path.to_owned(), extension });
        }
        let unreadable =
            |e: rustix::io::Errno| Refusal::Unreadable { path: path.to_owned(), source: e.into() };
        let fs = rustix::fs::statvfs(directory).map_err(unreadable)?;
        if fs.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
            return Err(Refusal::ReadOnly { path: path.to_owned() });
        }
        let size = self.asked.unwrap_or(DEFAULT_SIZE_BYTES);
        // Whole pages, so that every alignment fits.
        let size_bytes = size.div_ceil(MARK_BYTES).saturating_mul(MARK_BYTES);
        let needed = size_bytes.saturating_add(MARK_BYTES);
        let available = (fs.f_bavail * fs.f_frsize).saturating_add(reclaimed);
        let used = (fs.f_blocks.saturating_sub(fs.f_bfree) * fs.f_frsize).saturating_sub(reclaimed);
        if needed > available {
            let (needed, available) = (Bytes(needed), Bytes(available));
            return Err(Refusal::NoSpace { path: path.to_owned(), needed, available });
        }
        let whole = (used + available) as f64;
        let percent = 100.0 * (used + needed) as f64 / whole.max(1.0);
        if percent > FULL_PERCENT && !self.permissions.overfill {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below u64::MAX"
            )]
            let room = (whole * FULL_PERCENT / 100.0) as u64;
            let room = Bytes(room.saturating_sub(used + MARK_BYTES) >> 20 << 20);
            let needed = Bytes(size_bytes);
            return Err(Refusal::Overfill { path: path.to_owned(), needed, percent, room });
        }
        Ok(TargetPlan { path: path.to_owned(), size_bytes, action: Action::Make })
    }
}

/// The mark of a file, if it has one.
fn read_mark(path: &Path) -> Option<Mark> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let at = length.checked_sub(MARK_BYTES)?;
    let mut bytes = vec![0; usize::try_from(MARK_BYTES).unwrap_or(4096)];
    file.read_exact_at(&mut bytes, at).ok()?;
    Mark::parse(&bytes, length)
}

/// Whether another process works on this test file.
fn is_locked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err()
}

/// Makes one target ready as planned.
pub(crate) fn prepare_target(
    workload: &Workload,
    index: usize,
    plan: TargetPlan,
    permissions: &Permissions,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<PreparedTarget, PrepareError> {
    let writes = workload.writes_to(index);
    let mut target = match plan.action {
        Action::Make | Action::Refill | Action::Reuse => test_file(&plan, permissions)?,
        _ => foreign(&plan, writes)?,
    };
    // From here on a test file is removed whenever this function fails: dropping the target does it.
    let direct = workload.mode == Mode::Direct;
    if direct {
        target.direct_align_bytes = direct_alignment(&target)?;
    }
    if plan.action.fills() {
        fill_target(&target, workload.seed, direct, stop, observe)?;
        if plan.action == Action::DestroyAndFill {
            target.content = "overwritten by iosonde with random bytes before the run".to_owned();
        } else {
            let keep = permissions.keep;
            write_mark(&target, Mark { size_bytes: plan.size_bytes, filled: true, keep })?;
        }
    }
    check_extents(&mut target);
    Ok(target)
}

fn test_file(plan: &TargetPlan, permissions: &Permissions) -> Result<PreparedTarget, PrepareError> {
    let path = &plan.path;
    let made = plan.action == Action::Make;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(made).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let remedy = "check the permissions of the directory";
    let open_error = |source| PrepareError::Open { path: path.clone(), source, remedy };
    let file = options.open(path).map_err(open_error)?;
    let kept = !made && read_mark(path).is_some_and(|m| m.keep);
    let target = PreparedTarget {
        path: path.clone(),
        size_bytes: plan.size_bytes,
        direct_align_bytes: 1,
        content:
            "a test file of iosonde, wholly written with incompressible bytes that do not repeat"
                .to_owned(),
        file: Some(file),
        warnings: Vec::new(),
        remove: !permissions.keep && !kept,
    };
    lock(&target)?;
    if plan.action == Action::Reuse {
        return Ok(target);
    }
    let mark = Mark { size_bytes: plan.size_bytes, filled: false, keep: permissions.keep };
    // The mark comes first: a file that is left behind at any later moment is known for what it is.
    if let Some(file) = &target.file {
        file.set_len(0).map_err(|e| fill_error(path, e))?;
    }
    write_mark(&target, mark)?;
    reserve(&target)?;
    Ok(target)
}

fn lock(target: &PreparedTarget) -> Result<(), PrepareError> {
    let Some(file) = &target.file else { return Ok(()) };
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|e| {
        PrepareError::Open {
            path: target.path.clone(),
            source: e.into(),
            remedy: "another iosonde has just taken this test file; try again",
        }
    })
}

/// Takes the space of the file at once, where the file system can, so that running out of it shows before the fill.
fn reserve(target: &PreparedTarget) -> Result<(), PrepareError> {
    let Some(file) = &target.file else { return Ok(()) };
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, target.size_bytes) {
        Ok(())
        | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => {
            Ok(())
        }
        Err(error) => Err(fill_error(&target.path, error.into())),
    }
}

fn write_mark(target: &PreparedTarget, mark: Mark) -> Result<(), PrepareError> {
    let Some(file) = &target.file else { return Ok(()) };
    let written = file.write_all_at(&mark.to_bytes(), mark.size_bytes);
    written.and_then(|()| file.sync_all()).map_err(|e| fill_error(&target.path, e))
}

fn fill_error(path: &Path, source: io::Error) -> PrepareError {
    let remedy = match source.kind() {
        io::ErrorKind::StorageFull => "the file system is full; choose a smaller `--size`",
        io::ErrorKind::QuotaExceeded => "the quota is used up; choose a smaller `--size`",
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only; choose another directory"
        }
        io::ErrorKind::PermissionDenied => "check the permissions of the directory",
        _ => "check the health of the device",
    };
    PrepareError::Fill { path: path.to_owned(), source, remedy }
}

fn fill_target(
    target: &PreparedTarget,
    seed: u64,
    direct: bool,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<(), PrepareError> {
    let error = |e| fill_error(&target.path, e);
    let mode = if direct { Mode::Direct } else { Mode::Buffered };
    let writes = Stream { write_percent: 50, ..Stream::default() };
    let file = open_for_io(target, mode, &writes)?;
    // A device may end between two pages.
    let size = target.size_bytes / target.direct_align_bytes * target.direct_align_bytes;
    if fill::fill(file, &target.path, size, seed, stop, observe).map_err(error)? {
        Ok(())
    } else {
        Err(PrepareError::Interrupted)
    }
}

/// Opens somebody else's file or device.
fn foreign(plan: &TargetPlan, writes: bool) -> Result<PreparedTarget, PrepareError> {
    let path = &plan.path;
    let device = fs::metadata(path).is_ok_and(|m| m.file_type().is_block_device());
    // The kernel refuses to open a device exclusively that anybody has mounted or built on.
    let flags = if writes && device { libc::O_EXCL } else { 0 };
    let file = OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path);
    let remedy = match (writes, device) {
        (true, true) => "somebody uses the device, or root is needed",
        _ => "check its permissions",
    };
    let file = file.map_err(|source| PrepareError::Open { path: path.clone(), source, remedy })?;
    let mut warnings = Vec::new();
    if plan.action == Action::ReadOnly {
        let path = path.display();
        let what = if device {
            "blocks that were trimmed or never written"
        } else {
            "blocks that compress well or repeat"
        };
        warnings.push(format!(
            "`{path}` was not filled by iosonde; {what} may be read faster than the device can deliver data"
        ));
    }
    Ok(PreparedTarget {
        path: path.clone(),
        size_bytes: plan.size_bytes,
        direct_align_bytes: 1,
        content: "not written by iosonde".to_owned(),
        file: Some(file),
        warnings,
        remove: false,
    })
}

/// Opens a prepared target again, for the I/O of a stream. It is the same file, whatever its name means by now.
pub(super) fn open_for_io(
    target: &PreparedTarget,
    mode: Mode,
    stream: &Stream,
) -> Result<File, EngineError> {
    let what = || {
        let access = if stream.writes() { "reading and writing" } else { "reading" };
        let direct = if mode == Mode::Direct { ", past the operating system's cache" } else { "" };
        format!("{access}{direct}")
    };
    let error = |source| EngineError::Open { path: target.path.clone(), what: what(), source };
    let Some(file) = &target.file else { return Err(error(io::ErrorKind::NotFound.into())) };
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let direct = if mode == Mode::Direct { libc::O_DIRECT } else { 0 };
    let durable = if stream.durable { libc::O_DSYNC } else { 0 };
    OpenOptions::new()
        .read(true)
        .write(stream.writes())
        .custom_flags(direct | durable)
        .open(path)
        .map_err(error)
}

/// What offsets and lengths of direct I/O must be multiples of.
fn direct_alignment(target: &PreparedTarget) -> Result<u64, PrepareError> {
    let no_direct = || PrepareError::NoDirect { path: target.path.clone() };
    let file = match open_for_io(target, Mode::Direct, &Stream::default()) {
        Ok(file) => file,
        Err(EngineError::Open { source, .. }) if source.raw_os_error() == Some(libc::EINVAL) => {
            return Err(no_direct());
        }
        Err(error) => return Err(error.into()),
    };
    let flags = StatxFlags::DIOALIGN;
    if let Ok(stat) = rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, flags)
        && stat.stx_mask & flags.bits() != 0
    {
        let align = u64::from(stat.stx_dio_offset_align);
        return if align > 0 { Ok(align) } else { Err(no_direct()) };
    }
    // The kernel or the file system does not say: the smallest that works.
    let works = |align: &u64| extents::reads_aligned_to(&file, *align);
    [512, 4096].into_iter().find(works).ok_or_else(no_direct)
}

/// Looks for parts of a file that are not really there.
fn check_extents(target: &mut PreparedTarget) {
    let Some(file) = &target.file else { return };
    let is_file = file.metadata().is_ok_and(|m| m.is_file());
    let Some(missing) = extents::missing_bytes(file, target.size_bytes).filter(|_| is_file) else {
        return;
    };
    if missing > 0 {
        let percent = 100.0 * missing as f64 / target.size_bytes.max(1) as f64;
        let path = target.path.display();
        target.warnings.push(format!(
            "{percent:.1} % of `{path}` ({}) are holes or were never written: reading them measures nothing; \
             let iosonde make a test file, or write the file first",
            Bytes(missing)
        ));
    }
}
