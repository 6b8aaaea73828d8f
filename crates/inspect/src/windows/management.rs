//! What only the management service of Windows knows of storage: Storage Spaces, the paths of MPIO,
//! `BitLocker`, shadow copies and deduplication. It is asked last and once, and only reads.

use crate::windows_answers::{Question, System};
use crate::windows_mof::{self as mof, Instance};
use crate::{Raid, StoragePath};

/// A class of the service: where it is, what is asked of it, and what it is about in words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Class {
    pub(crate) namespace: &'static str,
    pub(crate) query: &'static str,
    about: &'static str,
}

const STORAGE: &str = r"root\Microsoft\Windows\Storage";
const CIMV2: &str = r"root\CIMV2";

/// The numbers of disks by their identities.
pub(crate) const DISKS: Class = Class {
    namespace: STORAGE,
    query: "SELECT Number, UniqueId FROM MSFT_Disk",
    about: SPACES.about,
};
pub(crate) const SPACES: Class = Class {
    namespace: STORAGE,
    query: "SELECT UniqueId, ResiliencySettingName, NumberOfColumns, NumberOfDataCopies, \
            PhysicalDiskRedundancy, Interleave, ProvisioningType, HealthStatus FROM \
            MSFT_VirtualDisk",
    about: "the columns of Storage Spaces",
};
/// The numbers of disks by their names among devices.
pub(crate) const DRIVES: Class = Class {
    namespace: CIMV2,
    query: "SELECT Index, PNPDeviceID FROM Win32_DiskDrive",
    about: PATHS.about,
};
pub(crate) const PATHS: Class = Class {
    namespace: r"root\WMI",
    query: "SELECT * FROM DSM_QueryLBPolicy_V2",
    about: "paths (MPIO)",
};
pub(crate) const ENCRYPTION: Class = Class {
    namespace: r"root\CIMV2\Security\MicrosoftVolumeEncryption",
    query: "SELECT DeviceID, ProtectionStatus FROM Win32_EncryptableVolume",
    about: "BitLocker",
};
pub(crate) const SHADOWS: Class = Class {
    namespace: CIMV2,
    query: "SELECT ID, VolumeName FROM Win32_ShadowCopy",
    about: "shadow copies",
};
pub(crate) const DEDUPLICATION: Class = Class {
    namespace: r"root\Microsoft\Windows\Deduplication",
    query: "SELECT VolumeId, Enabled FROM MSFT_DedupVolume",
    about: "deduplication",
};

/// Errors that mean that Windows has no such thing, not that it keeps it to itself: no such
/// namespace, no such class, and a class without a driver that has instances of it.
const NOT_INSTALLED: [u32; 3] = [0x8004_100E, 0x8004_1010, 0x8004_100C];

/// A virtual disk of Storage Spaces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Space {
    /// The number of the disk that it is.
    pub(crate) disk: u64,
    pub(crate) raid: Raid,
    pub(crate) is_thin: Option<bool>,
}

/// A disk that is reached by several paths.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Multipath {
    pub(crate) disk: u64,
    pub(crate) policy: Option<String>,
    pub(crate) paths: Vec<StoragePath>,
}

/// What the management service of Windows knows about the storage.
#[derive(Debug, Clone, Default)]
pub(crate) struct Management {
    pub(crate) spaces: Vec<Space>,
    pub(crate) multipaths: Vec<Multipath>,
    /// The names of volumes that `BitLocker` protects.
    pub(crate) encrypted: Vec<String>,
    /// The volume of each shadow copy.
    pub(crate) shadows: Vec<String>,
    /// The names of volumes on which duplicates are looked for.
    pub(crate) deduplicated: Vec<String>,
    /// What it did not say, in words.
    pub(crate) unseen: Vec<&'static str>,
}

