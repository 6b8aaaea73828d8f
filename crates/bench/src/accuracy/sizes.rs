//! The size of caches that are known, through the whole of `iosonde sizes` on simulated devices.

use std::sync::atomic::AtomicBool;

use analysis::numbers;
use engine::Permissions;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use results::Sizes;
use results::edge::{CacheSize, Edge};
use survey::{LabContext, Setup, SizesOptions, Timing, sizes};
use workload::{
    Bytes, EngineChoice, Mode, Nanoseconds, SimCache, SimCacheKind, SimDevice, SimNoise,
    SimService, Stream, Target,
};

use super::table;
use crate::linux::Error;

const SEEDS: u64 = 40;
const MIB: u64 = 1 << 20;
/// Doubling, so that a step is a factor of two.
const SIZES: [u64; 6] = [256, 512, 1024, 2048, 4096, 8192];
/// Caches between these are inside the sizes, with one size to spare at either end.
const CACHE_MIB: (f64, f64) = (300.0, 3000.0);
/// A miss takes this long: 1 000 IOPS at the depth of 4, 2 000 I/Os in a measurement.
const MISS: Nanoseconds = Nanoseconds(4_000_000);
const SECONDS: f64 = 2.0;

/// A kind of device with a cache.
struct Kind {
    name: &'static str,
    cache: SimCacheKind,
    service: SimService,
    hit: Nanoseconds,
    noise_percent: f64,
}

const fn kind(
    name: &'static str,
    cache: SimCacheKind,
    service: SimService,
    hit_ns: u64,
    noise_percent: f64,
) -> Kind {
    Kind { name, cache, service, hit: Nanoseconds(hit_ns), noise_percent }
}

const KINDS: [Kind; 5] = [
    kind("LRU, hits 20 times as fast", SimCacheKind::Lru, SimService::Constant, 200_000, 3.0),
    kind("LRU, noise of 5 %", SimCacheKind::Lru, SimService::Constant, 200_000, 5.0),
    kind("fixed region, noise of 5 %", SimCacheKind::Region, SimService::Constant, 200_000, 5.0),
    kind("LRU, exponential misses", SimCacheKind::Lru, SimService::Exponential, 100_000, 3.0),
    kind("LRU, hits 1.6 times as fast", SimCacheKind::Lru, SimService::Constant, 2_500_000, 3.0),
];

/// A device and the whole experiment on it.
fn experiment(kind: &Kind, cache: Option<u64>, seed: u64) -> Result<Sizes, Error> {
    let (service, hit_ns) = (kind.service, kind.hit);
    let noise =
        SimNoise { run_percent: kind.noise_percent, io_percent: kind.noise_percent, drift: None };
    let sim = SimDevice {
        read_ns: MISS,
        service,
        cache: cache.map(|c| SimCache { kind: kind.cache, size_bytes: Bytes(c), hit_ns }),
        noise: Some(noise),
        ..SimDevice::default()
    };
    let options = SizesOptions {
        setup: Setup {
            targets: vec![Target { path: "sim".into(), size_bytes: None }],
            permissions: Permissions::default(),
            engine: EngineChoice::Sim,
            sim: Some(sim),
            mode: Mode::Direct,
            seed,
            timing: Timing {
                seconds: SECONDS,
                warmup_seconds: 0.1,
                precision: None,
                settle_seconds: 0.0,
            },
        },
        stream: Stream { depth: 4, ..Stream::default() },
        sizes: SIZES.iter().map(|s| Bytes(s * MIB)).collect(),
        fill_seconds: 0.0,
        pass_seconds: 0.0,
    };
    let document = sizes(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ()))
        .map_err(|error| error.to_string())?;
    Ok(document.conclusion)
}

/// The true size of the cache of this seed, spread evenly over the logarithms.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
fn true_cache(seed: u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let share = random.next_u64() as f64 / u64::MAX as f64;
    let (low, high) = CACHE_MIB;
    (low * (high / low).powf(share) * MIB as f64) as u64
}

/// One seed: the truth and the finding.
struct Trial {
    truth: f64,
    found: Option<CacheSize>,
    first_rise: Option<f64>,
}

impl Trial {
    fn error_percent(&self) -> Option<f64> {
        numbers::percent_difference(self.found?.bytes as f64, self.truth)
    }

    fn covered(&self) -> bool {
        self.found
            .is_some_and(|c| c.low_bytes as f64 <= self.truth && self.truth <= c.high_bytes as f64)
    }

    fn within_a_step(&self) -> bool {
        self.found.is_some_and(|c| (c.bytes as f64 / self.truth).log2().abs() <= 1.0)
    }
}

