//! What is written: bytes that storage can neither compress nor recognise, unless that is asked for.

use workload::Content;

use crate::random::Random;

/// Storage that looks for equal or compressible data works on units of this size or multiples of it.
const UNIT: usize = 4096;

/// Gives a buffer its lasting content, once before the run.
pub(crate) fn prepare(content: Content, buffer: &mut [u8], random: &mut Random) {
    match content {
        Content::Zero => buffer.fill(0),
        Content::Random => random.fill(buffer),
        Content::Compressible { percent } => {
            for unit in buffer.chunks_mut(UNIT) {
                let zeros = unit.len() * usize::from(percent.min(100)) / 100;
                let (zero, rest) = unit.split_at_mut(zeros);
                zero.fill(0);
                random.fill(rest);
            }
        }
    }
}

/// Makes a prepared buffer differ from everything written before, by a few bytes in each unit.
///
/// Filling 8 KiB afresh costs half a microsecond; this costs two stores.
#[inline]
pub(crate) fn freshen(content: Content, buffer: &mut [u8], serial: &mut u64) {
    let from_end = match content {
        Content::Zero | Content::Compressible { percent: 100.. } => return,
        Content::Random | Content::Compressible { .. } => 8,
    };
    for unit in buffer.chunks_mut(UNIT) {
        *serial = serial.wrapping_add(0x9E37_79B9_7F4A_7C15);
        if let Some(last) = unit.len().checked_sub(from_end).and_then(|at| unit.get_mut(at..)) {
            last.copy_from_slice(&serial.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_units_are_ever_alike() {
        let mut buffer = vec![0; 4 * UNIT];
        prepare(Content::Random, &mut buffer, &mut Random::new(1, 1));
        let mut serial = 5;
        let mut seen = HashSet::new();
        for _ in 0..1000 {
            freshen(Content::Random, &mut buffer, &mut serial);
            assert!(buffer.chunks(UNIT).all(|unit| seen.insert(unit.to_vec())));
        }
    }

    #[test]
    fn compressible_content_has_its_share_of_zeros_and_is_still_unique() {
        let content = Content::Compressible { percent: 75 };
        let mut buffer = vec![1; 2 * UNIT];
        prepare(content, &mut buffer, &mut Random::new(1, 1));
        freshen(content, &mut buffer, &mut 0);
        let zeros: usize = buffer.iter().map(|b| usize::from(*b == 0)).sum();
        assert!((6100..6300).contains(&zeros), "{zeros} of 8192");
        assert_ne!(buffer[..UNIT], buffer[UNIT..]);
    }

    #[test]
    fn zero_content_stays_zero() {
        let mut buffer = vec![1; 100];
        prepare(Content::Zero, &mut buffer, &mut Random::new(1, 1));
        freshen(Content::Zero, &mut buffer, &mut 3);
        assert!(buffer.iter().all(|b| *b == 0));
    }
}
