//! From the place of an I/O to its file.

use std::collections::BTreeMap;

use super::{FileClass, FileExtent, FileMap};
use crate::io::{Io, Kind};

/// Whose place an I/O begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePlace {
    /// The number of the file: its place in [`FileMap::files`].
    File(u32),
    /// A file at the start of the recording, and another one at its end.
    Reused {
        /// The number of the file at the start.
        before: u32,
        /// The number of the file at the end.
        after: u32,
    },
    /// None of the files: others, or what the file system keeps for itself.
    Outside,
}

/// Finds the file in which an I/O begins.
#[derive(Debug, Clone, Default)]
pub struct FileFinder {
    classes: Vec<FileClass>,
    at_start: Pieces,
    at_end: Pieces,
}

/// The end of each extent and its file, by device and begin.
type Pieces = BTreeMap<(u32, u64), (u64, u32)>;

fn pieces(extents: &[FileExtent], files: usize) -> Pieces {
    let known = extents.iter().filter(|extent| (extent.file as usize) < files);
    let piece = |extent: &FileExtent| {
        let end = extent.offset_bytes.saturating_add(extent.length_bytes);
        ((extent.device, extent.offset_bytes), (end, extent.file))
    };
    known.map(piece).collect()
}

fn find(pieces: &Pieces, io: &Io) -> Option<u32> {
    let here = (io.device, 0)..=(io.device, io.offset_bytes);
    let (_, (end, file)) = pieces.range(here).next_back()?;
    (io.offset_bytes < *end).then_some(*file)
}

impl FileFinder {
    /// A finder of the files of a trace.
    #[must_use]
    pub fn new(map: &FileMap) -> Self {
        Self {
            classes: map.files.iter().map(|file| file.class).collect(),
            at_start: pieces(&map.at_start, map.files.len()),
            at_end: pieces(&map.at_end, map.files.len()),
        }
    }

    /// Whether the trace lists no files. Then no I/O is in a file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The file in which an I/O begins; `None` of a flush, which has no place.
    #[must_use]
    pub fn place(&self, io: &Io) -> Option<FilePlace> {
        if io.kind == Kind::Flush {
            return None;
        }
        Some(match (find(&self.at_start, io), find(&self.at_end, io)) {
            (None, None) => FilePlace::Outside,
            (Some(before), Some(after)) if before != after => FilePlace::Reused { before, after },
            (Some(file), _) | (None, Some(file)) => FilePlace::File(file),
        })
    }

    /// What the file at a place is for. `None` outside of files, and where two files had the place
    /// that are not for the same.
    #[must_use]
    pub fn class(&self, place: FilePlace) -> Option<FileClass> {
        let of = |file: u32| self.classes.get(file as usize).copied();
        match place {
            FilePlace::File(file) => of(file),
            FilePlace::Reused { before, after } => of(before).filter(|c| of(after) == Some(*c)),
            FilePlace::Outside => None,
        }
    }

    /// The I/O with the class of its file as its stream, by which [`LogFinder`](crate::LogFinder)
    /// knows the writes of logs; the same I/O where the class is not known.
    #[must_use]
    pub fn marked(&self, io: Io) -> Io {
        if self.is_empty() {
            return io;
        }
        let class = self.place(&io).and_then(|place| self.class(place));
        Io { stream: class.map_or(io.stream, FileClass::stream), ..io }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::TracedFile;

    fn read(device: u32, offset_bytes: u64) -> Io {
        let (issued_ns, latency_ns, stream, length_bytes) = (0, None, 0, 4096);
        Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind: Kind::Read }
    }

    fn extent(file: u32, offset_bytes: u64, length_bytes: u64) -> FileExtent {
        FileExtent { device: 1, file, offset_bytes, length_bytes }
    }

    #[test]
    fn a_place_belongs_to_a_file_if_both_maps_agree_or_one_is_silent() {
        let file = |class| TracedFile { class, name: None };
        let map = FileMap {
            files: [FileClass::Log, FileClass::Data, FileClass::Data].map(file).to_vec(),
            at_start: vec![extent(0, 0, 8192), extent(1, 8192, 8192), extent(1, 65536, u64::MAX)],
            at_end: vec![extent(0, 0, 8192), extent(2, 8192, 4096), extent(0, 12288, 4096)],
        };
        let finder = FileFinder::new(&map);
        let found = |at| {
            let place = finder.place(&read(1, at)).unwrap();
            (place, finder.class(place))
        };
        let reused = |after| FilePlace::Reused { before: 1, after };
        assert_eq!(found(4096), (FilePlace::File(0), Some(FileClass::Log)));
        assert_eq!(found(8192), (reused(2), Some(FileClass::Data)));
        assert_eq!(found(12288), (reused(0), None));
        assert_eq!(found(16384), (FilePlace::Outside, None));
        assert_eq!(found(u64::MAX - 1), (FilePlace::File(1), Some(FileClass::Data)));
        assert_eq!(finder.place(&read(0, 0)), Some(FilePlace::Outside), "another device");
        assert_eq!(finder.place(&Io { kind: Kind::Flush, ..read(1, 0) }), None);
        assert_eq!(finder.marked(read(1, 0)).stream, FileClass::Log.stream());
        assert_eq!(finder.marked(read(1, 12288)).stream, 0);
    }
}
