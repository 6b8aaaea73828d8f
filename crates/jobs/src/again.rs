//! An earlier result, ready to be repeated.

use history::compare::{BAND_PERCENT, Input, Noise, Rules, compare};
use history::{Entry, History, HistoryError};
use results::{Difference, Document, Environment, Status};
use survey::Site;
use thiserror::Error;

use crate::plan::{Plan, PlanError};
use crate::recorder::UnfinishedJob;

/// An earlier result and the plan that repeats it.
#[derive(Debug)]
pub struct Original {
    /// What the history knows of it.
    pub entry: Entry,
    /// The result that is to be repeated.
    pub document: Document,
    /// Its plan, on the same targets with files of the same size.
    pub plan: Plan,
}

/// The result that [`again`] looks for, and where.
#[derive(Debug, Clone, Copy)]
pub struct Again<'a> {
    /// An id, its unique beginning, `latest`, or `@TAG` for the newest result with that tag.
    pub selector: &'a str,
    /// Repeat it although the conditions are not the same.
    pub anyway: bool,
}

/// An experiment that was interrupted, ready to be resumed.
#[derive(Debug)]
pub struct Resumable {
    /// What is resumed.
    pub job: UnfinishedJob,
    /// Its plan, on the same targets with files of the same size.
    pub plan: Plan,
}

/// Why a result cannot be repeated.
#[derive(Debug, Error)]
pub enum AgainError {
    /// The history cannot be used, or has no such result.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// It has no plan that can be repeated.
    #[error("`{id}` cannot be repeated: {source}")]
    Plan {
        /// Id of the result that should be repeated.
        id: String,
        /// What is wrong with the plan.
        source: PlanError,
    },
    /// It never came to its end.
    #[error(
        "`{id}` never came to its end, so there is nothing to compare a repetition with; `iosonde \
         history show {id}` shows what there is of it"
    )]
    Unfinished {
        /// Id of the result that should be repeated.
        id: String,
    },
    /// It came to its end.
    #[error("`{id}` is complete: `iosonde again {id}` repeats it")]
    Complete {
        /// Id of the result that should be resumed.
        id: String,
    },
    /// It is not made of several measurements that are kept one by one.
    #[error("a result of `{kind}` cannot be resumed: {instead}")]
    NotResumable {
        /// The command that made it.
        kind: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A target of the result no longer exists.
    #[error("`{id}` cannot be repeated: its target `{target}` is not there")]
    Gone {
        /// Id of the result that should be repeated.
        id: String,
        /// The target of the result: it is gone, and so is its directory.
        target: String,
    },
    /// The host, the storage or the program differ from those of the result.
    #[error(
        "`{id}` cannot be repeated under the same conditions: {}; `--anyway` repeats it all the \
            same",
        differences.join("; ")
    )]
    Unlike {
        /// Id of the result that should be repeated.
        id: String,
        /// The conditions that differ, one phrase each.
        differences: Vec<String>,
    },
}

/// Finds an earlier result, and makes sure that it can be repeated here under the conditions it was
/// measured under.
///
/// # Errors
/// There is no such result, or it cannot be repeated, and why.
pub fn again(history: &History, wanted: Again<'_>) -> Result<Original, AgainError> {
    let mut found = history.select(wanted.selector)?;
    // Results with one tag come oldest first.
    let Some(entry) = found.pop() else {
        let (selector, place) = (wanted.selector.to_owned(), history.place().clone());
        return Err(HistoryError::NotFound { selector, place }.into());
    };
    let id = entry.id.clone();
    let Some(document) = history.document(&id)? else {
        return Err(AgainError::Unfinished { id });
    };
    // Results of versions that carried none have it in the history.
    let planned = match Plan::carried(&document) {
        // The load that a recording watched is not of its making, so there is nothing to compare.
        Ok(Some(Plan::Monitor(_))) => Err(PlanError::NotRepeatable { kind: entry.kind.clone() }),
        Ok(Some(plan)) => Ok(plan),
        Ok(None) => Plan::recorded(&entry.kind, &entry.schema, &entry.plan),
        Err(error) => Err(error),
    };
    let mut plan = planned.map_err(|source| AgainError::Plan { id: id.clone(), source })?;
    plan.pin(&document);
    // What other hosts have is looked at there.
    if !plan.job().is_artificial() && !matches!(plan, Plan::Fleet(_)) {
        check_targets(&id, &document)?;
        if !wanted.anyway {
            check_conditions(&id, &document)?;
        }
    }
    Ok(Original { entry, document, plan })
}

