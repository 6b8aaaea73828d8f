//! An access specification as a stream of a workload, as far as one stream can do what a worker does.

use std::collections::BTreeMap;

use workload::{Block, Bytes, Nanoseconds, Pattern, Stream, Think, ThinkFrom};

use super::config::{AccessSpec, Row};

/// What an alignment of 0 is on a disk.
const SECTOR_BYTES: u64 = 512;

/// Names of streams are not longer.
const NAME_CHARS_MAX: usize = 64;

/// A stream, and what of the access specification it does not do.
#[derive(Debug, Clone, PartialEq)]
pub struct Translated {
    /// The stream. Where something is lost, its shares are the means over all I/Os.
    pub stream: Stream,
    /// What is lost; empty where the stream does the same.
    pub lost: Vec<String>,
}

impl AccessSpec {
    /// The access specification as one stream: block sizes with their shares, reads and writes, order, pauses.
    #[must_use]
    pub fn stream(&self) -> Translated {
        let mut lost = Vec::new();
        let read_percent = self.mean(|row| row.read_percent);
        let random_percent = self.mean(|row| row.random_percent);
        if !self.is_same(|row| (row.read_percent, row.random_percent)) {
            lost.push(
                "the rows have shares of reads or random I/Os of their own, which are the means of all here"
                    .to_owned(),
            );
        }
        if !self.is_same(|row| row.burst_ios) && self.rows.len() > 1
            || self.rows.len() > 1 && self.rows.iter().any(|row| row.burst_ios > 1)
        {
            lost.push("a burst is of one row, but here each I/O draws its size".to_owned());
        }
        if self.rows.iter().any(|row| row.reply_bytes > 0) {
            lost.push("I/Os that answer those of the other direction".to_owned());
        }
        let align_bytes = self.alignment(&mut lost);
        let think = self.think(&mut lost);
        let (pattern, random_percent) = match random_percent {
            100 => (Pattern::Random, 0),
            share => (Pattern::Sequential, share),
        };
        let stream = Stream {
            name: self.name.chars().take(NAME_CHARS_MAX).collect(),
            blocks: self.blocks(),
            pattern,
            random_percent,
            align_bytes: Some(Bytes(align_bytes)),
            write_percent: 100 - read_percent,
            think,
            ..Stream::default()
        };
        Translated { stream, lost }
    }

    fn is_same<T: PartialEq>(&self, of: impl Fn(&Row) -> T) -> bool {
        self.rows.windows(2).all(|pair| matches!(pair, [a, b] if of(a) == of(b)))
    }

    /// The mean of a percentage over all I/Os: a row has as many as its share of bursts and the length of its bursts say.
    fn mean(&self, of: impl Fn(&Row) -> u8) -> u8 {
        let ios: u64 = self.rows.iter().map(weight).sum();
        let sum: u64 = self.rows.iter().map(|row| weight(row) * u64::from(of(row).min(100))).sum();
        u8::try_from((sum + ios / 2) / ios.max(1)).unwrap_or(100)
    }

    /// Sizes and how often each comes.
    fn blocks(&self) -> Vec<Block> {
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for row in &self.rows {
            *sizes.entry(row.size_bytes).or_default() += weight(row);
        }
        let divisor = sizes.values().copied().fold(0, greatest_common_divisor).max(1);
        // Weights of more bits than there are lose the last of them, all alike.
        let most = sizes.values().map(|w| w / divisor).max().unwrap_or(0);
        let shift = (u64::BITS - most.leading_zeros()).saturating_sub(u32::BITS);
        let block = |(size, weight): (u32, u64)| Block {
            bytes: Bytes(u64::from(size)),
            weight: u32::try_from((weight / divisor) >> shift).unwrap_or(u32::MAX).max(1),
        };
        sizes.into_iter().map(block).collect()
    }

