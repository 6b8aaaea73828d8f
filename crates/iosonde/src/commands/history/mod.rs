//! `iosonde history`: list, compare and manage past results.

mod compare;
mod drift;
mod edit;
mod export;
mod import;
mod list;
mod maintain;
mod show;
mod trend;

use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};
use report::Language;

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
    /// List results, the newest first
    List(list::ListArgs),
    /// Show a result as its command did; of an unfinished one, what was kept
    Show(show::ShowArgs),
    /// Give results a name
    Tag(edit::TagArgs),
    /// Remove a name from results
    Untag(edit::TagArgs),
    /// Add a note to a result, or show its notes
    Note(edit::NoteArgs),
    /// Delete results
    Delete(edit::DeleteArgs),
    /// Write results for another history or another program: JSON lines, CSV or Parquet
    Export(Box<export::ExportArgs>),
    /// Import results from exports, from `--json` output or from other tools
    Import(import::ImportArgs),
    /// Read the whole history and report what is damaged
    Check,
    /// Copy the whole history, even while others write to it
    Backup(maintain::BackupArgs),
    /// Compare two results, or one with a baseline: better, same, worse or undecided
    Compare(compare::CompareArgs),
    /// Show one figure over many dates, and when its level changed
    Trend(trend::TrendArgs),
    /// Compare what a device does now with the most it was measured to do
    Drift(drift::DriftArgs),
}

impl HistoryCommand {
    /// Whether a signal may end it at once: its transactions are whole or nothing. A backup and an
    /// export have files to complete, and a comparison with a device measures.
    pub(crate) fn only_reads(&self) -> bool {
        !matches!(self, Self::Backup(_) | Self::Export(_) | Self::Drift(_))
    }
}

/// The language in which a command shows results; English for commands that show none.
pub(crate) fn language(command: &HistoryCommand) -> Language {
    match command {
        HistoryCommand::Show(args) => args.language.language,
        HistoryCommand::Compare(args) => args.language.language,
        HistoryCommand::Trend(args) => args.language.language,
        HistoryCommand::Drift(args) => args.language.language,
        _ => Language::English,
    }
}

pub(crate) fn history(args: &HistoryArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let place = &args.place;
    match &args.command {
        HistoryCommand::List(args) => list::list(args, &place.existing()?),
        HistoryCommand::Show(args) => show::show(args, &place.existing()?),
        HistoryCommand::Tag(args) => edit::tag(args, &place.existing()?),
        HistoryCommand::Untag(args) => edit::untag(args, &place.existing()?),
        HistoryCommand::Note(args) => edit::note(args, &place.existing()?),
        HistoryCommand::Delete(args) => edit::delete(args, &place.existing()?),
        HistoryCommand::Export(args) => export::export(args, &place.existing()?),
        HistoryCommand::Import(args) => import::import(args, place),
        HistoryCommand::Check => maintain::check(&place.existing()?),
        HistoryCommand::Backup(args) => maintain::backup(args, &place.existing()?),
        HistoryCommand::Compare(args) => compare::compare(args, &place.existing()?),
        HistoryCommand::Trend(args) => trend::trend(args, &place.existing()?),
        HistoryCommand::Drift(args) => drift::drift(args, &place.existing()?, stop),
    }
}
