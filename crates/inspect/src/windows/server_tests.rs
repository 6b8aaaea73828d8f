//! Servers with paths, Storage Spaces, encryption, shadow copies, filters and the like: each rule
//! by answers that trigger it, and answers next to them that do not.

use super::*;
use crate::windows_guards::EXCLUSIONS;
use crate::windows_management::{
    Class, DEDUPLICATION, DISKS, DRIVES, ENCRYPTION, PATHS, SHADOWS, SPACES,
};

const ACCESS_DENIED: u32 = 0x8004_1003;
const NONE: &[&str] = &[];

fn told(system: Replay, class: Class, text: &str) -> Replay {
    let question = Question::Management(class.query);
    system.with(class.namespace, &question, Ok(text.as_bytes().to_vec()))
}

fn lines(system: Replay, about: &str, question: &Question, text: &str) -> Replay {
    system.with(about, question, Ok(text.as_bytes().to_vec()))
}

/// The server with its disk made of a virtual disk.
fn space(kind: &str, interleave: u32, health: u32, provisioning: u32) -> Replay {
    let disks = "instance of MSFT_Disk { Number = 1; UniqueId = \"6000ABCD\"; };";
    let text = format!(
        "instance of MSFT_VirtualDisk {{ UniqueId = \"6000abcd\"; ResiliencySettingName = \
         \"{kind}\"; NumberOfColumns = 4; NumberOfDataCopies = 2; PhysicalDiskRedundancy = 1; \
         Interleave = \"{interleave}\"; HealthStatus = {health}; ProvisioningType = \
         {provisioning}; }};"
    );
    told(told(of_spaces(server()), DISKS, disks), SPACES, &text)
}

/// With a disk that says that it is a virtual one.
fn of_spaces(system: Replay) -> Replay {
    system.with(DISK, &property(0), Ok(ints(&[40, 40, 0, 0, 0, 0, 0, 16, 0, 0])))
}

/// The server with its disk on paths, by whether each has failed.
fn paths(failed: &[u32]) -> Replay {
    let path = |failed: &u32| {
        format!(
            "instance of MPIO_DSM_Path_V2 {{ PrimaryPath = 1; OptimizedPath = 1; FailedPath = \
             {failed}; DsmPathId = \"77\"; }}"
        )
    };
    let paths = failed.iter().map(path).collect::<Vec<_>>().join(",\n");
    let policy = format!(
        "instance of DSM_QueryLBPolicy_V2 {{ InstanceName = \"MPIO\\\\DISK&1_0\"; \
         LoadBalancePolicy = instance of DSM_Load_Balance_Policy_V2 {{ LoadBalancePolicy = 2; \
         DSM_Paths = {{ {paths} }}; }}; }};"
    );
    let drives = "instance of Win32_DiskDrive { Index = 1; PNPDeviceID = \"MPIO\\\\Disk&1\"; };";
    told(told(server(), DRIVES, drives), PATHS, &policy)
}

fn of_volume(class: Class, property: &str, rest: &str) -> Replay {
    let text = |volume: &str| format!("instance of A {{ {property} = \"{volume}\"; {rest} }};\n");
    told(server(), class, &(text("volume 1") + &text("another")))
}

#[test]
fn storage_spaces_have_columns() {
    let with_nvme = |system: Replay| {
        let nvme = server().ask(DISK, &property(0));
        system.with(DISK, &property(0), nvme)
    };
    let cases: [(Replay, &[&str]); 7] = [
        (space("Mirror", 256 << 10, 0, 2), NONE),
        (space("Parity", 256 << 10, 0, 2), &["raid-parity"]),
        (space("Mirror", 16 << 10, 0, 2), &["raid-chunk"]),
        (space("Mirror", 64 << 10, 1, 2), &["raid-degraded"]),
        (space("Simple", 64 << 10, 5, 1), &["thin-storage"]),
        (told(space("Mirror", 4096, 2, 1), DISKS, ""), NONE),
        // A disk of another kind is no reason to ask.
        (with_nvme(space("Mirror", 4096, 2, 1)), NONE),
    ];
    for (system, expected) in cases {
        assert_eq!(codes(&system), expected);
        assert_complete(&system);
    }
    let found = inspect(&space("Mirror", 256 << 10, 0, 2));
    let layer = &found.targets[0].storage.chain[1];
    let raid = layer.raid.as_ref().unwrap();
    assert_eq!((layer.kind, raid.columns, raid.devices), (LayerKind::Raid, Some(4), 8));
    assert_eq!((raid.chunk_bytes, raid.stripe_bytes), (Some(256 << 10), Some(1 << 20)));
}

