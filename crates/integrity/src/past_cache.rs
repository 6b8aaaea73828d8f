//! Stores that pass the processor's caches, and prefetches into them.
//!
//! What a device has read last of a buffer belongs to others than this processor, so ordinary
//! stores wait for one line of it after the other, to overwrite what they have waited for. Stores
//! that pass the caches do not. Where the operating system copies the buffer itself, they would
//! only move the wait there.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "stores that pass the caches, and what fetches into them, have no safe wrapper"
    )
)]

/// Copies `from` to the beginning of `to`, as far as there is room.
pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    let bytes = from.len().min(to.len());
    let (from, to) = (&from[..bytes], &mut to[..bytes]);
    #[cfg(target_arch = "x86_64")]
    if to.as_ptr().addr().is_multiple_of(16) {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        let (pieces, rest) = from.as_chunks::<16>();
        let (places, place_of_rest) = to.as_chunks_mut::<16>();
        for (piece, place) in pieces.iter().zip(places) {
            // SAFETY: both are 16 bytes, the second is aligned to that, and every processor of this
            // kind has the instructions (SSE2).
            unsafe {
                let word = _mm_loadu_si128(piece.as_ptr().cast());
                _mm_stream_si128(place.as_mut_ptr().cast(), word);
            }
        }
        // SAFETY: no memory is named; it orders earlier stores before all later ones, as these
        // stores demand.
        unsafe { _mm_sfence() };
        place_of_rest.copy_from_slice(rest);
        return;
    }
    to.copy_from_slice(from);
}

/// What a processor takes from memory at once.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Prefetches bytes into the cache, without waiting for them.
#[inline]
pub(crate) fn fetch<T>(what: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..size_of_val(what)).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is within the slice, and only the cache changes; every processor of
        // this kind has it (SSE).
        unsafe { _mm_prefetch::<_MM_HINT_T0>(what.as_ptr().cast::<i8>().add(at)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_copied_is_there_and_nothing_else_is_touched(
            from in prop::collection::vec(any::<u8>(), 0..600), at in 0usize..20,
                room in 0usize..700
        ) {
            let mut memory = vec![7; 800];
            copy(&from, &mut memory[at..at + room]);
            let bytes = from.len().min(room);
            prop_assert_eq!(&memory[at..at + bytes], &from[..bytes]);
            prop_assert!(memory[..at].iter().chain(&memory[at + bytes..]).all(|byte| *byte == 7));
        }
    }
}
