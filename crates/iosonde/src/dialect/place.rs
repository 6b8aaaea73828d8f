//! Flags that say on what I/O is made, and what may be done to it; the same for every old tool.

use clap::Args;
use dialects::drives::Drive;
use jobs::Places;
use workload::EngineChoice;

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

    /// What the flags say, as data.
    pub(crate) fn places(&self) -> Result<Places, Failure> {
        Ok(Places {
            drives: self.drive.clone(),
            destroy: self.destroy.clone(),
            overfill: self.overfill,
            engine: self.engine.map_or(EngineChoice::Auto, EngineChoice::from),
            sim: self.sim.as_deref().map(simulated_device).transpose()?,
            seed: self.seed,
        })
    }
}

// TEMP
impl PlaceFlags {
    fn plain(&self) -> Places {
        Places {
            drives: self.drive.clone(),
            destroy: self.destroy.clone(),
            overfill: self.overfill,
            engine: self.engine(),
            sim: None,
            seed: self.seed,
        }
    }
    pub(crate) fn drives(&self) -> dialects::drives::Drives {
        self.plain().drives()
    }
    pub(crate) fn engine(&self) -> EngineChoice {
        self.engine.map_or(EngineChoice::Auto, EngineChoice::from)
    }
    pub(crate) fn is_artificial(&self) -> bool {
        self.engine().is_artificial()
    }
    pub(crate) fn sim(&self) -> Result<Option<workload::SimDevice>, Failure> {
        Ok(self.places()?.sim)
    }
    pub(crate) fn apply(&self, workload: &mut workload::Workload) -> Result<(), Failure> {
        self.places()?.apply(workload);
        Ok(())
    }
    pub(crate) fn permissions(&self, targets: &[workload::Target]) -> engine::Permissions {
        self.plain().permissions(targets)
    }
    pub(crate) fn destroyed(&self) -> Vec<std::path::PathBuf> {
        self.plain().destroyed()
    }
    pub(crate) fn check_destroy(&self, targets: &[workload::Target]) -> Result<(), Failure> {
        Ok(self.plain().check_destroy(targets)?)
    }
}
