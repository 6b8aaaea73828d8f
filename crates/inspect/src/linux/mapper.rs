//! The tables of the device mapper, which only the administrator may read.
#![expect(
    unsafe_code,
    reason = "tables are asked for by an ioctl with a structure of variable length"
)]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

use super::tree::Tree;
use crate::{LayerKind, ThinSpace};

/// `_IOWR(0xfd, 12, struct dm_ioctl)`.
const DM_TABLE_STATUS: libc::c_ulong = 0xC138_FD0C;
/// The version of the interface since which nothing that is used here has changed.
const VERSION: [u32; 3] = [4, 0, 0];
/// The table instead of the state.
const STATUS_TABLE: u32 = 1 << 4;
const BUFFER_FULL: u32 = 1 << 8;
const HEAD_BYTES: usize = 312;
const SPEC_BYTES: usize = 40;
const BUFFER_WORDS: usize = 8192;
/// Kinds whose parameters hold devices and numbers only. Those of encryption hold keys.
const OPEN: [&str; 10] = [
    "linear",
    "striped",
    "thin",
    "thin-pool",
    "cache",
    "writecache",
    "multipath",
    "mirror",
    "raid",
    "snapshot",
];

/// One line of a table: a range, and what is done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: String,
    pub(super) sectors: u64,
    /// Empty where it may hold secrets.
    pub(super) parameters: String,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} sectors", self.kind, self.sectors)?;
        if self.parameters.is_empty() { Ok(()) } else { write!(f, ": {}", self.parameters) }
    }
}

/// What the device mapper is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// How the device was set up.
    Table,
    /// Its state now.
    State,
}

/// The lines about the mapped device with this number; `None` if they must not be read.
pub(super) fn ask(tree: &Tree, device: &str, question: Question) -> Option<Vec<Line>> {
    let (major, minor) = device.split_once(':')?;
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    let flags = if question == Question::Table { STATUS_TABLE } else { 0 };
    let path = tree.at("dev/mapper/control");
    // A file that is not a device might be a pipe, and opening that would wait.
    let is_device = std::fs::metadata(&path).ok()?.file_type().is_char_device();
    let control = is_device.then(|| File::open(&path).ok()).flatten()?;
    let mut words = vec![0_u64; BUFFER_WORDS];
    let bytes = u32::try_from(BUFFER_WORDS * 8).ok()?;
    let head = u32::try_from(HEAD_BYTES).ok()?;
    let pair = |low: u32, high: u32| u64::from_ne_bytes(two(low, high));
    // version, data_size, data_start, target_count, open_count, flags, event_nr, padding, dev.
    let fields = [
        pair(VERSION[0], VERSION[1]),
        pair(VERSION[2], bytes),
        pair(head, 0),
        pair(0, flags),
        0,
        number(major, minor),
    ];
    words.get_mut(..fields.len())?.copy_from_slice(&fields);
    // SAFETY: the buffer begins with the kernel's structure, says how long it is, is aligned to
    // eight bytes, and lives until the call returns; the kernel writes no more than that length.
    let result =
        unsafe { libc::ioctl(control.as_raw_fd(), DM_TABLE_STATUS as _, words.as_mut_ptr()) };
    let answer: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    (result == 0).then(|| lines(&answer)).flatten()
}

fn two(low: u32, high: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&low.to_ne_bytes());
    bytes[4..].copy_from_slice(&high.to_ne_bytes());
    bytes
}

/// A device's number as the kernel packs it for programs.
fn number(major: u32, minor: u32) -> u64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The lines in an answer of the kernel.
fn lines(answer: &[u8]) -> Option<Vec<Line>> {
    let (start, count, flags) = (word(answer, 16)?, word(answer, 20)?, word(answer, 28)?);
    if flags & BUFFER_FULL != 0 {
        return None;
    }
    let data = answer.get(usize::try_from(start).ok()?..)?;
    let mut lines = Vec::new();
    let mut at = 0_usize;
    for _ in 0..count.min(4096) {
        let spec = data.get(at..at.checked_add(SPEC_BYTES)?)?;
        let sectors = u64::from_ne_bytes(spec.get(8..16)?.try_into().ok()?);
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).trim().to_owned()
        };
        let kind = text(spec.get(24..40)?);
        let parameters = if OPEN.contains(&kind.as_str()) {
            text(data.get(at + SPEC_BYTES..)?)
        } else {
            String::new()
        };
        lines.push(Line { kind, sectors, parameters });
        // From the beginning of the data, and always further on.
        let next = usize::try_from(word(spec, 20)?).ok()?;
        if next <= at {
            break;
        }
        at = next;
    }
    Some(lines)
}

