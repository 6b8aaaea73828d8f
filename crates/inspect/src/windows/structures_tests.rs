//! Answers as the headers of Windows lay them out, and such as no Windows gives.

use proptest::prelude::*;

use super::*;

/// A record of `GetLogicalProcessorInformationEx`.
fn record(kind: u32, number: u32, groups: &[(u16, u64)]) -> Vec<u8> {
    let size = u32::try_from(32 + 16 * groups.len()).unwrap();
    let mut bytes = [kind.to_le_bytes(), size.to_le_bytes(), number.to_le_bytes()].concat();
    bytes.resize(30, 0);
    bytes.extend(u16::try_from(groups.len()).unwrap().to_le_bytes());
    for (group, mask) in groups {
        bytes.extend(mask.to_le_bytes());
        bytes.extend(group.to_le_bytes());
        bytes.extend([0; 6]);
    }
    bytes
}

#[test]
fn processors_of_two_groups_are_numbered_through() {
    let cores = [(0, 0b11), (0, 0b1100), (1, 0b1), (1, 0b10)];
    let mut answer: Vec<u8> =
        cores.iter().flat_map(|core| record(CORE, 0, std::slice::from_ref(core))).collect();
    answer.extend(record(2, 0, &[(0, 1)])); // a cache
    answer.extend(record(NODE, 0, &[(0, 0b1111)]));
    answer.extend(record(NODE, 1, &[(1, 0b11)]));
    answer.extend(record(SOCKET, 0, &[(0, 0b1111)]));
    answer.extend(record(SOCKET, 0, &[(1, 0b11)]));
    let found = processors(&answer);
    let of = |get: fn(&Processor) -> u32| found.iter().map(get).collect::<Vec<_>>();
    assert_eq!(of(|p| p.cpu), [0, 1, 2, 3, 4, 5]);
    assert_eq!(of(|p| p.core), [0, 0, 1, 1, 2, 3]);
    assert_eq!(of(|p| p.socket), [0, 0, 0, 0, 1, 1]);
    assert_eq!(of(|p| p.node), [0, 0, 0, 0, 1, 1]);
}

#[test]
fn a_volume_is_on_parts_of_disks() {
    let mut answer = 2_u32.to_le_bytes().to_vec();
    answer.resize(8, 0);
    for (disk, start, bytes) in [(0_u32, 1_u64 << 20, 5_u64 << 30), (3, 32_256, 7)] {
        answer.extend(disk.to_le_bytes());
        answer.extend([0; 4]);
        answer.extend(start.to_le_bytes());
        answer.extend(bytes.to_le_bytes());
    }
    let found = extents(&answer);
    assert_eq!(found[0], Extent { disk: 0, start_bytes: 1 << 20, bytes: 5 << 30 });
    assert_eq!((found[1].disk, found[1].start_bytes, found.len()), (3, 32_256, 2));
    assert_eq!(extents(&answer[..40]).len(), 1, "one is cut off");
    assert_eq!(extents(&u32::MAX.to_le_bytes()), []);
}

fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn a_disk_says_what_it_is() {
    let mut device = bytes_of(&[40, 80, 0, 0, 40, 52, 60, 17, 0, 0]);
    device.extend(b"  FAST 2 TB\0\x31.0\0\0\0\0\0  S123\0");
    let answers = Answers {
        device,
        adapter: bytes_of(&[32, 32, 131_072]),
        write_cache: bytes_of(&[28, 28, 2, 2, 1, 2, 0]),
        alignment: bytes_of(&[28, 28, 64, 0, 512, 4096, 0]),
        seek_penalty: vec![12, 0, 0, 0, 12, 0, 0, 0, 0],
        geometry: [bytes_of(&[0; 5]), bytes_of(&[512]), (2_u64 << 40).to_le_bytes().to_vec()]
            .concat(),
        io_capability: bytes_of(&[16, 16, 255, 1000]),
        read_only: None,
    };
    let disk = disk("PhysicalDrive1".to_owned(), &answers);
    assert_eq!((disk.name.as_str(), disk.size_bytes), ("PhysicalDrive1", 2 << 40));
    let texts = [&disk.vendor, &disk.model, &disk.firmware, &disk.serial, &disk.transport];
    assert_eq!(
        texts.map(|text| text.as_deref()),
        [None, Some("FAST 2 TB"), Some("1.0"), Some("S123"), Some("nvme")]
    );
    assert_eq!((disk.logical_block_bytes, disk.physical_block_bytes), (Some(512), Some(4096)));
    assert_eq!((disk.max_io_bytes, disk.rotational), (Some(131_072), Some(false)));
    assert_eq!((disk.queue_depth, disk.adapter_queue_depth), (Some(255), Some(1000)));
    assert_eq!((disk.write_cache.as_deref(), disk.fua), (Some("write back"), Some(true)));
}

