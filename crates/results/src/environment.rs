//! The host and the storage of a measurement, and what figures depend on in them.

use inspect::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host and the storage of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The machine; absent for a simulated device.
    pub host: Option<inspect::Host>,
    /// How the storage under each target is set up, in the order of the targets.
    pub storage: Vec<inspect::Storage>,
}

impl Environment {
    /// Name of the machine that measured.
    #[must_use]
    pub fn hostname(&self) -> Option<String> {
        self.host.as_ref().map(|host| host.hostname.clone())
    }

    /// Findings that figures depend on.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        self.findings(Finding::is_doubt)
    }

    /// The findings that are wanted, each once: on the storage, and on the limits of the process
    /// that measured ([`Finding::is_own_limit`]). The machine's own settings hold for a database,
    /// too.
    pub fn findings(&self, is_wanted: impl Fn(&Finding) -> bool) -> Vec<String> {
        let of_host = self.host.iter().flat_map(|host| &host.findings);
        let limits = of_host.filter(|finding| finding.is_own_limit());
        let of_storage = self.storage.iter().flat_map(|storage| &storage.findings);
        let mut found: Vec<String> = Vec::new();
        for finding in of_storage.chain(limits).filter(|finding| is_wanted(finding)) {
            if !found.contains(&finding.message) {
                found.push(finding.message.clone());
            }
        }
        found
    }

    /// What a list calls the disk under the first target: its model, else its name.
    #[must_use]
    pub fn device(&self) -> Option<String> {
        let device = self.storage.first()?.devices.first()?;
        Some(device.model.clone().unwrap_or_else(|| device.name.clone()))
    }
}
