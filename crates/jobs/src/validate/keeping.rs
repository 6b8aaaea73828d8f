//! Runs that can be resumed after they were killed: what they know is in a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Permissions, Prepared, TargetPlan};
use inspect::shell_word;
use integrity::{KeptError, KeptLedger, Place};
use serde::{Deserialize, Serialize};

use super::{FilePlan, ValidatePlan};
use crate::conduct::JobError;

/// Where a run keeps what it knows.
#[derive(Debug)]
pub enum LedgerPlace {
    /// In memory only: the run cannot be resumed.
    InMemory,
    /// In a file that is made for it.
    New(PathBuf),
    /// In the file of a run that is resumed.
    Resume(PathBuf, Arc<KeptLedger>),
}

/// What a ledger remembers of the run that made it.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    plan: ValidatePlan,
    destroy: Vec<engine::Destroy>,
    overfill: bool,
    keep: bool,
    files: Vec<PathBuf>,
}

/// The part of it that every version of iosonde has written.
#[derive(Debug, Deserialize)]
struct Files {
    files: Vec<PathBuf>,
}

impl From<KeptError> for JobError {
    fn from(error: KeptError) -> Self {
        Self::CannotRun(error.to_string())
    }
}

/// The files of a run, by its ledger.
pub(super) fn files_of(file: &Path, kept: &KeptLedger) -> Result<Vec<PathBuf>, JobError> {
    let about: Result<Files, _> = serde_json::from_str(kept.about());
    about.map(|about| about.files).map_err(|_| KeptError::NotOurs { path: file.to_owned() }.into())
}

/// The same place by one name, whether there is something or not.
fn whole(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = fs::canonicalize(directory.unwrap_or(Path::new(".")));
    fs::canonicalize(path).or(directory.map(|d| d.join(name))).unwrap_or_else(|_| path.to_owned())
}

impl LedgerPlace {
    /// In a file that is not there yet.
    ///
    /// # Errors
    /// Something is there.
    pub fn new(file: PathBuf) -> Result<Self, JobError> {
        if fs::symlink_metadata(&file).is_ok() {
            return Err(KeptError::Exists { path: file }.into());
        }
        Ok(Self::New(file))
    }

    /// Resumes the run of this ledger: what it was to do, and what it may.
    ///
    /// # Errors
    /// The file is not a ledger, is in use, or is of another version of iosonde.
    pub fn resume(file: PathBuf) -> Result<(ValidatePlan, Permissions, Self), JobError> {
        let kept = KeptLedger::open(&file)?;
        let About { plan, destroy, overfill, keep, files: _ } =
            match serde_json::from_str(kept.about()) {
                Ok(about) => about,
                Err(error) => {
                    files_of(&file, &kept)?;
                    let (shown, name) = (file.display(), shell_word(&file));
                    return Err(JobError::CannotRun(format!(
                        "this version of iosonde cannot resume the run of `{shown}`, which another \
                         version began: {error}; resume it with that version, or remove what is \
                         left with `iosonde validate --clean {name}`"
                    )));
                }
            };
        let permissions = Permissions { destroy, overfill, keep, any_name: false };
        Ok((plan, permissions, Self::Resume(file, Arc::new(kept))))
    }

    /// Refuses what no ledger can keep, and a ledger in the place of a test file.
    ///
    /// # Errors
    /// Why it cannot be, or why the plan itself cannot.
    pub fn check(&self, plan: &ValidatePlan, permissions: &Permissions) -> Result<(), JobError> {
        let Self::New(file) = self else { return Ok(()) };
        if plan.database.resizing.is_some() {
            let text = "`--ledger` and `--resize` exclude each other: how long a file was is not \
                        kept; leave out one of both";
            return Err(JobError::Usage(text.to_owned()));
        }
        let place = whole(file);
        let targets = plan.forecast(permissions)?.targets;
        if targets.iter().any(|target| whole(&target.path) == place) {
            let text = format!(
                "the ledger `{}` is one of the test files of this run; name another file, such \
                 as one in `/dev/shm`",
                file.display()
            );
            return Err(JobError::Usage(text));
        }
        Ok(())
    }