/// Under Wine, and without rights, a disk answers nothing: then nothing is said.
#[test]
fn a_disk_without_answers_says_nothing() {
    let silent = disk("PhysicalDrive0".to_owned(), &Answers::default());
    assert_eq!(silent, Device { name: "PhysicalDrive0".to_owned(), ..Device::default() });
}

#[test]
fn a_health_log_is_taken_only_from_where_it_is() {
    let query = health_query();
    assert_eq!((query.len(), int(&query, 0), int(&query, 16)), (48, Some(50), Some(2)));
    let answer = |kind: u32, offset: u32, length: u32| {
        let mut bytes = bytes_of(&[48, 48, kind, 2, 2, 0, offset, length, 0, 0, 0, 0]);
        bytes.resize(48 + LOG_BYTES, 0);
        bytes[48] = 1;
        bytes[48 + 5] = 93;
        bytes
    };
    let log = health(&answer(3, 40, 512)).unwrap();
    assert_eq!((log.used_percent, log.critical.len()), (Some(93), 1));
    for wrong in [(2, 40, 512), (3, 39, 512), (3, 40, 511), (3, 41, 512), (3, u32::MAX, 512)] {
        assert_eq!(health(&answer(wrong.0, wrong.1, wrong.2)), None, "{wrong:?}");
    }
    let mut silent = answer(3, 40, 512);
    silent[48..].fill(0);
    assert_eq!(health(&silent), None);
}

#[test]
fn predictions_addresses_and_checks_have_their_meaning() {
    assert_eq!(prediction(&[0, 0, 0]), None);
    assert_eq!(prediction(&[0; 4]).map(|health| health.critical.len()), Some(0));
    assert_eq!(prediction(&[1, 0, 0, 0, 9]).map(|health| health.critical.len()), Some(1));
    assert_eq!(adapter_number(&[8, 0, 0, 0, 3, 0, 0, 0]), Some(3));
    assert_eq!(adapter_number(&[8, 0, 0, 0, 3]), None);
    assert_eq!(integrity(&[2, 0, 0, 0]).as_deref(), Some("crc64"));
    assert_eq!((integrity(&[0; 16]), integrity(&[1])), (None, None));
    assert_eq!(integrity(&[4, 0]).as_deref(), Some("algorithm 4"));
}

#[test]
fn systems_and_power_plans_have_their_names() {
    let ten = Some("Windows 10 Pro");
    assert_eq!(system(ten, Some("22H2"), 19_045), "Windows 10 Pro 22H2");
    assert_eq!(system(ten, Some("24H2"), 26_100), "Windows 11 Pro 24H2");
    let server = Some("Windows Server 2022 Standard");
    assert_eq!(system(server, None, 20_348), "Windows Server 2022 Standard");
    assert_eq!(system(None, None, 0), "Windows");
    assert_eq!(power_plan("381B4222-F694-41F0-9685-FF5BB260DF2E"), "balanced");
    assert_eq!(power_plan("aaaa"), "aaaa");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        processors(&bytes);
        extents(&bytes);
        partitions(&bytes);
        file_system(&bytes);
        let copy = || bytes.clone();
        let answers = Answers {
            device: copy(), adapter: copy(), write_cache: copy(), alignment: copy(),
            seek_penalty: copy(), geometry: copy(), io_capability: copy(), read_only: None,
        };
        disk("d".to_owned(), &answers);
        health(&bytes);
        prediction(&bytes);
        adapter_number(&bytes);
        integrity(&bytes);
    }

    #[test]
    fn any_records_are_survived(
        kinds in prop::collection::vec((0..4_u32, any::<u32>(), any::<u16>(), any::<u64>()), 0..9)
    ) {
        let record = |r: &(u32, u32, u16, u64)| record(r.0, r.1, &[(r.2, r.3)]);
        let answer: Vec<u8> = kinds.iter().flat_map(record).collect();
        let cores = kinds.iter().filter(|kind| kind.0 == CORE);
        let count: u32 = cores.map(|kind| kind.3.count_ones()).sum();
        prop_assert_eq!(processors(&answer).len(), count as usize);
    }
}
