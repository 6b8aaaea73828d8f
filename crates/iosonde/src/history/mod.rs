//! `iosonde history`: what was measured before, looked at and looked after.

mod show;

use clap::{Args, Subcommand};

use crate::exit::{Failure, Outcome};
use crate::recording::HistoryPlace;

/// `iosonde history`
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub command: HistoryCommand,

    #[command(flatten)]
    pub place: HistoryPlace,
}

/// What to do with what was kept.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Show one result
    Show(show::ShowArgs),
}

/// Runs the command.
pub(crate) fn history(args: &HistoryArgs) -> Result<Outcome, Failure> {
    let place = &args.place;
    match &args.command {
        HistoryCommand::Show(args) => show::show(args, &place.existing()?),
    }
}