#[test]
fn paths_fail_or_are_single() {
    for (failed, expected) in
        [(&[0, 0][..], NONE), (&[0, 1, 0], &["path-failed"]), (&[0], &["path-single"]), (&[], NONE)]
    {
        assert_eq!(codes(&paths(failed)), expected, "{failed:?}");
        assert_complete(&paths(failed));
    }
    let found = inspect(&paths(&[0, 0]));
    let layer = &found.targets[0].storage.chain[1];
    assert_eq!((layer.kind, layer.policy.as_deref()), (LayerKind::Multipath, Some("round robin")));
    assert_eq!(layer.paths[1].access.as_deref(), Some("active/optimized"));
}

#[test]
fn volumes_are_encrypted_copied_and_deduplicated() {
    let id = "ID = \"{1}\";";
    let cases: [(Replay, &[&str]); 6] = [
        (of_volume(ENCRYPTION, "DeviceID", "ProtectionStatus = 1;"), &["encryption"]),
        (of_volume(ENCRYPTION, "DeviceID", "ProtectionStatus = 0;"), NONE),
        (of_volume(SHADOWS, "VolumeName", id), &["snapshot"]),
        (told(server(), SHADOWS, "instance of A { VolumeName = \"other\"; };"), NONE),
        (of_volume(DEDUPLICATION, "VolumeId", "Enabled = TRUE;"), &["deduplication"]),
        (of_volume(DEDUPLICATION, "VolumeId", "Enabled = FALSE;"), NONE),
    ];
    for (system, expected) in cases {
        assert_eq!(codes(&system), expected);
        assert_complete(&system);
    }
    let found = inspect(&of_volume(ENCRYPTION, "DeviceID", "ProtectionStatus = 1;"));
    let storage = &found.targets[0].storage;
    assert_eq!(storage.layers, [r"E:\", "BitLocker", "PhysicalDrive1"]);
    let levels: Vec<u32> = storage.chain.iter().map(|layer| layer.level).collect();
    assert_eq!(levels, [0, 1, 2]);
}

#[test]
fn files_are_compressed_encrypted_or_checked() {
    let ints = |n: u32| Ok(n.to_le_bytes().to_vec());
    let refs = server().with(r"E:\", &Question::FileSystem, Ok(b"\0\0\0\0ReFS".to_vec()));
    let cases: [(Replay, &[&str]); 6] = [
        (server().with(r"E:\", &Question::Attributes, ints(0x810)), &["compression"]),
        (server().with(r"E:\", &Question::Attributes, ints(0x4010)), &["encryption"]),
        (server().with(r"E:\", &Question::Attributes, Err(5)), NONE),
        (refs.clone().with(r"E:\", &Question::Integrity, ints(2)), &["copy-on-write"]),
        (refs.with(r"E:\", &Question::Integrity, ints(0)), NONE),
        // NTFS is not asked.
        (server().with(r"E:\", &Question::Integrity, ints(2)), NONE),
    ];
    for (system, expected) in cases {
        assert_eq!(codes(&system), expected);
        assert_complete(&system);
    }
}

#[test]
fn disks_say_how_they_are_and_what_they_take() {
    let health = Question::Control(QUERY_PROPERTY, structures::health_query());
    let log = server().ask(DISK, &health).unwrap();
    let with_log = |at: usize, byte: u8| {
        let mut log = log.clone();
        log[48 + at] = byte;
        server().with(DISK, &health, Ok(log))
    };
    let sata = |prediction: Answer| {
        let device = ints(&[40, 40, 0, 0, 0, 0, 0, 11, 0, 0]);
        server().with(DISK, &property(0), Ok(device)).with(
            DISK,
            &control(PREDICT_FAILURE),
            prediction,
        )
    };
    let takes = |count: u32| server().with(DISK, &property(48), Ok(ints(&[16, 16, count, 99])));
    let cases: [(Replay, &[&str]); 9] = [
        (with_log(0, 1), &["health-critical"]),
        (with_log(160, 3), &["media-errors"]),
        (with_log(5, 90), &["worn"]),
        (with_log(5, 89), NONE),
        (sata(Ok(vec![1; 516])), &["health-critical"]),
        (sata(Ok(vec![0; 516])), NONE),
        (sata(Err(1)), NONE),
        (takes(30), &["queue-depth-small"]),
        (takes(31), NONE),
    ];
    for (system, expected) in cases {
        assert_eq!(codes(&system), expected);
        assert_complete(&system);
    }
    let found = inspect(&takes(30));
    let device = &found.targets[0].storage.devices[0];
    assert_eq!(device.driver.as_deref(), Some("stornvme"));
    assert_eq!(device.driver_settings, ["NumberOfRequests=254"]);
    assert_eq!(found.targets[0].disks[0].health.as_ref().unwrap().power_on_hours, Some(9000));
}

#[test]
fn a_depth_is_compared_with_what_the_disks_take() {
    let codes = |system: &dyn System, depth| {
        let asked = PlannedLoad { depth: Some(depth) };
        let targets = vec![PathBuf::from(r"E:\")];
        let request = Request { targets, asked, ..Request::default() };
        let found = inspection(system, &request, "host".to_owned()).unwrap();
        let codes: Vec<String> =
            found.findings.iter().map(|finding| finding.code.clone()).collect();
        (codes, found.hidden.iter().any(|text| text.contains("--depth")))
    };
    assert_eq!(codes(&server(), 256), (vec!["queue-depth-below-asked".to_owned()], false));
    assert_eq!(codes(&server(), 255), (Vec::new(), false));
    assert_eq!(codes(&server().with(DISK, &property(48), Err(1)), 256), (Vec::new(), true));
    let narrow = server().with(DISK, &property(48), Ok(ints(&[16, 16, 255, 64])));
    assert_eq!(codes(&narrow, 64), (Vec::new(), false));
    assert_eq!(codes(&narrow, 65).0, ["queue-depth-below-asked"]);
}

#[test]
fn filters_and_scanners_are_in_the_way() {
    let filters = |text: &str| lines(server(), "", &Question::Filters, text);
    let excluded = |kind: &str, name: &str| {
        let without = lines(server(), &format!("{}Paths", EXCLUSIONS[0]), &values(), "D:\\\t0\n");
        lines(without, &format!("{}{kind}", EXCLUSIONS[0]), &values(), &format!("{name}\t0\n"))
    };
    let real_time = r"SOFTWARE\Microsoft\Windows Defender\Real-Time Protection";
    let off =
        lines(excluded("Paths", r"D:\"), real_time, &values(), "DisableRealtimeMonitoring\t1\n");
    let cases: [(Replay, &[&str]); 9] = [
        (filters("Scanner\t321000\n"), &["filter-driver"]),
        (filters("Wof\t40700\nwcifs\t189900\n"), NONE),
        (excluded("Paths", r"D:\"), &["antivirus-scans"]),
        (excluded("Paths", r"e:\*"), NONE),
        (excluded("Processes", r"C:\MSSQL\Binn\SQLSERVR.EXE"), NONE),
        (excluded("Extensions", "mdf"), &["antivirus-scans"]),
        (excluded("Extensions", "mdf\t0\n.LDF"), NONE),
        (lines(excluded("Paths", "x"), "", &Question::Filters, "FileInfo\t40500\n"), NONE),
        (off, NONE),
    ];
    for (system, expected) in cases {
        assert_eq!(codes(&system), expected);
        assert_complete(&system);
    }
    let found = inspect(&server());
    let filters = &found.host.settings.as_ref().unwrap().filters;
    assert_eq!(filters, &["WdFilter (anti-virus)", "FileInfo"]);
}

fn values() -> Question {
    Question::RegistryValues
}

#[test]
fn sql_server_may_initialise_files_instantly_or_not() {
    let holders = Question::Holders("SeManageVolumePrivilege");
    let without = lines(server(), "", &holders, "S-1-5-32-544\n");
    assert_eq!(codes(&without), ["instant-file-initialisation"]);
    assert_complete(&without);
    assert_eq!(codes(&lines(without.clone(), "", &Question::SqlServices, "")), NONE);
    let system = "MSSQLSERVER\tLocalSystem\tS-1-5-18\tS-1-5-80-1\n";
    assert_eq!(codes(&lines(without, "", &Question::SqlServices, system)), NONE);
}

/// A finding has its reason, and what it was concluded from.
fn assert_complete(system: &dyn System) {
    for finding in inspect(system).findings {
        assert!(finding.why.is_some() && !finding.evidence.is_empty(), "{finding:?}");
        assert!(finding.remedy.is_some(), "{finding:?}");
    }
}

/// Without rights, what Windows does not say is named and nothing is judged.
#[test]
fn what_only_an_administrator_sees_is_named() {
    let mut system = of_spaces(server()).with("", &Question::Elevated, Ok(vec![0])).with(
        "",
        &Question::Holders("SeManageVolumePrivilege"),
        Err(5),
    );
    for class in [SPACES, PATHS, ENCRYPTION, SHADOWS] {
        let question = Question::Management(class.query);
        system = system.with(class.namespace, &question, Err(ACCESS_DENIED));
    }
    for key in EXCLUSIONS {
        system = system.with(&format!("{key}Paths"), &values(), Err(5));
    }
    let found = inspect(&system);
    assert_eq!((found.findings, found.privileged), (Vec::new(), false));
    let [first, ..] = &found.hidden[..] else { panic!("{:?}", found.hidden) };
    for about in ["Spaces", "MPIO", "BitLocker", "shadow", "Defender", "initialise", "elevated"] {
        assert!(first.contains(about), "{about} is not in {first}");
    }
    assert!(!first.contains("deduplication"), "it is not installed: {first}");
    let all = inspect(&server());
    assert_eq!((all.hidden, all.privileged), (Vec::new(), true));
}

#[test]
fn a_recording_names_no_account_no_disk_and_no_directory() {
    let secret = r"\\?\Volume{0f1e2d3c-0000-0000-0000-100000000000}\";
    let escaped = secret.replace('\\', r"\\");
    let extents = server().ask("volume 1", &control(VOLUME_GET_VOLUME_DISK_EXTENTS));
    let mut system = of_spaces(paths(&[0, 1]))
        .with(r"E:\", &Question::Volume, Ok(secret.as_bytes().to_vec()))
        .with(r"E:\", &Question::FinalPath, Ok(br"E:\Contoso\data".to_vec()))
        .with(secret, &control(VOLUME_GET_VOLUME_DISK_EXTENTS), extents);
    let disks = "instance of MSFT_Disk { Number = 7; UniqueId = \"Contoso7\"; };";
    let spaces = "instance of MSFT_VirtualDisk { UniqueId = \"contoso7\"; };";
    let shadow = format!("instance of Win32_ShadowCopy {{ VolumeName = \"{escaped}\"; }};");
    for (class, text) in [(DISKS, disks), (SPACES, spaces), (SHADOWS, shadow.as_str())] {
        system = told(system, class, text);
    }
    let service = "MSSQL$CONTOSO\tCONTOSO\\sql\tS-1-5-21-7-7-7-1001\tS-1-5-80-77\n";
    let excluded = "E:\\Contoso\t0\nC:\\Contoso2\t0\n";
    system = lines(system, "", &Question::SqlServices, service);
    system = lines(system, &format!("{}Paths", EXCLUSIONS[0]), &values(), excluded);
    let recorder = Recorder::new(&system);
    let live = inspect(&recorder);
    let recording = recorder.recording("0.2.0");
    let shown = recording.lines().filter_map(|line| line.rsplit('\t').next());
    let shown: Vec<String> = shown
        .filter(|answer| answer.len().is_multiple_of(2) && answer.is_ascii())
        .map(|answer| {
            let byte = |at| u8::from_str_radix(&answer[at..at + 2], 16).unwrap_or(b'?');
            String::from_utf8_lossy(&(0..answer.len()).step_by(2).map(byte).collect::<Vec<_>>())
                .to_lowercase()
        })
        .collect();
    for secret in ["contoso", "volume{", "s-1-5-21-7", "s-1-5-80-77", r"mpio\"] {
        assert!(!shown.iter().any(|text| text.contains(secret)), "{secret} is in {shown:#?}");
    }
    let codes =
        |found: &Inspection| found.findings.iter().map(|f| f.code.clone()).collect::<Vec<_>>();
    let expected = ["path-failed", "snapshot", "instant-file-initialisation"];
    assert_eq!(codes(&live), expected);
    assert_eq!(codes(&inspect(&Replay::parse(&recording).unwrap())), expected);
}
