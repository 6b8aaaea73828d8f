//! Flags that name the targets of I/O, and what may be done to them; the same for every old tool.

use clap::Args;
use dialects::drives::Drive;
use jobs::Places;
use workload::EngineChoice;

use crate::args::OverwriteArgs;
use crate::exit::Failure;
use crate::targets::EngineArg;
use screen::Manner;

/// The targets of I/O, and what may be done to them.
#[derive(Debug, Args)]
pub(crate) struct PlaceFlags {
    /// Map a drive, disk or share to a place: E=/mnt/e, 3=/dev/sdb; may be given several times
    #[arg(long, value_name = "NAME=PLACE")]
    pub drive: Vec<Drive>,

    /// Allow iosonde to overwrite this file or block device, named as in the call or as on this
    /// host, with what it holds: `E:\x.vhd=vhd`, `/dev/sdb=ntfs`
    #[arg(long, value_name = "FILE[=CONTENT]")]
    pub destroy: Vec<String>,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Allow files to fill their file system past 90 %
    #[arg(long)]
    pub overfill: bool,

    /// I/O engine [default: auto]
    #[arg(long, value_enum)]
    pub engine: Option<EngineArg>,

    /// The simulated device of `--engine sim`, as a TOML table or a file that holds one
    #[arg(long, value_name = "TOML|FILE")]
    pub sim: Option<String>,

    /// Seed of every random choice
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Print no progress and no messages except errors
    #[arg(long)]
    pub quiet: bool,

    /// Show a full-screen live view; press q to return. A terminal that cannot show it gets lines
    #[arg(long, conflicts_with = "quiet")]
    pub live: bool,
}

impl PlaceFlags {
    /// How much to show during the run.
    pub(crate) fn manner(&self) -> Manner {
        Manner { quiet: self.quiet, live: self.live }
    }

    /// The flags as data.
    pub(crate) fn places(&self) -> Result<Places, Failure> {
        Ok(Places {
            drives: self.drive.clone(),
            destroy: self.destroy.clone(),
            overwrite: self.overwrite.overwrite,
            overfill: self.overfill,
            engine: self.engine.map_or(EngineChoice::Auto, EngineChoice::from),
            sim: self.sim.as_deref().map(jobs::simulated_device).transpose()?,
            seed: self.seed,
        })
    }
}
