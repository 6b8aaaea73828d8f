//! Makes targets ready as planned: test files are made, locked and wholly written, foreign
//! targets are looked at once more when they are open.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use inspect::files::{Access, Draft, Place, Readers};
use workload::{Bytes, Content, Mode, Stream, Workload};

use crate::event::Event;
use crate::fill::Fill;
use crate::mark::{MARK_BYTES, Mark};
use crate::platform::{self, files, guard};
use crate::prepare::Filling;
use crate::prepared::{
    Action, Cleaned, Permissions, PrepareError, PreparedTarget, Refusal, TargetPlan,
};
use crate::random::{Random, unrepeated};
use crate::resize::resize;
use crate::targets::{Node, TargetNeeds, check_unchanged, mark_of, plan_target};

/// Other processes may take a test file between the plan and the lock this many times.
const ATTEMPTS: usize = 16;
/// How long the I/Os of a program that was killed are waited for.
const LAST_IOS: Duration = Duration::from_secs(60);

/// Plans target number `index` once more, which may long have been planned with others, and makes
/// it ready.
pub(crate) fn prepare_target(
    workload: &Workload,
    (index, filling): (usize, Filling),
    permissions: &Permissions,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<PreparedTarget, PrepareError> {
    for _ in 0..ATTEMPTS {
        let plan = plan_target(workload, index, permissions, &[])
            .map_err(|refusal| PrepareError::Refused(vec![refusal]))?;
        let as_it_is = filling == Filling::AsItIs;
        let target = match plan.action {
            Action::Make | Action::Refill | Action::Reuse if as_it_is => left_behind(&plan)?,
            Action::Make | Action::Refill | Action::Reuse => {
                test_file(&plan, filling, permissions)?
            }
            _ if filling == Filling::Sparse => {
                let (path, what) =
                    (plan.path, "no test file of iosonde, and only those can have holes");
                return Err(PrepareError::Refused(vec![Refusal::Unfit { path, what }]));
            }
            _ => Some(foreign(workload, index, &plan, permissions)?),
        };
        if let Some(target) = target {
            return make_ready(workload, (index, filling), &plan, target, stop, observe);
        }
    }
    Err(PrepareError::Open {
        path: workload.targets[index].path.clone(),
        source: io::ErrorKind::WouldBlock.into(),
        remedy: "other processes take every test file here at the same moment; try again",
    })
}

fn make_ready(
    workload: &Workload,
    (index, filling): (usize, Filling),
    plan: &TargetPlan,
    mut target: PreparedTarget,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<PreparedTarget, PrepareError> {
    let count = workload.targets.len();
    let mut here = workload.streams.iter().filter(|s| s.target_indexes(count).contains(&index));
    let direct = here.any(|stream| workload.mode_of(stream) == Mode::Direct);
    // A test file that was begun is removed whenever this function fails: dropping the target does
    // it.
    if direct {
        target.direct_align_bytes = platform::direct_alignment(&target)?;
    }
    if filling == Filling::AsItIs {
        return Ok(target);
    }
    let fills = plan.action.fills() && filling == Filling::Engine;
    if fills {
        // Equal files would be one file to storage that recognises what it has.
        let seed = unrepeated(workload.seed, index as u64);
        fill_target(&target, seed, direct, stop, observe)?;
    }
    if plan.action == Action::DestroyAndFill {
        target.content = match filling {
            Filling::Engine => "overwritten by iosonde with random bytes before the run",
            _ => "overwritten by the run",
        }
        .into();
    }
    if let Some(mark) = target.mark {
        // What the run writes decides whether the next one may believe the content.
        let whole = fills && target.size_bytes >= mark.size_bytes;
        let filled = (mark.filled || whole) && !writes_other_than_random(workload, index);
        let after = Mark { filled, ..mark };
        if mark != after {
            write_mark(&target, after)?;
            target.mark = Some(after);
        }
        target.remove = !mark.keep;
    }
    if let Some(file) = target.file.as_ref().filter(|_| filling == Filling::Engine) {
        let warnings = files::warnings(&target.path, file, target.size_bytes);
        target.warnings.extend(warnings);
    }
    Ok(target)
}

fn writes_other_than_random(workload: &Workload, index: usize) -> bool {
    let count = workload.targets.len();
    let mut here = workload.streams.iter().filter(|s| s.target_indexes(count).contains(&index));
    here.any(|s| s.writes() && s.content != Content::Random)
}

/// Opens and locks a test file; `None` if another program was faster, so that the file has to be
/// looked at again.
fn test_file(
    plan: &TargetPlan,
    filling: Filling,
    permissions: &Permissions,
) -> Result<Option<PreparedTarget>, PrepareError> {
    let path = &plan.path;
    let permissions_remedy = "check the permissions of the directory and of the file";
    let error = |source| {
        let remedy = no_room(&source).unwrap_or(permissions_remedy);
        PrepareError::Open { path: path.clone(), source, remedy }
    };
    let place = Place::of(path).map_err(error)?;
    let file_bytes = plan.file_bytes.max(plan.size_bytes);
    let made = plan.action == Action::Make;
    let file = if made {
        let mark = Mark { size_bytes: file_bytes, filled: false, keep: permissions.keep };
        made_file(&place, mark)
    } else {
        place.open(Access::Write)
    };
    let file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && made => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !made => return Ok(None),
        Err(source) => return Err(error(source)),
    };
    // Only of a file that is locked and still has its name can anything be said that stays true.
    if !lock(&file) || !place.is(&file) || !(made || Place::is_own(&file)) {
        return Ok(None);
    }
    // And only then its mark decides: another process may have used, replaced or removed it since
    // the plan.
    let allows = |m: &Mark| match plan.action {
        Action::Reuse => m.filled && m.size_bytes >= plan.size_bytes,
        // A file that is to stay is not made smaller.
        _ => !m.keep || m.size_bytes <= file_bytes,
    };
    let Some(found) = mark_of(&file).filter(allows) else { return Ok(None) };
    check_unchanged(path, &file, found).map_err(|r| PrepareError::Refused(vec![r]))?;
    let mut target = of_test_file(plan, place, file);
    // A file that is to be a hole is not reused.
    let reuses = plan.action == Action::Reuse && filling != Filling::Sparse;
    target.remove = !reuses;
    files::check_plain(path, target.file.as_ref()).map_err(|r| PrepareError::Refused(vec![r]))?;
    let keep = permissions.keep || (!made && found.keep);
    if reuses {
        let mark = Mark { keep, ..found };
        if mark != found {
            write_mark(&target, mark)?;
        }
        target.mark = Some(mark);
        return Ok(Some(target));
    }
    let mark = Mark { size_bytes: file_bytes, filled: false, keep };
    // The unused part of the file stays as it is, unless all of it is to be a hole.
    let anew = !made && (plan.whole_bytes().is_none() || filling == Filling::Sparse);
    if let Some(file) = target.file.as_ref().filter(|_| anew) {
        emptied(file, found, mark).map_err(|e| fill_error(&target, e))?;
    }
    write_mark(&target, mark)?;
    if filling == Filling::Sparse {
        "a test file of iosonde, with holes where nothing was written"
            .clone_into(&mut target.content);
    } else {
        reserve(&target)?;
    }
    target.mark = Some(mark);
    Ok(Some(target))
}

/// Makes a test file. It has its mark before it has its name, so one that is left at any later
/// moment is recognised.
fn made_file(place: &Place, mark: Mark) -> io::Result<File> {
    let draft = Draft::of(place, Readers::Owner)?;
    files::write_all_at(draft.file(), &mark.to_bytes(), mark.size_bytes)?;
    draft.into_file()
}

/// Gives back the space of an earlier test file. At every moment, it has one mark or the other.
fn emptied(file: &File, before: Mark, after: Mark) -> io::Result<()> {
    let nothing = Mark { size_bytes: 0, filled: false, ..before };
    if before.size_bytes >= MARK_BYTES {
        resize(file, before, nothing, false)?;
    }
    resize(file, nothing, after, false)
}

fn of_test_file(plan: &TargetPlan, place: Place, file: File) -> PreparedTarget {
    let part = plan.whole_bytes().map_or_else(String::new, |whole| {
        format!("the first {} of {}: ", Bytes(plan.size_bytes), Bytes(whole))
    });
    PreparedTarget {
        path: plan.path.clone(),
        size_bytes: plan.size_bytes,
        direct_align_bytes: 1,
        content: part
            + "a test file of iosonde, wholly written with incompressible bytes that do not repeat",
        file: Some(file),
        place: Some(place),
        warnings: Vec::new(),
        mark: None,
        remove: false,
    }
}

/// Opens and locks the test file of an earlier run, and waits until the last of its I/Os are done;
/// `None` if another program was faster.
fn left_behind(plan: &TargetPlan) -> Result<Option<PreparedTarget>, PrepareError> {
    let path = &plan.path;
    let refused = |refusal| PrepareError::Refused(vec![refusal]);
    if plan.action == Action::Make {
        return Err(refused(Refusal::Gone { path: path.clone() }));
    }
    let remedy = "check the permissions of the file";
    let open_error = |source| PrepareError::Open { path: path.clone(), source, remedy };
    // After a program is killed, the system still completes its I/Os. They would overwrite what is
    // written now.
    let until = Instant::now() + LAST_IOS;
    while guard::is_left_open(path).map_err(open_error)? {
        if Instant::now() > until {
            let usage =
                "open elsewhere: in a program, or by I/Os of the earlier run that do not end";
            return Err(refused(Refusal::InUse { path: path.clone(), usage: usage.to_owned() }));
        }
    }
    let place = Place::of(path).map_err(open_error)?;
    let file = place.open(Access::Write).map_err(open_error)?;
    if !lock(&file) || !place.is(&file) || !Place::is_own(&file) {
        return Ok(None);
    }
    let Some(mark) = mark_of(&file) else { return Ok(None) };
    if mark.size_bytes < plan.size_bytes {
        let (has, asked) = (Bytes(mark.size_bytes), Bytes(plan.size_bytes));
        return Err(refused(Refusal::TooSmall { path: path.clone(), has, asked }));
    }
    let mut target = of_test_file(plan, place, file);
    target.mark = Some(mark);
    Ok(Some(target))
}

/// Writes the rest of the used part, after the bytes that the caller has written, and the mark.
pub(crate) fn finish(
    target: &PreparedTarget,
    written_bytes: u64,
    mark: Mark,
) -> Result<(), PrepareError> {
    let error = |e| fill_error(target, e);
    let Some(file) = &target.file else { return Ok(()) };
    let mut random = Random::new(unrepeated(mark.size_bytes, written_bytes), 0);
    let end = target.size_bytes.min(mark.size_bytes);
    let mut at = written_bytes.min(end);
    let mut bytes = vec![0; 64 << 10];
    while at < end {
        let part = usize::try_from(end - at).unwrap_or(usize::MAX).min(bytes.len());
        let part = &mut bytes[..part];
        random.fill(part);
        files::write_all_at(file, part, at).map_err(error)?;
        at += part.len() as u64;
    }
    write_mark(target, mark)
}

/// Removes a test file that nobody uses.
pub(crate) fn clean(path: &Path, kept: bool, dry_run: bool) -> io::Result<Cleaned> {
    let place = Place::of(path)?;
    let file = match place.open(Access::Remove) {
        // A link, a hard link, a mount point or a device.
        Err(error) if error.kind() == io::ErrorKind::Other => return Ok(Cleaned::NotOurs),
        file => file?,
    };
    let Some(mark) = mark_of(&file).filter(|_| Place::is_own(&file)) else {
        return Ok(Cleaned::NotOurs);
    };
    if mark.keep && !kept {
        return Ok(Cleaned::Kept);
    }
    if !lock(&file) || !place.is(&file) {
        return Ok(Cleaned::InUse);
    }
    let bytes = file.metadata()?.len();
    if dry_run || place.remove(&file)? {
        return Ok(Cleaned::Removed(bytes));
    }
    Ok(Cleaned::InUse)
}

/// Locks a test file. Programs that only look at it hold the lock for a moment.
fn lock(file: &File) -> bool {
    for _ in 0..ATTEMPTS {
        if files::lock(file) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

/// Takes the space of the file at once, where the file system can, so that running out of it shows
/// before the fill.
fn reserve(target: &PreparedTarget) -> Result<(), PrepareError> {
    let Some(file) = &target.file else { return Ok(()) };
    files::reserve(file, target.size_bytes).map_err(|e| fill_error(target, e))
}

fn write_mark(target: &PreparedTarget, mark: Mark) -> Result<(), PrepareError> {
    let Some(file) = &target.file else { return Ok(()) };
    let written = files::write_all_at(file, &mark.to_bytes(), mark.size_bytes);
    written.and_then(|()| file.sync_all()).map_err(|e| fill_error(target, e))
}

const FULL: &str = "the file system is full; choose a smaller `--size`";

/// Whether the file system has, or has given out, all the space that a test file needs: then it is
/// not the file system that is full. It needs some for itself: ext2 with blocks of 1 KiB, a 256th.
fn has_room(path: &Path, size_bytes: u64) -> bool {
    let needed = size_bytes.saturating_add(size_bytes / 64);
    let has = std::fs::metadata(path).map_or(0, |metadata| files::allocated(path, &metadata));
    let free = path.parent().and_then(|directory| files::space(directory).ok());
    free.is_some_and(|space| space.available.saturating_add(has) >= needed)
}

/// What to do where a file system takes no more.
fn no_room(source: &io::Error) -> Option<&'static str> {
    Some(match source.kind() {
        io::ErrorKind::StorageFull => FULL,
        io::ErrorKind::QuotaExceeded => "the quota is used up; choose a smaller `--size`",
        io::ErrorKind::FileTooLarge => {
            "the file system or `ulimit -f` allows no file that large; choose a smaller `--size`"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only; choose another directory"
        }
        _ => return None,
    })
}

fn fill_error(target: &PreparedTarget, source: io::Error) -> PrepareError {
    let path = &target.path;
    let is_below = no_room(&source) == Some(FULL)
        && target.mark.is_some()
        && has_room(path, target.size_bytes);
    if is_below {
        let remedy = "the file system has room for it, so the storage below is full (thin \
                      provisioning) or a quota is used up; make room there";
        return PrepareError::Fill { path: path.to_owned(), source, remedy };
    }
    let remedy = no_room(&source).unwrap_or(match source.kind() {
        io::ErrorKind::PermissionDenied => "check the permissions of the directory",
        _ => "check the health of the device",
    });
    PrepareError::Fill { path: path.to_owned(), source, remedy }
}

fn fill_target(
    target: &PreparedTarget,
    seed: u64,
    direct: bool,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<(), PrepareError> {
    let error = |e| fill_error(target, e);
    let mode = if direct { Mode::Direct } else { Mode::Buffered };
    let writes = Stream { write_percent: 50, ..Stream::default() };
    let file = platform::open_to_fill(target, mode, &writes)?;
    // A device may end between two pages.
    let size = target.size_bytes / target.direct_align_bytes * target.direct_align_bytes;
    let random = Random::new(seed, u64::MAX);
    let content = Fill { path: &target.path, size_bytes: size, random, stop, observe };
    if platform::fill(file, content).map_err(error)? {
        Ok(())
    } else {
        Err(PrepareError::Interrupted)
    }
}

/// Opens a file or device that iosonde did not make.
fn foreign(
    workload: &Workload,
    index: usize,
    plan: &TargetPlan,
    permissions: &Permissions,
) -> Result<PreparedTarget, PrepareError> {
    let (path, writes) = (&plan.path, workload.writes_to(index));
    let is_block = |metadata| matches!(files::node(&metadata), Node::Block(_));
    let device = fs::metadata(path).is_ok_and(is_block);
    let file = files::open_foreign(path, writes, device);
    let remedy = match (writes, device) {
        (true, true) => "somebody uses the device, or root is needed",
        _ => "check its permissions",
    };
    let file = file.map_err(|source| PrepareError::Open { path: path.clone(), source, remedy })?;
    // The name may mean another file than when it was planned. The open file is checked, not the
    // name.
    let again = TargetNeeds::new(workload, index, permissions, &[]).opened(path, &file);
    let again = again.map_err(|refusal| PrepareError::Refused(vec![refusal]))?;
    let is_device = file.metadata().is_ok_and(is_block);
    if again != *plan || is_device != device {
        let (path, usage) = (path.clone(), "replaced by another file at this very moment".into());
        return Err(PrepareError::Refused(vec![Refusal::InUse { path, usage }]));
    }
    Ok(PreparedTarget {
        path: path.clone(),
        size_bytes: plan.size_bytes,
        direct_align_bytes: 1,
        content: "not written by iosonde".to_owned(),
        file: Some(file),
        place: None,
        warnings: foreign_warnings(plan, device),
        mark: None,
        remove: false,
    })
}

fn foreign_warnings(plan: &TargetPlan, device: bool) -> Vec<String> {
    if plan.action != Action::ReadOnly {
        return Vec::new();
    }
    let path = plan.path.display();
    let what = if device {
        "blocks that were trimmed or never written"
    } else {
        "blocks that compress well or repeat"
    };
    vec![format!(
        "`{path}` was not filled by iosonde; {what} may be read faster than the device can \
         deliver data"
    )]
}
