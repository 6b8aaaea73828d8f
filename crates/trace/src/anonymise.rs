//! Other offsets for a trace that is given away: groups of regions change places.
//!
//! Read the trace twice: first to see which regions belong together, then to move them. What an
//! I/O touches stays in one piece, so two I/Os touch the same page after that if they did before,
//! and times, sizes, kinds and the order within a group stay. What was never touched is left out.

use std::collections::BTreeMap;

use crate::files::FileExtent;
use crate::io::{Io, Kind};

/// Regions have at least this size, as a power of two: 1 MiB.
const BITS: u32 = 20;
/// More groups than this on a device make the regions twice as large.
const GROUPS_MAX: usize = 1 << 20;
/// Ends of the last I/Os of a device that an I/O may continue.
const ENDS: usize = 32;
/// Regions that are kept together only because a run passes from one to the other.
const RUN_MAX: u64 = 64;

/// Which regions of a trace belong together, from its I/Os in the order of their issue.
#[derive(Debug, Clone)]
pub struct Regions {
    bits: u32,
    devices: BTreeMap<u32, Device>,
}

#[derive(Debug, Clone, Default)]
struct Device {
    /// The first and the last region of each group; none has a region of another.
    groups: BTreeMap<u64, u64>,
    ends: [u64; ENDS],
    next: usize,
}

/// Whether an I/O has a place.
fn has_place(io: &Io) -> bool {
    io.kind != Kind::Flush
}

fn end(io: &Io) -> u64 {
    io.offset_bytes.saturating_add(io.length_bytes)
}

impl Default for Regions {
    fn default() -> Self {
        Self { bits: BITS, devices: BTreeMap::new() }
    }
}

impl Regions {
    /// Counts the regions of an I/O as touched. A flush has no place and changes nothing.
    pub fn add(&mut self, io: &Io) {
        if !has_place(io) {
            return;
        }
        let (first, last) = (io.offset_bytes >> self.bits, (end(io).max(1) - 1) >> self.bits);
        let device = self.devices.entry(io.device).or_default();
        let continues = io.offset_bytes > 0 && device.ends.contains(&io.offset_bytes);
        device.join(first, last.max(first));
        if continues && io.offset_bytes.trailing_zeros() >= self.bits {
            device.join_run(first);
        }
        if let Some(place) = device.ends.get_mut(device.next) {
            *place = end(io);
        }
        device.next = (device.next + 1) % ENDS;
        while self.devices.get(&io.device).is_some_and(|d| d.groups.len() > GROUPS_MAX) {
            self.widen();
        }
    }

    /// Makes all regions twice as large.
    fn widen(&mut self) {
        self.bits += 1;
        for device in self.devices.values_mut() {
            for (first, last) in std::mem::take(&mut device.groups) {
                device.join(first >> 1, last >> 1);
            }
        }
    }

    /// Puts the groups of each device into the order of their keys, one after the other. `key` gets
    /// the number of the device and of the first region; let it depend on a secret, and forget it.
    #[must_use]
    pub fn permuted(self, key: impl Fn(u32, u64) -> u64) -> Permutation {
        let (mut places, mut sizes) = (BTreeMap::new(), BTreeMap::new());
        for (number, device) in self.devices {
            let mut groups: Vec<(u64, u64)> = device.groups.into_iter().collect();
            groups.sort_by_key(|(first, _)| (key(number, *first), *first));
            let mut place = 0_u64;
            for (first, last) in groups {
                places.insert((number, first), (last, place));
                place = place.saturating_add(last - first + 1);
            }
            sizes.insert(number, place);
        }
        Permutation { bits: self.bits, places, sizes }
    }
}

impl Device {
    /// Makes these regions, and all groups that have one of them, one group.
    fn join(&mut self, first: u64, last: u64) {
        let (mut first, mut last) = (first, last);
        while let Some((begin, end)) = self.groups.range(..=last).next_back() {
            let (begin, end) = (*begin, *end);
            if end < first {
                break;
            }
            if begin <= first && end >= last {
                return;
            }
            self.groups.remove(&begin);
            (first, last) = (first.min(begin), last.max(end));
        }
        self.groups.insert(first, last);
    }

