//! Counts and latencies per file.

use results::Histogram;

/// I/Os of one kind on one file.
#[derive(Debug, Clone)]
pub struct KindFigures {
    /// How many I/Os of a single page.
    pub single: u64,
    /// I/Os of several pages, scattered or gathered.
    pub several: u64,
    /// How many bytes these I/Os moved; failed ones count nothing.
    pub bytes: u64,
    /// I/Os that failed; they are in none of the other figures.
    pub errors: u64,
    /// Latencies from submission to completion, failed I/Os left out.
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
    /// Reads of pages, or of the log.
    pub read: KindFigures,
    /// Writes of pages, or of the log.
    pub write: KindFigures,
    /// Calls that made writes durable.
    pub sync: KindFigures,
}

impl FileFigures {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
    }
}
