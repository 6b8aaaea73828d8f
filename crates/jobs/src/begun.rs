//! Test files that old tools make under any name.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use engine::{Action, MARK_BYTES, Mark, TargetPlan};
use workload::{Bytes, Target};

use crate::conduct::JobError;

/// The mark of a test file that nothing is written in yet.
const BEGUN: Mark = Mark { size_bytes: 0, filled: false, keep: true };

/// Files that were begun. Those that nobody filled are removed when this is dropped; what a run
/// filled stays a test file for the next.
#[derive(Debug, Default)]
pub struct BegunFiles(Vec<PathBuf>);

impl BegunFiles {
    /// Begins every target that does not exist and has no extension: its name would be taken for
    /// that of a directory.
    ///
    /// # Errors
    /// A file cannot be made.
    pub fn of(targets: &[Target]) -> Result<Self, JobError> {
        let mut begun = Self::default();
        for Target { path, .. } in targets {
            if path.extension().is_some() || fs::symlink_metadata(path).is_ok() {
                continue;
            }
            let made = OpenOptions::new().write(true).create_new(true).open(path);
            begun.0.extend(made.is_ok().then(|| path.clone()));
            made.and_then(|mut file| file.write_all(&BEGUN.to_bytes())).map_err(|error| {
                JobError::Companion(format!("cannot make `{}`: {error}", path.display()))
            })?;
        }
        Ok(begun)
    }
}

impl Drop for BegunFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            let small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= MARK_BYTES);
            if small && fs::read(path).is_ok_and(|bytes| BEGUN.to_bytes().starts_with(&bytes)) {
                // What stays is a test file of the next run.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Which files are written first, and stay, and of which only a part is used; a sentence each.
pub(crate) fn announcements(plans: &[TargetPlan]) -> Vec<String> {
    let sentence = |plan: &TargetPlan| {
        let (path, size) = (plan.path.display(), Bytes(plan.size_bytes));
        let keeps = |whole: u64, what: &str| {
            let whole = Bytes(whole);
            format!(
                "note: `{path}` is a test file of {whole} and keeps its size; its first {size} \
                     are {what}"
            )
        };
        match (plan.action, plan.whole_bytes()) {
            (Action::Refill, Some(whole)) => Some(keeps(whole, "written again and used")),
            (_, Some(whole)) => Some(keeps(whole, "used")),
            (Action::Make | Action::Refill, None) => {
                Some(format!("note: `{path}` is written as a test file of {size}, and stays"))
            }
            _ => None,
        }
    };
    plans.iter().filter_map(sentence).collect()
}
