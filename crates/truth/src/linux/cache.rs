//! A volatile write cache: writes are visible at once, and survive a crash only if a flush or a
//! durable write made them stable.
//!
//! For every sector that is not stable, the stable content and everything written since are kept. A
//! crash decides for each part of each write whether it had reached the medium, in any order.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::faults::{SECTOR_BYTES, Span, joined};

/// A write cache that loses its content in a crash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache {
    /// What survives a crash or does not: parts of a write of this many bytes; `u64::MAX` for whole
    /// writes.
    pub unit_bytes: u64,
    /// This share of the unstable writes has reached the medium at a crash anyway.
    pub survives: f64,
    /// Where more than this is not stable, the oldest is made so.
    pub bytes: u64,
    /// What all random choices start from.
    pub seed: u64,
}

impl Default for Cache {
    fn default() -> Self {
        Self { unit_bytes: 4096, survives: 0.5, bytes: 16 << 20, seed: 42 }
    }
}

/// The sectors that a crash has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Name of the file that lost something.
    pub file: String,
    /// The part of it that does not hold the last write.
    pub span: Span,
    /// The fault by which it had been acknowledged as stable; absent if it never was, and might be
    /// lost.
    pub acknowledged: Option<usize>,
}

/// How much a flush makes stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flush {
    /// Everything that was written before it, as it should.
    Whole,
    /// Nothing, and the fault of this number says otherwise.
    Lies(usize),
    /// Some of it, in any order, and the fault of this number says otherwise.
    Reorders(usize),
}

/// A sector that a crash has spoiled although it had been acknowledged: where, what it should hold,
/// and by which fault.
pub(super) struct Broken {
    pub(super) file: u64,
    pub(super) sector: u64,
    pub(super) right: Vec<u8>,
    pub(super) number: usize,
}

/// What a crash has destroyed.
pub(super) struct Crashed {
    /// Every sector that does not hold the last write, and the fault by which it had been
    /// acknowledged.
    pub(super) lost: Vec<(u64, u64, Option<usize>)>,
    pub(super) broken: Vec<Broken>,
}

/// One sector that is not stable.
struct Unstable {
    stable: Vec<u8>,
    /// Everything written since, with the number of the write, in order.
    since: VecDeque<(u64, Vec<u8>)>,
    /// The last write that was acknowledged as stable, and the fault that did so.
    acknowledged: Option<(u64, usize)>,
}

#[derive(Default)]
struct State {
    cache: Option<Cache>,
    sectors: BTreeMap<(u64, u64), Unstable>,
    /// Number, file and sectors of every write that may not be stable, in order.
    writes: VecDeque<(u64, u64, Range<u64>)>,
    number: u64,
    bytes: u64,
}

/// The cache of a device. A device without a cache only pays for a lock.
#[derive(Default)]
pub(super) struct Volatile(Mutex<State>);

fn sectors(offset: u64, bytes: usize) -> Range<u64> {
    offset / SECTOR_BYTES..(offset + bytes as u64).div_ceil(SECTOR_BYTES)
}

/// A sector of a file; shorter where the file ends in it.
fn read(content: &File, sector: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(SECTOR_BYTES).unwrap_or(512)];
    let length = content.read_at(&mut bytes, sector * SECTOR_BYTES)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// A number from 0 to 1 that follows from these.
fn chance(seed: u64, write: u64, unit: u64) -> f64 {
    let mut number = seed ^ write.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ unit.rotate_left(32);
    for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
        number = (number ^ (number >> 31)).wrapping_mul(factor);
    }
    ((number ^ (number >> 29)) >> 11) as f64 / (1u64 << 53) as f64
}

impl Volatile {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on there is such a cache. Earlier writes are stable.
    pub(super) fn begin(&self, cache: Cache) {
        *self.lock() = State { cache: Some(cache), ..State::default() };
    }

    /// Makes a write through the cache. `flush` says what becomes of a durable one; `None` of
    /// others.
    pub(super) fn write(
        &self,
        (file, content): (u64, &File),
        offset: u64,
        bytes: usize,
        flush: Option<Flush>,
        write: impl FnOnce() -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut state = self.lock();
        let Some(cache) = state.cache else {
            drop(state);
            return write();
        };
        let part = sectors(offset, bytes);
        let before: io::Result<Vec<_>> = part.clone().map(|sector| read(content, sector)).collect();
        let before = before?;
        let written = write()?;
        state.number += 1;
        let number = state.number;
        for (sector, stable) in part.clone().zip(before) {
            let now = read(content, sector)?;
            let new = || Unstable { stable, since: VecDeque::new(), acknowledged: None };
            let held = state.sectors.entry((file, sector)).or_insert_with(new);
            held.since.push_back((number, now));
        }
        state.bytes += (part.end - part.start) * SECTOR_BYTES;
        state.writes.push_back((number, file, part.clone()));
        if let Some(flush) = flush {
            state.flush(file, part, flush);
        }
        while state.bytes > cache.bytes && state.evict() {}
        Ok(written)
    }

    /// Flushes a file, or pretends to.
    pub(super) fn flush(&self, file: u64, flush: Flush) {
        self.lock().flush(file, 0..u64::MAX, flush);
    }

