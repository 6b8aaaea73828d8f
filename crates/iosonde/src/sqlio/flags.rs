//! Flags of ours beside SQLIO's options.

use clap::Parser;
use workload::Bytes;

use crate::dialect::PlaceFlags;
use crate::recording::RecordingArgs;

/// SQLIO's command line as it is; `-?` shows its options. Further commands: `parse FILE…` shows
/// results as a table, `batch` measures a matrix of calls, `script FILE` runs a batch file of
/// calls.
#[derive(Debug, Parser)]
pub(super) struct SqlioFlags {
    #[command(flatten)]
    pub place: PlaceFlags,

    /// Size of files of which neither a parameter file nor they themselves say one
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,

    /// Length of every run instead of `-s`, to rehearse
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// Print the result as JSON on stdout instead of SQLIO's text
    #[arg(long)]
    pub json: bool,

    /// Show what would be done and touch nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}
