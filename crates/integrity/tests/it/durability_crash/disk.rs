//! A disk in memory with a volatile write cache, which loses what is not stable at a crash, keeps
//! no order, and may lie about flushes. It remembers every write, and so knows what must be where.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use engine::{Finished, Op, Queue, Request};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub(crate) const SECTOR: u64 = 512;
/// The depth of every queue, and its buffers.
const DEPTH: usize = 8;
/// What a writer writes at once, and what is read at once.
const WRITE_BYTES: usize = 4096;
const READ_BYTES: usize = 256 << 10;

/// What the disk does to flushes and durable writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Conduct {
    /// What it acknowledges is stable.
    Honest,
    /// With this probability, it acknowledges and makes nothing stable.
    Lies(f64),
    /// With this probability, what was written before is made stable in part.
    Reorders(f64),
}

/// What survives a crash of what is not stable: sectors, 4 KiB or writes, each with this
/// probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Survival {
    pub(crate) unit_bytes: u64,
    pub(crate) probability: f64,
}

struct DiskWrite {
    target: u16,
    offset: u64,
    data: Vec<u8>,
}

/// Of a sector, by target and number: the number of a write, counted from 1; 0 is what was there
/// from the beginning.
pub(crate) type Sectors = BTreeMap<(u16, u64), usize>;

pub(crate) struct Disk {
    conduct: Conduct,
    /// So many answers are kept first.
    honest: u64,
    survival: Survival,
    writes: Vec<DiskWrite>,
    /// Of every sector, the last write that is stable.
    stable: Sectors,
    /// Writes that are in the cache, in their order.
    cached: Vec<usize>,
    /// Of every sector, the last write that was answered.
    pub(crate) answered: Sectors,
    /// So many answers are given before the crash.
    left: u64,
    chance: Xoshiro256PlusPlus,
}

pub(crate) type Shared = Rc<RefCell<Disk>>;

impl Disk {
    pub(crate) fn new(conduct: Conduct, honest: u64, survival: Survival, seed: u64) -> Self {
        Self {
            conduct,
            honest,
            survival,
            writes: Vec::new(),
            stable: Sectors::new(),
            cached: Vec::new(),
            answered: Sectors::new(),
            left: 0,
            chance: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// The power fails after so many answers.
    pub(crate) fn fail_after(&mut self, answers: u64) {
        self.left = answers;
    }

    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        ((self.chance.next_u64() >> 11) as f64) / ((1u64 << 53) as f64) < probability
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.chance.next_u64() % (end.max(1) as u64)).unwrap()
    }

    fn sectors(&self, write: usize) -> impl Iterator<Item = (u16, u64)> + use<> {
        let DiskWrite { target, offset, data } = &self.writes[write - 1];
        let (target, first) = (*target, offset / SECTOR);
        (first..first + data.len() as u64 / SECTOR).map(move |sector| (target, sector))
    }

    fn take(&mut self, request: &Request, data: &[u8]) -> usize {
        let (target, offset) = (request.target, request.offset);
        self.writes.push(DiskWrite { target, offset, data: data.to_vec() });
        self.cached.push(self.writes.len());
        self.writes.len()
    }

    fn make_stable(&mut self, write: usize) {
        for at in self.sectors(write) {
            let stable = self.stable.entry(at).or_default();
            *stable = (*stable).max(write);
        }
        self.cached.retain(|cached| *cached != write);
    }

    /// A flush of a target, or a durable write alone.
    fn flush(&mut self, writes: &[usize]) {
        let conduct = if self.honest > 0 { Conduct::Honest } else { self.conduct };
        match conduct {
            Conduct::Lies(probability) if self.happens(probability) => return,
            Conduct::Reorders(probability) if self.happens(probability) => {
                for write in writes {
                    if self.happens(0.5) {
                        self.make_stable(*write);
                    }
                }
                return;
            }
            _ => {}
        }
        for write in writes {
            self.make_stable(*write);
        }
    }

    fn answer(&mut self, request: &Request, write: Option<usize>, durable: bool) -> i32 {
        match (request.op, write) {
            (Op::Fsync | Op::Fdatasync, _) => {
                let of = |write: &&usize| {
                    let at = self.sectors(**write).next().unwrap();
                    at.0 == request.target && self.answered.get(&at).is_some_and(|a| a >= *write)
                };
                let cached: Vec<usize> = self.cached.iter().filter(of).copied().collect();
                self.flush(&cached);
                0
            }
            (Op::Write | Op::WriteDurable, Some(write)) => {
                for at in self.sectors(write) {
                    self.answered.insert(at, write);
                }
                if durable || request.op == Op::WriteDurable {
                    self.flush(&[write]);
                }
                i32::try_from(request.bytes).unwrap()
            }
            _ => unreachable!("the writer does not read"),
        }
    }