fn trials(kind: &Kind, seeds: u64) -> Result<Vec<Trial>, Error> {
    let trial = |seed| {
        let truth = true_cache(seed);
        let sizes = experiment(kind, Some(truth), seed)?;
        let first_rise = first_rise(&sizes);
        Ok(Trial { truth: truth as f64, found: sizes.edge.and_then(|e| e.cache), first_rise })
    };
    (0..seeds).map(trial).collect()
}

/// Where an eye sees the curve bend: the last size before the mean latency is 20 % above that of
/// the smallest.
fn first_rise(sizes: &Sizes) -> Option<f64> {
    let flat = sizes.curve.first()?.mean_latency_ns?;
    let rises = |r: &results::SizeResult| r.mean_latency_ns.is_some_and(|l| l > 1.2 * flat);
    let beyond = sizes.curve.iter().position(rises)?;
    Some(sizes.curve.get(beyond.checked_sub(1)?)?.file_bytes as f64)
}

fn share_percent(trials: &[Trial], holds: impl Fn(&Trial) -> bool) -> f64 {
    100.0 * trials.iter().filter(|t| holds(t)).count() as f64 / trials.len().max(1) as f64
}

/// The value that the share `q` of all values do not exceed.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
fn quantile(mut values: Vec<f64>, q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    values.get((q * last as f64).round() as usize).copied()
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{v:.1}"))
}

fn row(kind: &Kind, trials: &[Trial]) -> Vec<String> {
    let errors: Vec<f64> = trials.iter().filter_map(Trial::error_percent).collect();
    let sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    let eye: Vec<f64> = trials
        .iter()
        .filter_map(|t| numbers::percent_difference(t.first_rise?, t.truth))
        .map(f64::abs)
        .collect();
    vec![
        kind.name.to_owned(),
        trials.len().to_string(),
        format!("{:.0}", share_percent(trials, |t| t.found.is_some())),
        shown(numbers::median(&errors)),
        shown(quantile(sizes, 0.9)),
        format!("{:.0}", share_percent(trials, Trial::covered)),
        format!("{:.0}", share_percent(trials, Trial::within_a_step)),
        shown(quantile(eye, 0.9)),
    ]
}

/// Share of devices without a cache on which none is found, in percent.
fn quiet_percent(kind: &Kind, seeds: u64) -> Result<f64, Error> {
    let edge = |seed| Ok(experiment(kind, None, seed)?.edge);
    let edges: Vec<Option<Edge>> = (0..seeds).map(edge).collect::<Result<_, Error>>()?;
    let quiet = edges.iter().filter(|e| e.as_ref().is_some_and(|e| e.cache.is_none())).count();
    Ok(100.0 * quiet as f64 / seeds as f64)
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let head = [
        "cache",
        "devices",
        "found, %",
        "median error, %",
        "90 % of errors within, %",
        "interval holds the truth, %",
        "within one size step, %",
        "by eye, 90 % within, %",
    ];
    let rows: Vec<Vec<String>> =
        KINDS.iter().map(|k| Ok(row(k, &trials(k, SEEDS)?))).collect::<Result<_, Error>>()?;
    let mut quiet = Vec::new();
    for kind in [&KINDS[1], &KINDS[3]] {
        quiet.push(format!("{:.0} %", quiet_percent(kind, SEEDS)?));
    }
    Ok(format!(
        "`iosonde sizes` measured simulated devices with eight servers, misses of 4 ms and caches \
         of {} to {} MiB. File sizes double from 256 MiB to 8 GiB, with about {} I/Os beyond the \
         cache at each. *By eye* is the last size before the mean latency has risen by 20 \
         %.\n\n{}\nThere were also {SEEDS} devices of each kind without a cache. iosonde found no \
         cache on {} of those with constant service times, and on {} of those with exponential \
         ones.\n",
        CACHE_MIB.0,
        CACHE_MIB.1,
        SECONDS * 1000.0,
        table(&head, &rows),
        quiet[0],
        quiet[1]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figure to reach: within one size step; here with the few percent that the share of fast
    /// I/Os gives.
    #[test]
    fn caches_are_found_within_one_size_step() {
        for kind in &KINDS[..4] {
            let trials = trials(kind, 3).unwrap();
            assert!(trials.iter().all(Trial::within_a_step), "{}", kind.name);
            let errors: Vec<f64> = trials.iter().filter_map(Trial::error_percent).collect();
            assert!(errors.iter().all(|e| e.abs() < 12.0), "{}: {errors:?}", kind.name);
        }
    }

    #[test]
    fn a_device_without_a_cache_has_no_edge() {
        for kind in [&KINDS[1], &KINDS[3]] {
            let quiet = quiet_percent(kind, 3).unwrap();
            assert!((quiet - 100.0).abs() < 1e-9, "{}: {quiet} %", kind.name);
        }
    }
}
