//! A load in one word each: the order of its offsets, and whether its writes are durable. Columns,
//! captions and filters of every output use these, so that they never disagree.

use crate::model::Workload;
use crate::order::{DiskspdAccess, DiskspdOrder};
use crate::stream::{Pattern, Stream};

/// The order of offsets in one word, whichever tool's order it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// At random places, however they are distributed.
    Random,
    /// One after the other, each thread from its own position.
    Sequential,
    /// One after the other, all threads sharing one position.
    SequentialShared,
    /// One after the other, with a fixed distance.
    Stride,
    /// Down the columns of a matrix of blocks, as SQLIO does.
    Matrix,
    /// Several of these: in one stream, or because streams differ.
    Mixed,
    /// Nobody knows: another tool's result does not tell its load.
    Unknown,
}

impl PatternKind {
    /// Every kind, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Random,
        Self::Sequential,
        Self::SequentialShared,
        Self::Stride,
        Self::Matrix,
        Self::Mixed,
        Self::Unknown,
    ];

    /// The word in columns, files and filters.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sequential => "sequential",
            Self::SequentialShared => "sequential-shared",
            Self::Stride => "stride",
            Self::Matrix => "matrix",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }

    /// What the word means, in a phrase.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Random => "Anywhere",
            Self::Sequential => "One after the other",
            Self::SequentialShared => "One after the other, all threads sharing one position",
            Self::Stride => "In steps",
            Self::Matrix => "In SQLIO's matrix of blocks",
            Self::Mixed => "Several of these at once",
            Self::Unknown => "Unknown: the tool that measured does not report it",
        }
    }

    /// The kind that a word names.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether every I/O follows another, of its own thread or of any.
    #[must_use]
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::Sequential | Self::SequentialShared)
    }
}

impl Stream {
    /// The order of the stream's offsets. A share of random I/Os within another order makes it
    /// mixed.
    #[must_use]
    pub fn pattern_kind(&self) -> PatternKind {
        if let Some(order) = &self.diskspd {
            return self.kind_of(order);
        }
        match (self.pattern, self.random_percent) {
            (Pattern::Random, _) | (_, 100..) => PatternKind::Random,
            (_, 1..) => PatternKind::Mixed,
            (Pattern::Sequential, 0) => PatternKind::Sequential,
            (Pattern::SequentialShared, 0) => PatternKind::SequentialShared,
            (Pattern::Stride { .. }, 0) => PatternKind::Stride,
            (Pattern::Matrix { .. }, 0) => PatternKind::Matrix,
        }
    }

    fn kind_of(&self, order: &DiskspdOrder) -> PatternKind {
        match order.access {
            DiskspdAccess::Random => PatternKind::Random,
            DiskspdAccess::Mixed { .. } => PatternKind::Mixed,
            // DiskSpd calls a larger or smaller step a sequential stride.
            _ if order.step_bytes.0 != self.largest_block() => PatternKind::Stride,
            DiskspdAccess::Interlocked => PatternKind::SequentialShared,
            DiskspdAccess::Sequential | DiskspdAccess::Parallel => PatternKind::Sequential,
        }
    }

    /// Whether most I/Os follow one another, so that the load is judged by bytes per second.
    #[must_use]
    pub fn is_mostly_sequential(&self) -> bool {
        match self.diskspd.as_ref().map(|order| order.access) {
            Some(DiskspdAccess::Random) => false,
            Some(DiskspdAccess::Mixed { random_percent }) => random_percent < 50,
            Some(_) => true,
            None => {
                let follows =
                    matches!(self.pattern, Pattern::Sequential | Pattern::SequentialShared);
                follows && self.random_percent < 50
            }
        }
    }
}

impl Workload {
    /// The order of offsets that all streams have in common; mixed where they differ, unknown
    /// without any.
    #[must_use]
    pub fn pattern_kind(&self) -> PatternKind {
        let mut kinds = self.streams.iter().map(Stream::pattern_kind);
        let first = kinds.next().unwrap_or(PatternKind::Unknown);
        if kinds.all(|kind| kind == first) { first } else { PatternKind::Mixed }
    }