/// Finds an experiment that was interrupted, and makes sure that it can go on here.
///
/// # Errors
/// There is none, or it cannot be resumed, and why.
pub fn resumable(history: &History, wanted: Again<'_>) -> Result<Resumable, AgainError> {
    let Again { selector, anyway } = wanted;
    let not_found = || {
        let (selector, place) = (selector.to_owned(), history.place().clone());
        AgainError::from(HistoryError::NotFound { selector, place })
    };
    let entry = history.select(selector)?.pop().ok_or_else(not_found)?;
    let id = entry.id;
    let experiment = history.experiment(&id)?.ok_or_else(not_found)?;
    if experiment.status == Some(Status::Complete) {
        return Err(AgainError::Complete { id });
    }
    let planned = Plan::recorded(&experiment.kind, &experiment.schema, &experiment.plan);
    let mut plan = planned.map_err(|source| AgainError::Plan { id: id.clone(), source })?;
    if let Some(instead) = plan.instead_of_resuming() {
        return Err(AgainError::NotResumable { kind: experiment.kind, instead });
    }
    let kept = history.measurements(&id)?.into_iter().next();
    let first = kept.map(|kept| Document::Measurement(Box::new(kept.measurement)));
    if let Some(first) = first.filter(|_| !matches!(plan, Plan::Fleet(_))) {
        // A sweep gives each target the size that it had.
        if !matches!(plan, Plan::Sweep(_)) {
            plan.pin(&first);
        }
        if !plan.job().is_artificial() && !anyway {
            check_targets(&id, &first)?;
            check_place(&id, &first)?;
        }
    }
    Ok(Resumable { job: UnfinishedJob::of(&experiment), plan })
}

impl Plan {
    /// What to do about an unfinished result where it cannot be resumed from its measurements.
    pub(crate) fn instead_of_resuming(&self) -> Option<&'static str> {
        match self {
            Self::Knee(_)
            | Self::Sizes(_)
            | Self::Scale(_)
            | Self::Matrix(_)
            | Self::Sweep(_)
            | Self::Assess(_)
            | Self::Cycle(_) => None,
            Self::Fleet(plan) if plan.is_search() || matches!(*plan.plan, Self::Cycle(_)) => None,
            Self::Fleet(_) => Some("`iosonde fleet resume` fetches what the hosts have kept"),
            Self::Validate(_) => {
                Some("`iosonde validate --resume LEDGER` continues a run with one")
            }
            Self::Durability(_) => Some("`iosonde validate --verify WITNESS` checks it"),
            Self::Runs(plan) if plan.workloads.len() == 1 => None,
            Self::Run(_) | Self::Runs(_) => Some("run it again"),
            Self::Monitor(_) | Self::Replay(_) | Self::Fit(_) => Some("begin it anew"),
        }
    }
}

/// The host and the device must be those of what is there already; which version of the program
/// measured that is said in the result.
fn check_place(id: &str, document: &Document) -> Result<(), AgainError> {
    let targets = document.targets();
    let paths: Vec<&std::path::Path> = targets.iter().map(std::path::PathBuf::as_path).collect();
    let differences = differences_of_place(document, Site::of_paths(&paths).environment());
    if differences.is_empty() {
        return Ok(());
    }
    Err(AgainError::Unlike { id: id.to_owned(), differences })
}

fn check_targets(id: &str, document: &Document) -> Result<(), AgainError> {
    for target in document.targets() {
        let there = target.exists() || target.parent().is_some_and(std::path::Path::exists);
        if !there {
            let target = target.display().to_string();
            return Err(AgainError::Gone { id: id.to_owned(), target });
        }
    }
    Ok(())
}

/// What makes it another measurement, by the names that a comparison has for it. Other differences,
/// such as a newer kernel or another mount option, may be the very thing that is compared.
const IDENTITY: [&str; 2] = ["host", "device"];

/// The program, the host and the device must be those of the original.
fn check_conditions(id: &str, document: &Document) -> Result<(), AgainError> {
    let targets = document.targets();
    let paths: Vec<&std::path::Path> = targets.iter().map(std::path::PathBuf::as_path).collect();
    let differences = differences(document, Site::of_paths(&paths).environment());
    if differences.is_empty() {
        return Ok(());
    }
    Err(AgainError::Unlike { id: id.to_owned(), differences })
}

/// In what a repetition here would be another measurement.
fn differences(document: &Document, environment: &Environment) -> Vec<String> {
    let version = Difference::between(
        "version of iosonde",
        document.tool_version().to_owned(),
        env!("CARGO_PKG_VERSION").to_owned(),
    );
    let version = version.map(|difference| shown(&difference));
    version.into_iter().chain(differences_of_place(document, environment)).collect()
}

fn shown(difference: &Difference) -> String {
    let Difference { name, a, b } = difference;
    format!("{name}: {a} then, {b} now")
}

fn differences_of_place(document: &Document, environment: &Environment) -> Vec<String> {
    let here = document.clone().in_environment(environment.clone());
    let noise = Noise::default();
    let rules = Rules {
        band_percent: BAND_PERCENT,
        anyway: false,
        noise: &noise,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let then = Input { name: "then", documents: std::slice::from_ref(document) };
    let now = Input { name: "now", documents: std::slice::from_ref(&here) };
    let places = compare(then, now, &rules).differences.into_iter();
    let places = places.filter(|d| d.unlike || IDENTITY.contains(&d.difference.name.as_str()));
    places.map(|found| shown(&found.difference)).collect()
}
