//! How much longer than the model says things take at a moment: warm-up and noise.

use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use workload::{SimDevice, SimDrift, SimNoise, SimWarmup};

/// The factor that times are multiplied by.
#[derive(Debug, Clone)]
pub(crate) struct Speed {
    warmup: Option<SimWarmup>,
    run: f64,
    io_deviation: f64,
    drift: Option<Drift>,
}

impl Speed {
    /// Draws how fast the device is in this run.
    pub(crate) fn new(model: &SimDevice, random: &mut Xoshiro256PlusPlus) -> Self {
        let noise = model.noise.unwrap_or_default();
        let SimNoise { run_percent, io_percent, drift } = noise;
        let run =
            if run_percent > 0.0 { (run_percent / 100.0 * normal(random)).exp() } else { 1.0 };
        let drift = drift.map(|model| Drift::new(model, random));
        Self { warmup: model.warmup, run, io_deviation: io_percent / 100.0, drift }
    }

    /// The factor of the whole device at a moment.
    pub(crate) fn factor(&mut self, now: u64, random: &mut Xoshiro256PlusPlus) -> f64 {
        let mut factor = self.run;
        if let Some(SimWarmup { factor: first, tau_ns }) = self.warmup {
            factor *= 1.0 + (first - 1.0) * (-(now as f64) / tau_ns.0.max(1) as f64).exp();
        }
        if let Some(drift) = &mut self.drift {
            factor *= drift.factor(now, random);
        }
        factor
    }

    /// The factor of one I/O that begins at a moment.
    pub(crate) fn of_io(&mut self, now: u64, random: &mut Xoshiro256PlusPlus) -> f64 {
        let factor = self.factor(now, random);
        let deviation = self.io_deviation;
        if deviation > 0.0 {
            // The mean of a log-normal distribution is exp(mu + sigma^2 / 2); this one's is 1.
            factor * (deviation * normal(random) - deviation * deviation / 2.0).exp()
        } else {
            factor
        }
    }
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(random)
}

/// An autoregressive process of order 1, x(k+1) = c x(k) + sqrt(1 - c^2) d Z, which begins in its
/// steady state.
#[derive(Debug, Clone)]
struct Drift {
    model: SimDrift,
    period: u64,
    x: f64,
    factor: f64,
}

impl Drift {
    fn new(model: SimDrift, random: &mut Xoshiro256PlusPlus) -> Self {
        let x = model.percent / 100.0 * normal(random);
        Self { model, period: 0, x, factor: (-x).exp() }
    }

    /// The factor in the period of a moment; an earlier period than the last has that of the last.
    fn factor(&mut self, now: u64, random: &mut Xoshiro256PlusPlus) -> f64 {
        let period = now / self.model.period_ns.0.max(1);
        if period > self.period {
            // After k periods at once, the correlation is c^k.
            let correlation = self.model.correlation.powf((period - self.period) as f64);
            let rest = (1.0 - correlation * correlation).max(0.0).sqrt();
            let deviation = self.model.percent / 100.0;
            self.x = correlation * self.x + rest * deviation * normal(random);
            (self.period, self.factor) = (period, (-self.x).exp());
        }
        self.factor
    }
}
