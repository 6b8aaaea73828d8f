//! Random choices of the hot path: xoshiro256++ and the distributions on top of it.

use std::time::SystemTime;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A seeded generator. The same seed and lane give the same choices on every system.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

/// Spreads the differences of similar numbers over all 64 bits, each number to another (the last
/// step of SplitMix64).
#[inline]
#[must_use]
pub fn mixed(number: u64) -> u64 {
    let a = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    b ^ (b >> 31)
}

/// A seed for content that must not repeat: neither on another lane nor in another run of the same
/// seed.
pub(crate) fn unrepeated(seed: u64, lane: u64) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let time = u64::try_from(since.as_nanos()).unwrap_or(0);
    [lane, u64::from(std::process::id()), time].into_iter().fold(mixed(seed), |a, b| mixed(a ^ b))
}

/// A seed that no earlier run had. It has 63 bits: TOML has no larger numbers, and plans keep it.
#[must_use]
pub fn unrepeated_seed() -> u64 {
    unrepeated(0, 0) >> 1
}

impl Random {
    /// The generator of one of many independent lanes of a seed.
    pub(crate) fn new(seed: u64, lane: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed ^ lane.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, every one equally likely to 2^-64 (Lemire's multiplication, without
    /// the rejection step: the bias of a 64-bit draw is below 1 in 2^24 for a trillion places).
    /// Zero gives zero.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::try_from((u128::from(self.bits()) * u128::from(bound)) >> 64).unwrap_or(0)
    }

    /// A number in 0 ≤ x < 1.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponentially distributed number with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// True `percent` times of a hundred.
    #[inline]
    pub(crate) fn percent(&mut self, percent: u8) -> bool {
        percent > 0 && self.below(100) < u64::from(percent)
    }

    /// Fills memory with bytes that no compressor shortens.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// The generator itself, for distributions of a library.
    pub(crate) fn generator(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }
}
