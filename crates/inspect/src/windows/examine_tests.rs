//! Servers made from recordings: one as the documents want it, and the same with one thing changed.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::windows_answers::Answer;
use crate::windows_recorder::Recorder;
use crate::windows_replay::Replay;
use crate::{Inspection, Severity};

#[path = "server_tests.rs"]
mod server_tests;

const SERVER: &str = include_str!("recordings/server.txt");
const DISK: &str = "PhysicalDrive1";

fn server() -> Replay {
    Replay::parse(SERVER).unwrap()
}

fn inspect(system: &dyn System) -> Inspection {
    let request = Request { targets: vec![PathBuf::from(r"E:\")], ..Request::default() };
    inspection(system, &request, "host".to_owned()).unwrap()
}

fn codes(system: &dyn System) -> Vec<String> {
    inspect(system).findings.iter().map(|finding| finding.code.clone()).collect()
}

fn property(id: u8) -> Question {
    let mut query = vec![0; 12];
    query[0] = id;
    Question::Control(QUERY_PROPERTY, query)
}

fn control(code: u32) -> Question {
    Question::Control(code, Vec::new())
}

fn ints(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn longs(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn a_server_as_the_documents_want_it_has_no_findings() {
    let found = inspect(&server());
    assert_eq!(found.findings, []);
    let (host, target) = (&found.host, &found.targets[0]);
    assert_eq!(host.os, "Windows Server 2022 Standard 21H2");
    assert_eq!((host.kernel.as_str(), host.cpus), ("10.0.20348", 8));
    assert_eq!((host.memory_bytes, host.memory_available_bytes), (64 << 30, 50 << 30));
    assert_eq!(host.product.as_deref(), Some("Example Server 1"));
    let plan = host.settings.as_ref().unwrap().governor.as_deref();
    assert_eq!(plan, Some("high performance"));
    let file_system = target.storage.file_system.as_ref().unwrap();
    assert_eq!((file_system.kind.as_str(), file_system.block_bytes), ("NTFS", 64 << 10));
    assert_eq!((file_system.used_percent, file_system.read_only), (25.0, false));
    let disk = &target.storage.devices[0];
    assert_eq!(
        (disk.model.as_deref(), disk.serial.as_deref()),
        (Some("FAST 2 TB"), Some("S123456"))
    );
    assert_eq!((disk.write_cache.as_deref(), disk.read_only), (Some("write back"), Some(false)));
    let table = target.disks[0].partitions.iter();
    let table: Vec<_> = table.map(|p| (p.name.as_str(), p.number, p.start_bytes)).collect();
    assert_eq!(table, [("Partition 1", Some(1), 17_408), (r"E:\", Some(2), 16 << 20)]);
}

/// Each rule by an answer that triggers it, and one next to it that does not.
#[test]
fn each_rule_has_a_machine_that_it_is_about() {
    let ok = |bytes: Vec<u8>| -> Answer { Ok(bytes) };
    let volume = |start| ok([ints(&[1, 0, 1, 0]), longs(&[start, 1 << 40])].concat());
    let cache = |through: u32, protected: u8| {
        ok([ints(&[28, 28, 2, 2, 1, through]), vec![1, protected, 0, 0]].concat())
    };
    let disk = |bus: u32| ok(ints(&[40, 40, 0, 0, 0, 0, 0, bus, 0, 0]));
    let transfer = |most| ok(ints(&[32, 32, most]));
    let none: &[&str] = &[];
    let extents = control(VOLUME_GET_VOLUME_DISK_EXTENTS);
    let cases: Vec<(&str, Question, Answer, &[&str])> = vec![
        ("volume 1", extents.clone(), volume(32_256), &["partition-misaligned"]),
        ("volume 1", extents.clone(), volume(65_536), &["partition-not-on-mib"]),
        ("volume 1", extents, volume(1 << 20), none),
        (r"E:\", Question::Cluster, ok(longs(&[4096])), &["allocation-unit"]),
        (r"E:\", Question::Cluster, Err(5), none),
        (r"E:\", Question::Space, ok(longs(&[9, 100, 9])), &["file-system-full"]),
        (r"E:\", Question::Space, ok(longs(&[20, 100, 20])), none),
        (r"E:\", Question::FileSystem, ok(b"\0\0\x08\0NTFS".to_vec()), &["read-only"]),
        (r"E:\", Question::FileSystem, ok(b"\0\0\0\0FAT32".to_vec()), none),
        (DISK, property(4), cache(1, 0), &["volatile-write-cache"]),
        (DISK, property(4), cache(2, 1), &["flush-disabled"]),
        (DISK, property(4), cache(0, 0), none),
        (DISK, property(4), Err(1), none),
        (DISK, control(DISK_IS_WRITABLE), Err(19), &["device-read-only"]),
        (DISK, control(DISK_IS_WRITABLE), Err(5), none),
        (DISK, property(1), transfer(128 << 10), &["io-split"]),
        (DISK, property(1), transfer(512 << 10), none),
        (DISK, property(0), disk(7), &["usb-attached"]),
        (DISK, property(0), disk(11), none),
        (POWER, power(), ok(b"381b4222-f694-41f0-9685-ff5bb260df2e".to_vec()), &["cpu-governor"]),
        (POWER, power(), ok(b"e9a42b02-d5df-448d-aa00-03f14749eb61".to_vec()), none),
        (POWER, power(), ok(b"11111111-2222-3333-4444-555555555555".to_vec()), none),
    ];
    for (about, question, answer, expected) in cases {
        let changed = server().with(about, &question, answer.clone());
        assert_eq!(codes(&changed), expected, "{about} {question}: {answer:x?}");
        for finding in inspect(&changed).findings {
            assert!(finding.why.is_some() && !finding.evidence.is_empty(), "{finding:?}");
            assert!(!finding.evidence[0].place.contains("/sys"), "{finding:?}");
        }
    }
    let rotating = server().with(DISK, &property(0), disk(11)).with(
        DISK,
        &property(7),
        Ok(vec![12, 0, 0, 0, 12, 0, 0, 0, 1]),
    );
    assert_eq!(codes(&rotating), ["emulated-sectors"]);
    let four = ok(ints(&[28, 28, 64, 0, 4096, 4096, 0]));
    assert_eq!(codes(&rotating.with(DISK, &property(6), four)), none);
}

fn power() -> Question {
    Question::Registry("ActivePowerScheme")
}

/// Without 64 KiB under it, a unit of 64 KiB is of no use: the more serious one comes first.
#[test]
fn findings_are_in_their_order() {
    let start = [ints(&[1, 0, 1, 0]), longs(&[32_256, 1 << 40])].concat();
    let system = server().with(r"E:\", &Question::Cluster, Ok(longs(&[4096]))).with(
        "volume 1",
        &control(VOLUME_GET_VOLUME_DISK_EXTENTS),
        Ok(start),
    );
    let found = inspect(&system);
    let severities: Vec<_> = found.findings.iter().map(|f| f.severity).collect();
    assert_eq!(severities, [Severity::Warning, Severity::Info]);
}

/// Some drivers do not answer, and a program without rights is told less.
#[test]
fn a_silent_disk_is_not_judged_and_the_page_says_so() {
    let mut system = server();
    for question in [0, 1, 4, 6, 7].map(property) {
        system = system.with(DISK, &question, Err(5));
    }
    system = system.with(DISK, &control(DRIVE_LAYOUT), Err(5));
    let found = inspect(&system);
    assert_eq!(found.findings, []);
    assert!(found.hidden.iter().any(|text| text.contains("write cache")), "{:?}", found.hidden);
    let table = &found.targets[0].disks[0].partitions;
    assert_eq!((table.len(), table[0].start_bytes), (1, 16 << 20), "the volume's own");
}

#[test]
fn a_recording_names_nobody_and_replays_as_it_was() {
    let secret = r"\\?\Volume{0f1e2d3c-0000-0000-0000-100000000000}\";
    let server = server().with(r"E:\", &Question::FinalPath, Ok(br"E:\Contoso".to_vec())).with(
        r"E:\",
        &Question::Volume,
        Ok(secret.as_bytes().to_vec()),
    );
    let extents = server.ask("volume 1", &control(VOLUME_GET_VOLUME_DISK_EXTENTS));
    let server = server.with(secret, &control(VOLUME_GET_VOLUME_DISK_EXTENTS), extents);
    let recorder = Recorder::new(&server);
    let live = inspect(&recorder);
    let recording = recorder.recording("0.2.0");
    let hex = |text: &str| text.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().concat();
    let utf16 =
        |text: &str| text.bytes().map(|b| format!("{b:02x}00")).collect::<Vec<_>>().concat();
    let identities = [hex("S123456"), utf16("Contoso"), hex("Contoso"), hex("0f1e2d3c")];
    let ranges =
        [0..16_u8, 16..32].map(|r| r.map(|b| format!("{b:02x}")).collect::<Vec<_>>().concat());
    for text in identities.iter().chain(&ranges) {
        assert!(!recording.contains(text), "{text} is in {recording}");
    }
    assert!(!recording.contains("Volume{"), "{recording}");
    let mut replayed = inspect(&Replay::parse(&recording).unwrap());
    let storage = &mut replayed.targets[0].storage;
    assert_eq!(storage.devices[0].serial.as_deref(), Some("XXXXXXX"));
    assert_eq!(storage.file_system.as_ref().unwrap().source, "volume 1");
    storage.devices[0].serial = Some("S123456".to_owned());
    storage.path = PathBuf::from(r"E:\Contoso");
    storage.file_system.as_mut().unwrap().source = secret.to_owned();
    assert_eq!(replayed, live);
}

#[test]
fn what_is_not_there_is_named() {
    let gone = Path::new("gone");
    assert!(matches!(storage(&server(), gone), Err(InspectError::Missing { .. })));
    let pipe = server().with("pipe", &Question::Kind, Ok(vec![3]));
    assert!(matches!(storage(&pipe, Path::new("pipe")), Err(InspectError::NotStorage { .. })));
}

/// The questions about disks and volumes, whose answers are structures.
fn structured() -> Vec<(&'static str, Question)> {
    let controls = [DISK_GET_DRIVE_GEOMETRY_EX, DRIVE_LAYOUT, DISK_IS_WRITABLE, SCSI_GET_ADDRESS];
    let health = Question::Control(QUERY_PROPERTY, structures::health_query());
    let of_disk =
        [0, 1, 4, 6, 7, 48].map(property).into_iter().chain(controls.map(control)).chain([health]);
    let of_mount = [Question::FileSystem, Question::Space, Question::Cluster, Question::Attributes];
    let mut all: Vec<_> = of_disk.map(|question| (DISK, question)).collect();
    all.extend(of_mount.map(|question| (r"E:\", question)));
    all.push(("volume 1", control(VOLUME_GET_VOLUME_DISK_EXTENTS)));
    let of_machine = [Question::Version, Question::Memory, Question::Processors];
    all.extend(of_machine.map(|question| ("", question)));
    all.extend([Question::Elevated, Question::Filters, Question::SqlServices].map(|q| ("", q)));
    all
}

/// A driver may answer less than it says, and say more than it answers.
#[test]
fn answers_that_are_cut_and_lengths_that_are_too_large_are_survived() {
    for (about, question) in structured() {
        let whole = server().ask(about, &question).unwrap();
        // Every end of what is short; of a log, some within it.
        for length in (0..whole.len()).filter(|length| *length < 80 || length % 7 == 0) {
            let system = server().with(about, &question, Ok(whole[..length].to_vec()));
            inspect(&Recorder::new(&system));
        }
        for at in (0..whole.len().saturating_sub(3)).step_by(4) {
            let mut bytes = whole.clone();
            bytes[at..at + 4].fill(0xFF);
            let system = server().with(about, &question, Ok(bytes));
            inspect(&Recorder::new(&system));
        }
    }
}

proptest! {
    #[test]
    fn any_answers_are_survived(
        which in 0..22_usize, bytes in prop::collection::vec(any::<u8>(), 0..400)
    ) {
        let all = structured();
        let (about, question) = &all[which % all.len()];
        let system = server().with(about, question, Ok(bytes));
        inspect(&Recorder::new(&system));
    }

    #[test]
    fn any_recording_is_survived(text in "iosonde.answers/1\n([a-z0-9\t \n]|error 5){0,200}") {
        if let Ok(system) = Replay::parse(&text) {
            let _ = storage(&system, Path::new(r"E:\"));
        }
    }
}
