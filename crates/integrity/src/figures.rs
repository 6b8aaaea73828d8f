//! What was counted, for each file apart.

use results::Histogram;

/// I/Os of one kind on one file.
#[derive(Debug, Clone)]
pub struct KindFigures {
    /// I/Os of a single page.
    pub single: u64,
    /// I/Os of several pages, scattered or gathered.
    pub several: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// From submission to completion.
    pub latency: Histogram,
}

impl Default for KindFigures {
    fn default() -> Self {
        Self { single: 0, several: 0, bytes: 0, errors: 0, latency: Histogram::new() }
    }
}

impl KindFigures {
    pub(crate) fn record(&mut self, pages: usize, bytes: u64, latency_ns: u64) {
        if pages > 1 {
            self.several += 1;
        } else {
            self.single += 1;
        }
        self.bytes += bytes;
        self.latency.record(latency_ns);
    }

    fn merge(&mut self, other: &Self) {
        self.single += other.single;
        self.several += other.several;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.latency.merge(&other.latency);
    }
}

/// Everything that was done to one file.
#[derive(Debug, Clone, Default)]
pub struct FileFigures {
    /// Reads.
    pub read: KindFigures,
    /// Writes.
    pub write: KindFigures,
    /// Flushes.
    pub sync: KindFigures,
}

impl FileFigures {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
    }
}

/// What the users did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Pages that were read and compared with what they should hold.
    pub pages_checked: u64,
    /// Reads of pages that somebody had in memory.
    pub cache_hits: u64,
    /// Pages that were changed.
    pub changes: u64,
    /// Changes that found no room in memory.
    pub no_room: u64,
    /// Commits that were waited for.
    pub commits: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// How often a file became shorter.
    pub shortened: u64,
    /// How often a file became longer.
    pub lengthened: u64,
}

impl Work {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.pages_checked += other.pages_checked;
        self.cache_hits += other.cache_hits;
        self.changes += other.changes;
        self.no_room += other.no_room;
        self.commits += other.commits;
        self.checkpoints += other.checkpoints;
        self.shortened += other.shortened;
        self.lengthened += other.lengthened;
    }
}
