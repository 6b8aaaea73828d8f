//! What DiskSpd makes of the slices of a distribution on a target of a given size.
//!
//! Slices count from the start of the used part. The arithmetic is DiskSpd's, so that the ranges
//! are the same. Where DiskSpd crashes, leaves the slice or continues without any distribution,
//! this module returns an error or stays inside.

use thiserror::Error;

use crate::order::DiskspdSlices;
use crate::units::Bytes;

/// The slices that are used on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The sum of all shares: 100, or less if slices past the end were dropped.
    pub io_span: u64,
    /// The slices that receive I/Os, one after the other.
    pub slices: Vec<EffectiveSlice>,
}

/// One slice that receives I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectiveSlice {
    /// The first of `io_span` shares, counted over all slices.
    pub io_base: u64,
    /// Its shares of the I/Os, of the sum of all.
    pub io_span: u64,
    /// Where it begins on the target, in bytes.
    pub offset: u64,
    /// Its length in bytes; 0 where only the place at `offset` is in it.
    pub length: u64,
    /// The first place at which an I/O of it begins, in bytes.
    pub first: u64,
    /// The places are the multiples of the step from `first` on, below `first` plus this; at least
    /// one step.
    pub reach: u64,
}

/// Why slices cannot be used on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SlicesError {
    /// The used part has no room for a single I/O.
    #[error("the used part of {0} is smaller than a block")]
    TooSmall(Bytes),
    /// Every slice that receives I/Os is past the end, or has no room for an I/O.
    #[error("no slice that receives I/Os has a place for one within {0}")]
    NothingLeft(Bytes),
}

/// The places of a target's used part, all that the arithmetic needs to know.
#[derive(Clone, Copy)]
struct Places {
    bytes: u64,
    block: u64,
    step: u64,
    /// The first multiple of the step at which no I/O can begin any more.
    end: u64,
}

/// The length of a target's used part as random offsets see it: an offset is a multiple of `step`
/// below it.
///
/// Zero where no block fits. Always whole steps: where one more would be beyond 64 bits, the last
/// place is left out.
#[must_use]
pub fn diskspd_reach(rel_bytes: u64, block: u64, step: u64) -> u64 {
    let step = step.max(1);
    match rel_bytes.checked_sub(block) {
        Some(last) => {
            let last = last / step * step;
            last.checked_add(step).unwrap_or(last)
        }
        None => 0,
    }
}

impl DiskspdSlices {
    /// The slices as they are used on `rel_bytes` by I/Os of `block` bytes that begin at multiples
    /// of `step`.
    pub fn effective(
        &self,
        rel_bytes: u64,
        block: u64,
        step: u64,
    ) -> Result<Effective, SlicesError> {
        let step = step.max(1);
        let end = diskspd_reach(rel_bytes, block, step);
        if end == 0 {
            return Err(SlicesError::TooSmall(Bytes(rel_bytes)));
        }
        let places = Places { bytes: rel_bytes, block, step, end };
        let mut slices = match self {
            Self::Percent(slices) => percent(slices, places),
            Self::Absolute(slices) => absolute(slices, places),
        };
        let mut io_span = 0;
        for slice in &mut slices {
            slice.io_base = io_span;
            io_span += slice.io_span;
        }
        if io_span == 0 {
            return Err(SlicesError::NothingLeft(Bytes(rel_bytes)));
        }
        Ok(Effective { io_span, slices })
    }
}

impl Places {
    /// A place or a slice's end at a percentage of the whole.
    fn at(self, percent: u64) -> u64 {
        if percent >= 100 {
            return self.end;
        }
        let exact = u128::from(self.end) * u128::from(percent) / 100;
        let exact = u64::try_from(exact).unwrap_or(self.end);
        exact / self.step * self.step
    }
}

/// Bounds are whole percent of the reach, rounded down to the step. A slice without a place lends
/// its share to a neighbour.
fn percent(given: &[(u8, u8)], places: Places) -> Vec<EffectiveSlice> {
    let mut kept: Vec<EffectiveSlice> = Vec::new();
    let (mut up_to, mut carried) = (0, 0);
    for (i, (io, extent)) in given.iter().enumerate() {
        let mut start = places.at(up_to);
        up_to += u64::from(*extent);
        let end = places.at(up_to);
        if *io == 0 || start >= places.end {
            continue;
        }
        let share = u64::from(*io) + std::mem::take(&mut carried);
        let Some(last) = kept.last_mut() else {
            kept.push(slice(share, start, end - start, places));
            continue;
        };
        if last.length == 0 && last.offset == start {
            if end == start {
                last.io_span += share;
                continue;
            }
            // The place of the one before is its own, so this one begins after it.
            last.length = places.step;
            start += places.step;
        }
        if end > start {
            kept.push(slice(share, start, end - start, places));
            continue;
        }
        let next = given[i + 1..].iter().map(|(io, _)| u64::from(*io)).find(|io| *io > 0);
        if next.is_some_and(|next| next < last.io_span) {
            carried = share;
        } else {
            last.io_span += share;
            if up_to >= 100 {
                last.length = end.saturating_sub(last.offset);
            }
        }
    }
    for slice in &mut kept {
        slice.reach = slice.length.max(places.step);
    }
    kept
}

/// Slices of given lengths, one after the other, up to the end of the used part.
fn absolute(given: &[(u8, Bytes)], places: Places) -> Vec<EffectiveSlice> {
    let (mut kept, mut offset) = (Vec::new(), 0u64);
    for (io, length) in given {
        let rest = places.bytes.saturating_sub(offset);
        let whole = if length.0 == 0 { rest } else { length.0 };
        let length = whole.min(rest);
        if *io > 0 && length >= places.block {
            let mut slice = slice(u64::from(*io), offset, length, places);
            if confine(&mut slice, places) {
                kept.push(slice);
            }
        }
        offset = offset.saturating_add(whole);
    }
    kept
}

fn slice(io_span: u64, offset: u64, length: u64, places: Places) -> EffectiveSlice {
    let reach = length.max(places.step);
    EffectiveSlice { io_base: 0, io_span, offset, length, first: offset, reach }
}

/// Keeps the beginnings of I/Os on the step, in the slice, and the I/Os within the target. False
/// when no place is left.
///
/// Nothing changes where the slice is whole steps and does not end after the last place: then
/// offsets are DiskSpd's.
fn confine(slice: &mut EffectiveSlice, places: Places) -> bool {
    let Places { step, block, .. } = places;
    let Some(first) = slice.offset.checked_next_multiple_of(step) else { return false };
    let stop = (slice.offset + slice.length).min(places.end);
    let whole_steps = slice.offset.is_multiple_of(step) && slice.length.is_multiple_of(step);
    // After the last beginning: of an I/O that ends inside the slice if there is one.
    let inside = diskspd_reach(slice.offset + slice.length, block, step).min(places.end);
    let behind = if whole_steps || inside <= first { stop } else { inside };
    if behind <= first {
        return false;
    }
    slice.first = first;
    slice.reach = (behind - first).div_ceil(step).saturating_mul(step);
    true
}

#[cfg(test)]
#[path = "slices_tests.rs"]
mod tests;
