//! Flags that say on what I/O is made, and what may be done to it; the same for every old tool.

use std::path::PathBuf;

use clap::Args;
use dialects::drives::{Drive, Drives};
use engine::Permissions;
use workload::{EngineChoice, SimDevice, Target, Workload};

use crate::exit::Failure;
use crate::run::simulated_device;
use crate::targets::EngineArg;
use screen::Manner;

/// On what I/O is made, and what may be done to it.
#[derive(Debug, Args)]
pub(crate) struct PlaceFlags {
    /// What stands for a drive, disk or share: E=/mnt/e, 3=/dev/sdb; may be given several times
    #[arg(long, value_name = "NAME=PLACE")]
    pub drive: Vec<Drive>,

    /// Allow to overwrite this file or block device; as in the call or as it is named here
    #[arg(long, value_name = "FILE")]
    pub destroy: Vec<String>,

    /// Allow files to fill their file system beyond 90 %
    #[arg(long)]
    pub overfill: bool,

    /// Which backend makes the I/O [default: auto]
    #[arg(long, value_enum)]
    pub engine: Option<EngineArg>,

    /// The simulated device of `--engine sim`, as a TOML table or a file that holds one
    #[arg(long, value_name = "TOML|FILE")]
    pub sim: Option<String>,

    /// Where every random choice starts
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// No progress and no messages but errors
    #[arg(long)]
    pub quiet: bool,

    /// Show the figures on a screen of their own, which `q` leaves; lines where the terminal cannot
    #[arg(long, conflicts_with = "quiet")]
    pub live: bool,
}

impl PlaceFlags {
    /// How much is shown meanwhile.
    pub(crate) fn manner(&self) -> Manner {
        Manner { quiet: self.quiet, live: self.live }
    }

    /// The table of drives.
    pub(crate) fn drives(&self) -> Drives {
        Drives::new(self.drive.clone())
    }

    /// The backend.
    pub(crate) fn engine(&self) -> EngineChoice {
        self.engine.map_or(EngineChoice::Auto, EngineChoice::from)
    }

    /// Whether real files are left alone.
    pub(crate) fn is_artificial(&self) -> bool {
        self.engine().is_artificial()
    }

    /// The simulated device.
    pub(crate) fn sim(&self) -> Result<Option<SimDevice>, Failure> {
        self.sim.as_deref().map(simulated_device).transpose()
    }

    /// Sets what the flags say of a workload.
    pub(crate) fn apply(&self, workload: &mut Workload) -> Result<(), Failure> {
        workload.engine = self.engine();
        workload.sim = self.sim()?;
        workload.seed = self.seed.unwrap_or(workload.seed);
        Ok(())
    }

    /// What may be done to these targets. Files that are made have any name and stay, as SQLIO
    /// leaves them.
    pub(crate) fn permissions(&self, targets: &[Target]) -> Permissions {
        let mut destroy = self.destroyed();
        destroy.retain(|path| targets.iter().any(|t| t.path == *path));
        Permissions { destroy, overfill: self.overfill, keep: true, any_name: true }
    }

    /// The places that may be overwritten.
    pub(crate) fn destroyed(&self) -> Vec<PathBuf> {
        let drives = self.drives();
        self.destroy.iter().map(|name| drives.path(name).unwrap_or_else(|_| name.into())).collect()
    }

    /// Every `--destroy` names a target: a permission that goes astray is a mistake.
    pub(crate) fn check_destroy(&self, targets: &[Target]) -> Result<(), Failure> {
        let stray = |path: &PathBuf| !targets.iter().any(|t| t.path == *path);
        let found = self.destroyed().into_iter().zip(&self.destroy).find(|(path, _)| stray(path));
        found.map_or(Ok(()), |(_, name)| {
            Err(Failure::WrongUsage(format!(
                "--destroy {name} names no target: it must repeat one exactly"
            )))
        })
    }
}
