//! Where the measurements of an experiment are made: on this host, or elsewhere.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::{EngineError, Event, Permissions, PrepareError, Prepared, PreparedTarget, TargetPlan};
use results::{Environment, Measurement};
use workload::{TargetFacts, Workload};

use crate::measure::{Site, measure};

/// Makes targets ready for an experiment.
pub trait Bench {
    /// What would be done to the targets; touches nothing.
    ///
    /// # Errors
    /// The workload breaks a rule, or a target cannot be used.
    fn plan(
        &self,
        workload: &Workload,
        permissions: &Permissions,
    ) -> Result<Vec<TargetPlan>, PrepareError>;

    /// Makes the targets of this workload ready, and keeps them so until the stand is dropped.
    ///
    /// # Errors
    /// A target cannot be made ready.
    fn prepare<'a>(
        &'a mut self,
        workload: &Workload,
        permissions: &Permissions,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<Box<dyn Stand + 'a>, PrepareError>;
}

/// Targets that are ready: one measurement after the other is made on them.
pub trait Stand {
    /// What is known of each target, in the order of the workload.
    fn facts(&self) -> Vec<TargetFacts>;

    /// What is known of the content of each target, in a phrase.
    fn contents(&self) -> Vec<String>;

    /// The targets themselves, where they are on this host.
    fn targets(&self) -> &[PreparedTarget];

    /// The host, and the storage under the targets.
    fn environment(&self) -> &Environment;

    /// A target's whole path, as far as it is known.
    fn resolved(&self, target: &Path) -> PathBuf;

    /// Why these streams cannot be measured on the targets because of what this host has.
    fn unfit(&self, workload: &Workload) -> Option<String>;

    /// How it is measured here, as far as that is not the same everywhere.
    fn method(&self) -> Vec<String> {
        Vec::new()
    }

    /// Does what the workload says.
    ///
    /// # Errors
    /// Nothing was measured, and why.
    fn measure(
        &mut self,
        workload: &Workload,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<Measurement, EngineError>;
}

/// This host issues the I/O.
#[derive(Debug, Clone, Copy, Default)]
pub struct Here;

impl Bench for Here {
    fn plan(
        &self,
        workload: &Workload,
        permissions: &Permissions,
    ) -> Result<Vec<TargetPlan>, PrepareError> {
        engine::plan(workload, permissions)
    }

    fn prepare<'a>(
        &'a mut self,
        workload: &Workload,
        permissions: &Permissions,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<Box<dyn Stand + 'a>, PrepareError> {
        Ok(Box::new(Standing::open(workload, permissions, stop, observe)?))
    }
}

/// Targets of this host that are ready.
pub(crate) struct Standing {
    pub(crate) site: Site,
    pub(crate) prepared: Prepared,
}

impl Standing {
    /// Makes the targets of this workload ready.
    pub(crate) fn open(
        workload: &Workload,
        permissions: &Permissions,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<Self, PrepareError> {
        let site = Site::of(workload);
        let prepared = engine::prepare(workload, permissions, stop, observe)?;
        Ok(Self { site, prepared })
    }
}

impl Stand for Standing {
    fn facts(&self) -> Vec<TargetFacts> {
        self.prepared.facts()
    }

    fn contents(&self) -> Vec<String> {
        self.targets().iter().map(|target| target.content().to_owned()).collect()
    }

    fn targets(&self) -> &[PreparedTarget] {
        self.prepared.targets()
    }

    fn environment(&self) -> &Environment {
        self.site.environment()
    }

    fn resolved(&self, target: &Path) -> PathBuf {
        self.site.resolved(target)
    }

    fn unfit(&self, workload: &Workload) -> Option<String> {
        engine::check_memory(workload).err().map(|error| error.to_string())
    }

    fn measure(
        &mut self,
        workload: &Workload,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(&Event),
    ) -> Result<Measurement, EngineError> {
        let mut observe = observe;
        measure(workload, &self.prepared, &self.site, stop, &mut observe)
    }
}
