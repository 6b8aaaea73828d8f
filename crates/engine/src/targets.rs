//! What each target is, and what may be done to it. Nothing here changes anything.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use inspect::files::{Access, Place};
use inspect::{database_name, database_sign};
use workload::{Bytes, Stream, Workload};

use crate::contents::Contents;
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
                    if let Some(mark) = self.usable_mark(&path)
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

    /// The mark of a test file of this user that nobody has made something else of. A file without
    /// a mark is never ours, not even an empty one: a test file has its mark before its name.
    fn usable_mark(&self, path: &Path) -> Option<Mark> {
        let file = Place::of(path).and_then(|place| place.open(Access::Read)).ok()?;
        let mark = mark_of(&file).filter(|_| Place::is_own(&file))?;
        let is_usable = !self.writes || check_unchanged(path, &file, mark).is_ok();
        is_usable.then_some(mark)
    }

    fn existing(&self, path: &Path, metadata: &Metadata) -> Result<TargetPlan, Refusal> {
        match files::node(metadata) {
            Node::File | Node::Block(_) => {
                let unreadable = |source| Refusal::Unreadable { path: path.to_owned(), source };
                let file = files::open_to_look(path).map_err(unreadable)?;
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
                let mut device = file;
                let size = device.seek(io::SeekFrom::End(0)).map_err(unreadable)?;
                let content = self.check_device(path, file, number, size)?;
                return Ok(TargetPlan { content, ..self.foreign(path, size)? });
            }
            Node::Endless | Node::Other(_) => return self.existing(path, &metadata),
        }
        if let Some(mark) = mark_of(file).filter(|_| is_plain_and_own(path, file)) {
            if files::is_locked(path) {
                let usage = "the test file of an iosonde that is running".to_owned();
                return Err(Refusal::InUse { path: path.to_owned(), usage });
            }
            if self.writes {
                check_unchanged(path, file, mark)?;
            }
            return self.reuse(path, mark, files::allocated(path, &metadata));
        }
        let content = self.check_file(path, file, &metadata)?;
        Ok(TargetPlan { content, ..self.foreign(path, metadata.len())? })
    }

    /// Refuses a file that is not to be overwritten, and returns what is in it, in words.
    fn check_file(
        &self,
        path: &Path,
        file: &File,
        metadata: &Metadata,
    ) -> Result<Option<String>, Refusal> {
        if !self.writes {
            return Ok(None);
        }
        let real = files::real_path(path, file);
        check_database(path, file, &real)?;
        let unreadable = |source| Refusal::Unreadable { path: path.to_owned(), source };
        let contents = Contents::of(file, metadata.len()).map_err(unreadable)?;
        contents.check_never(path)?;
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
        self.check_content(path, &contents)?;
        if guard::is_open_elsewhere(file) {
            let usage = "open elsewhere: in a program, or as a loop device's file";
            return in_use(usage.to_owned());
        }
        if let Some(usage) = guard::opened_through_layer(file) {
            return in_use(usage);
        }
        Ok(contents.described())
    }

    /// Refuses a device that is not to be overwritten, and returns what is on it, in words.
    fn check_device(
        &self,
        path: &Path,
        file: &File,
        number: u64,
        size: u64,
    ) -> Result<Option<String>, Refusal> {
        if !self.writes {
            return Ok(None);
        }
        if let Some(usage) = guard::device_usage(number) {
            return Err(Refusal::InUse { path: path.to_owned(), usage });
        }
        check_below(path, number)?;
        let unreadable = |source| Refusal::Unreadable { path: path.to_owned(), source };
        let contents = Contents::of(file, size).map_err(unreadable)?;
        contents.check_never(path)?;
        self.check_content(path, &contents)?;
        Ok(contents.described())
    }

    /// Refuses a foreign thing whose name was not repeated, or whose content was not named.
    fn check_content(&self, path: &Path, contents: &Contents) -> Result<(), Refusal> {
        if contents.is_something() {
            return contents.check_word(path, self.permissions);
        }
        self.check_named(path)
    }

    /// Foreign things are written only if their exact name was repeated.
    fn check_named(&self, path: &Path) -> Result<(), Refusal> {
        let named = self.permissions.destroy.iter().any(|d| d.names(path));
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
        let path = path.to_owned();
        Ok(TargetPlan { path, size_bytes, file_bytes: has, action, content: None })
    }

    /// An earlier test file. Unless a size was asked for, it is used at the size it has.
    fn reuse(&self, path: &Path, mark: Mark, allocated: u64) -> Result<TargetPlan, Refusal> {
        if let Some(sign) = database_name(path) {
            return Err(Refusal::Database { path: path.to_owned(), sign });
        }
        let file_bytes = mark.size_bytes;
        let size = self.asked.or((file_bytes > 0).then_some(file_bytes));
        if let Some(size_bytes) = size.filter(|size| mark.filled && *size <= file_bytes) {
            let (path, action) = (path.to_owned(), Action::Reuse);
            return Ok(TargetPlan { path, size_bytes, file_bytes, action, content: None });
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
        if let Some(sign) = database_name(path) {
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
        let plan = TargetPlan { path, size_bytes, file_bytes, action, content: None };
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

/// Refuses a file that is a database's by one of its names or by the directory that it is in.
fn check_database(path: &Path, file: &File, real: &Path) -> Result<(), Refusal> {
    let others = guard::other_paths(file, real);
    let paths: Vec<&Path> =
        [path, real].into_iter().chain(others.iter().map(PathBuf::as_path)).collect();
    match database_sign(&paths) {
        Some(sign) => Err(Refusal::Database { path: path.to_owned(), sign }),
        None => Ok(()),
    }
}

/// Refuses a device over a file of a database, one whose file is used otherwise, and a partition of
/// a disk that is as a whole a member of something.
fn check_below(path: &Path, number: u64) -> Result<(), Refusal> {
    for backing in guard::backing_files(number) {
        let shown = backing.display();
        let sign = |sign: String| format!("its file is `{shown}`: {sign}");
        let database = |text| Refusal::Database { path: path.to_owned(), sign: sign(text) };
        // A file that this process cannot see is known by its name only.
        if let Some(text) = database_sign(&[&backing]) {
            return Err(database(text));
        }
        if !fs::metadata(&backing).is_ok_and(|m| m.is_file()) {
            continue;
        }
        let Ok(file) = files::open_to_look(&backing) else { continue };
        let others = guard::other_paths(&file, &backing);
        let others: Vec<&Path> = others.iter().map(PathBuf::as_path).collect();
        let length = file.metadata().map_or(0, |m| m.len());
        let content = || Contents::of(&file, length).ok().and_then(|c| c.database());
        if let Some(text) = database_sign(&others).or_else(content) {
            return Err(database(text));
        }
    }
    if let Some(usage) = guard::used_below(number) {
        return Err(Refusal::InUse { path: path.to_owned(), usage });
    }
    if let Some(disk) = guard::disk_of(number)
        && let Ok(mut file) = files::open_to_look(&disk)
    {
        let size = file.seek(io::SeekFrom::End(0)).unwrap_or(0);
        let unreadable = |source| Refusal::Unreadable { path: disk.clone(), source };
        Contents::of(&file, size).map_err(unreadable)?.without_partitions().check_never(&disk)?;
    }
    Ok(())
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether an open file is a regular file of exactly this name and of this user. Only then its
/// mark counts: a file with a second name, or of another user, is somebody's.
fn is_plain_and_own(path: &Path, file: &File) -> bool {
    let place = Place::of(path);
    place.is_ok_and(|place| place.is(file) && place.check(file).is_ok()) && Place::is_own(file)
}

/// Refuses a test file that somebody made a disk or a database of: its mark says that it was wholly
/// written with random bytes, and it holds something else.
pub(crate) fn check_unchanged(path: &Path, file: &File, mark: Mark) -> Result<(), Refusal> {
    if !mark.filled {
        return Ok(());
    }
    // What cannot be read is iosonde's own: errors are for the run to count.
    let length = file.metadata().map_or(mark.size_bytes, |m| m.len());
    let Ok(contents) = Contents::of(file, length) else { return Ok(()) };
    contents.check_never(path)?;
    match contents.described() {
        Some(content) => Err(Refusal::Changed { path: path.to_owned(), content }),
        None => Ok(()),
    }
}

/// The mark of an open file, if it has one.
pub(crate) fn mark_of(file: &File) -> Option<Mark> {
    let length = file.metadata().ok()?.len();
    let at = length.checked_sub(MARK_BYTES)?;
    let mut bytes = vec![0; usize::try_from(MARK_BYTES).unwrap_or(4096)];
    files::read_exact_at(file, &mut bytes, at).ok()?;
    Mark::parse(&bytes, length)
}
