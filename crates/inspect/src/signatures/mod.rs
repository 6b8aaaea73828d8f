//! Recognises the content of a file or device by its bytes: members of RAID, LVM and the like, file
//! systems, partition tables, disk images, databases. The kernel knows only disks that this host
//! uses; a disk of another host is recognised here.

use std::io;

use crate::databases;
use crate::medium::{Medium, Span};

mod details;
mod file_systems;
mod members;
mod partitions;

pub(crate) use details::{Details, plain};

/// What is behind a partition table is looked at this deep: a partition may hold a table again.
const DEPTH_MAX: u32 = 2;
/// More signatures than this are not listed.
const SIGNATURES_MAX: usize = 64;

/// Kind of a signature, which decides whether it may be overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignatureKind {
    /// Files, pages or logs of a database.
    Database,
    /// A part of something that other disks or hosts belong to: RAID, LVM, swap, encryption, a
    /// cluster.
    Member,
    /// A partition table.
    Table,
    /// A file system.
    FileSystem,
    /// A disk of a virtual machine, in a format of its own.
    Image,
}

/// One signature on a medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its kind.
    pub kind: SignatureKind,
    /// What it is, in words: `LVM physical volume`.
    pub what: String,
    /// What it is, in one word: `ext4`, `gpt`.
    pub word: &'static str,
    /// Where it lies on the medium.
    pub offset_bytes: u64,
    /// The name that its user gave it.
    pub label: Option<String>,
    /// Its identity, as tools print it.
    pub uuid: Option<String>,
    /// The size that it says it has.
    pub size_bytes: Option<u64>,
    /// The number of the partition that it is in.
    pub partition: Option<u32>,
    /// Whether `wipefs` knows it, and so can remove it.
    pub is_known_to_wipefs: bool,
}

/// Where a magic lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At {
    /// So many bytes from the beginning.
    Start(u64),
    /// So many bytes before the end, which is first rounded down to a multiple of the second.
    End(u64, u64),
}

impl At {
    fn offset(self, size: u64) -> Option<u64> {
        match self {
            Self::Start(offset) => Some(offset),
            Self::End(before, align) => (size / align * align).checked_sub(before),
        }
    }
}

/// Checks the bytes after a magic at this offset, and reads details from them; `None` if they are
/// not plausible.
pub(crate) type Check = fn(&Span<'_>, u64) -> io::Result<Option<Details>>;

/// Bytes by which a content is recognised.
pub(crate) struct Magic {
    pub(crate) what: &'static str,
    pub(crate) word: &'static str,
    pub(crate) at: &'static [At],
    pub(crate) bytes: &'static [u8],
    pub(crate) check: Check,
    pub(crate) is_known_to_wipefs: bool,
}

impl Magic {
    pub(crate) const fn new(
        what: &'static str,
        word: &'static str,
        at: &'static [At],
        bytes: &'static [u8],
        check: Check,
    ) -> Self {
        Self { what, word, at, bytes, check, is_known_to_wipefs: true }
    }

    /// The same, unknown to `wipefs`.
    pub(crate) const fn unknown_to_wipefs(self) -> Self {
        Self { is_known_to_wipefs: false, ..self }
    }

    /// The same with another check of what follows.
    pub(crate) const fn with(self, check: Check) -> Self {
        Self { check, ..self }
    }

    fn find(&self, span: &Span<'_>, kind: SignatureKind) -> io::Result<Option<Signature>> {
        for offset in self.at.iter().filter_map(|at| at.offset(span.size())) {
            let is_there = span.bytes(offset, self.bytes.len())?.is_some_and(|b| b == self.bytes);
            if let Some(details) =
                is_there.then(|| (self.check)(span, offset)).transpose()?.flatten()
            {
                let found = details.signature(span, offset, kind, self.what, self.word);
                let is_known_to_wipefs = self.is_known_to_wipefs;
                return Ok(Some(Signature { is_known_to_wipefs, ..found }));
            }
        }
        Ok(None)
    }
}

/// The signatures of a table that are in a part of a medium.
pub(crate) fn find_all(
    table: &[Magic],
    span: &Span<'_>,
    kind: SignatureKind,
) -> io::Result<Vec<Signature>> {
    let mut found = Vec::new();
    for magic in table {
        found.extend(magic.find(span, kind)?);
    }
    Ok(found)
}

/// All signatures on a medium, the most serious first: databases, members of something larger,
/// partition tables with the content of their partitions, file systems.
///
/// # Errors
/// The medium cannot be read where a signature would be.
pub fn signatures(medium: &Medium<'_>) -> io::Result<Vec<Signature>> {
    let mut found = in_span(&medium.whole(), 0)?;
    found.sort_by_key(|s| (s.kind.min(SignatureKind::Table), s.partition.is_some(), s.kind));
    found.truncate(SIGNATURES_MAX);
    Ok(found)
}

fn in_span(span: &Span<'_>, depth: u32) -> io::Result<Vec<Signature>> {
    let mut found = databases::find(span)?;
    found.extend(members::find(span)?);
    let systems = find_all(file_systems::FILE_SYSTEMS, span, SignatureKind::FileSystem)?;
    let boots = systems.iter().any(|s| s.offset_bytes < span.start() + 512);
    found.extend(systems.into_iter().map(file_systems::or_member));
    found.extend(find_all(file_systems::IMAGES, span, SignatureKind::Image)?);
    // The first sector of a file system for Windows looks like a partition table, and so may that
    // of an encrypted one.
    let is_member = found.iter().any(|s| s.kind <= SignatureKind::Member);
    if let Some((table, parts)) = partitions::table(span)?
        && !(table.word == "mbr" && (boots || is_member))
    {
        found.push(table);
        for part in parts {
            found.extend(part.member(span));
            let Some(inner) = span.part(part.start_bytes, part.size_bytes) else { continue };
            if depth < DEPTH_MAX && found.len() < SIGNATURES_MAX {
                let inner = in_span(&inner, depth + 1)?;
                // The end of the last partition is that of the disk.
                found.retain(|s| {
                    let is_it =
                        |i: &Signature| (i.offset_bytes, &i.what) == (s.offset_bytes, &s.what);
                    s.partition.is_some() || !inner.iter().any(is_it)
                });
                found.extend(
                    inner.into_iter().map(|s| Signature { partition: Some(part.number), ..s }),
                );
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
