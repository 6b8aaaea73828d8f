//! Flags for targets and for what may be done to them; the same for every command.

use std::path::PathBuf;

use clap::Args;
use engine::{Destroy, Permissions};
use workload::{Bytes, EngineChoice};

use screen::Manner;

use crate::language::LanguageArgs;

/// Targets, and how I/O reaches them.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// Directories (a test file is made inside), files, or block devices
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// Size of the test file, or used part of a file or device, for example 4G
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,

    /// I/O engine [default: auto]
    #[arg(long, value_enum)]
    pub engine: Option<EngineArg>,

    /// The simulated device of `--engine sim`, as a TOML table or a file that holds one
    #[arg(long, value_name = "TOML|FILE")]
    pub sim: Option<String>,

    /// Seed of every random choice
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    #[command(flatten)]
    pub conduct: ConductArgs,
}

/// What may be done to targets, and what to show meanwhile; the same for every command that
/// measures.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct ConductArgs {
    /// Allow iosonde to overwrite this file or block device. Repeat a TARGET exactly, and what it
    /// holds, if anything: `/dev/sdb=ext4`; may be given several times
    #[arg(long, value_name = "TARGET")]
    pub destroy: Vec<Destroy>,

    /// Keep the test file for the next run
    #[arg(long)]
    pub keep: bool,

    /// Allow the test file to fill its file system past 90 %
    #[arg(long)]
    pub overfill: bool,

    /// Show what would be done and touch nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print no progress and no messages except errors
    #[arg(long, short)]
    pub quiet: bool,

    /// Show a full-screen live view; press q to return. A terminal that cannot show it gets lines
    #[arg(long, conflicts_with = "quiet")]
    pub live: bool,

    /// Form of the progress on stderr: `line`, or `json` for one JSON object per event
    /// (docs/live.md)
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ProgressForm::Line,
        conflicts_with_all = ["live", "quiet"])]
    pub progress: ProgressForm,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// The form of the progress on stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProgressForm {
    /// For people
    #[default]
    Line,
    /// For programs: one event per line
    Json,
}

impl TargetArgs {
    /// How much to show during the run.
    pub(crate) fn manner(&self) -> Manner {
        self.conduct.manner()
    }

    /// What the user allows iosonde to overwrite or fill.
    pub(crate) fn permissions(&self) -> Permissions {
        self.conduct.permissions()
    }
}

impl ConductArgs {
    /// How much to show during the run.
    pub(crate) fn manner(&self) -> Manner {
        Manner { quiet: self.quiet, live: self.live }
    }

    /// What the user allows iosonde to overwrite or fill.
    pub(crate) fn permissions(&self) -> Permissions {
        let (destroy, overfill, keep) = (self.destroy.clone(), self.overfill, self.keep);
        Permissions { destroy, overfill, keep, any_name: false }
    }
}

/// I/O engines by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineArg {
    /// The best one that works for the target and depth
    Auto,
    /// Linux io_uring
    Uring,
    /// Linux native asynchronous I/O
    Aio,
    /// Windows completion ports
    Iocp,
    /// Plain system calls, depth 1
    Sync,
    /// No I/O at all: the tool's own ceiling
    Null,
    /// A simulated device on a virtual clock
    Sim,
}

impl From<EngineArg> for EngineChoice {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Auto => Self::Auto,
            EngineArg::Uring => Self::Uring,
            EngineArg::Aio => Self::Aio,
            EngineArg::Iocp => Self::Iocp,
            EngineArg::Sync => Self::Sync,
            EngineArg::Null => Self::Null,
            EngineArg::Sim => Self::Sim,
        }
    }
}
