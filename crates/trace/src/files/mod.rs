//! Which file each part of a device belonged to, so that I/Os are told apart by their files.
//!
//! A file is a number and what it is for; it has a name only if whoever recorded the trace asked
//! for names. The map is that of the start of a recording and that of its end: a place that
//! belonged to another file at the end is one of neither, unless both files are for the same.

mod class;
mod map;

pub use class::FileClass;
pub use map::{FileFinder, FilePlace};

use serde::{Deserialize, Serialize};

use crate::columns::{get, put, unzigzag, zigzag};

/// The most files of a trace.
pub const FILES_MAX: usize = 1 << 16;
/// The most extents of a trace at its start, and at its end.
pub const EXTENTS_MAX: usize = 1 << 21;
/// The longest name that a trace holds; a longer one is left out.
pub const NAME_MAX: usize = 4096;

/// A file of which parts are on the devices of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedFile {
    /// Its use, as its path tells it.
    pub class: FileClass,
    /// Its path; absent unless names were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A part of a file that is in one piece on its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileExtent {
    /// The number of the device in the trace.
    pub device: u32,
    /// The number of the file: its place in [`FileMap::files`].
    pub file: u32,
    /// Where it begins on the device.
    pub offset_bytes: u64,
    /// How many bytes of the device it covers.
    pub length_bytes: u64,
}

/// When the recorder looked up where the files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before recording began.
    Start,
    /// After recording ended.
    End,
}

impl Moment {
    fn number(self) -> u8 {
        match self {
            Self::Start => 0,
            Self::End => 1,
        }
    }
}

/// The files of a trace and where they were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMap {
    /// The files, in the order of their numbers.
    pub files: Vec<TracedFile>,
    /// Where they were at the start of the recording.
    pub at_start: Vec<FileExtent>,
    /// Where they were at its end; empty in a trace that was cut off.
    pub at_end: Vec<FileExtent>,
}

impl FileMap {
    /// Whether nothing is known about files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds the files of a block; `None` if they are not files, or too many.
    pub(crate) fn add_files(&mut self, raw: &[u8], count: usize) -> Option<()> {
        let files: Vec<TracedFile> = serde_json::from_slice(raw).ok()?;
        let fits = files.len() == count && self.files.len() + count <= FILES_MAX;
        self.files.extend(fits.then_some(files)?);
        Some(())
    }

    /// Adds the extents of a block; `None` if they are not extents, or too many.
    pub(crate) fn add_extents(&mut self, raw: &[u8], count: usize) -> Option<()> {
        let (moment, columns) = raw.split_first()?;
        let into = match moment {
            0 => &mut self.at_start,
            1 => &mut self.at_end,
            _ => return None,
        };
        let extents = unpack(columns, count)?;
        (into.len() + count <= EXTENTS_MAX).then(|| into.extend(extents))
    }
}

/// The payload of a block of extents: the moment, and four columns.
pub(crate) fn pack(moment: Moment, extents: &[FileExtent]) -> (Vec<u8>, Vec<usize>) {
    let mut out = vec![moment.number()];
    let mut splits = Vec::new();
    for extent in extents {
        put(&mut out, u64::from(extent.device));
    }
    splits.push(out.len());
    for extent in extents {
        put(&mut out, u64::from(extent.file));
    }
    splits.push(out.len());
    let mut end = 0_u64;
    for extent in extents {
        put(&mut out, zigzag(extent.offset_bytes.wrapping_sub(end)));
        end = extent.offset_bytes.wrapping_add(extent.length_bytes);
    }
    splits.push(out.len());
    for extent in extents {
        put(&mut out, extent.length_bytes);
    }
    (out, splits)
}

fn unpack(mut raw: &[u8], count: usize) -> Option<Vec<FileExtent>> {
    let mut column = || (0..count).map(|_| get(&mut raw)).collect::<Option<Vec<u64>>>();
    let (devices, files, offsets, lengths) = (column()?, column()?, column()?, column()?);
    if !raw.is_empty() {
        return None;
    }
    let mut end = 0_u64;
    let mut extents = Vec::with_capacity(count);
    for i in 0..count {
        let (device, file) = (u32::try_from(devices[i]).ok()?, u32::try_from(files[i]).ok()?);
        let (offset_bytes, length_bytes) = (end.wrapping_add(unzigzag(offsets[i])), lengths[i]);
        end = offset_bytes.wrapping_add(length_bytes);
        extents.push(FileExtent { device, file, offset_bytes, length_bytes });
    }
    Some(extents)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_payload_is_refused_or_read(
            raw in vec(any::<u8>(), 0..60), small in vec(0_u8..4, 0..60), count in 0_usize..20,
        ) {
            for raw in [raw, small] {
                let mut map = FileMap::default();
                if map.add_extents(&raw, count).is_some() {
                    prop_assert_eq!(map.at_start.len() + map.at_end.len(), count);
                }
                prop_assert!(map.add_files(&raw, count).is_none() || count == map.files.len());
            }
        }
    }
}
