//! Where results are kept, and how the commands get there.

use std::ffi::OsString;

use clap::Args;
use history::{History, HistoryError};

use crate::exit::Failure;

/// Which history is read or written; the same flag for every command.
#[derive(Debug, Args)]
pub(crate) struct HistoryPlace {
    /// Where results are kept [default: iosonde/history.db in the user's data directory]
    // The value may hold a password: help does not show it.
    #[arg(
        long,
        value_name = "PLACE",
        env = "IOSONDE_HISTORY",
        hide_env_values = true,
        global = true
    )]
    pub history: Option<OsString>,
}

impl HistoryPlace {
    /// The history, which must be there.
    pub(crate) fn existing(&self) -> Result<History, Failure> {
        let place = history::place(self.history.clone()).map_err(failure)?;
        History::open_existing(&place).map_err(failure)
    }
}

/// A history that cannot be used, as a failure of the command.
#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
pub(crate) fn failure(error: HistoryError) -> Failure {
    Failure::CannotRun(error.to_string())
}
