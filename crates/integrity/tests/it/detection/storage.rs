//! Storage in memory that can be made to fail, and that knows what every reader should have been
//! given.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use engine::{Finished, Op, Queue, Request};

pub(crate) const PAGE: usize = 8192;
/// What is stored before anything was.
const EMPTY: u8 = 0xEE;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    BitFlipRead,
    BitFlipWrite,
    LostWrite,
    /// Only the sectors before this one of the write arrive.
    TornWrite(usize),
    MisdirectedWrite,
    /// The write lands on the first target, one page after where it belongs.
    StrayWrite,
    MisdirectedRead,
    StaleRead,
    ZeroRead,
    ZeroWrite,
    /// The write or read fails, and only so many sectors of the write arrive.
    Eio(usize),
    /// Flushes fail.
    FailedFlush,
}

impl Failure {
    fn is_of_reads(self) -> bool {
        matches!(self, Self::BitFlipRead | Self::MisdirectedRead | Self::StaleRead | Self::ZeroRead)
    }
}

/// All targets.
#[derive(Default)]
pub(crate) struct Storage {
    /// What is stored.
    pub stored: Vec<Vec<u8>>,
    /// What should be.
    right: Vec<Vec<u8>>,
    /// What each page held before its last write.
    before: BTreeMap<(u16, u64), Vec<u8>>,
    /// Every n-th read or write of pages fails so, from the first after `from` on.
    pub failure: Option<Failure>,
    pub every: u64,
    pub from: u64,
    /// Only I/Os on targets below this fail.
    pub failing_targets: std::ops::Range<u16>,
    /// Where targets end by now; those that are not named have their whole size.
    pub ends: BTreeMap<u16, usize>,
    /// What comes back at the end of a target that becomes longer holds what it held.
    pub keeps_ends: bool,
    /// A target cannot become longer.
    pub full: bool,
    /// How often targets became shorter, and longer.
    pub resized: (u32, u32),
    /// What was done to targets other than this one, in order: which, and whether it was a flush.
    pub ordered: Option<u16>,
    pub steps: Vec<(u16, bool)>,
    /// I/Os after the end of a target.
    pub beyond: u32,
    /// What has arrived of a write that failed is there for so many reads of each page, and then
    /// gone.
    pub forgets_after: Option<u32>,
    /// What such a page held before, and how often it was read since.
    forgotten: BTreeMap<(u16, u64), (Vec<u8>, u32)>,
    /// Pages that were read, and then were gone.
    pub gone: BTreeSet<(u16, u64)>,
    /// Becomes true when a reader is handed wrong bytes.
    pub wrong: Option<Arc<AtomicBool>>,
    /// I/Os move only a part at a time.
    pub short: bool,
    /// After so many I/Os, the process that uses it is gone: of the writes under way, this many
    /// sectors arrive.
    pub dies: Option<(u64, usize)>,
    /// I/Os since somebody new uses it.
    pub made: u64,
    ios: u64,
    /// How often something went wrong.
    pub injected: u64,
    /// Pages of which a reader was handed wrong bytes.
    pub seen_wrong: BTreeSet<(u16, u64)>,
}

pub(crate) type Shared = Arc<Mutex<Storage>>;

/// All of it is zeros, as if it were holes.
pub(crate) fn holes(sizes: &[usize]) -> Shared {
    let empty: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; *size]).collect();
    Arc::new(Mutex::new(Storage { stored: empty.clone(), right: empty, ..Storage::default() }))
}

pub(crate) fn storage(sizes: &[usize]) -> Shared {
    let empty: Vec<Vec<u8>> = sizes.iter().map(|size| vec![EMPTY; *size]).collect();
    Arc::new(Mutex::new(Storage { stored: empty.clone(), right: empty, ..Storage::default() }))
}

impl Storage {
    /// Somebody new uses it.
    pub(crate) fn revive(&mut self, dies: Option<(u64, usize)>) {
        (self.dies, self.made) = (dies, 0);
    }

    fn part(request: &Request) -> std::ops::Range<usize> {
        let from = usize::try_from(request.offset).unwrap();
        from..from + request.bytes as usize
    }

    /// Nobody is there any more.
    fn is_dead(&self) -> bool {
        self.dies.is_some_and(|(after, _)| self.made >= after)
    }

    /// Makes a target shorter or longer.
    pub(crate) fn resize(&mut self, target: u16, bytes: usize) -> io::Result<()> {
        let number = usize::from(target);
        let end = self.ends.get(&target).copied().unwrap_or(self.stored[number].len());
        if bytes > end {
            if self.full {
                return Err(io::Error::from_raw_os_error(28));
            }
            self.right[number][end..bytes].fill(0);
            if !self.keeps_ends {
                self.stored[number][end..bytes].fill(0);
            }
            self.before.retain(|(of, at), _| *of != target || *at < end as u64);
            self.resized.1 += 1;
        } else {
            self.resized.0 += 1;
        }
        self.ends.insert(target, bytes);
        Ok(())
    }

