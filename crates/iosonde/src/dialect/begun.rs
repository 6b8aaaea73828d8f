//! Files that old tools make under any name.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use engine::{Action, MARK_BYTES, Mark, TargetPlan};
use workload::{Bytes, Target, Workload};

use crate::exit::Failure;
use screen::Display;

/// The mark of a test file that nothing is written in yet.
const BEGUN: Mark = Mark { size_bytes: 0, filled: false, keep: true };

/// Files that are not there and have no extension are begun here: their names would be taken for
/// those of directories.
pub(crate) fn begin_files(workload: &Workload) -> Result<Vec<PathBuf>, Failure> {
    begin_targets(&workload.targets)
}

/// The same for what is no workload yet.
pub(crate) fn begin_targets(targets: &[Target]) -> Result<Vec<PathBuf>, Failure> {
    let mut begun = Vec::new();
    for target in targets {
        let path = &target.path;
        if path.extension().is_some() || fs::symlink_metadata(path).is_ok() {
            continue;
        }
        let made = OpenOptions::new().write(true).create_new(true).open(path);
        begun.extend(made.is_ok().then(|| path.clone()));
        if let Err(error) = made.and_then(|mut file| file.write_all(&BEGUN.to_bytes())) {
            remove_begun(&begun);
            return Err(Failure::CannotRun(format!("cannot make `{}`: {error}", path.display())));
        }
    }
    Ok(begun)
}

/// Says which files are written first, and stay, and of which only a part is used.
pub(crate) fn announce(plans: &[TargetPlan], display: &mut Display) {
    for plan in plans {
        let (path, size) = (plan.path.display(), Bytes(plan.size_bytes));
        match (plan.action, plan.whole_bytes().map(Bytes)) {
            (Action::Refill, Some(whole)) => display.message(&format!(
                "note: `{path}` is a test file of {whole} and keeps its size; its first {size} \
                 are written again and used"
            )),
            (_, Some(whole)) => display.message(&format!(
                "note: `{path}` is a test file of {whole} and keeps its size; its first {size} \
                 are used"
            )),
            (Action::Make | Action::Refill, None) => display
                .message(&format!("note: `{path}` is written as a test file of {size}, and stays")),
            _ => {}
        }
    }
}

/// What was begun and not gone on with.
pub(crate) fn remove_begun(begun: &[PathBuf]) {
    for path in begun {
        let small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= MARK_BYTES);
        if small && fs::read(path).is_ok_and(|bytes| BEGUN.to_bytes().starts_with(&bytes)) {
            // What stays is a test file of the next run.
            let _ = fs::remove_file(path);
        }
    }
}
