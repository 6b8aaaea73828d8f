//! Test files that old tools make under any name.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use engine::{Action, MARK_BYTES, Mark, TargetPlan};
use inspect::files::{Draft, Place, Readers};
use workload::{Bytes, Target};

use crate::conduct::JobError;

/// The mark of a test file that nothing is written in yet.
const BEGUN: Mark = Mark { size_bytes: 0, filled: false, keep: true };

/// Files that were begun. Those that nobody filled are removed when this is dropped; what a run
/// filled stays a test file for the next.
#[derive(Debug, Default)]
pub struct BegunFiles(Vec<Place>);

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
            let made = begin(path).map_err(|error| {
                JobError::Companion(format!("cannot make `{}`: {error}", path.display()))
            })?;
            begun.0.push(made);
        }
        Ok(begun)
    }
}

/// Makes a file that has its mark before it has its name.
fn begin(path: &Path) -> io::Result<Place> {
    let place = Place::of(path)?;
    let mut draft = Draft::of(&place, Readers::Owner)?;
    draft.file().write_all(&BEGUN.to_bytes())?;
    draft.publish()?;
    Ok(place)
}

impl Drop for BegunFiles {
    fn drop(&mut self) {
        for place in &self.0 {
            // What stays is a test file of the next run.
            let _ = place.remove_if(|file| {
                let mut bytes = Vec::new();
                file.take(MARK_BYTES + 1).read_to_end(&mut bytes)?;
                Ok(bytes == BEGUN.to_bytes())
            });
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
