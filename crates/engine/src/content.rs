//! The bytes of writes: storage can neither compress nor recognise them, unless the workload asks
//! for other content.

use workload::Content;

use crate::random::{Random, mixed};

/// Storage that looks for equal or compressible data works on units of this size or multiples of
/// it.
const UNIT: usize = 4096;
/// Writes from a source begin at multiples of this in it.
const SECTOR: usize = 512;

/// Gives a buffer its lasting content, once before the run.
pub(crate) fn prepare(content: Content, buffer: &mut [u8], random: &mut Random) {
    match content {
        Content::Zero | Content::Repeating | Content::Source { .. } => buffer.fill(0),
        Content::Counting => {
            buffer.iter_mut().zip((0..=u8::MAX).cycle()).for_each(|(byte, n)| *byte = n);
        }
        Content::Random | Content::Fixed => random.fill(buffer),
        Content::Compressible { percent } => {
            for unit in buffer.chunks_mut(UNIT) {
                let (zero, rest) = unit.split_at_mut(zeros(unit.len(), percent));
                zero.fill(0);
                random.fill(rest);
            }
        }
    }
}

/// Makes the first `bytes` of a prepared buffer differ from everything written before: every word
/// of them, so that no compressor finds in this write what it has seen in an earlier one.
///
/// With a `source`, the bytes come from another place of it each time instead.
///
/// All words are combined with one number that never repeats. Filling 8 KiB afresh costs half a
/// microsecond; this is one pass of a few instructions per cache line.
#[inline]
pub(crate) fn freshen(
    content: Content,
    source: &[u8],
    buffer: &mut [u8],
    bytes: usize,
    serial: &mut u64,
) {
    *serial = serial.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mask = mixed(*serial);
    match content {
        Content::Zero
        | Content::Counting
        | Content::Fixed
        | Content::Compressible { percent: 100.. } => {}
        Content::Repeating => buffer[..bytes].fill(mask.to_ne_bytes()[0]),
        Content::Source { .. } => copy_from(source, &mut buffer[..bytes], mask),
        Content::Random => combine(&mut buffer[..bytes], mask),
        Content::Compressible { percent } => {
            // Where the zeros are was decided for the whole buffer, of which this write may be the
            // beginning.
            let mut left = bytes;
            for unit in buffer.chunks_mut(UNIT) {
                let used = unit.len().min(left);
                combine(unit.get_mut(zeros(unit.len(), percent)..used).unwrap_or_default(), mask);
                left -= used;
            }
        }
    }
}

/// Copies a part of the source that begins at any multiple of a sector, which the random bits
/// decide.
#[inline(never)]
fn copy_from(source: &[u8], buffer: &mut [u8], bits: u64) {
    let Some(rest) = source.len().checked_sub(buffer.len()) else { return };
    let places = (rest / SECTOR + 1) as u128;
    let place = usize::try_from((u128::from(bits) * places) >> 64).unwrap_or(0);
    buffer.copy_from_slice(&source[place * SECTOR..][..buffer.len()]);
}

/// Combines every word with the same number.
fn combine(bytes: &mut [u8], mask: u64) {
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ mask).to_ne_bytes();
    }
    for (byte, m) in rest.iter_mut().zip(mask.to_ne_bytes()) {
        *byte ^= m;
    }
}

