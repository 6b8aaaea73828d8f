//! What can be typed behind `iosonde iometer`.

use std::path::PathBuf;

use clap::Args;
use workload::Bytes;

use crate::dialect::PlaceFlags;
use crate::recording::RecordingArgs;

/// `iosonde iometer`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct IometerArgs {
    /// IOMeter's order without letters: the configuration, the result file, the time to wait
    #[arg(value_name = "FILE", num_args = 0..=3)]
    pub files: Vec<PathBuf>,

    /// The configuration, an .icf file
    #[arg(short = 'c', long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Write the results as IOMeter 1.1.0 does, behind what is in the file
    #[arg(short = 'r', long, value_name = "FILE")]
    pub results: Option<PathBuf>,

    /// How long IOMeter waits for its managers; all of them are here, so nothing is waited for
    #[arg(short = 't', long, value_name = "SECONDS")]
    pub timeout: Option<u64>,

    #[command(flatten)]
    pub place: PlaceFlags,

    /// Size of the test file on a disk that the file says to fill [default: 1G]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,

    /// Leave the test files in place, to be used again
    #[arg(long)]
    pub keep: bool,

    /// Length of every run instead of the file's, to rehearse
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// I/O before every run that is not counted, instead of the file's ramp up time
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Show each worker of each run, too
    #[arg(long)]
    pub workers: bool,

    /// Show each target of each worker, too
    #[arg(long)]
    pub targets: bool,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    /// Show every run in its order, how long all of them take, and what is not done as IOMeter;
    /// touch nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print the plan as TOML on stdout and do nothing else; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}
