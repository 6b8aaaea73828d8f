//! What is used how often, and how much a cache would help: a miss-ratio curve of a cache that
//! drops what was used longest ago (LRU), from a sample of pages.
//!
//! The sample is that of SHARDS (Waldspurger and others, FAST 2015), in its form of fixed size: a
//! page belongs to it if the hash of its address is below a threshold, which falls as pages come.
//! So every access to a sampled page is seen, and distances between accesses are those of the whole
//! divided by the sampling rate.

use std::collections::{BTreeSet, HashMap};

use crate::io::{Io, Kind};

/// The pages in which use is counted.
pub const PAGE_BYTES: u64 = 4096;
/// The most pages in the sample.
const SAMPLE_MAX: usize = 16384;
/// Accesses until the order of pages is numbered anew.
const SLOTS: usize = 4 * SAMPLE_MAX;
/// The threshold that takes every page.
const WHOLE: u64 = 1 << 24;
/// The most pages of one I/O that count.
const PAGES_MAX: u64 = 4096;
/// Classes of distances: 8 per octave.
const CLASS_BITS: u32 = 3;
/// The shares of accesses that hot parts are reported for.
const SHARES: [f64; 4] = [0.5, 0.8, 0.9, 0.99];

/// Which parts are used how often.
#[derive(Debug, Clone, PartialEq)]
pub struct Locality {
    /// The share of pages, above 0 to 1, in the sample.
    pub sampled: f64,
    /// Bytes that were read or written at least once.
    pub touched_bytes: f64,
    /// The smallest parts that receive 50, 80, 90 and 99 % of the accesses.
    pub hot: Vec<HotPart>,
    /// What caches of these sizes would do, from 1 MiB to one that holds all.
    pub cache: Vec<CachePoint>,
    /// The share of accesses of reads, 0 to 1, to a page that was written before in this trace;
    /// none without reads.
    pub read_after_write: Option<f64>,
}

/// A part that receives a share of the accesses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HotPart {
    /// The share of all accesses to pages, 0 to 1.
    pub share: f64,
    /// How many bytes of the hottest pages receive that share, estimated from the sample.
    pub bytes: f64,
}

/// What an LRU cache of one size would do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CachePoint {
    /// The size of the cache.
    pub bytes: u64,
    /// The share of accesses of reads, 0 to 1, that it would not serve.
    pub miss: f64,
}

#[derive(Debug, Clone, Copy)]
struct Page {
    slot: usize,
    accesses: u64,
    written: bool,
}

/// The sampled pages, and what was counted about them.
#[derive(Debug)]
pub(super) struct Sampler {
    threshold: u64,
    pages: HashMap<(u32, u64), Page>,
    /// The pages by hash: the highest leave first.
    by_hash: BTreeSet<(u64, u32, u64)>,
    order: Order,
    /// Sampled accesses of reads by the class of their distance, in pages of the whole.
    distances: Vec<f64>,
    sampled_reads: f64,
    sampled_after_write: f64,
    reads: u64,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            threshold: WHOLE,
            pages: HashMap::new(),
            by_hash: BTreeSet::new(),
            order: Order::new(),
            distances: Vec::new(),
            sampled_reads: 0.0,
            sampled_after_write: 0.0,
            reads: 0,
        }
    }
}

/// The finaliser of splitmix64.
fn hash(device: u32, page: u64) -> u64 {
    let mut x = page ^ u64::from(device).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) & (WHOLE - 1)
}

impl Sampler {
    /// Counts an access to each page that a read or write touches, at most the first 4096.
    pub(super) fn add(&mut self, io: &Io) {
        let Some(last) = io.length_bytes.checked_sub(1) else { return };
        let first_page = io.offset_bytes / PAGE_BYTES;
        let last_page = io.offset_bytes.saturating_add(last) / PAGE_BYTES;
        let last_page = last_page.min(first_page.saturating_add(PAGES_MAX - 1));
        for page in first_page..=last_page {
            self.access(io.device, page, io.kind == Kind::Read);
        }
    }

    fn access(&mut self, device: u32, page: u64, is_read: bool) {
        self.reads += u64::from(is_read);
        let hash = hash(device, page);
        if hash >= self.threshold {
            return;
        }
        if self.order.is_full() {
            self.renumber();
        }
        let weight = if is_read { 1.0 } else { 0.0 };
        self.sampled_reads += weight;
        let slot = self.order.append();
        if let Some(known) = self.pages.get_mut(&(device, page)) {
            let between = self.order.after(known.slot);
            self.order.remove(known.slot);
            if known.written {
                self.sampled_after_write += weight;
            }
            known.slot = slot;
            known.accesses += 1;
            known.written |= !is_read;
            if is_read {
                self.count_distance(between);
            }
            return;
        }
        self.pages.insert((device, page), Page { slot, accesses: 1, written: !is_read });
        self.by_hash.insert((hash, device, page));
        if self.pages.len() > SAMPLE_MAX {
            self.shrink();
        }
    }

    fn rate(&self) -> f64 {
        self.threshold as f64 / WHOLE as f64
    }