    fn alignment(&self, lost: &mut Vec<String>) -> u64 {
        let of = |row: &Row| {
            if row.align_bytes == 0 { SECTOR_BYTES } else { u64::from(row.align_bytes) }
        };
        if !self.is_same(of) {
            lost.push("the rows have alignments of their own; the smallest is taken".to_owned());
        }
        let has_holes = |row: &Row| {
            row.random_percent < 100
                && row.align_bytes > 0
                && !row.size_bytes.is_multiple_of(row.align_bytes)
        };
        if self.rows.iter().any(has_holes) {
            lost.push("the holes between sequential I/Os that an alignment leaves".to_owned());
        }
        self.rows.iter().map(of).min().unwrap_or(SECTOR_BYTES)
    }

    /// IOMeter pauses before a burst, and goes on after the pause whether or not the I/Os before are complete.
    fn think(&self, lost: &mut Vec<String>) -> Option<Think> {
        let row = self.rows.iter().find(|row| row.delay_ms > 0)?;
        if !self.is_same(|row| (row.delay_ms, row.burst_ios)) {
            lost.push(
                "the rows have delays and bursts of their own; there are none here".to_owned(),
            );
            return None;
        }
        let pause_ns = Nanoseconds(u64::from(row.delay_ms) * 1_000_000);
        Some(Think { pause_ns, burst_ios: row.burst_ios.max(1), from: ThinkFrom::Submission })
    }
}

fn weight(row: &Row) -> u64 {
    u64::from(row.percent) * u64::from(row.burst_ios.max(1))
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::presets::preset;
    use super::*;

    fn stream(name: &str) -> Translated {
        preset(name).unwrap().spec().stream()
    }

    #[test]
    fn mixes_of_sizes_are_the_same_in_one_stream() {
        let Translated { stream, lost } = stream("File Server");
        assert_eq!(lost, [""; 0]);
        let blocks: Vec<(u64, u32)> = stream.blocks.iter().map(|b| (b.bytes.0, b.weight)).collect();
        let sizes = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];
        assert_eq!(blocks, sizes.into_iter().zip([10, 5, 5, 60, 2, 4, 4, 10]).collect::<Vec<_>>());
        assert_eq!((stream.write_percent, stream.pattern), (20, Pattern::Random));
        assert_eq!(stream.align_bytes, Some(Bytes(512)));
    }

    #[test]
    fn shares_of_random_ios_and_pauses_are_kept() {
        let real_life = stream("RealLife-60%Rand-65%Read").stream;
        assert_eq!(real_life.blocks, [Block { bytes: Bytes(8192), weight: 1 }]);
        assert_eq!((real_life.pattern, real_life.random_percent), (Pattern::Sequential, 60));
        let mut spec = preset("DSS").unwrap().spec();
        (spec.rows[0].delay_ms, spec.rows[0].burst_ios) = (3, 4);
        let Translated { stream, lost } = spec.stream();
        assert_eq!(lost, [""; 0]);
        let think =
            Think { pause_ns: Nanoseconds(3_000_000), burst_ios: 4, from: ThinkFrom::Submission };
        assert_eq!(stream.think, Some(think));
    }

    #[test]
    fn what_one_stream_cannot_do_is_named() {
        let Translated { stream, lost } = stream("All in one");
        assert!(lost[0].contains("means of all") && lost.len() == 1, "{lost:?}");
        assert_eq!(stream.write_percent, 50);
        let mut spec = preset("File Server").unwrap().spec();
        let [first, second, ..] = spec.rows.as_mut_slice() else { panic!("eight rows") };
        (first.delay_ms, first.burst_ios, second.align_bytes, second.reply_bytes) =
            (1, 2, 4096, 512);
        let Translated { stream, lost } = spec.stream();
        assert_eq!(lost.len(), 4, "{lost:?}");
        assert_eq!(stream.blocks[0].weight, 20, "bursts of 2");
        assert_eq!(stream.think, None);
    }
}
