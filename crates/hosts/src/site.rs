//! What an agent says of its targets once they are ready.

use std::path::Path;

use inspect::Storage;
use jobs::HeldTargets;
use results::Environment;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use workload::TargetFacts;

/// The targets of one host, and the host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SiteReport {
    targets: Vec<TargetReport>,
    /// The host and the storage under the targets.
    pub(crate) environment: Environment,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct TargetReport {
    size_bytes: u64,
    direct_align_bytes: u64,
    content: String,
}

impl SiteReport {
    /// Describes targets that are ready; the agent sends this.
    pub(crate) fn of(held: &HeldTargets) -> Self {
        let both = held.facts().into_iter().zip(held.contents());
        let report = |(facts, content): (TargetFacts, &str)| TargetReport {
            size_bytes: facts.size_bytes,
            direct_align_bytes: facts.direct_align_bytes,
            content: content.to_owned(),
        };
        let environment = held.environment().clone();
        Self { targets: both.map(report).collect(), environment }
    }

    /// Reads what an agent sent.
    pub(crate) fn read(value: &Value) -> Result<Self, String> {
        Self::deserialize(value)
            .map_err(|error| format!("what it says of itself is wrong: {error}"))
    }

    /// What is known of each target.
    pub(crate) fn facts(&self) -> impl Iterator<Item = TargetFacts> {
        self.targets.iter().map(|target| TargetFacts {
            size_bytes: target.size_bytes,
            direct_align_bytes: target.direct_align_bytes,
        })
    }

    /// What is known of the content of each target.
    pub(crate) fn contents(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.content.as_str())
    }
}

/// The storage of a host under names that no other host has.
pub(crate) fn named(host: &str, storage: &Storage) -> Storage {
    let of_host = |name: &String| format!("{host}:{name}");
    let mut storage = storage.clone();
    storage.target = on_host(host, &storage.target).into();
    storage.path = on_host(host, &storage.path).into();
    storage.layers = storage.layers.iter().map(of_host).collect();
    storage.counted_device = storage.counted_device.as_ref().map(of_host);
    for device in &mut storage.devices {
        device.name = of_host(&device.name);
    }
    storage
}

/// A path of a host as results have it.
pub(crate) fn on_host(host: &str, path: &Path) -> String {
    format!("{host}:{}", path.display())
}