    fn made_ordered(&mut self, request: &Request) {
        let flush = request.op != Op::Write;
        // The area is flushed for the first time when the first writing is over.
        if flush || !self.steps.is_empty() {
            self.steps.push((request.target, flush));
        }
    }

    /// Whether an I/O is after the end of its target.
    fn is_beyond(&mut self, request: &Request) -> bool {
        let end = self.ends.get(&request.target);
        let beyond = end.is_some_and(|end| Self::part(request).end > *end);
        self.beyond += u32::from(beyond);
        beyond
    }

    fn fails(&mut self, request: &Request) -> Option<Failure> {
        let failure = self.failure?;
        let right_kind = matches!(failure, Failure::Eio(_))
            || failure.is_of_reads() == matches!(request.op, Op::Read);
        if !right_kind || !self.failing_targets.contains(&request.target) {
            return None;
        }
        self.ios += 1;
        let due = self.ios > self.from && self.ios.is_multiple_of(self.every);
        self.injected += u64::from(due);
        due.then_some(failure)
    }

    /// A page somewhere else.
    fn elsewhere(&self, request: &Request) -> usize {
        let size = self.stored[usize::from(request.target)].len();
        (Self::part(request).start + size / 2 / PAGE * PAGE)
            % (size - request.bytes as usize).max(1)
            / PAGE
            * PAGE
    }

    fn write(&mut self, request: &Request, bytes: &[u8]) -> i32 {
        let (target, part) = (usize::from(request.target), Self::part(request));
        let failure = self.fails(request);
        if let Some(Failure::Eio(sectors)) = failure {
            let arrived = (sectors * 512).min(bytes.len());
            let landed = part.start..part.start + arrived;
            for page in landed.clone().step_by(PAGE).filter(|_| self.forgets_after.is_some()) {
                let old = self.stored[target][page..page + PAGE].to_vec();
                self.forgotten.insert((request.target, page as u64), (old, 0));
            }
            self.stored[target][landed.clone()].copy_from_slice(&bytes[..arrived]);
            return -5;
        }
        for page in part.clone().step_by(PAGE) {
            self.forgotten.remove(&(request.target, page as u64));
            self.gone.remove(&(request.target, (page / PAGE) as u64));
            let whole = page..(page + PAGE).min(part.end);
            let old = self.right[target][whole].to_vec();
            self.before.insert((request.target, page as u64), old);
        }
        self.right[target][part.clone()].copy_from_slice(bytes);
        let elsewhere = self.elsewhere(request);
        if failure == Some(Failure::StrayWrite) {
            let astray = part.start + PAGE..part.start + PAGE + bytes.len();
            self.stored[0][astray].copy_from_slice(bytes);
            return i32::try_from(bytes.len()).unwrap();
        }
        let stored = &mut self.stored[target];
        match failure {
            None => stored[part].copy_from_slice(bytes),
            Some(Failure::BitFlipWrite) => {
                stored[part.clone()].copy_from_slice(bytes);
                stored[part.start + 777 % bytes.len()] ^= 0x10;
            }
            Some(Failure::TornWrite(sectors)) => {
                let arrived = (sectors * 512).min(bytes.len());
                stored[part.start..part.start + arrived].copy_from_slice(&bytes[..arrived]);
            }
            Some(Failure::MisdirectedWrite) => {
                stored[elsewhere..elsewhere + bytes.len()].copy_from_slice(bytes);
            }
            Some(Failure::ZeroWrite) => stored[part].fill(0),
            Some(_) => {}
        }
        i32::try_from(bytes.len()).unwrap()
    }

    /// Pages that were read often enough since a write of them failed hold what they held before
    /// it.
    fn forget(&mut self, request: &Request) {
        let Some(most) = self.forgets_after else { return };
        for page in Self::part(request).step_by(PAGE) {
            let place = (request.target, page as u64);
            let Some((old, reads)) = self.forgotten.get_mut(&place) else { continue };
            *reads += 1;
            if *reads > most {
                let stored = &mut self.stored[usize::from(request.target)][page..page + PAGE];
                if stored != old {
                    self.gone.insert((request.target, (page / PAGE) as u64));
                }
                stored.copy_from_slice(old);
                self.forgotten.remove(&place);
            }
        }
    }