    /// Makes a ledger of about the final size, and removes it. If that is not possible, nothing
    /// else is made.
    pub(super) fn try_out(
        &self,
        plan: &ValidatePlan,
        targets: &[TargetPlan],
    ) -> Result<(), JobError> {
        let Self::New(file) = self else { return Ok(()) };
        let place = |(target, file): (&TargetPlan, &FilePlan)| Place {
            path: target.path.clone(),
            size_bytes: target.size_bytes,
            role: file.role,
            align_bytes: 512,
            shape: integrity::Shape::default(),
        };
        let places: Vec<Place> = targets.iter().zip(&plan.files).map(place).collect();
        KeptLedger::try_out(file, &plan.database, &places).map_err(|error| {
            JobError::CannotRun(format!(
                "{error}; name a new file where there is room for it and files can be mapped, \
                 such as in `/dev/shm`"
            ))
        })
    }

    /// The ledger of a run of this plan on these places.
    pub(super) fn begin(
        &self,
        plan: &ValidatePlan,
        permissions: &Permissions,
        places: &[Place],
    ) -> Result<Option<Arc<KeptLedger>>, JobError> {
        let file = match self {
            Self::InMemory => return Ok(None),
            Self::Resume(_, kept) => return Ok(Some(Arc::clone(kept))),
            Self::New(file) => file,
        };
        let Permissions { destroy, overfill, keep, any_name: _ } = permissions.clone();
        let files = places.iter().map(|place| place.path.clone()).collect();
        let about = About { plan: plan.clone(), destroy, overfill, keep, files };
        let about = serde_json::to_string(&about)?;
        Ok(Some(Arc::new(KeptLedger::create(file, &plan.database, places, &about)?)))
    }

    /// The run could begin and has ended: which files remain, and what the user can do with them.
    pub(super) fn end(
        &self,
        kept: Option<&KeptLedger>,
        prepared: &mut Prepared,
        keep: bool,
    ) -> Result<Option<String>, JobError> {
        let (Some(kept), Self::New(file) | Self::Resume(file, _)) = (kept, self) else {
            return Ok(None);
        };
        let (is_done, name) = (kept.phase().is_none(), shell_word(file));
        if is_done && !keep {
            prepared.remove(true);
            kept.remove()?;
            return Ok(None);
        }
        prepared.remove(false);
        kept.close()?;
        Ok(Some(if is_done {
            format!("all pages can be read again with `iosonde validate --resume {name}`")
        } else {
            format!(
                "continue with `iosonde validate --resume {name}`, or remove what is left with \
                 `iosonde validate --clean {name}`"
            )
        }))
    }

    /// A run that could not begin leaves no ledger.
    pub(super) fn give_up(&self) {
        if let Self::New(file) = self {
            // The first failure is reported; another one adds nothing.
            let _ = KeptLedger::remove_left(file);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use integrity::Plan;
    use std::slice;

    #[test]
    fn a_ledger_of_another_version_is_refused_and_still_names_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let (ledger, file) = (directory.path().join("l"), directory.path().join("f"));
        fs::write(&file, [0; 4096]).unwrap();
        let place = Place {
            path: file.clone(),
            size_bytes: 1 << 20,
            role: integrity::Role::Data,
            align_bytes: 512,
            shape: integrity::Shape::default(),
        };
        let made = |about: &str| {
            let _ = fs::remove_file(&ledger);
            let kept =
                KeptLedger::create(&ledger, &Plan::default(), slice::from_ref(&place), about);
            kept.unwrap().close().unwrap();
        };
        let typed = format!(
            "{{\"arguments\":[\"validate\"],\"directory\":\"/\",\"seed\":1,\"files\":[{file:?}]}}"
        );
        made(&typed);
        let refused = LedgerPlace::resume(ledger.clone()).unwrap_err().to_string();
        assert!(
            refused.contains("another version began") && refused.contains("--clean"),
            "{refused}"
        );
        let kept = KeptLedger::look(&ledger).unwrap();
        assert_eq!(files_of(&ledger, &kept).unwrap(), slice::from_ref(&file));
        drop(kept);
        made("somebody's");
        let foreign = LedgerPlace::resume(ledger.clone()).unwrap_err().to_string();
        assert!(foreign.contains("is not a ledger"), "{foreign}");
    }
}