impl Management {
    /// Asks the service. Without the rights of an administrator it may answer less than there is,
    /// so nothing is no answer then. Storage Spaces are asked for last and only if there are any:
    /// in a cluster, their provider may ask other machines.
    pub(crate) fn ask(system: &dyn System, is_elevated: bool, has_spaces: bool) -> Self {
        let mut unseen = Vec::new();
        let mut ask = |class: Class| {
            let answer = system.ask(class.namespace, &Question::Management(class.query));
            let is_answered = match &answer {
                Ok(text) => is_elevated || !text.is_empty(),
                Err(number) => NOT_INSTALLED.contains(number),
            };
            if !is_answered && !unseen.contains(&class.about) {
                unseen.push(class.about);
            }
            mof::instances(&String::from_utf8_lossy(&answer.unwrap_or_default()))
        };
        let policies = ask(PATHS);
        let drives = if policies.is_empty() { Vec::new() } else { ask(DRIVES) };
        let (encrypted, shadows) = (ask(ENCRYPTION), ask(SHADOWS));
        let deduplicated = ask(DEDUPLICATION);
        let spaces = if has_spaces { ask(SPACES) } else { Vec::new() };
        let disks = if spaces.is_empty() { Vec::new() } else { ask(DISKS) };
        Self {
            spaces: spaces.iter().filter_map(|space| self::space(space, &disks)).collect(),
            multipaths: policies.iter().filter_map(|policy| multipath(policy, &drives)).collect(),
            encrypted: texts(&encrypted, "DeviceID", |volume| {
                volume.number("ProtectionStatus") == Some(1)
            }),
            shadows: texts(&shadows, "VolumeName", |_| true),
            deduplicated: texts(&deduplicated, "VolumeId", |volume| volume.is_true("Enabled")),
            unseen,
        }
    }
}

/// This value of the instances that are meant.
fn texts(instances: &[Instance], name: &str, is_meant: fn(&Instance) -> bool) -> Vec<String> {
    let meant = instances.iter().filter(|instance| is_meant(instance));
    meant.filter_map(|instance| instance.text(name).map(str::to_owned)).collect()
}

/// Whether two names are of the same volume.
pub(crate) fn is_same_volume(one: &str, other: &str) -> bool {
    one.trim_end_matches('\\').eq_ignore_ascii_case(other.trim_end_matches('\\'))
}

fn space(space: &Instance, disks: &[Instance]) -> Option<Space> {
    let identity = space.text("UniqueId").filter(|identity| !identity.is_empty())?;
    let is_its = |disk: &&Instance| {
        disk.text("UniqueId").is_some_and(|own| own.eq_ignore_ascii_case(identity))
    };
    let disk = disks.iter().find(is_its)?.number("Number")?;
    let kind = space.text("ResiliencySettingName")?.to_lowercase();
    let columns = space.number("NumberOfColumns").filter(|columns| *columns > 0);
    let copies = space.number("NumberOfDataCopies").unwrap_or(1).max(1);
    let interleave = space.number("Interleave").filter(|bytes| *bytes > 0);
    // Of the columns of a parity space, those for parity hold no data. A mirror has its columns
    // once per copy.
    let (data, devices) = if kind == "parity" {
        let parity = space.number("PhysicalDiskRedundancy").unwrap_or(1);
        (columns.and_then(|all| all.checked_sub(parity)), columns)
    } else {
        (columns, columns.and_then(|all| all.checked_mul(copies)))
    };
    let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    Some(Space {
        disk,
        raid: Raid {
            level: format!("Storage Spaces {kind}"),
            devices: small(devices).unwrap_or(0),
            columns: small(columns),
            chunk_bytes: interleave,
            stripe_bytes: interleave.zip(data).and_then(|(bytes, data)| bytes.checked_mul(data)),
            state: match space.number("HealthStatus") {
                Some(0) => Some("healthy".to_owned()),
                Some(1) => Some("degraded".to_owned()),
                Some(2) => Some("unhealthy".to_owned()),
                _ => None,
            },
            ..Raid::default()
        },
        is_thin: match space.number("ProvisioningType") {
            Some(1) => Some(true),
            Some(2) => Some(false),
            _ => None,
        },
    })
}

