//! On what another tool's command makes its I/O, and what may be done to it.

use std::path::Path;

use dialects::drives::{Drive, Drives};
use engine::{Destroy, Permissions};
use workload::{EngineChoice, SimDevice, Target, Workload};

use crate::conduct::JobError;

/// Options for every command of another tool, next to that tool's own.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The place for each drive, disk or share.
    pub drives: Vec<Drive>,
    /// What may be overwritten, as in the call or as it is named here.
    pub destroy: Vec<String>,
    /// Output files may replace what iosonde did not write.
    pub overwrite: bool,
    /// Files may fill their file system beyond 90 %.
    pub overfill: bool,
    /// The engine that does the I/O.
    pub engine: EngineChoice,
    /// The simulated device of the engine `sim`.
    pub sim: Option<SimDevice>,
    /// Seed of every random choice; `None` if the tool decides.
    pub seed: Option<u64>,
}

impl Places {
    /// The places as a table of drives.
    #[must_use]
    pub fn drives(&self) -> Drives {
        Drives::new(self.drives.clone())
    }

    /// Whether real files are left alone.
    #[must_use]
    pub fn is_artificial(&self) -> bool {
        self.engine.is_artificial()
    }

    /// Sets engine, device and seed of a workload.
    pub fn apply(&self, workload: &mut Workload) {
        workload.engine = self.engine;
        workload.sim.clone_from(&self.sim);
        workload.seed = self.seed.unwrap_or(workload.seed);
    }

    /// What may be done to these targets. Files that are made have any name and stay, as SQLIO
    /// leaves them.
    #[must_use]
    pub fn permissions(&self, targets: &[Target]) -> Permissions {
        let mut destroy = self.destroyed();
        destroy.retain(|named| targets.iter().any(|t| named.names(&t.path)));
        Permissions { destroy, overfill: self.overfill, keep: true, any_name: true }
    }

    /// The places that may be overwritten.
    #[must_use]
    pub fn destroyed(&self) -> Vec<Destroy> {
        let drives = self.drives();
        let place = |name: &Path| drives.path(&name.to_string_lossy()).unwrap_or(name.into());
        self.destroy.iter().map(|named| Destroy::new(named).mapped(place)).collect()
    }

    /// Every place that may be overwritten is a target: a permission that goes astray is a mistake.
    ///
    /// # Errors
    /// One is not.
    pub fn check_destroy(&self, targets: &[Target]) -> Result<(), JobError> {
        let stray = |named: &Destroy| !targets.iter().any(|t| named.names(&t.path));
        let found = self.destroyed().into_iter().zip(&self.destroy).find(|(named, _)| stray(named));
        found.map_or(Ok(()), |(_, name)| {
            Err(JobError::Usage(format!(
                "--destroy {name} names no target: it must repeat one exactly"
            )))
        })
    }
}
