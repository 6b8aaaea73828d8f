//! Records as columns of varints: like values next to each other, so that deflate packs them well.

use std::collections::BTreeMap;

use crate::io::{Io, Kind, TICK_NS};

/// The largest shift of offsets and lengths.
const SHIFT_MAX: u32 = 63;

/// The columns of some records, and where each ends. Each call stands alone: a block is read
/// without those before it. Offsets and lengths are counted in the largest power of two that
/// divides them all.
pub(crate) fn pack(records: &[Io]) -> (Vec<u8>, Vec<usize>) {
    let bits = records.iter().fold(0, |bits, io| bits | io.offset_bytes | io.length_bytes);
    let shift = bits.trailing_zeros().min(SHIFT_MAX);
    let mut out = vec![shift.to_le_bytes()[0]];
    let mut splits = Vec::with_capacity(7);
    for io in records {
        put(&mut out, io.kind.number());
    }
    splits.push(out.len());
    for io in records {
        put(&mut out, u64::from(io.device));
    }
    splits.push(out.len());
    for io in records {
        put(&mut out, u64::from(io.stream));
    }
    splits.push(out.len());
    for io in records {
        put(&mut out, io.length_bytes >> shift);
    }
    splits.push(out.len());
    let mut ends = BTreeMap::new();
    for io in records {
        let offset = io.offset_bytes >> shift;
        let end = ends.entry((io.device, io.stream, io.kind)).or_insert(0_u64);
        put(&mut out, zigzag(offset.wrapping_sub(*end)));
        *end = offset.wrapping_add(io.length_bytes >> shift);
    }
    splits.push(out.len());
    let mut before = 0_u64;
    for io in records {
        let ticks = io.issued_ns / TICK_NS;
        put(&mut out, zigzag(ticks.wrapping_sub(before)));
        before = ticks;
    }
    splits.push(out.len());
    for io in records {
        put(&mut out, io.latency_ns.map_or(0, |ns| ns / TICK_NS + 1));
    }
    splits.push(out.len());
    (out, splits)
}

/// The records of the columns; `None` if the bytes are not columns of that many records.
pub(crate) fn unpack(mut raw: &[u8], count: usize) -> Option<Vec<Io>> {
    let (first, rest) = raw.split_first()?;
    raw = rest;
    let shift = u32::from(*first);
    if shift > SHIFT_MAX {
        return None;
    }
    let mut column = || (0..count).map(|_| get(&mut raw)).collect::<Option<Vec<u64>>>();
    let (kinds, devices, streams) = (column()?, column()?, column()?);
    let (lengths, offsets, times, latencies) = (column()?, column()?, column()?, column()?);
    if !raw.is_empty() {
        return None;
    }
    let mut ends = BTreeMap::new();
    let mut ticks = 0_u64;
    let mut records = Vec::with_capacity(count);
    for i in 0..count {
        let kind = Kind::of_number(kinds[i])?;
        let device = u32::try_from(devices[i]).ok()?;
        let stream = u32::try_from(streams[i]).ok()?;
        let end = ends.entry((device, stream, kind)).or_insert(0_u64);
        let offset = end.wrapping_add(unzigzag(offsets[i]));
        *end = offset.wrapping_add(lengths[i]);
        ticks = ticks.wrapping_add(unzigzag(times[i]));
        let latency_ns = match latencies[i] {
            0 => None,
            more => Some((more - 1).checked_mul(TICK_NS)?),
        };
        records.push(Io {
            issued_ns: ticks.checked_mul(TICK_NS)?,
            latency_ns,
            device,
            stream,
            offset_bytes: offset.checked_mul(1 << shift)?,
            length_bytes: lengths[i].checked_mul(1 << shift)?,
            kind,
        });
    }
    Some(records)
}

/// Differences of either sign as small numbers: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
pub(crate) fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ (difference >> 63).wrapping_neg()
}

pub(crate) fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// Seven bits a byte, the lowest first.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

pub(crate) fn get(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A block whose checksum somebody made right, too, is refused or read, and what is read
        /// is packed and read to the same.
        #[test]
        fn any_columns_are_refused_or_read(
            shift in 0_u8..70, small in vec(0_u8..5, 0..80), any in vec(any::<u8>(), 0..40),
            count in 0_usize..20,
        ) {
            let raw = [vec![shift], small, any].concat();
            for count in [count, (raw.len() - 1) / 7] {
                if let Some(records) = unpack(&raw, count) {
                    prop_assert_eq!(records.len(), count);
                    prop_assert_eq!(unpack(&pack(&records).0, count), Some(records));
                }
            }
        }
    }
}
