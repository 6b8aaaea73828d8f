//! Series of throughput made from formulas, so that their true mean is known: it is 100.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Length of an interval in seconds.
pub(super) const BUCKET_S: f64 = 0.25;
/// Intervals of the series per second.
pub(super) const BUCKETS_PER_S: usize = 4;
/// Length of every series: 25 rounds of a minute.
pub(super) const LONGEST_S: u16 = 25 * 60;
const LONGEST: usize = LONGEST_S as usize * BUCKETS_PER_S;

/// Makes a series of one kind.
pub(super) type Make = fn(&mut Noise) -> Vec<f64>;

/// The series of a kind and a seed.
pub(super) fn series(make: Make, seed: u64) -> Vec<f64> {
    make(&mut Noise(Xoshiro256PlusPlus::seed_from_u64(seed)))
}

/// Random numbers that a seed decides.
pub(super) struct Noise(Xoshiro256PlusPlus);

impl Noise {
    /// A uniform number in (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by the method of G. Box and M. Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A series from its level at each moment, under independent noise of 3 %.
fn noisy(noise: &mut Noise, mut level: impl FnMut(f64, &mut Noise) -> f64) -> Vec<f64> {
    let value = |index| {
        let level = level(index as f64 * BUCKET_S, noise);
        level * (1.0 + 0.03 * noise.normal())
    };
    (0..LONGEST).map(value).collect()
}

pub(super) fn independent(noise: &mut Noise) -> Vec<f64> {
    noisy(noise, |_, _| 100.0)
}

pub(super) fn autoregressive(noise: &mut Noise) -> Vec<f64> {
    const COEFFICIENT: f64 = 0.9;
    let mut state = noise.normal();
    let mut next = || {
        state = COEFFICIENT * state + (1.0 - COEFFICIENT * COEFFICIENT).sqrt() * noise.normal();
        100.0 * (1.0 + 0.05 * state)
    };
    (0..LONGEST).map(|_| next()).collect()
}

/// An exponential rise from a share of the level, in percent.
fn warm_up(noise: &mut Noise, from_percent: f64, constant_s: f64) -> Vec<f64> {
    noisy(noise, |seconds, _| 100.0 - (100.0 - from_percent) * (-seconds / constant_s).exp())
}

pub(super) fn warm_up_8(noise: &mut Noise) -> Vec<f64> {
    warm_up(noise, 50.0, 8.0)
}

pub(super) fn warm_up_30(noise: &mut Noise) -> Vec<f64> {
    warm_up(noise, 40.0, 30.0)
}

pub(super) fn slight_warm_up(noise: &mut Noise) -> Vec<f64> {
    warm_up(noise, 90.0, 30.0)
}

/// Everything stops for three values in forty, from a random moment on.
pub(super) fn stalls(noise: &mut Noise) -> Vec<f64> {
    let phase = (noise.uniform() * 40.0).floor() * BUCKET_S;
    noisy(noise, |seconds, _| if (seconds + phase) % 10.0 < 0.75 { 0.0 } else { 100.0 / 0.925 })
}

pub(super) fn dips(noise: &mut Noise) -> Vec<f64> {
    let top = 100.0 / (1.0 - 0.05 * 0.65);
    noisy(noise, |_, noise| if noise.uniform() <= 0.05 { 0.35 * top } else { top })
}

pub(super) fn cliff(noise: &mut Noise) -> Vec<f64> {
    noisy(noise, |seconds, _| if seconds < 25.0 { 250.0 } else { 100.0 })
}
