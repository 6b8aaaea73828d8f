//! `iosonde history show`: one result.

use clap::Args;
use history::History;

use crate::exit::{Failure, Outcome, print};
use crate::recording::failure;
use crate::run::json;

/// `iosonde history show`
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The result's id
    #[arg(value_name = "ID")]
    pub id: String,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub(crate) fn show(args: &ShowArgs, history: &History) -> Result<Outcome, Failure> {
    let Some(experiment) = history.experiment(&args.id).map_err(failure)? else {
        let text = format!("there is no result `{}` in this history", args.id);
        return Err(Failure::CannotRun(text));
    };
    let kept = history.measurements(&experiment.id).map_err(failure)?;
    for kept in kept {
        let measurement = kept.measurement;
        print(&if args.json {
            json(&measurement)?
        } else {
            report::text::measurement(&measurement)
        })?;
    }
    Ok(Outcome::Done)
}
