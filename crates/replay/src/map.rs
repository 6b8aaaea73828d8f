//! From the address space of a trace to that of a target.
//!
//! The parts of the devices that the trace uses ("regions" of 1 MiB, larger only where there are
//! very many) are put side by side, in the order of their devices and offsets. What is sequential
//! stays sequential and what is hot stays hot; scaling offsets would make a small hot set of a
//! large one.

use std::collections::BTreeSet;

/// Size of a region, as a power of two.
const REGION_BITS: u32 = 20;
/// More regions than this become fewer and larger ones.
const REGIONS_MAX: usize = 1 << 18;

/// Where the I/Os of a trace go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapKind {
    /// Each I/O to its own offset: for a trace of one device on a target as large as it.
    Identity,
    /// The parts that are used, side by side.
    Compact,
    /// The parts that are used, with equal gaps between them, so that they take the whole target.
    Stretched,
    /// The parts that are used, side by side, and from the start again where the target ends: parts
    /// share their place.
    Folded,
}

/// The regions that a trace uses.
#[derive(Debug, Clone)]
pub(crate) struct Regions {
    bits: u32,
    used: BTreeSet<(u32, u64)>,
    last: Option<(u32, u64)>,
}

impl Default for Regions {
    fn default() -> Self {
        Self { bits: REGION_BITS, used: BTreeSet::new(), last: None }
    }
}

impl Regions {
    pub(crate) fn add(&mut self, device: u32, offset: u64, bytes: u64) {
        let end = offset.saturating_add(bytes.max(1) - 1);
        for region in offset >> self.bits..=end >> self.bits {
            if self.last == Some((device, region)) {
                continue;
            }
            self.last = Some((device, region));
            self.used.insert((device, region));
        }
        while self.used.len() > REGIONS_MAX && self.bits < 63 {
            self.bits += 1;
            self.used = self.used.iter().map(|(device, region)| (*device, region >> 1)).collect();
            self.last = None;
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.used.len() as u64).saturating_mul(1 << self.bits)
    }

    pub(crate) fn devices(&self) -> usize {
        let mut devices: Vec<u32> = self.used.iter().map(|(device, _)| *device).collect();
        devices.dedup();
        devices.len()
    }
}

/// The way from a trace to a target of a known size.
#[derive(Debug, Clone)]
pub struct AddressMap {
    kind: MapKind,
    bits: u32,
    regions: Vec<(u32, u64)>,
    /// For each region, the position on the target in regions.
    places: Vec<u64>,
    /// Regions after which a folded map begins again.
    fold: u64,
    target_bytes: u64,
    align_bytes: u64,
}

impl AddressMap {
    /// The map of what a trace uses to a target whose I/Os have to begin and end at multiples of
    /// `align_bytes`, a power of two.
    #[must_use]
    pub fn new(
        kind: MapKind,
        contents: &crate::Contents,
        target_bytes: u64,
        align_bytes: u64,
    ) -> Self {
        let used = contents.regions();
        let regions: Vec<(u32, u64)> = used.used.iter().copied().collect();
        let capacity = (target_bytes >> used.bits).max(1);
        let follows = |pair: &[(u32, u64)]| pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1;
        let extents = 1 + regions.windows(2).filter(|pair| !follows(pair)).count() as u64;
        let spare = capacity.saturating_sub(regions.len() as u64);
        let gap = if kind == MapKind::Stretched { spare / extents } else { 0 };
        let mut places = Vec::with_capacity(regions.len());
        let mut place = 0;
        for (index, _) in regions.iter().enumerate() {
            let begins = index > 0 && !follows(&regions[index - 1..=index]);
            place += u64::from(begins) * gap;
            places.push(place);
            place += 1;
        }
        let (bits, fold) = (used.bits, capacity);
        let align_bytes = align_bytes.max(1).next_power_of_two();
        Self { kind, bits, regions, places, fold, target_bytes, align_bytes }
    }

    /// Whether all that the trace uses has its own place on the target.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.regions.len() as u64 <= self.fold
    }

    /// Where an I/O goes, and how long it is there: it begins and ends at the alignment, and within
    /// the target.
    #[must_use]
    pub fn place(&self, device: u32, offset: u64, bytes: u64) -> (u64, u32) {
        let within = offset & ((1 << self.bits) - 1);
        let at = if self.kind == MapKind::Identity {
            offset
        } else {
            let region = (device, offset >> self.bits);
            let index = self.regions.binary_search(&region).unwrap_or_else(|next| next);
            let place = self.places.get(index).copied().unwrap_or(0) % self.fold.max(1);
            (place << self.bits).saturating_add(within)
        };
        let mask = self.align_bytes - 1;
        let begin = at & !mask;
        let end = at.saturating_add(bytes.max(1)).saturating_add(mask) & !mask;
        let room = self.target_bytes & !mask;
        let length = (end - begin).min(crate::contents::LARGEST_BYTES).min(room);
        let begin = begin.min(room - length);
        (begin, u32::try_from(length).unwrap_or(u32::MAX))
    }
}
