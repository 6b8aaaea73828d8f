//! The arguments of `iosonde validate --durability` and `--verify`.

use std::path::PathBuf;

use clap::Args;
use integrity::durability::{Order, SyncMode};

/// Flags of `validate` for durability.
#[derive(Debug, Args)]
#[command(next_help_heading = "Durability")]
pub(crate) struct DurabilityArgs {
    /// Write until a crash, then check that every write acknowledged as durable is there;
    /// docs/durability.md says how to cut the power
    #[arg(long)]
    pub durability: bool,

    /// Check what a run with `--durability` promised before the crash, from its witness's file.
    /// Give TARGETs if its files have moved
    #[arg(long, value_name = "FILE|HOST:FILE", conflicts_with = "durability")]
    pub verify: Option<String>,

    /// What makes a write durable [default: fdatasync]
    #[arg(long, value_enum, requires = "durability")]
    pub sync: Option<SyncModeArg>,

    /// Order in which writes become durable [default: page]
    #[arg(long, value_enum, requires = "durability")]
    pub order: Option<OrderArg>,

    /// Keep the promises on another host, by ssh, in FILE; iosonde must be installed there
    #[arg(
        long,
        value_name = "HOST[:FILE]",
        requires = "durability",
        conflicts_with = "witness_file"
    )]
    pub witness: Option<String>,

    /// File on this host that keeps the promises [default: a file in the current directory]
    #[arg(long, value_name = "FILE", requires = "durability")]
    pub witness_file: Option<PathBuf>,

    /// Kill the writer (SIGKILL) after this many seconds of writing: a crash of a process, not of a
    /// machine
    #[arg(long, value_name = "SECONDS", requires = "durability")]
    pub kill_after: Option<f64>,

    /// Number of times to kill and check; each round continues where the last one ended
    #[arg(long, value_name = "N", requires = "kill_after")]
    pub rounds: Option<u32>,

    /// Be the witness of a writer on standard input and output
    #[arg(long, value_name = "FILE", hide = true)]
    pub serve_witness: Option<PathBuf>,

    /// Be the writer, with its witness on standard input and output
    #[arg(long, value_name = "JSON", hide = true)]
    pub write_durably: Option<String>,
}

/// What makes a write durable, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SyncModeArg {
    /// fsync after the writes
    Fsync,
    /// fdatasync after the writes
    Fdatasync,
    /// Files opened with O_DSYNC
    ODsync,
    /// Writes with RWF_DSYNC, for which a device with forced unit access (FUA) needs no flush
    Fua,
}

impl From<SyncModeArg> for SyncMode {
    fn from(mode: SyncModeArg) -> Self {
        match mode {
            SyncModeArg::Fsync => Self::Fsync,
            SyncModeArg::Fdatasync => Self::Fdatasync,
            SyncModeArg::ODsync => Self::ODsync,
            SyncModeArg::Fua => Self::Fua,
        }
    }
}

/// Order in which writes become durable, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OrderArg {
    /// Pages are written in place and made durable
    Page,
    /// A log record becomes durable and its page is written later: write-ahead logging
    LogThenPage,
}

impl From<OrderArg> for Order {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Page => Self::Page,
            OrderArg::LogThenPage => Self::LogThenPage,
        }
    }
}
