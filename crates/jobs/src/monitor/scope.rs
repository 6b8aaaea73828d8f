//! From the targets of a plan to the devices that are watched.

use std::path::{Path, PathBuf};

use counters::{BlockDevice, block_devices};
use inspect::{Inspector, Storage, TargetKind};
use monitor::{Chain, Watched};
use results::Environment;

use super::{MonitorPlan, WatchError};

/// The devices to watch, and their root.
pub(super) struct Scope {
    pub watched: Watched,
    pub chains: Vec<Chain>,
    pub targets: Vec<PathBuf>,
    pub environment: Environment,
}

impl Scope {
    /// Finds the devices of the targets. Without targets, the devices of these directories of
    /// databases are watched.
    pub(super) fn of<'a>(
        plan: &MonitorPlan,
        directories: impl Iterator<Item = &'a str>,
    ) -> Result<Self, WatchError> {
        let inspector = Inspector::new();
        let known = block_devices(Path::new("/"));
        let mut found = Vec::new();
        for target in &plan.targets {
            found.push(look(target, &inspector, &known)?);
        }
        if plan.targets.is_empty() && !plan.all {
            // If this user may not look into one of them, that is no reason to stop: then all
            // devices are watched.
            found.extend(directories.filter_map(|d| look(Path::new(d), &inspector, &known).ok()));
        }
        let (storage, chains): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let mut names: Vec<String> = Vec::new();
        for name in chains.iter().flat_map(|chain: &Chain| &chain.devices) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let watched = match (plan.all, chains.is_empty()) {
            (true, _) => Watched::All,
            (false, true) => Watched::Real,
            (false, false) => Watched::Named(names),
        };
        Ok(Self {
            watched,
            targets: chains.iter().map(|chain| whole(&chain.target)).collect(),
            chains,
            environment: Environment {
                host: Some(inspector.host()),
                storage: storage.into_iter().flatten().collect(),
            },
        })
    }

    /// The names of the devices that are watched now.
    pub(super) fn devices(&self) -> Vec<String> {
        match &self.watched {
            Watched::Named(names) => names.clone(),
            watched => {
                let known = block_devices(Path::new("/")).into_iter();
                known.filter(|device| watched.includes(device)).map(|device| device.name).collect()
            }
        }
    }
}

/// A relative name would mean another place in another directory.
fn whole(target: &Path) -> PathBuf {
    target.canonicalize().unwrap_or_else(|_| target.to_owned())
}

/// The storage of a target, and the devices under it.
pub(crate) fn look(
    target: &Path,
    inspector: &Inspector,
    known: &[BlockDevice],
) -> Result<(Option<Storage>, Chain), WatchError> {
    let name = target.to_str().filter(|name| known.iter().any(|device| device.name == **name));
    let path = match name {
        Some(name) if !target.exists() => Path::new("/dev").join(name),
        _ => target.to_owned(),
    };
    match (inspector.storage(&path), name) {
        (Ok(storage), _) if storage.kind != TargetKind::Missing => {
            let chain = Chain::of(&storage, known);
            if chain.devices.is_empty() {
                let file_system = chain.file_system.map(|f| format!(" ({f})")).unwrap_or_default();
                return Err(WatchError::NoDevice { target: target.to_owned(), file_system });
            }
            Ok((Some(storage), chain))
        }
        // A device without a node in /dev, as in a container, is counted all the same.
        (_, Some(name)) => {
            let devices = Chain::down_from(name, known);
            Ok((None, Chain { target: target.to_owned(), file_system: None, devices }))
        }
        (Ok(_), None) => Err(WatchError::Missing { target: target.to_owned() }),
        (Err(error), None) => Err(error.into()),
    }
}
