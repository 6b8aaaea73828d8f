//! Partition tables, and where their partitions are: GPT (UEFI 2.10, chapter 5), MBR with logical
//! partitions; those of Sun, Apple and BSD by their signature only.

use std::io;

use super::details::{Details, guid};
use super::{Signature, SignatureKind};
use crate::medium::Span;

/// Partitions of one table that are looked at.
const PARTS_MAX: u32 = 256;
/// Sectors are of one of these sizes.
const SECTORS: [u64; 2] = [512, 4096];

/// A partition of a table.
pub(super) struct Part {
    pub(super) number: u32,
    pub(super) start_bytes: u64,
    pub(super) size_bytes: u64,
    /// What the table says that it is, if that alone forbids to write to it.
    member: Option<&'static str>,
}

impl Part {
    /// The member of something larger that the table says the partition is.
    pub(super) fn member(&self, span: &Span<'_>) -> Option<Signature> {
        let details = Details { size_bytes: Some(self.size_bytes), ..Details::default() };
        let kind = SignatureKind::Member;
        let found = details.signature(span, self.start_bytes, kind, self.member?, "member");
        let partition = Some(self.number);
        Some(Signature { partition, is_known_to_wipefs: false, ..found })
    }
}

/// Types of GPT partitions of which some other machine takes care, whatever is in them: Windows'
/// dynamic disks and Storage Spaces, VMFS, vSAN, GPFS.
const MEMBER_TYPES: [(&str, &str); 7] = [
    ("5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", "Windows dynamic disk (LDM)"),
    ("af9b60a0-1431-4f62-bc68-3311714a69ad", "Windows dynamic disk (LDM)"),
    ("e75caf8f-f680-4cee-afa3-b001e56efc2d", "Storage Spaces disk"),
    ("aa31e02a-400f-11db-9590-000c2911d1b8", "VMFS volume"),
    ("9d275380-40ad-11db-bf97-000c2911d1b8", "VMware core dump partition"),
    ("381cfccc-7288-11e0-92ee-000c2911d0b2", "vSAN disk"),
    ("37affc90-ef7d-4e96-91c3-2d7ae055b174", "GPFS disk"),
];

/// The partition table at the beginning of a part of a medium, with its partitions.
pub(super) fn table(span: &Span<'_>) -> io::Result<Option<(Signature, Vec<Part>)>> {
    if let Some(found) = gpt(span)? {
        return Ok(Some(found));
    }
    if let Some(found) = mbr(span)? {
        return Ok(Some(found));
    }
    let other = other(span)?.map(|(what, word, at)| {
        let found = Details::default().signature(span, at, SignatureKind::Table, what, word);
        (found, Vec::new())
    });
    Ok(other)
}

fn gpt(span: &Span<'_>) -> io::Result<Option<(Signature, Vec<Part>)>> {
    for sector in SECTORS {
        let last = (span.size() / sector).saturating_sub(1) * sector;
        for at in [sector, last] {
            if span.array(at)? != Some(*b"EFI PART") {
                continue;
            }
            let parts = gpt_parts(span, at, sector)?;
            let uuid = guid(&span.padded(at + 56, 16)?);
            let details = Details { uuid, ..Details::default() };
            let what = format!("GPT partition table with {}", partitions(parts.len()));
            return Ok(Some((
                details.signature(span, at, SignatureKind::Table, &what, "gpt"),
                parts,
            )));
        }
    }
    Ok(None)
}

fn partitions(count: usize) -> String {
    if count == 1 { "1 partition".to_owned() } else { format!("{count} partitions") }
}

