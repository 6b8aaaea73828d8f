//! Which requests something goes wrong with, and what exactly.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;

use device::Op;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::super::cache::Flush;
use super::plan::{Fault, FaultPlan, SECTOR_BYTES, Torn, When};

/// A misdirected request goes to a multiple of this.
const ELSEWHERE_BYTES: u64 = 4096;

/// A request before it is made.
pub(in crate::linux) struct PendingIo<'a> {
    pub(in crate::linux) name: &'a OsStr,
    pub(in crate::linux) content: &'a File,
    pub(in crate::linux) op: Op,
    pub(in crate::linux) offset: u64,
    pub(in crate::linux) bytes: u64,
    /// A write that is on stable media when it is answered.
    pub(in crate::linux) durable: bool,
}

/// A fault that happens to a request.
pub(in crate::linux) struct DrawnFault {
    pub(super) number: usize,
    pub(super) fault: Fault,
    pub(super) elsewhere: Option<u64>,
    chance: Xoshiro256PlusPlus,
}

/// A plan, and how far it is.
pub(super) struct Armed {
    plan: FaultPlan,
    chance: Xoshiro256PlusPlus,
    fitting: u64,
    happened: u64,
}

impl Armed {
    pub(super) fn new(plan: FaultPlan) -> Self {
        let chance = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
        Self { plan, chance, fitting: 0, happened: 0 }
    }

    /// Whether the fault happens to this request.
    pub(super) fn draw(&mut self, asked: &PendingIo<'_>) -> Option<DrawnFault> {
        let FaultPlan { fault, when, file, range, .. } = &self.plan;
        let end = asked.offset.saturating_add(asked.bytes);
        let inside = asked.op == Op::Sync || (range.start <= asked.offset && end <= range.end);
        let named = file.as_deref().is_none_or(|name| asked.name == name);
        if !fault.fits(asked.op, asked.bytes, asked.durable) || !inside || !named {
            return None;
        }
        let mut elsewhere = None;
        if fault.is_misdirected() {
            let file_bytes = asked.content.metadata().map_or(0, |m| m.len());
            let others = StrayPlaces::new(range.start..range.end.min(file_bytes), asked);
            elsewhere = Some(others.at(self.chance.next_u64())?);
        }
        self.fitting += 1;
        let happens = match *when {
            When::Probability(probability) => {
                (self.chance.next_u64() >> 11) as f64 / (1u64 << 53) as f64 <= probability
                    && probability > 0.0
            }
            When::Every(n) => self.fitting.is_multiple_of(n),
            When::Nth(n) => self.fitting == n,
        };
        let happens = happens && self.happened < self.plan.most;
        self.happened += u64::from(happens);
        let chance = Xoshiro256PlusPlus::seed_from_u64(self.chance.next_u64());
        happens.then_some(DrawnFault { number: 0, fault: *fault, elsewhere, chance })
    }
}

/// The places where a request could go that it should not.
struct StrayPlaces {
    first: u64,
    before: u64,
    second: u64,
    behind: u64,
}

impl StrayPlaces {
    fn new(range: Range<u64>, asked: &PendingIo<'_>) -> Self {
        let first = range.start.next_multiple_of(ELSEWHERE_BYTES);
        let second = (asked.offset + asked.bytes).next_multiple_of(ELSEWHERE_BYTES);
        let places = |from: u64, end: u64| {
            let room = end.checked_sub(from).and_then(|room| room.checked_sub(asked.bytes));
            room.map_or(0, |room| room / ELSEWHERE_BYTES + 1)
        };
        let (before, behind) = (places(first, asked.offset), places(second, range.end));
        Self { first, before, second, behind }
    }

    fn at(&self, random: u64) -> Option<u64> {
        let number = random.checked_rem(self.before + self.behind)?;
        Some(match number.checked_sub(self.before) {
            None => self.first + number * ELSEWHERE_BYTES,
            Some(number) => self.second + number * ELSEWHERE_BYTES,
        })
    }
}

impl DrawnFault {
    /// The error number of the request, if the fault makes it fail.
    pub(in crate::linux) fn errno(&self) -> Option<i32> {
        match self.fault {
            Fault::ReadError(errno) | Fault::WriteError(errno) | Fault::SyncError(errno) => {
                Some(errno)
            }
            _ => None,
        }
    }

    /// What becomes of a flush, or of a durable write.
    pub(in crate::linux) fn flush(&self) -> Flush {
        match self.fault {
            Fault::FsyncLies => Flush::Lies(self.number),
            Fault::ReorderAcrossFlush => Flush::Reorders(self.number),
            _ => Flush::Whole,
        }
    }

    /// By how much later the answer comes.
    pub(in crate::linux) fn stall_ns(&self) -> u64 {
        if let Fault::Stall(time) = self.fault { time.0 } else { 0 }
    }

    /// Bytes of a request of so many that are moved.
    pub(super) fn moved(&mut self, bytes: usize) -> usize {
        let sector = usize::try_from(SECTOR_BYTES).unwrap_or(usize::MAX);
        let sectors = bytes.div_ceil(sector);
        match self.fault {
            Fault::ShortRead | Fault::ShortWrite if sectors > 1 => {
                (1 + self.below(sectors - 1)) * sector
            }
            _ => bytes,
        }
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        let number = self.chance.next_u64() % (end.max(1) as u64);
        usize::try_from(number).unwrap_or(0)
    }

    /// Which sectors of a write arrive.
    pub(super) fn arriving(&mut self, torn: Torn, sectors: usize) -> Vec<bool> {
        let numbers = 0..sectors as u64;
        match torn {
            Torn::Prefix(n) => numbers.map(|sector| sector < n).collect(),
            Torn::Suffix(n) => numbers.map(|sector| sector + n >= sectors as u64).collect(),
            Torn::Random => {
                let mut arriving: Vec<bool> =
                    numbers.map(|_| self.chance.next_u64() >> 63 == 0).collect();
                if arriving.iter().all(|a| *a == arriving[0]) {
                    let one = self.below(sectors);
                    arriving[one] = !arriving[one];
                }
                arriving
            }
        }
    }
}
