//! The arguments of `iosonde validate`.

use std::path::PathBuf;

use clap::Args;
use workload::Bytes;

use super::durability::DurabilityArgs;
use super::keep::KeepArgs;
use super::load::LoadArgs;
use crate::recording::RecordingArgs;
use crate::targets::TargetArgs;

/// `iosonde validate`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub load: LoadArgs,

    #[command(flatten)]
    pub keep: KeepArgs,

    /// Where the log is: a directory, a file or a block device [default: in the first TARGET that
    /// is a directory]
    #[arg(long, value_name = "TARGET")]
    pub log: Option<PathBuf>,

    /// Size of the log [default: half of the data, at most 50M]
    #[arg(long, value_name = "SIZE")]
    pub log_size: Option<Bytes>,

    /// Read the plan from a TOML file with any of its fields; other flags override it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// How long the users work, between the first write of all pages and the last read of them
    /// [default: 300]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// Size of a page, a multiple of 512 bytes up to 64K [default: 8K]
    #[arg(long, value_name = "SIZE")]
    pub page: Option<Bytes>,

    /// Threads that share the users [default: 2]
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,

    /// I/Os of each thread in flight [default: 32]
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,

    /// Users that read and change a page here and there [default: 8]
    #[arg(long, value_name = "N")]
    pub users: Option<u32>,

    /// Share of the pages read that users also change, in percent [default: 90]
    #[arg(long, value_name = "PERCENT")]
    pub update: Option<f64>,

    /// Seconds between checkpoints, which write all changed pages and flush the files if asked to
    /// [default:
    /// 15]
    #[arg(long, value_name = "SECONDS")]
    pub checkpoint: Option<f64>,

    /// How writes become durable: write-through (O_DSYNC), or a flush (fdatasync) before a commit
    /// completes and at the end of a checkpoint [default: write-through]
    #[arg(long, value_enum)]
    pub hardening: Option<HardeningArg>,

    /// Continue after a wrong page
    #[arg(long = "continue")]
    pub go_on: bool,

    /// Number of times to read a wrong page again [default: 15]
    #[arg(long, value_name = "N")]
    pub rereads: Option<u32>,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,

    #[command(flatten)]
    pub durability: DurabilityArgs,
}

/// How writes become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HardeningArg {
    /// Every write
    WriteThrough,
    /// Flushes after the writes
    Flush,
}
