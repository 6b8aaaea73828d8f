//! The flags that choose where results are kept.

use std::ffi::OsString;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use history::{History, HistoryError, Place};
use jobs::Recording;

use crate::config::checked;
use crate::exit::Failure;

/// Which history is read or written; the same flag for every command.
#[derive(Debug, Args)]
pub(crate) struct HistoryPlace {
    /// Keep results here: a file, or postgres://… [default: iosonde/history.db in the user's
    /// data directory] [env: IOSONDE_HISTORY]
    #[arg(long, value_name = "PLACE", global = true, value_parser = OsStringValueParser::new()
        .try_map(named))]
    pub history: Option<OsString>,
}

impl HistoryPlace {
    /// The place that the flag or the settings name.
    pub(crate) fn place(&self) -> Result<Place, Failure> {
        let set = || checked().map(|settings| settings.history.as_ref().map(|s| s.value.clone()));
        let named = self.history.clone().map_or_else(set, |named| Ok(Some(named)))?;
        history::place(named).map_err(failure)
    }

    /// A history that must exist already.
    pub(crate) fn existing(&self) -> Result<History, Failure> {
        let history = History::open_existing(&self.place()?).map_err(failure)?;
        if history.is_full() {
            eprintln!(
                "the disk of the history `{}` is full: it is read, and nothing is stored",
                history.place()
            );
        }
        Ok(history)
    }
}

/// A place that the user named.
fn named(place: OsString) -> Result<OsString, &'static str> {
    if place.is_empty() {
        return Err("it is empty; name a file or a database, or leave the flag out");
    }
    Ok(place)
}

/// An unusable history, as a failure of the command.
#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
pub(crate) fn failure(error: HistoryError) -> Failure {
    Failure::CannotRun(error.to_string())
}

/// Whether and where to record a result.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    #[command(flatten)]
    pub place: HistoryPlace,

    /// Record nothing
    #[arg(long)]
    pub no_history: bool,

    /// Tag the result, so that @NAME finds it again; may be given several times
    #[arg(long = "tag", value_name = "NAME", value_parser = tag, conflicts_with = "no_history")]
    pub tags: Vec<String>,
}

/// Checks a tag.
pub(crate) fn tag(text: &str) -> Result<String, HistoryError> {
    history::check_tag(text).map(|()| text.to_owned())
}

impl RecordingArgs {
    /// Refuses a history that cannot be used, and touches nothing: a dry run refuses what the run
    /// would refuse.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        // Asking for the default place makes its directory.
        if self.no_history || self.place.history.is_none() {
            return Ok(());
        }
        History::rehearse(&self.place.place()?).map_err(failure)
    }

    /// Where and how to keep results; `None` to keep none.
    pub(crate) fn recording(&self) -> Result<Option<Recording>, Failure> {
        if self.no_history {
            return Ok(None);
        }
        self.check()?;
        // The settings may name it instead of the command line.
        let set = checked()?.history.as_ref().map(|set| &set.value);
        let named = self.place.history.as_ref().filter(|named| Some(*named) != set);
        let place = self.place.place()?;
        let named = named.map(|_| place.to_string());
        Ok(Some(Recording { place, tags: self.tags.clone(), named }))
    }
}