/// The space of a thin volume in this state, on a pool with this table and in this state.
pub(super) fn thin_space(volume: &Line, pool: &Line, state: &Line) -> Option<ThinSpace> {
    let number = |word: Option<&str>| word?.parse::<u64>().ok();
    // `thin`: sectors that it has taken, and the last of them.
    let taken = number(volume.parameters.split_whitespace().next())?;
    // `thin-pool` is set up with two devices and the sectors of a block.
    let block = number(pool.parameters.split_whitespace().nth(2))?;
    // Its transaction, blocks of metadata, then blocks of data: `1 123/1024 25600/25600 …`.
    let (used, all) = state.parameters.split_whitespace().nth(2)?.split_once('/')?;
    let free = number(Some(all))?.saturating_sub(number(Some(used))?);
    let is_thin = volume.kind == "thin" && pool.kind == "thin-pool" && state.kind == "thin-pool";
    is_thin.then(|| ThinSpace {
        promised_bytes: volume.sectors.saturating_sub(taken).saturating_mul(512),
        free_bytes: free.saturating_mul(block).saturating_mul(512),
    })
}

/// What a volume with this table does; `None` if its lines differ, or are of a kind that is not
/// known.
pub(super) fn kind(table: &[Line]) -> Option<LayerKind> {
    let first = table.first()?;
    let alike = table.iter().all(|line| line.kind == first.kind);
    let kind = match first.kind.as_str() {
        "linear" => LayerKind::Linear,
        "striped" => LayerKind::Striped,
        "thin" => LayerKind::Thin,
        "thin-pool" => LayerKind::ThinPool,
        "cache" | "writecache" => LayerKind::Cache,
        "snapshot" | "snapshot-origin" => LayerKind::Snapshot,
        "mirror" => LayerKind::Mirror,
        "raid" => LayerKind::Raid,
        "crypt" => LayerKind::Crypt,
        "multipath" => LayerKind::Multipath,
        "vdo" => LayerKind::Vdo,
        _ => return None,
    };
    alike.then_some(kind)
}

/// How paths are chosen: the path selector of the first group of a multipath table.
pub(super) fn policy(table: &[Line]) -> Option<String> {
    let line = table.iter().find(|line| line.kind == "multipath")?;
    let mut words = line.parameters.split_whitespace();
    // Features and the arguments of a hardware handler, each counted; then the groups and the first
    // to use.
    for _ in 0..2 {
        let count: usize = words.next()?.parse().ok()?;
        for _ in 0..count {
            words.next()?;
        }
    }
    words.nth(2).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An answer with these kinds and parameters.
    fn answer(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_BYTES];
        bytes[16..20].copy_from_slice(&u32::try_from(HEAD_BYTES).unwrap().to_ne_bytes());
        bytes[20..24].copy_from_slice(&u32::try_from(parts.len()).unwrap().to_ne_bytes());
        let mut data = Vec::new();
        for (kind, parameters) in parts {
            let begin = data.len();
            data.extend([0_u64.to_ne_bytes(), 2048_u64.to_ne_bytes(), [0; 8]].concat());
            let mut name = [0; 16];
            name[..kind.len()].copy_from_slice(kind.as_bytes());
            data.extend(name);
            data.extend(parameters.as_bytes());
            data.push(0);
            data.resize(data.len().next_multiple_of(8), 0);
            let next = u32::try_from(data.len()).unwrap();
            data[begin + 20..begin + 24].copy_from_slice(&next.to_ne_bytes());
        }
        bytes.extend(data);
        bytes
    }

    #[test]
    fn tables_are_read_line_by_line_and_keys_are_not() {
        let parts = [("linear", "8:16 2048"), ("crypt", "aes-xts-plain64 00ff 0 8:16 4096")];
        let found = lines(&answer(&parts)).unwrap();
        let line = |kind: &str, parameters: &str| Line {
            kind: kind.into(),
            sectors: 2048,
            parameters: parameters.into(),
        };
        assert_eq!(found, [line("linear", "8:16 2048"), line("crypt", "")]);
        assert_eq!(found[0].to_string(), "linear, 2048 sectors: 8:16 2048");
        assert_eq!(found[1].to_string(), "crypt, 2048 sectors");
        assert_eq!(kind(&found), None);
        assert_eq!(kind(&found[1..]), Some(LayerKind::Crypt));
    }

    #[test]
    fn the_way_of_choosing_paths() {
        let of = |parameters: &str| policy(&lines(&answer(&[("multipath", parameters)])).unwrap());
        let table = "1 queue_if_no_path 0 2 1 service-time 0 2 2 8:16 1 1 8:32 1 1 round-robin 0 \
                     1 2 8:48 1 1";
        assert_eq!(of(table).as_deref(), Some("service-time"));
        assert_eq!(of("0 1 alua 1 1 queue-length 0 1 1 8:16 1").as_deref(), Some("queue-length"));
        for nonsense in ["", "x", "9 a", "18446744073709551615 a b"] {
            assert_eq!(of(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn numbers_are_packed_as_the_kernel_does() {
        assert_eq!(number(253, 7), 0xfd07);
        assert_eq!(number(253, 0x123), 0x0010_fd23);
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..800),
            start in 0_u32..800, count in any::<u32>()) {
            let mut bytes = bytes;
            if bytes.len() > 32 {
                bytes[16..20].copy_from_slice(&start.to_ne_bytes());
                bytes[20..24].copy_from_slice(&count.to_ne_bytes());
                bytes[28..32].copy_from_slice(&[0; 4]);
            }
            if let Some(found) = lines(&bytes) {
                kind(&found);
                policy(&found);
            }
        }
    }
}