/// How many bytes at the beginning of a unit are zero.
fn zeros(unit: usize, percent: u8) -> usize {
    unit * usize::from(percent.min(100)) / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use proptest::prelude::*;
    use std::collections::HashSet;
    use std::io::Write as _;

    #[test]
    fn no_two_units_are_ever_alike() {
        let mut buffer = vec![0; 4 * UNIT];
        prepare(Content::Random, &mut buffer, &mut Random::new(1, 1));
        let mut serial = 5;
        let mut seen = HashSet::new();
        for _ in 0..1000 {
            freshen(Content::Random, &[], &mut buffer, 4 * UNIT, &mut serial);
            assert!(buffer.chunks(UNIT).all(|unit| seen.insert(unit.to_vec())));
        }
    }

    #[test]
    fn compressible_content_has_its_share_of_zeros_and_is_still_unique() {
        let content = Content::Compressible { percent: 75 };
        let mut buffer = vec![1; 2 * UNIT];
        prepare(content, &mut buffer, &mut Random::new(1, 1));
        freshen(content, &[], &mut buffer, 2 * UNIT, &mut 0);
        let zeros: usize = buffer.iter().map(|b| usize::from(*b == 0)).sum();
        assert!((6100..6300).contains(&zeros), "{zeros} of 8192");
        assert_ne!(buffer[..UNIT], buffer[UNIT..]);
    }

    #[test]
    fn repeating_content_is_of_one_byte_that_changes_and_fixed_content_stays() {
        let mut buffer = vec![0; 2 * UNIT];
        let (mut seen, mut serial) = (HashSet::new(), 5);
        for _ in 0..500 {
            freshen(Content::Repeating, &[], &mut buffer, UNIT, &mut serial);
            assert!(buffer[..UNIT].iter().all(|b| *b == buffer[0]));
            seen.insert(buffer[0]);
        }
        assert!(seen.len() > 200, "{} of 256", seen.len());
        prepare(Content::Fixed, &mut buffer, &mut Random::new(1, 1));
        let before = buffer.clone();
        freshen(Content::Fixed, &[], &mut buffer, UNIT, &mut serial);
        assert_eq!(buffer, before);
        assert!(buffer.iter().collect::<HashSet<_>>().len() > 200, "incompressible");
    }

    #[test]
    fn zero_content_stays_zero() {
        let mut buffer = vec![1; 100];
        prepare(Content::Zero, &mut buffer, &mut Random::new(1, 1));
        freshen(Content::Zero, &[], &mut buffer, 100, &mut 3);
        assert!(buffer.iter().all(|b| *b == 0));
    }

    /// A megabyte of writes from several slots, one after the other, deflated.
    fn deflated_share(content: Content, block: usize) -> f64 {
        let mut random = Random::new(1, 1);
        let mut slots = vec![vec![0; block]; 3];
        for slot in &mut slots {
            prepare(content, slot, &mut random);
        }
        let (mut serial, mut written) = (random.bits(), Vec::new());
        while written.len() < 1 << 20 {
            for slot in &mut slots {
                freshen(content, &[], slot, block, &mut serial);
                written.extend_from_slice(slot);
            }
        }
        let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
        deflated.write_all(&written).unwrap();
        deflated.finish().unwrap().len() as f64 / written.len() as f64
    }

    /// A log of 4 KiB writes from the same buffers, in which 8 bytes were new each time, was called
    /// incompressible and shrank to a hundredth: storage that compresses wrote next to nothing.
    #[test]
    fn consecutive_writes_do_not_compress() {
        for block in [512, 4096, 8192] {
            let share = deflated_share(Content::Random, block);
            assert!(share > 0.99, "blocks of {block} shrink to {share}");
        }
        let share = deflated_share(Content::Compressible { percent: 50 }, 4096);
        assert!((0.49..0.53).contains(&share), "{share}");
    }

    /// A short write is the beginning of a buffer for longer ones, so bytes that are zero there
    /// stay zero.
    #[test]
    fn zeros_stay_where_they_were_prepared() {
        let content = Content::Compressible { percent: 50 };
        let mut buffer = vec![1; 2 * UNIT];
        prepare(content, &mut buffer, &mut Random::new(1, 1));
        for bytes in [512, 3000, 5000, 6500, 8192] {
            freshen(content, &[], &mut buffer, bytes, &mut 7);
        }
        for unit in buffer.chunks(UNIT) {
            assert!(unit[..UNIT / 2].iter().all(|b| *b == 0));
        }
    }

    #[test]
    fn counting_bytes_begin_anew_with_each_block() {
        let mut buffer = vec![9; 1000];
        prepare(Content::Counting, &mut buffer, &mut Random::new(1, 1));
        freshen(Content::Counting, &[], &mut buffer, 600, &mut 3);
        assert!(buffer.iter().enumerate().all(|(i, byte)| usize::from(*byte) == i % 256));
    }

    proptest! {
        /// Each write is a part of the source from a multiple of 512 bytes on, and every such part
        /// is written at some time.
        #[test]
        fn writes_from_a_source_are_parts_of_it(sectors in 0usize..8, odd in 0usize..512,
            bytes in 1usize..3000, mut serial: u64) {
            let mut source = vec![0; bytes + sectors * 512 + odd];
            Random::new(3, 3).fill(&mut source);
            let content = Content::Source { bytes: workload::Bytes(source.len() as u64) };
            let mut buffer = vec![7; 4096];
            let mut seen = HashSet::new();
            for _ in 0..300 {
                freshen(content, &source, &mut buffer, bytes, &mut serial);
                let at = (0..=sectors).find(|s| source[s * 512..][..bytes] == buffer[..bytes]);
                prop_assert!(at.is_some());
                prop_assert!(buffer[bytes..].iter().all(|b| *b == 7));
                seen.insert(at);
            }
            prop_assert!(bytes < 8 || seen.len() == sectors + 1);
        }
    }
}
