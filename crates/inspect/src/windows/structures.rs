//! What Windows answers about processors, volumes and disks: bytes in, values out.

use crate::nvme_health::{LOG_BYTES, of_log};
use crate::{Device, Health, Partition, Processor};

fn int(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// All whole numbers of 32 bits in an answer.
pub(crate) fn ints(answer: &[u8]) -> Vec<u32> {
    answer.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// All whole numbers of 64 bits in an answer.
pub(crate) fn longs(answer: &[u8]) -> Vec<u64> {
    answer.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// The kind of a file system and whether it can only be read, from its flags and its name.
pub(crate) fn file_system(answer: &[u8]) -> (String, bool) {
    const FILE_READ_ONLY_VOLUME: u32 = 0x0008_0000;
    let name = answer.get(4..).unwrap_or_default();
    let flags = int(answer, 0).unwrap_or(0);
    (String::from_utf8_lossy(name).into_owned(), flags & FILE_READ_ONLY_VOLUME != 0)
}

/// What a record of `GetLogicalProcessorInformationEx` is of.
const CORE: u32 = 0;
const NODE: u32 = 1;
const SOCKET: u32 = 3;

/// The processors, by the records of `GetLogicalProcessorInformationEx`. They are numbered through
/// all groups: those of earlier groups, and the place within their own.
pub(crate) fn processors(answer: &[u8]) -> Vec<Processor> {
    let records = records(answer);
    let cores: Vec<_> = of_kind(&records, CORE).collect();
    let mut in_groups: Vec<u32> = Vec::new();
    for (group, mask) in cores.iter().flat_map(|(_, groups)| groups) {
        let group = usize::from(*group);
        in_groups.resize(in_groups.len().max(group + 1), 0);
        in_groups[group] = in_groups[group].max(u64::BITS - mask.leading_zeros());
    }
    let number = |group: u16, bit: u32| {
        in_groups.iter().take(group.into()).fold(bit, |sum, count| sum.saturating_add(*count))
    };
    let holder = |kind: u32, group: u16, bit: u32| {
        let holds = |(_, groups): &(u32, Vec<(u16, u64)>)| {
            groups.iter().any(|(g, mask)| *g == group && mask >> bit & 1 == 1)
        };
        of_kind(&records, kind).enumerate().find(|(_, record)| holds(record))
    };
    let mut found = Vec::new();
    for (core, (_, groups)) in (0..).zip(&cores) {
        for (group, mask) in groups {
            for bit in (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1) {
                let socket = holder(SOCKET, *group, bit).map_or(0, |(rank, _)| rank);
                found.push(Processor {
                    cpu: number(*group, bit),
                    core,
                    socket: u32::try_from(socket).unwrap_or(0),
                    node: holder(NODE, *group, bit).map_or(0, |(_, (number, _))| number),
                    capacity: 0,
                });
            }
        }
    }
    found.sort_by_key(|processor| processor.cpu);
    found
}

/// A record: its kind, its number (of a node) and the processors of each group.
type Record = (u32, u32, Vec<(u16, u64)>);

fn of_kind(records: &[Record], kind: u32) -> impl Iterator<Item = (u32, Vec<(u16, u64)>)> {
    records.iter().filter(move |r| r.0 == kind).map(|r| (r.1, r.2.clone()))
}

fn records(mut bytes: &[u8]) -> Vec<Record> {
    let mut found = Vec::new();
    while let (Some(kind), Some(size)) = (int(bytes, 0), int(bytes, 4)) {
        let size = size as usize;
        let Some(record) = bytes.get(..size).filter(|_| size >= 8) else { break };
        bytes = &bytes[size..];
        if !matches!(kind, CORE | NODE | SOCKET) {
            continue;
        }
        // Nodes had one group, and a zero for their number, before Windows 11.
        let groups = short(record, 30).unwrap_or(0).max(1);
        let group = |index: usize| {
            let at = 32 + 16 * index;
            Some((short(record, at + 8)?, long(record, at)?))
        };
        let number = if kind == NODE { int(record, 8).unwrap_or(0) } else { 0 };
        found.push((kind, number, (0..groups.into()).map_while(group).collect()));
    }
    found
}

/// A part of a disk that a volume is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) disk: u32,
    pub(crate) start_bytes: u64,
    pub(crate) bytes: u64,
}

/// The parts that a volume is on, from the answer to `IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS`.
pub(crate) fn extents(answer: &[u8]) -> Vec<Extent> {
    let count = int(answer, 0).unwrap_or(0);
    let extent = |index: u32| {
        let at = 8 + 24 * index as usize;
        Some(Extent {
            disk: int(answer, at)?,
            start_bytes: long(answer, at + 8)?,
            bytes: long(answer, at + 16)?,
        })
    };
    (0..count).map_while(extent).collect()
}

/// Bytes of `DRIVE_LAYOUT_INFORMATION_EX` before its partitions.
pub(crate) const LAYOUT_BYTES: usize = 48;
/// Bytes of `PARTITION_INFORMATION_EX`.
pub(crate) const PARTITION_BYTES: usize = 144;

/// The partitions of a disk, from the answer to `IOCTL_DISK_GET_DRIVE_LAYOUT_EX`, in the order of
/// the disk. Entries that are not used, and those that only hold others, are left out.
pub(crate) fn partitions(answer: &[u8]) -> Vec<Partition> {
    const MBR: u32 = 0;
    const UNUSED_OR_EXTENDED: [u8; 3] = [0, 5, 15];
    let count = int(answer, 4).unwrap_or(0) as usize;
    let entries = answer.get(LAYOUT_BYTES..).unwrap_or_default().as_chunks::<PARTITION_BYTES>().0;
    let partition = |entry: &[u8; PARTITION_BYTES]| {
        let holds_none = int(entry, 0)? == MBR && UNUSED_OR_EXTENDED.contains(&entry[32]);
        let (start_bytes, size_bytes) = (long(entry, 8)?, long(entry, 16)?);
        let number = int(entry, 24)?;
        let name = format!("Partition {number}");
        let found = Partition { name, number: Some(number), start_bytes, size_bytes };
        (!holds_none && size_bytes > 0).then_some(found)
    };
    let mut found: Vec<Partition> = entries.iter().take(count).filter_map(partition).collect();
    found.sort_by_key(|partition| partition.start_bytes);
    found
}

/// The answers of a disk to `IOCTL_STORAGE_QUERY_PROPERTY` and for its geometry; empty where it
/// gave none.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Property 0: the device.
    pub(crate) device: Vec<u8>,
    /// Property 1: the adapter.
    pub(crate) adapter: Vec<u8>,
    /// Property 4: the write cache.
    pub(crate) write_cache: Vec<u8>,
    /// Property 6: the sizes of sectors and their alignment.
    pub(crate) alignment: Vec<u8>,
    /// Property 7: whether seeks cost time.
    pub(crate) seek_penalty: Vec<u8>,
    /// Property 48: the largest queue of the device.
    pub(crate) io_capability: Vec<u8>,
    /// The answer about its geometry, a `DISK_GEOMETRY_EX`.
    pub(crate) geometry: Vec<u8>,
    /// Whether it cannot be written to.
    pub(crate) read_only: Option<bool>,
}

/// What these answers say of a disk.
pub(crate) fn disk(name: String, answers: &Answers) -> Device {
    let text = |at| text(&answers.device, int(&answers.device, at)?);
    let positive = |value: Option<u32>| value.filter(|v| *v > 0).map(u64::from);
    let alignment = |at| positive(int(&answers.alignment, at));
    let cache = |at| int(&answers.write_cache, at);
    let has_cache = cache(12) == Some(2);
    // Somebody told Windows that a battery protects the cache, so it does not flush it.
    let is_left = has_cache && answers.write_cache.get(25).is_some_and(|told| *told != 0);
    Device {
        name,
        size_bytes: long(&answers.geometry, 24).unwrap_or(0),
        vendor: text(12),
        model: text(16),
        firmware: text(20),
        serial: text(24),
        transport: int(&answers.device, 28).and_then(bus).map(str::to_owned),
        rotational: answers.seek_penalty.get(8).map(|penalty| *penalty != 0),
        logical_block_bytes: alignment(16).or_else(|| positive(int(&answers.geometry, 20))),
        physical_block_bytes: alignment(20),
        max_io_bytes: positive(int(&answers.adapter, 8)),
        queue_depth: positive(int(&answers.io_capability, 8)),
        adapter_queue_depth: positive(int(&answers.io_capability, 12)),
        write_cache: match cache(12) {
            Some(1) => Some("write through".to_owned()),
            Some(2) if is_left => Some("write through".to_owned()),
            Some(2) => Some("write back".to_owned()),
            _ => None,
        },
        cache_type: is_left.then(|| "write back".to_owned()),
        read_only: answers.read_only,
        fua: match cache(20) {
            Some(1) => Some(false),
            Some(2) => Some(true),
            _ => None,
        },
        ..Device::default()
    }
}

/// The question for the health log of an NVMe disk: `STORAGE_PROPERTY_QUERY` with a
/// `STORAGE_PROTOCOL_SPECIFIC_DATA`.
pub(crate) fn health_query() -> Vec<u8> {
    const PROPERTY: u32 = 50;
    const STANDARD_QUERY: u32 = 0;
    const HEALTH_LOG: u32 = 2;
    let length = u32::try_from(LOG_BYTES).unwrap_or(0);
    let log = [NVME, LOG_PAGE, HEALTH_LOG, 0, PROTOCOL_BYTES, length, 0, 0, 0, 0];
    [PROPERTY, STANDARD_QUERY].iter().chain(&log).flat_map(|n| n.to_le_bytes()).collect()
}

/// `ProtocolTypeNvme`, and `NVMeDataTypeLogPage`.
const NVME: u32 = 3;
const LOG_PAGE: u32 = 2;
/// The bytes of `STORAGE_PROTOCOL_SPECIFIC_DATA`, which follows two numbers in question and answer.
const PROTOCOL_BYTES: u32 = 40;

/// The health log in an answer (`STORAGE_PROTOCOL_DATA_DESCRIPTOR`).
pub(crate) fn health(answer: &[u8]) -> Option<Health> {
    let is_log = int(answer, 8)? == NVME && int(answer, 12)? == LOG_PAGE;
    let (offset, length) = (int(answer, 24)?, int(answer, 28)? as usize);
    let fits = is_log && offset >= PROTOCOL_BYTES && length >= LOG_BYTES;
    let log = answer.get((offset as usize).checked_add(8)?..).filter(|_| fits)?;
    let log: &[u8; LOG_BYTES] = log.first_chunk()?;
    // A driver that gives only zeros did not ask the disk: none is 0 K warm.
    log.iter().any(|byte| *byte != 0).then(|| of_log(log))
}

/// Whether a disk predicts that it fails (`STORAGE_PREDICT_FAILURE`).
pub(crate) fn prediction(answer: &[u8]) -> Option<Health> {
    let fails = int(answer, 0)? != 0;
    let words = fails.then(|| "it predicts that it will fail".to_owned());
    Some(Health {
        source: "IOCTL_STORAGE_PREDICT_FAILURE".to_owned(),
        critical: words.into_iter().collect(),
        ..Health::default()
    })
}

/// The number of the adapter that a disk is attached to (`SCSI_ADDRESS`).
pub(crate) fn adapter_number(answer: &[u8]) -> Option<u8> {
    answer.get(4).copied().filter(|_| answer.len() >= 8)
}

/// How ReFS checks what is in a file, if it does (`FSCTL_GET_INTEGRITY_INFORMATION_BUFFER`).
pub(crate) fn integrity(answer: &[u8]) -> Option<String> {
    match short(answer, 0)? {
        0 => None,
        1 => Some("crc32".to_owned()),
        2 => Some("crc64".to_owned()),
        other => Some(format!("algorithm {other}")),
    }
}

/// A text of a device, which begins there and ends in 0.
fn text(answer: &[u8], at: u32) -> Option<String> {
    let bytes = answer.get(at as usize..).filter(|_| at > 0)?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let text = String::from_utf8_lossy(&bytes[..end]).trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

/// How a disk is attached (`STORAGE_BUS_TYPE`).
fn bus(number: u32) -> Option<&'static str> {
    Some(match number {
        1 => "scsi",
        3 => "ata",
        6 => "fc",
        7 => "usb",
        8 => "raid",
        9 => "iscsi",
        10 => "sas",
        11 => "sata",
        12 | 13 => "mmc",
        14 => "virtual",
        15 => "vhd",
        16 => "storage-spaces",
        17 => "nvme",
        18 => "pmem",
        19 => "ufs",
        20 => "nvme-of",
        _ => return None,
    })
}

/// The name of the system. Windows 11 calls itself Windows 10 in its registry.
pub(crate) fn system(product: Option<&str>, release: Option<&str>, build: u32) -> String {
    const ELEVEN: u32 = 22_000;
    let product = product.unwrap_or("Windows");
    let product = match product.strip_prefix("Windows 10") {
        Some(edition) if build >= ELEVEN => format!("Windows 11{edition}"),
        _ => product.to_owned(),
    };
    release.map_or(product.clone(), |release| format!("{product} {release}"))
}

/// The power plan of this identifier; another is named by it.
pub(crate) fn power_plan(guid: &str) -> String {
    match guid.to_ascii_lowercase().as_str() {
        "381b4222-f694-41f0-9685-ff5bb260df2e" => "balanced".to_owned(),
        "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c" => "high performance".to_owned(),
        "a1841308-3541-4fab-bc81-f71556f20b4a" => "power saver".to_owned(),
        "e9a42b02-d5df-448d-aa00-03f14749eb61" => "ultimate performance".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
#[path = "structures_tests.rs"]
mod tests;