    /// Whether every write is on stable media before it completes: there are writes, and each
    /// stream that writes is durable.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        let mut writing = self.streams.iter().filter(|s| s.writes()).peekable();
        writing.peek().is_some() && writing.all(|s| s.durable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Target;
    use crate::order::DiskspdSlices;
    use crate::units::Bytes;

    fn workload(streams: Vec<Stream>) -> Workload {
        let target = Target { path: "sim".into(), size_bytes: None };
        Workload { streams, ..Workload::single(target, Stream::default()) }
    }

    fn diskspd(access: DiskspdAccess, step: u64) -> Stream {
        let order = DiskspdOrder {
            access,
            step_bytes: Bytes(step),
            thread_stride_bytes: Bytes(0),
            slices: DiskspdSlices::default(),
        };
        Stream { diskspd: Some(order), ..Stream::default() }
    }

    /// `iosonde diskspd -b8K file` reads one block after the other; the report's CSV called that
    /// `random`, which is what `pattern` holds where DiskSpd's order replaces it.
    #[test]
    fn the_order_of_diskspd_decides_and_not_the_pattern_that_it_replaces() {
        let kind = |access, step| diskspd(access, step).pattern_kind();
        assert_eq!(kind(DiskspdAccess::Sequential, 8192), PatternKind::Sequential);
        assert_eq!(kind(DiskspdAccess::Parallel, 8192), PatternKind::Sequential);
        assert_eq!(kind(DiskspdAccess::Interlocked, 8192), PatternKind::SequentialShared);
        assert_eq!(kind(DiskspdAccess::Sequential, 65_536), PatternKind::Stride);
        assert_eq!(kind(DiskspdAccess::Random, 4096), PatternKind::Random);
        let mixed = DiskspdAccess::Mixed { random_percent: 30 };
        assert_eq!(kind(mixed, 8192), PatternKind::Mixed);
        assert!(diskspd(mixed, 8192).is_mostly_sequential());
        let mostly_random = DiskspdAccess::Mixed { random_percent: 50 };
        assert!(!diskspd(mostly_random, 8192).is_mostly_sequential());
    }

    /// A stream of 90 % random I/Os was `sequential` in every column, and stood for the most that a
    /// device reads in order.
    #[test]
    fn a_share_of_random_ios_is_no_sequential_load() {
        let kind = |pattern, random_percent| {
            Stream { pattern, random_percent, ..Stream::default() }.pattern_kind()
        };
        assert_eq!(kind(Pattern::Sequential, 0), PatternKind::Sequential);
        assert_eq!(kind(Pattern::Sequential, 90), PatternKind::Mixed);
        assert_eq!(kind(Pattern::Stride { stride_bytes: Bytes(1) }, 1), PatternKind::Mixed);
        assert_eq!(kind(Pattern::Sequential, 100), PatternKind::Random);
        assert_eq!(kind(Pattern::Random, 0), PatternKind::Random);
        let matrix = Pattern::Matrix { columns: 2, rows: 2, same_column: false };
        assert_eq!(kind(matrix, 0), PatternKind::Matrix);
    }

    #[test]
    fn streams_of_different_orders_are_mixed() {
        let sequential = Stream { pattern: Pattern::Sequential, ..Stream::default() };
        let of = |streams| workload(streams).pattern_kind();
        assert_eq!(of(vec![sequential.clone(), sequential.clone()]), PatternKind::Sequential);
        assert_eq!(of(vec![sequential, Stream::default()]), PatternKind::Mixed);
        assert_eq!(of(Vec::new()), PatternKind::Unknown);
    }

    #[test]
    fn every_word_names_its_kind() {
        for kind in PatternKind::ALL {
            assert_eq!(PatternKind::of_word(kind.word()), Some(kind));
        }
    }

    /// Of a log that is durable next to data files that are not, the history said durable and the
    /// report's CSV that it is not.
    #[test]
    fn a_load_is_durable_where_every_writing_stream_is() {
        let stream =
            |write_percent, durable| Stream { write_percent, durable, ..Stream::default() };
        let of = |streams: &[(u8, bool)]| {
            workload(streams.iter().map(|(w, d)| stream(*w, *d)).collect()).is_durable()
        };
        assert!(of(&[(100, true)]) && of(&[(100, true), (0, false)]));
        assert!(!of(&[(100, true), (30, false)]), "a log beside data files");
        assert!(!of(&[(0, false)]) && !of(&[(0, true)]) && !of(&[]), "nothing is written");
    }
}
