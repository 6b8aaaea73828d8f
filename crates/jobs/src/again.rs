//! An earlier result, ready to be repeated.

use history::compare::{BAND_PERCENT, Input, Noise, Rules, compare};
use history::{Entry, History, HistoryError};
use results::{Difference, Document, Environment};
use survey::Site;
use thiserror::Error;

use crate::plan::{Plan, PlanError};

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
    let version = Difference::between(
        "version of iosonde",
        document.tool_version().to_owned(),
        env!("CARGO_PKG_VERSION").to_owned(),
    );
    let places = compare(then, now, &rules).differences.into_iter();
    let places = places.filter(|d| d.unlike || IDENTITY.contains(&d.difference.name.as_str()));
    let all = version.into_iter().chain(places.map(|d| d.difference));
    all.map(|d| format!("{}: {} then, {} now", d.name, d.a, d.b)).collect()
}
