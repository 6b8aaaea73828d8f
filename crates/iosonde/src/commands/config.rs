//! `iosonde config`: the settings in force, and where each was set.

use clap::Args;

use crate::commands::run::json;
use crate::config::checked;
use crate::exit::{Failure, Outcome, print};

/// `iosonde config`
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints the settings in force.
pub(crate) fn config(args: &ConfigArgs) -> Result<Outcome, Failure> {
    let settings = checked()?;
    let place = settings.history.as_ref().map(|set| history::place(Some(set.value.clone())));
    let place = place.transpose().map_err(|error| Failure::CannotRun(error.to_string()))?;
    let found = settings.in_force(place.map(|place| place.to_string()).as_deref());
    print(&if args.json { json(&found)? } else { found.to_string() })?;
    Ok(Outcome::Done)
}