    /// Notes that the file now ends here.
    pub(super) fn cut(&self, file: u64, bytes: u64) {
        let end = bytes / SECTOR_BYTES;
        self.lock().sectors.retain(|at, _| at.0 != file || at.1 < end);
    }

    /// The power fails: unstable writes are gone, except those that had reached the medium.
    /// `content` gives the file of a number.
    pub(super) fn crash(
        &self,
        content: impl Fn(u64) -> Option<std::sync::Arc<File>>,
    ) -> io::Result<Crashed> {
        let mut state = self.lock();
        let mut crashed = Crashed { lost: Vec::new(), broken: Vec::new() };
        let Some(cache) = state.cache else { return Ok(crashed) };
        state.writes.clear();
        state.bytes = 0;
        for ((file, sector), held) in std::mem::take(&mut state.sectors) {
            let Some(content) = content(file) else { continue };
            let unit = sector * SECTOR_BYTES / cache.unit_bytes.max(SECTOR_BYTES);
            let survives =
                |(number, _): &&(u64, Vec<u8>)| chance(cache.seed, *number, unit) < cache.survives;
            let last = held.since.iter().rev().find(survives);
            let (reached, left) =
                last.map_or((0, &held.stable), |(number, bytes)| (*number, bytes));
            content.write_all_at(left, sector * SECTOR_BYTES)?;
            let right = held.acknowledged.filter(|(write, _)| reached < *write).and_then(
                |(write, number)| {
                    let bytes = &held.since.iter().find(|(n, _)| *n == write)?.1;
                    (bytes != left).then(|| (bytes.clone(), number))
                },
            );
            if held.since.back().is_some_and(|(_, bytes)| bytes != left) {
                crashed.lost.push((file, sector, right.as_ref().map(|(_, number)| *number)));
            }
            if let Some((right, number)) = right {
                crashed.broken.push(Broken { file, sector, right, number });
            }
        }
        Ok(crashed)
    }
}

impl State {
    fn flush(&mut self, file: u64, part: Range<u64>, flush: Flush) {
        let seed = self.cache.map_or(0, |cache| cache.seed);
        let unit = self.cache.map_or(SECTOR_BYTES, |cache| cache.unit_bytes.max(SECTOR_BYTES));
        let held = self.sectors.range_mut((file, part.start)..(file, part.end));
        let held = held.map(|(at, held)| (*at, held));
        let mut gone = Vec::new();
        for (at, held) in held {
            let last = held.since.back().map_or(0, |(number, _)| *number);
            let (number, up_to) = match flush {
                Flush::Whole => {
                    gone.push(at);
                    continue;
                }
                Flush::Lies(number) => (number, 0),
                Flush::Reorders(number) => {
                    // Another choice than at a crash.
                    let unit = at.1 * SECTOR_BYTES / unit;
                    let chosen = |(n, _): &&(u64, Vec<u8>)| chance(!seed, *n, unit) < 0.5;
                    (number, held.since.iter().rev().find(chosen).map_or(0, |(n, _)| *n))
                }
            };
            held.acknowledged = Some((last, number));
            if held.settle(up_to) {
                gone.push(at);
            }
        }
        for at in gone {
            self.sectors.remove(&at);
        }
        if flush == Flush::Whole {
            let (mut left, mut bytes) = (VecDeque::new(), 0);
            for write in std::mem::take(&mut self.writes) {
                let of = write.1 == file && part.start <= write.2.start && write.2.end <= part.end;
                if !of {
                    bytes += (write.2.end - write.2.start) * SECTOR_BYTES;
                    left.push_back(write);
                }
            }
            (self.writes, self.bytes) = (left, bytes);
        }
    }

    /// Makes the oldest write stable; false if there is none.
    fn evict(&mut self) -> bool {
        let Some((number, file, part)) = self.writes.pop_front() else { return false };
        self.bytes -= (part.end - part.start) * SECTOR_BYTES;
        for sector in part {
            let at = (file, sector);
            if self.sectors.get_mut(&at).is_some_and(|held| held.settle(number)) {
                self.sectors.remove(&at);
            }
        }
        true
    }
}

impl Unstable {
    /// Everything up to this write has reached the medium. True if nothing is left that has not.
    fn settle(&mut self, up_to: u64) -> bool {
        while self.since.front().is_some_and(|(number, _)| *number <= up_to) {
            if let Some((_, bytes)) = self.since.pop_front() {
                self.stable = bytes;
            }
        }
        self.since.is_empty()
    }
}