fn gpt_parts(span: &Span<'_>, header: u64, sector: u64) -> io::Result<Vec<Part>> {
    let entries = span.le64(header + 72)?.saturating_mul(sector);
    let (count, bytes) = (span.le32(header + 80)?, span.le32(header + 84)?);
    let mut parts = Vec::new();
    if !(128..=4096).contains(&bytes) {
        return Ok(parts);
    }
    for index in 0..count.min(PARTS_MAX) {
        let at = entries.saturating_add(u64::from(index) * u64::from(bytes));
        let Some(entry) = span.array::<48>(at)? else { break };
        let number =
            |at: usize| entry[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (first, last) = (number(32), number(40));
        let Some(kind) = guid(&entry).filter(|_| first > 0 && last >= first) else { continue };
        parts.push(Part {
            number: index + 1,
            start_bytes: first.saturating_mul(sector),
            size_bytes: (last - first).saturating_add(1).saturating_mul(sector),
            member: MEMBER_TYPES.iter().find(|(guid, _)| *guid == kind).map(|(_, what)| *what),
        });
    }
    Ok(parts)
}

/// An entry of an MBR or of the first sector of an extended partition.
struct Entry {
    kind: u8,
    first: u64,
    sectors: u64,
}

impl Entry {
    fn is_extended(&self) -> bool {
        [0x05, 0x0f, 0x85].contains(&self.kind)
    }
}

/// The four entries of a sector; `None` if it is not a partition table.
fn entries(span: &Span<'_>, at: u64) -> io::Result<Option<Vec<Entry>>> {
    let Some(sector) = span.array::<512>(at)?.filter(|s| s[510..] == [0x55, 0xaa]) else {
        return Ok(None);
    };
    let (mut entries, mut is_table) = (Vec::new(), true);
    for entry in sector[446..510].as_chunks::<16>().0 {
        let number = |at: usize| {
            entry[at..].first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
        };
        is_table &= [0, 0x80].contains(&entry[0]);
        entries.push(Entry { kind: entry[4], first: number(8), sectors: number(12) });
    }
    Ok(is_table.then_some(entries))
}

fn mbr(span: &Span<'_>) -> io::Result<Option<(Signature, Vec<Part>)>> {
    let Some(entries) = entries(span, 0)? else { return Ok(None) };
    let used: Vec<&Entry> = entries.iter().filter(|e| e.kind != 0).collect();
    let is_plausible = |e: &&Entry| e.first > 0 && e.sectors > 0 && e.first * 512 < span.size();
    if used.is_empty() || !used.iter().all(is_plausible) {
        return Ok(None);
    }
    // A protective entry without its GPT is left of one.
    let word = if used.iter().any(|e| e.kind == 0xee) { "gpt" } else { "mbr" };
    let mut parts = Vec::new();
    for sector in SECTORS {
        primary_and_logical(span, &entries, sector, &mut parts)?;
    }
    let count = parts.iter().map(|p| p.number).collect::<std::collections::BTreeSet<_>>().len();
    let what = format!("MBR partition table with {}", partitions(count));
    let found = Details::default().signature(span, 0, SignatureKind::Table, &what, word);
    Ok(Some((found, parts)))
}

/// The partitions of an MBR, if its sectors are of this size.
fn primary_and_logical(
    span: &Span<'_>,
    primary: &[Entry],
    sector: u64,
    parts: &mut Vec<Part>,
) -> io::Result<()> {
    for (number, entry) in (1..).zip(primary) {
        if entry.is_extended() {
            logical(span, entry.first, sector, parts)?;
        } else if entry.kind != 0 {
            parts.push(part(number, entry.first, entry, sector));
        }
    }
    Ok(())
}

fn part(number: u32, first: u64, entry: &Entry, sector: u64) -> Part {
    let member = match entry.kind {
        0x42 => Some("Windows dynamic disk (LDM)"),
        0xfb => Some("VMFS volume"),
        _ => None,
    };
    let (start_bytes, size_bytes) = (first * sector, entry.sectors * sector);
    Part { number, start_bytes, size_bytes, member }
}

/// The chain of logical partitions: each first sector names one, and the next such sector.
fn logical(span: &Span<'_>, extended: u64, sector: u64, parts: &mut Vec<Part>) -> io::Result<()> {
    let mut at = extended;
    for number in 5..PARTS_MAX {
        let Some(entries) = entries(span, at.saturating_mul(sector))? else { break };
        for entry in entries.iter().filter(|e| e.kind != 0 && !e.is_extended() && e.sectors > 0) {
            parts.push(part(number, at + entry.first, entry, sector));
        }
        match entries.iter().find(|e| e.is_extended() && e.first > 0) {
            Some(next) => at = extended + next.first,
            None => break,
        }
    }
    Ok(())
}

/// Tables of other systems: what they are, their word, and where they were found.
fn other(span: &Span<'_>) -> io::Result<Option<(&'static str, &'static str, u64)>> {
    // Sun: the exclusive or of all words of the sector is zero.
    if span.be16(508)? == 0xdabe {
        let sector = span.padded(0, 512)?;
        let sum = sector.as_chunks().0.iter().fold(0, |sum, word| sum ^ u16::from_be_bytes(*word));
        if sum == 0 {
            return Ok(Some(("Sun disk label", "sun", 508)));
        }
    }
    // Apple: a driver descriptor, then the map.
    if span.array(512)? == Some(*b"PM\0\0") {
        return Ok(Some(("Apple partition map", "mac", 512)));
    }
    // BSD: the magic at the beginning of the label and in it.
    for at in [0, 64, 128, 512] {
        if span.le32(at)? == 0x8256_4557 && span.le32(at + 132)? == 0x8256_4557 {
            return Ok(Some(("BSD disk label", "bsd", at)));
        }
    }
    Ok(None)
}