    /// The power fails: of what is in the cache, some is stable, the rest is gone.
    pub(crate) fn crash(&mut self) {
        let Survival { unit_bytes, probability } = self.survival;
        for write in std::mem::take(&mut self.cached) {
            let mut unit = None;
            let mut survives = false;
            for at in self.sectors(write) {
                let this = at.1 * SECTOR / unit_bytes;
                if unit.replace(this) != Some(this) {
                    survives = self.happens(probability);
                }
                if survives {
                    let stable = self.stable.entry(at).or_default();
                    *stable = (*stable).max(write);
                }
            }
        }
        self.answered.clone_from(&self.stable);
    }

    pub(crate) fn stable_write(&self, at: (u16, u64)) -> usize {
        self.stable.get(&at).copied().unwrap_or(0)
    }

    /// What a write brought to a sector; random bytes from the beginning.
    pub(crate) fn content(&self, at: (u16, u64), write: usize) -> Vec<u8> {
        if let Some(written) = write.checked_sub(1).map(|write| &self.writes[write]) {
            let from = usize::try_from(at.1 * SECTOR - written.offset).unwrap();
            return written.data[from..from + 512].to_vec();
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(at.1 << 8 | u64::from(at.0));
        (0..64).flat_map(|_| random.next_u64().to_le_bytes()).collect()
    }

    /// Whether a sector has what this write brought, or a later one.
    pub(crate) fn has_at_least(&self, at: (u16, u64), write: usize) -> bool {
        let has = self.stable_write(at);
        if has >= write {
            return true;
        }
        // The same bytes may have been written again after a crash.
        let content = self.content(at, has);
        let covers = |later: &usize| self.sectors(*later).any(|sector| sector == at);
        (write..=self.writes.len()).filter(covers).any(|later| self.content(at, later) == content)
    }
}

/// A queue to the disk. `through` makes every write durable.
pub(crate) struct Line {
    disk: Shared,
    through: bool,
    now: Cell<u64>,
    pending: Vec<(Request, Option<usize>)>,
    done: Vec<Finished>,
    write: Vec<Vec<u8>>,
    read: Vec<Vec<u8>>,
}

impl Line {
    /// A writer's.
    pub(crate) fn new(disk: &Shared, through: bool) -> Self {
        Self {
            disk: Rc::clone(disk),
            through,
            now: Cell::new(1),
            pending: Vec::new(),
            done: Vec::new(),
            write: vec![vec![0; WRITE_BYTES]; DEPTH],
            read: Vec::new(),
        }
    }

    /// A reader's.
    pub(crate) fn to_read(disk: &Shared) -> Self {
        Self { write: Vec::new(), read: vec![vec![0; READ_BYTES]; DEPTH], ..Self::new(disk, false) }
    }
}

impl Queue for Line {
    fn now(&self) -> u64 {
        self.now.get()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        for request in requests {
            let bytes = request.bytes as usize;
            let slot = request.slot as usize;
            let write = matches!(request.op, Op::Write | Op::WriteDurable)
                .then(|| self.disk.borrow_mut().take(request, &self.write[slot][..bytes]));
            if request.op == Op::Read {
                let disk = self.disk.borrow();
                for (sector, out) in
                    (request.offset / SECTOR..).zip(self.read[slot][..bytes].chunks_mut(512))
                {
                    let at = (request.target, sector);
                    out.copy_from_slice(&disk.content(at, disk.stable_write(at)));
                }
                self.done
                    .push(Finished { slot: request.slot, result: i32::try_from(bytes).unwrap() });
            } else {
                self.pending.push((*request, write));
            }
        }
        Ok(())
    }

    /// One I/O is answered, any of those in flight; or the power fails.
    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        if !self.done.is_empty() {
            return Ok(());
        }
        if self.pending.is_empty() {
            self.now.set(until_ns);
            return Ok(());
        }
        let mut disk = self.disk.borrow_mut();
        let Some(left) = disk.left.checked_sub(1) else {
            return Err(io::Error::other("the power fails"));
        };
        disk.left = left;
        disk.honest = disk.honest.saturating_sub(1);
        let (request, write) = self.pending.swap_remove(disk.below(self.pending.len()));
        let result = disk.answer(&request, write, self.through);
        self.done.push(Finished { slot: request.slot, result });
        self.now.set(self.now.get() + 1);
        Ok(())
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        finished.append(&mut self.done);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        &mut self.write[slot as usize]
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        &self.read[slot as usize]
    }
}