/// Puts lost sectors together, by the names of their files.
pub(super) fn spans(lost: &[(u64, u64, Option<usize>)], name: impl Fn(u64) -> String) -> Vec<Lost> {
    let mut by: BTreeMap<(u64, Option<usize>), Vec<Span>> = BTreeMap::new();
    for (file, sector, acknowledged) in lost {
        let span = Span { offset: sector * SECTOR_BYTES, bytes: SECTOR_BYTES };
        by.entry((*file, *acknowledged)).or_default().push(span);
    }
    let of = |((file, acknowledged), parts): ((u64, Option<usize>), Vec<Span>)| {
        let file = name(file);
        joined(parts).into_iter().map(move |span| Lost { file: file.clone(), span, acknowledged })
    };
    by.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    const FILE: u64 = 3;
    const SECTORS: usize = 16;

    struct Device {
        volatile: Volatile,
        content: Arc<File>,
        /// Of each sector, the numbers of the writes it may have after a crash begin here.
        stable: [u8; SECTORS],
        acknowledged: [u8; SECTORS],
        last: [u8; SECTORS],
    }

    impl Device {
        fn new(cache: Cache) -> Self {
            let content = Arc::new(tempfile::tempfile().unwrap());
            content.write_all_at(&[0; SECTORS * 512], 0).unwrap();
            let volatile = Volatile::default();
            volatile.begin(cache);
            Self { volatile, content, stable: [0; 16], acknowledged: [0; 16], last: [0; 16] }
        }

        fn write(&mut self, number: u8, part: Range<usize>, flush: Option<Flush>) {
            let data = vec![number; part.len() * 512];
            let offset = part.start as u64 * 512;
            let write = || self.content.write_all_at(&data, offset).map(|()| data.len());
            self.volatile.write((FILE, &self.content), offset, data.len(), flush, write).unwrap();
            self.last[part.clone()].fill(number);
            self.note(part, flush);
        }

        fn flush(&mut self, flush: Flush) {
            self.volatile.flush(FILE, flush);
            self.note(0..SECTORS, Some(flush));
        }

        fn note(&mut self, part: Range<usize>, flush: Option<Flush>) {
            if flush.is_some() {
                self.acknowledged[part.clone()].copy_from_slice(&self.last[part.clone()]);
            }
            if flush == Some(Flush::Whole) {
                self.stable[part.clone()].copy_from_slice(&self.last[part]);
            }
        }

        fn crash(&self) -> (Crashed, Vec<u8>) {
            let crashed = self.volatile.crash(|_| Some(Arc::clone(&self.content))).unwrap();
            let mut found = vec![0; SECTORS * 512];
            self.content.read_exact_at(&mut found, 0).unwrap();
            (crashed, found.chunks(512).map(|sector| sector[0]).collect())
        }
    }

    fn step() -> impl Strategy<Value = (usize, usize, u8)> {
        (0usize..SECTORS, 1usize..9, 0u8..12)
    }

    proptest! {
        /// Stable writes are never lost, lost writes that were acknowledged are known, and nothing
        /// comes from nowhere.
        #[test]
        fn a_crash_takes_only_what_is_not_stable(
            steps in prop::collection::vec(step(), 1..60), seed: u64, survives in 0.0f64..=1.0,
                unit in prop::sample::select(vec![512u64, 4096, u64::MAX]), small: bool
        ) {
            let bytes = if small { 4096 } else { 1 << 20 };
            let mut device = Device::new(Cache { unit_bytes: unit, survives, bytes, seed });
            for (number, (at, length, kind)) in (1u8..).zip(steps) {
                let part = at..(at + length).min(SECTORS);
                match kind {
                    0 => device.flush(Flush::Whole),
                    1 => device.flush(Flush::Lies(1)),
                    2 => device.flush(Flush::Reorders(2)),
                    3 => device.write(number, part, Some(Flush::Whole)),
                    4 => device.write(number, part, Some(Flush::Lies(4))),
                    _ => device.write(number, part, None),
                }
            }
            let (crashed, found) = device.crash();
            let broken: Vec<usize> = crashed.broken.iter()
                .map(|b| usize::try_from(b.sector).unwrap()).collect();
            let lost: Vec<usize> = crashed.lost.iter().map(|l| usize::try_from(l.1).unwrap())
                .collect();
            for (sector, now) in found.iter().enumerate() {
                prop_assert!(*now >= device.stable[sector] && *now <= device.last[sector], "sector \
                    {sector}: {now}");
                prop_assert_eq!(broken.contains(&sector), *now < device.acknowledged[sector],
                    "sector {}", sector);
                prop_assert_eq!(lost.contains(&sector), *now != device.last[sector], "sector \
                    {}", sector);
            }
            for b in &crashed.broken {
                let sector = usize::try_from(b.sector).unwrap();
                prop_assert_eq!(b.right[0], device.acknowledged[sector]);
            }
            // After a crash everything is stable.
            prop_assert!(device.crash().0.lost.is_empty());
        }
    }

    #[test]
    fn without_survivors_everything_behind_the_flush_is_gone() {
        let mut device = Device::new(Cache { survives: 0.0, ..Cache::default() });
        device.write(1, 0..8, None);
        device.flush(Flush::Whole);
        device.write(2, 4..12, None);
        let (crashed, found) = device.crash();
        assert_eq!(found, [[1; 8], [0; 8]].concat());
        assert!(crashed.broken.is_empty());
        let spans = spans(&crashed.lost, |_| "f".to_owned());
        let span = Span { offset: 4 * 512, bytes: 8 * 512 };
        assert_eq!(spans, [Lost { file: "f".to_owned(), span, acknowledged: None }]);
    }
}
