//! Flags of iosonde alongside SQLIOSim's options.

use clap::Parser;

use crate::commands::dialect::PlaceFlags;
use crate::recording::RecordingArgs;

/// SQLIOSim's command line as it is; `-?` shows its options. These flags may be anywhere in it
#[derive(Debug, Parser)]
pub(super) struct SqliosimFlags {
    #[command(flatten)]
    pub place: PlaceFlags,

    /// Show what would be done and touch nothing but what `-save` names
    #[arg(long)]
    pub dry_run: bool,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it, without
    /// SQLIOSim's log and summaries
    #[arg(long)]
    pub print_plan: bool,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}