    /// Joins the group that ends before this region with the one that begins there.
    fn join_run(&mut self, region: u64) {
        let before = region.checked_sub(1).and_then(|r| self.groups.range(..=r).next_back());
        let (Some((begin, last)), Some(end)) = (before, self.groups.get(&region)) else { return };
        let (begin, last, end) = (*begin, *last, *end);
        if last + 1 == region && end - begin < RUN_MAX {
            self.join(begin, end);
        }
    }
}

/// Where each group of regions goes.
#[derive(Debug, Clone)]
pub struct Permutation {
    bits: u32,
    /// The last region of a group, and its new first one, by device and first region.
    places: BTreeMap<(u32, u64), (u64, u64)>,
    /// How many regions of each device were touched.
    sizes: BTreeMap<u32, u64>,
}

impl Permutation {
    /// Moves an I/O to its new place; `None` if its region was never added.
    #[must_use]
    pub fn io(&self, io: &Io) -> Option<Io> {
        if !has_place(io) {
            return Some(*io);
        }
        let region = io.offset_bytes >> self.bits;
        let group = self.places.range((io.device, 0)..=(io.device, region)).next_back();
        let ((_, first), (last, place)) = group?;
        if region > *last {
            return None;
        }
        let within = io.offset_bytes - (first << self.bits);
        Some(Io { offset_bytes: (place << self.bits) + within, ..*io })
    }

    /// The parts of an extent that I/Os touch, at their new places, in the order of the old ones. A
    /// part of a file in a region that was never touched is left out.
    #[must_use]
    pub fn extents(&self, extent: &FileExtent) -> Vec<FileExtent> {
        let end = extent.offset_bytes.saturating_add(extent.length_bytes);
        if extent.offset_bytes >= end {
            return Vec::new();
        }
        let last_region = (end - 1) >> self.bits;
        let (from, to) = ((extent.device, 0), (extent.device, last_region));
        let groups = self.places.range(from..=to).rev();
        // Groups do not overlap, so those before the first that ends too early end earlier still.
        let touched = groups.take_while(|(_, (last, _))| *last >= extent.offset_bytes >> self.bits);
        let piece = |((_, first), (last, place)): (&(u32, u64), &(u64, u64))| {
            let begin = first << self.bits;
            let from = extent.offset_bytes.max(begin);
            let group_end = (last + 1).saturating_mul(self.region_bytes());
            let offset_bytes = (place << self.bits) + (from - begin);
            FileExtent { offset_bytes, length_bytes: end.min(group_end) - from, ..*extent }
        };
        let mut pieces: Vec<FileExtent> = touched.map(piece).collect();
        pieces.reverse();
        pieces
    }

    /// How many groups of regions change places, on all devices together.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.places.len()
    }

    /// The size of a region in bytes.
    #[must_use]
    pub fn region_bytes(&self) -> u64 {
        1 << self.bits
    }

    /// How many bytes of a device are left; `None` if nothing on it was touched.
    #[must_use]
    pub fn device_bytes(&self, device: u32) -> Option<u64> {
        self.sizes.get(&device).map(|regions| regions.saturating_mul(self.region_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_groups_make_larger_regions() {
        let mut regions = Regions::default();
        for i in 0..=GROUPS_MAX as u64 {
            regions.add(&Io {
                issued_ns: 0,
                latency_ns: None,
                device: 0,
                stream: 0,
                offset_bytes: i << BITS,
                length_bytes: 512,
                kind: Kind::Read,
            });
        }
        assert_eq!(regions.bits, BITS + 1);
        assert_eq!(regions.devices[&0].groups.len(), GROUPS_MAX / 2 + 1);
    }
}
