//! Plans by name: the matrices of the field's documents, and the shapes of what databases do.

use super::Plan;

/// A plan that is known by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// The plan without targets, as TOML; also an example of such a file.
    pub toml: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        [$(Preset { name: $name, toml: include_str!(concat!("presets/", $name, ".toml")) }),*]
    };
}

/// All presets, in the order of the list.
pub const PRESETS: [Preset; 18] = presets![
    "ruthruff-2007",
    "grove-rasmussen",
    "baseline-192",
    "sqlserver-patterns",
    "erkec-oltp",
    "erkec-log",
    "erkec-readahead",
    "atto",
    "four-corners",
    "crystaldiskmark",
    "iotune",
    "snia-pts",
    "vmware-4",
    "postgres",
    "mysql",
    "oracle",
    "sqlite",
    "rocksdb",
];

impl Preset {
    /// The plan; the caller adds the targets.
    #[must_use]
    pub fn plan(&self) -> Plan {
        // A test reads them all; a damaged one would be an empty plan, which is refused.
        Plan::from_toml(self.toml).unwrap_or_else(|_| Plan::new(self.name, Vec::new()))
    }
}

/// The preset of this name, if there is one.
#[must_use]
pub fn preset(name: &str) -> Option<Preset> {
    PRESETS.into_iter().find(|p| p.name == name)
}
