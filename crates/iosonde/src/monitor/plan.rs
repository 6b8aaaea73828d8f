//! From what was typed to what is watched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use counters::{BlockDevice, block_devices};
use inspect::{Inspector, Storage, TargetKind};
use monitor::{Chain, End, Watched};
use results::Environment;

use super::args::MonitorArgs;
use super::databases::Databases;
use crate::exit::Failure;

/// What is watched, and where.
pub(super) struct Plan {
    pub watched: Watched,
    pub chains: Vec<Chain>,
    pub targets: Vec<PathBuf>,
    pub environment: Environment,
    pub end: End,
    /// How else it is watched, in sentences.
    pub methods: Vec<String>,
}

/// Looks at the targets.
pub(super) fn plan(args: &MonitorArgs, databases: &Databases) -> Result<Plan, Failure> {
    let inspector = Inspector::new();
    let known = block_devices(Path::new("/"));
    let (mut storage, mut chains) = (Vec::new(), Vec::new());
    for target in &args.targets {
        let (found, chain) = look(target, &inspector, &known)?;
        storage.extend(found);
        chains.push(chain);
    }
    if args.targets.is_empty() && !args.all {
        for directory in databases.data_directories() {
            // One that this user may not look into is no reason to end: then all devices are
            // watched.
            if let Ok((found, chain)) = look(Path::new(directory), &inspector, &known) {
                storage.extend(found);
                chains.push(chain);
            }
        }
    }
    let mut names: Vec<String> = Vec::new();
    for name in chains.iter().flat_map(|chain| &chain.devices) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let watched = match (args.all, chains.is_empty()) {
        (true, _) => Watched::All,
        (false, true) => Watched::Real,
        (false, false) => Watched::Named(names),
    };
    Ok(Plan {
        watched,
        targets: chains.iter().map(|chain| whole(&chain.target)).collect(),
        chains,
        environment: Environment { host: Some(inspector.host()), storage },
        end: end(args)?,
        methods: Vec::new(),
    })
}

/// A relative name would mean another place in another directory.
fn whole(target: &Path) -> PathBuf {
    target.canonicalize().unwrap_or_else(|_| target.to_owned())
}

fn end(args: &MonitorArgs) -> Result<End, Failure> {
    let after = match args.seconds {
        None => None,
        Some(seconds) if seconds > 0.0 && seconds <= 1e9 => Some(Duration::from_secs_f64(seconds)),
        Some(seconds) => {
            let text = format!("--seconds is {seconds}: it must be above 0, and below 30 years");
            return Err(Failure::WrongUsage(text));
        }
    };
    if args.count == Some(0) {
        return Err(Failure::WrongUsage("--count must be at least 1".to_owned()));
    }
    Ok(End { after, windows: args.count })
}

/// The storage of a target, and the devices under it.
fn look(
    target: &Path,
    inspector: &Inspector,
    known: &[BlockDevice],
) -> Result<(Option<Storage>, Chain), Failure> {
    let name = target.to_str().filter(|name| known.iter().any(|device| device.name == **name));
    let path = match name {
        Some(name) if !target.exists() => Path::new("/dev").join(name),
        _ => target.to_owned(),
    };
    match (inspector.storage(&path), name) {
        (Ok(storage), _) if storage.kind != TargetKind::Missing => {
            let chain = Chain::of(&storage, known);
            if chain.devices.is_empty() {
                let text = format!(
                    "`{}` lies on no block device whose counters could be watched{}; name a \
                     device, or nothing for all of them",
                    target.display(),
                    chain.file_system.map(|f| format!(" ({f})")).unwrap_or_default()
                );
                return Err(Failure::CannotRun(text));
            }
            Ok((Some(storage), chain))
        }
        // A device without a node in /dev, as in a container, is counted all the same.
        (_, Some(name)) => {
            let devices = Chain::down_from(name, known);
            Ok((None, Chain { target: target.to_owned(), file_system: None, devices }))
        }
        (Ok(_), None) => Err(Failure::CannotRun(format!(
            "`{}` does not exist; name a file, a directory or a device, or nothing for all devices",
            target.display()
        ))),
        (Err(error), None) => Err(Failure::CannotRun(error.to_string())),
    }
}