    /// Counts a read of a page since whose last access so many sampled pages were accessed, itself
    /// included.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    fn count_distance(&mut self, between: u64) {
        let pages = (between as f64 / self.rate()).ceil() as u64;
        let class = class(pages);
        if self.distances.len() <= class {
            self.distances.resize(class + 1, 0.0);
        }
        self.distances[class] += 1.0;
    }

    /// Lowers the threshold to the highest hash of the sample; what was counted is worth less.
    fn shrink(&mut self) {
        let before = self.threshold;
        if let Some((highest, ..)) = self.by_hash.last() {
            self.threshold = *highest;
        }
        while let Some(last) = self.by_hash.last().copied().filter(|l| l.0 >= self.threshold) {
            self.by_hash.remove(&last);
            if let Some(page) = self.pages.remove(&(last.1, last.2)) {
                self.order.remove(page.slot);
            }
        }
        let factor = self.threshold as f64 / before as f64;
        self.distances.iter_mut().for_each(|count| *count *= factor);
        self.sampled_reads *= factor;
        self.sampled_after_write *= factor;
    }

    /// Numbers the pages anew in the order of their last access.
    fn renumber(&mut self) {
        let mut pages: Vec<&mut Page> = self.pages.values_mut().collect();
        pages.sort_by_key(|page| page.slot);
        self.order = Order::new();
        for page in pages {
            page.slot = self.order.append();
        }
    }

    pub(super) fn finish(self) -> Option<Locality> {
        if self.pages.is_empty() {
            return None;
        }
        let rate = self.rate();
        let touched = self.pages.len() as f64 / rate;
        let read_after_write =
            (self.sampled_reads > 0.0).then(|| self.sampled_after_write / self.sampled_reads);
        let mut accesses: Vec<u64> = self.pages.values().map(|page| page.accesses).collect();
        accesses.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let bytes_of = |pages: f64| pages / rate * PAGE_BYTES as f64;
        let hot = |share: f64| {
            let all: u128 = accesses.iter().map(|count| u128::from(*count)).sum();
            let (mut sum, mut pages) = (0.0, 0.0);
            for count in &accesses {
                if sum >= share * all as f64 {
                    break;
                }
                (sum, pages) = (sum + *count as f64, pages + 1.0);
            }
            HotPart { share, bytes: bytes_of(pages) }
        };
        Some(Locality {
            sampled: rate,
            touched_bytes: touched * PAGE_BYTES as f64,
            hot: SHARES.map(hot).to_vec(),
            cache: self.curve(touched),
            read_after_write,
        })
    }

    /// The miss ratios at powers of two, up to the first that holds everything.
    ///
    /// The sample may by chance have more or fewer accesses than its rate says; the difference goes
    /// to the shortest distances (the adjustment of SHARDS).
    fn curve(&self, touched_pages: f64) -> Vec<CachePoint> {
        let expected = self.reads as f64 * self.rate();
        if expected <= 0.0 {
            return Vec::new();
        }
        let first_pages = (1 << 20) / PAGE_BYTES;
        let sizes = std::iter::successors(Some(first_pages), |pages| pages.checked_mul(2));
        let mut points = Vec::new();
        for pages in sizes.take_while(|pages| pages.checked_mul(PAGE_BYTES).is_some()) {
            let hits: f64 = self.distances.iter().take(class(pages + 1)).sum();
            let hits = hits + expected - self.sampled_reads;
            let miss = (1.0 - hits / expected).clamp(0.0, 1.0);
            points.push(CachePoint { bytes: pages * PAGE_BYTES, miss });
            if pages as f64 >= touched_pages {
                break;
            }
        }
        points
    }
}

/// The class of a distance: those up to a power of two, and no others, are in the classes below
/// that of the next number.
#[expect(clippy::cast_possible_truncation, reason = "there are some 500 classes")]
fn class(pages: u64) -> usize {
    let pages = pages.saturating_sub(1);
    let octave = (pages >> CLASS_BITS).checked_ilog2().map_or(0, |octave| octave + 1);
    let within = (pages >> octave.saturating_sub(1)) & ((1 << CLASS_BITS) - 1);
    ((u64::from(octave) << CLASS_BITS) + within) as usize
}

/// Which slots are taken, and how many after one: a Fenwick tree.
#[derive(Debug)]
struct Order {
    tree: Vec<u32>,
    used: usize,
    taken: u64,
}

impl Order {
    fn new() -> Self {
        Self { tree: vec![0; SLOTS + 1], used: 0, taken: 0 }
    }

    fn is_full(&self) -> bool {
        self.used == SLOTS
    }

    /// Takes the next free slot, which becomes the newest.
    fn append(&mut self) -> usize {
        self.used += 1;
        self.taken += 1;
        self.change(self.used, 1);
        self.used
    }

    fn remove(&mut self, slot: usize) {
        self.taken -= 1;
        self.change(slot, u32::MAX);
    }

    fn change(&mut self, mut slot: usize, by: u32) {
        while slot <= SLOTS {
            self.tree[slot] = self.tree[slot].wrapping_add(by);
            slot += slot & slot.wrapping_neg();
        }
    }

    /// How many slots newer than this one are taken.
    fn after(&self, mut slot: usize) -> u64 {
        let mut until = 0;
        while slot > 0 {
            until += u64::from(self.tree[slot]);
            slot -= slot & slot.wrapping_neg();
        }
        self.taken - until
    }
}
