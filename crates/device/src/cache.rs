//! Caches: a read cache holds blocks; a write cache fills and drains.

use workload::{SimCache, SimCacheKind, SimWriteCache};

use crate::Request;
use crate::lru::Lru;

/// What an LRU cache holds or does not hold.
const BLOCK_BYTES: u64 = 4096;

/// A cache that answers reads of what it holds.
#[derive(Debug, Clone)]
pub(crate) struct ReadCache {
    /// Time of a hit in nanoseconds.
    pub(crate) hit_ns: u64,
    size_bytes: u64,
    blocks: Option<Blocks>,
}

/// The blocks that a cache holds, and the number of the first block of each target.
#[derive(Debug, Clone)]
struct Blocks {
    lru: Lru,
    first: Vec<u64>,
}

impl ReadCache {
    /// A cache that already holds what it can.
    pub(crate) fn new(model: SimCache, target_bytes: &[u64]) -> Self {
        let size_bytes = model.size_bytes.0;
        let blocks = match model.kind {
            SimCacheKind::Region => None,
            SimCacheKind::Lru => Some(Blocks::new(size_bytes, target_bytes)),
        };
        Self { hit_ns: model.hit_ns.0, size_bytes, blocks }
    }

    /// Whether all that the I/O reads or writes is in the cache; afterwards it may be.
    pub(crate) fn touch(&mut self, request: &Request) -> bool {
        match &mut self.blocks {
            None => request.offset.saturating_add(request.bytes.into()) <= self.size_bytes,
            Some(blocks) => blocks.touch(request),
        }
    }
}

impl Blocks {
    fn new(size_bytes: u64, target_bytes: &[u64]) -> Self {
        let mut blocks = 0u64;
        let mut first = Vec::with_capacity(target_bytes.len());
        for bytes in target_bytes {
            first.push(blocks);
            blocks = blocks.saturating_add(bytes.div_ceil(BLOCK_BYTES));
        }
        let capacity = u32::try_from((size_bytes / BLOCK_BYTES).min(blocks)).unwrap_or(u32::MAX);
        let mut lru = Lru::new(capacity);
        for block in 0..capacity {
            lru.touch(block.into());
        }
        Self { lru, first }
    }

    fn touch(&mut self, request: &Request) -> bool {
        let first = self.first[request.target];
        let end = request.offset.saturating_add(request.bytes.into());
        let blocks = request.offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES);
        let mut held = true;
        for block in blocks {
            held &= self.lru.touch(first.saturating_add(block));
        }
        held
    }
}

/// The cache that writes go to.
#[derive(Debug, Clone)]
pub(crate) struct WriteCache {
    model: SimWriteCache,
    bytes: f64,
    at: u64,
}

impl WriteCache {
    /// A write cache without dirty data.
    pub(crate) fn new(model: SimWriteCache) -> Self {
        Self { model, bytes: 0.0, at: 0 }
    }

    /// Time of a write that finds room.
    pub(crate) fn hit_ns(&self) -> u64 {
        self.model.hit_ns.0
    }

    /// How long a write waits for room. The media take `slower` times as long as the model says.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time; negative is 0"
    )]
    pub(crate) fn wait_ns(&mut self, bytes: u32, now: u64, slower: f64) -> u64 {
        let drain = self.model.drain_bytes_per_s.0.max(1) as f64 / 1e9 / slower;
        let drained = now.saturating_sub(self.at) as f64 * drain;
        self.bytes = (self.bytes - drained).max(0.0) + f64::from(bytes);
        self.at = now;
        ((self.bytes - self.model.size_bytes.0 as f64) / drain) as u64
    }
}
