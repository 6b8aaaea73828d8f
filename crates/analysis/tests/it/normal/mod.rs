//! Normally distributed numbers from a fixed seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The generator.
pub(crate) struct Normal(Xoshiro256PlusPlus);

impl Normal {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One number of mean 0 and standard deviation 1 (Box and Muller).
    pub(crate) fn draw(&mut self) -> f64 {
        let mut unit = || ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (u, v) = (unit(), unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}