fn multipath(policy: &Instance, drives: &[Instance]) -> Option<Multipath> {
    // The driver adds the number of the instance to the disk's name among devices.
    let name = policy.text("InstanceName")?;
    let name = name.strip_suffix("_0").unwrap_or(name);
    let is_its = |drive: &&Instance| {
        drive.text("PNPDeviceID").is_some_and(|own| own.eq_ignore_ascii_case(name))
    };
    let disk = drives.iter().find(is_its)?.number("Index")?;
    let policy = *policy.instances("LoadBalancePolicy").first()?;
    let paths = policy.instances("DSM_Paths").into_iter().zip(1_u32..).map(|(path, number)| {
        let is = |name| path.number(name).is_some_and(|value| value != 0);
        // Both together are the state that the array gives the path.
        let access = match (is("PrimaryPath"), is("OptimizedPath")) {
            (true, true) => "active/optimized",
            (true, false) => "active/unoptimized",
            (false, true) => "standby",
            (false, false) => "unavailable",
        };
        StoragePath {
            name: number.to_string(),
            state: if is("FailedPath") { "failed" } else { "live" }.to_owned(),
            address: None,
            access: path.number("PrimaryPath").map(|_| access.to_owned()),
        }
    });
    let named = match policy.number("LoadBalancePolicy") {
        Some(1) => Some("fail over only"),
        Some(2) => Some("round robin"),
        Some(3) => Some("round robin with subset"),
        Some(4) => Some("least queue depth"),
        Some(5) => Some("weighted paths"),
        Some(6) => Some("least blocks"),
        Some(7) => Some("vendor specific"),
        _ => None,
    };
    Some(Multipath { disk, policy: named.map(str::to_owned), paths: paths.collect() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(text: &str) -> Instance {
        mof::instances(text).remove(0)
    }

    #[test]
    fn a_space_has_columns_with_and_without_parity() {
        let disks = [one(r#"instance of MSFT_Disk { Number = 4; UniqueId = "AB"; };"#)];
        let space_of = |kind: &str, copies: u32, redundancy: u32| {
            let text = format!(
                "instance of MSFT_VirtualDisk {{ UniqueId = \"ab\"; ResiliencySettingName = \
                 \"{kind}\"; NumberOfColumns = 4; NumberOfDataCopies = {copies}; \
                 PhysicalDiskRedundancy = {redundancy}; Interleave = \"65536\"; \
                 ProvisioningType = 1; HealthStatus = 0; }};"
            );
            space(&one(&text), &disks).unwrap()
        };
        let mirror = space_of("Mirror", 2, 1);
        assert_eq!((mirror.disk, mirror.is_thin), (4, Some(true)));
        assert_eq!((mirror.raid.devices, mirror.raid.columns), (8, Some(4)));
        assert_eq!(mirror.raid.stripe_bytes, Some(256 << 10));
        let parity = space_of("Parity", 1, 2).raid;
        assert_eq!((parity.devices, parity.stripe_bytes), (4, Some(128 << 10)));
        assert_eq!(space_of("Parity", 1, 9).raid.stripe_bytes, None);
        assert_eq!(parity.level, "Storage Spaces parity");
        let unknown = one(r#"instance of MSFT_VirtualDisk { UniqueId = ""; };"#);
        assert_eq!(space(&unknown, &disks), None);
    }

    #[test]
    fn paths_have_states() {
        let drives =
            [one(r#"instance of Win32_DiskDrive { Index = 2; PNPDeviceID = "MPIO\\A"; };"#)];
        let policy = one(
            r#"instance of DSM_QueryLBPolicy_V2 { InstanceName = "mpio\\a_0"; LoadBalancePolicy =
            instance of DSM_Load_Balance_Policy_V2 { LoadBalancePolicy = 4; DSM_Paths = {
            instance of MPIO_DSM_Path_V2 { PrimaryPath = 1; OptimizedPath = 1; FailedPath = 0; },
            instance of MPIO_DSM_Path_V2 { PrimaryPath = 0; OptimizedPath = 1; FailedPath = 1; },
            instance of MPIO_DSM_Path_V2 { }}; }; };"#,
        );
        let found = multipath(&policy, &drives).unwrap();
        assert_eq!((found.disk, found.policy.as_deref()), (2, Some("least queue depth")));
        let paths = found.paths.iter();
        let paths: Vec<_> = paths.map(|p| (p.state.as_str(), p.access.as_deref())).collect();
        let expected = [("live", Some("active/optimized")), ("failed", Some("standby"))];
        assert_eq!(paths, [expected[0], expected[1], ("live", None)]);
        assert_eq!(multipath(&policy, &[]), None);
    }

    proptest! {
        #[test]
        fn any_values_are_survived(numbers in prop::collection::vec(any::<u64>(), 6)) {
            let names = ["NumberOfColumns", "NumberOfDataCopies", "PhysicalDiskRedundancy",
                "Interleave", "HealthStatus", "LoadBalancePolicy"];
            let values: Vec<String> =
                names.iter().zip(&numbers).map(|(n, v)| format!("{n} = {v}; ")).collect();
            let values = values.concat();
            for kind in ["Parity", "Mirror"] {
                let found = one(&format!("instance of A {{ UniqueId = \"x\"; Number = 1; \
                    ResiliencySettingName = \"{kind}\"; InstanceName = \"x\"; PNPDeviceID = \"x\"; \
                    Index = 2; {values} }};"));
                prop_assert!(space(&found, std::slice::from_ref(&found)).is_some());
                multipath(&found, std::slice::from_ref(&found));
            }
        }
    }
}