    fn read(&mut self, request: &Request, out: &mut [u8]) -> i32 {
        let failure = self.fails(request);
        if matches!(failure, Some(Failure::Eio(_))) {
            return -5;
        }
        self.forget(request);
        let (target, part) = (usize::from(request.target), Self::part(request));
        let stored = &self.stored[target];
        out.copy_from_slice(&stored[part.clone()]);
        match failure {
            Some(Failure::BitFlipRead) => {
                // A block of the log may be shorter.
                let at = 1234 % out.len();
                out[at] ^= 0x80;
            }
            Some(Failure::ZeroRead) => out.fill(0),
            Some(Failure::MisdirectedRead) => {
                let from = self.elsewhere(request);
                out.copy_from_slice(&self.stored[target][from..from + out.len()]);
            }
            Some(Failure::StaleRead) => {
                for (page, bytes) in part.clone().step_by(PAGE).zip(out.chunks_mut(PAGE)) {
                    let old = self.before.get(&(request.target, page as u64));
                    // Before the first version there was nothing that could be told from foreign
                    // data.
                    if let Some(old) = old.filter(|old| old[0] != EMPTY || old[1] != EMPTY) {
                        bytes[..old.len()].copy_from_slice(old);
                    }
                }
            }
            _ => {}
        }
        for (page, bytes) in part.clone().step_by(PAGE).zip(out.chunks(PAGE)) {
            if bytes != &self.right[target][page..page + bytes.len()] {
                self.seen_wrong.insert((request.target, (page / PAGE) as u64));
                if let Some(wrong) = &self.wrong {
                    wrong.store(true, Ordering::Relaxed);
                }
            }
        }
        i32::try_from(out.len()).unwrap()
    }
}

/// A queue to the storage on a separate clock: each I/O takes ten milliseconds.
pub(crate) struct Memory {
    storage: Shared,
    now: Cell<u64>,
    pending: Vec<(u64, Request)>,
    read: Vec<Vec<u8>>,
    write: Vec<Vec<u8>>,
}

impl Memory {
    pub(crate) fn new(storage: &Shared, depth: u32, slot_bytes: u32) -> Self {
        let buffers = vec![vec![0; slot_bytes as usize]; depth as usize];
        let (read, write) = (buffers.clone(), buffers);
        Self { storage: Arc::clone(storage), now: Cell::new(1), pending: Vec::new(), read, write }
    }

    fn make(&mut self, request: &Request) -> i32 {
        let mut storage = self.storage.lock().unwrap();
        let mut request = *request;
        storage.made += 1;
        if storage.short && request.bytes > 4096 {
            request.bytes = 4096;
        }
        let from = request.buffer_offset as usize;
        let part = from..from + request.bytes as usize;
        let slot = request.slot as usize;
        if !matches!(request.op, Op::Fsync | Op::Fdatasync) && storage.is_beyond(&request) {
            return 0;
        }
        // Requests are distinguished only after all pages have been written once.
        if storage.ordered.is_some_and(|except| except != request.target) && request.op != Op::Read
        {
            storage.made_ordered(&request);
        }
        match request.op {
            Op::Read => storage.read(&request, &mut self.read[slot][part]),
            Op::Write | Op::WriteDurable => storage.write(&request, &self.write[slot][part]),
            Op::Fsync | Op::Fdatasync if storage.failure == Some(Failure::FailedFlush) => -5,
            Op::Fsync | Op::Fdatasync => 0,
        }
    }
}

impl Queue for Memory {
    fn now(&self) -> u64 {
        self.now.get()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        let done = self.now.get() + 10_000_000;
        self.pending.extend(requests.iter().map(|r| (done, *r)));
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        let first = self.pending.iter().map(|(at, _)| *at).min().unwrap_or(until_ns);
        self.now.set(self.now.get().max(first.min(until_ns)));
        let mut storage = self.storage.lock().unwrap();
        if !storage.is_dead() {
            return Ok(());
        }
        let sectors = storage.dies.map_or(0, |(_, sectors)| sectors);
        for (n, (_, request)) in self.pending.drain(..).enumerate() {
            if request.op == Op::Write {
                let arrived = (sectors * (n + 1) % 137 * 512).min(request.bytes as usize);
                let (target, at) = (usize::from(request.target), Storage::part(&request).start);
                let bytes = &self.write[request.slot as usize][request.buffer_offset as usize..];
                storage.stored[target][at..at + arrived].copy_from_slice(&bytes[..arrived]);
            }
        }
        Err(io::Error::other("killed"))
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        if self.storage.lock().unwrap().is_dead() {
            return;
        }
        let now = self.now.get();
        let due: Vec<_> = self.pending.extract_if(.., |(at, _)| *at <= now).collect();
        for (_, request) in due {
            let result = self.make(&request);
            finished.push(Finished { slot: request.slot, result });
        }
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        &mut self.write[slot as usize]
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        &self.read[slot as usize]
    }
}
