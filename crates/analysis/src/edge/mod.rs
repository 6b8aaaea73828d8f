//! How much of a file a cache below the operating system holds, from the same load on files of
//! several sizes.
//!
//! Of uniformly random reads over F bytes, a cache of C bytes answers the share min(1, C/F). The
//! share of fast I/Os in the two-humped distribution of latencies therefore gives C at every size,
//! and far better than the place where the curve of the means begins to bend, which can only be one
//! of the sizes that were measured.

mod hinge;
mod modes;
mod sentences;

use serde::{Deserialize, Serialize};

use modes::Modes;

/// Shares between these say how large the cache is; outside, hardly anything is left to count.
const SHARE_MIN: f64 = 0.02;
const SHARE_MAX: f64 = 0.95;
/// Fast I/Os at a size that count at all.
const FAST_IOS_MIN: f64 = 10.0;
/// The law holds while no share is farther from it than this, or than `LAW_ERRORS` standard errors
/// of counting.
const LAW_DISTANCE: f64 = 0.05;
const LAW_ERRORS: f64 = 4.0;
/// No interval is narrower than 1.96 of this share of the cache.
const ERROR_MIN: f64 = 0.01;
/// A share that still is this part of what it was at a quarter of the size does not fall as a
/// cache's does.
const STANDS: f64 = 0.7;
/// If the means show a cache, the median rises by at least this part of what the mean does.
const MEDIAN_FOLLOWS: f64 = 0.5;
/// Medians that differ by no more than this factor over all sizes are the same.
const SAME: f64 = 1.3;
/// Half a turn of the fastest disks (15 000 a minute): no read of a random place is faster on
/// average.
const ROTATING_READ_NS: f64 = 2e6;
/// A file of this many times the cache: the usual advice, and what leaves one read in twenty to the
/// cache.
const FAIR_TIMES: [u32; 2] = [4, 20];

/// One size, and the latencies measured on it.
#[derive(Debug, Clone, PartialEq)]
pub struct SizePoint {
    /// The bytes that random reads were spread over.
    pub file_bytes: u64,
    /// Mean latency of all I/Os at this size.
    pub mean_latency_ns: f64,
    /// Latencies in ns and how many I/Os had each.
    pub latencies: Vec<(u64, u64)>,
}

impl SizePoint {
    /// The median latency, which a few stalls do not move; without single latencies, the mean.
    fn typical_ns(&self) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let ios = sorted.iter().map(|(_, n)| *n).fold(0, u64::saturating_add);
        let mut left = ios / 2;
        let middle = sorted.iter().find(|(_, n)| {
            let here = *n > left;
            left = left.saturating_sub(*n);
            here
        });
        middle.map_or(self.mean_latency_ns, |(ns, _)| *ns as f64)
    }
}

/// What the sizes say about a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is a cache, and its size was estimated.
    Found,
    /// It is larger than one size and smaller than the next; nothing in between was measured.
    Between,
    /// Every size fitted in it: latency is lower throughout than the medium itself can be.
    AllFits,
    /// No cache took part in the measurement.
    NoneSeen,
    /// Latency is the same at every size: no cache takes part, or one that is larger than all of
    /// them.
    Flat,
    /// Latency changes with the size, but not as a cache makes it change.
    Unclear,
}

/// How the size of the cache was estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// From the share of fast I/Os at each size.
    FastShare,
    /// From the mean latency at each size.
    MeanLatency,
    /// From the last size that fits and the first that does not.
    Neighbours,
}

/// The effective size of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSize {
    /// The best estimate of the size, in bytes.
    pub bytes: u64,
    /// Lower end of the 95 % interval.
    pub low_bytes: u64,
    /// Upper end of the 95 % interval.
    pub high_bytes: u64,
    /// What the estimate was made from.
    pub method: Method,
}

/// One size and the share of its I/Os that were fast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SizeShare {
    /// The size that I/O was spread over.
    pub file_bytes: u64,
    /// How many I/Os the share was counted from.
    pub ios: u64,
    /// Share of I/Os faster than the threshold, in percent.
    pub fast_percent: f64,
    /// What a cache of the estimated size would answer, min(1, C/F), in percent; absent without an
    /// estimate.
    pub expected_percent: Option<f64>,
}

/// A size of the test file that a fair test needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FairSize {
    /// How many times as large as the cache it is.
    pub times: u32,
    /// That many times the upper end of the cache's interval.
    pub file_bytes: u64,
    /// Share of random reads that the cache still answers there, in percent.
    pub hit_percent: f64,
    /// By how much the cache makes the mean latency too low, in percent of the latency of a miss.
    pub latency_error_percent: f64,
}

/// What a sweep over sizes says about the caches under the operating system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Whether there is a cache, and how well its size is known.
    pub outcome: Outcome,
    /// The effective size of the cache; absent if none was found.
    pub cache: Option<CacheSize>,
    /// I/Os faster than this are taken for answered by the cache.
    pub threshold_ns: Option<f64>,
    /// Mean latency of an I/O that the cache answers.
    pub hit_latency_ns: Option<f64>,
    /// Mean latency of an I/O that it does not.
    pub miss_latency_ns: Option<f64>,
    /// Every size in rising order, if fast and slow I/Os can be distinguished.
    pub shares: Vec<SizeShare>,
    /// Whether the shares follow min(1, C/F) as those of a cache with recency or of a fixed region
    /// do.
    pub follows_law: Option<bool>,
    /// What a fair test of the storage under the cache needs.
    pub fair_sizes: Vec<FairSize>,
    /// The rule that was applied, with its numbers.
    pub rule: String,
    /// What the sizes show, in words.
    pub explanation: String,
}

/// Finds the effective cache size from uniformly random reads on files of several sizes.
///
/// `rotational` says whether the medium is known to turn. Sizes without I/Os or without a usable
/// mean are left out; none remains: None.
#[must_use]
pub fn find_edge(points: &[SizePoint], rotational: Option<bool>) -> Option<Edge> {
    let usable = |p: &&SizePoint| {
        p.file_bytes > 0 && p.mean_latency_ns.is_finite() && p.mean_latency_ns > 0.0
    };
    let mut points: Vec<SizePoint> = points.iter().filter(usable).cloned().collect();
    points.sort_by_key(|p| p.file_bytes);
    points.dedup_by_key(|p| p.file_bytes);
    if points.is_empty() {
        return None;
    }
    let by_shares = modes::split(&points).and_then(|modes| from_shares(&points, &modes));
    let mut edge = by_shares.or_else(|| from_means(&points)).unwrap_or_else(|| {
        let outcome = without_edge(&points, rotational);
        Edge { outcome, ..nothing() }
    });
    edge.fair_sizes = fair_sizes(&edge);
    edge.rule = sentences::rule(&edge);
    edge.explanation = sentences::explanation(&edge, &points);
    Some(edge)
}

fn nothing() -> Edge {
    Edge {
        outcome: Outcome::Flat,
        cache: None,
        threshold_ns: None,
        hit_latency_ns: None,
        miss_latency_ns: None,
        shares: Vec::new(),
        follows_law: None,
        fair_sizes: Vec::new(),
        rule: String::new(),
        explanation: String::new(),
    }
}

/// A size, its share of fast I/Os, and how many I/Os there were.
#[derive(Clone, Copy)]
struct Share {
    size: f64,
    fast: f64,
    ios: f64,
}

impl Share {
    /// The standard error that counting alone gives the share; never zero, as no share is known
    /// exactly.
    fn error(&self) -> f64 {
        ((self.fast * (1.0 - self.fast)).max(1.0 / self.ios) / self.ios).sqrt()
    }
}

/// `None` if the two humps do not show a cache: nearly all I/Os are fast, or hardly any, at every
/// size.
fn from_shares(points: &[SizePoint], modes: &Modes) -> Option<Edge> {
    let shares: Vec<Share> = points
        .iter()
        .filter_map(|p| {
            let (fast, ios) = modes::fast_share(p, modes.threshold_ns)?;
            Some(Share { size: p.file_bytes as f64, fast, ios: ios as f64 })
        })
        .collect();
    let lowest = shares.iter().map(|s| s.fast).fold(1.0, f64::min);
    let highest = shares.iter().map(|s| s.fast).fold(0.0, f64::max);
    if lowest >= SHARE_MAX || highest < SHARE_MIN {
        return None;
    }
    let cache = estimate(&shares).or_else(|| neighbours(&shares));
    let follows_law = cache.map(|c| shares.iter().all(|s| follows(s, c.bytes as f64)));
    let outcome = match (cache, follows_law) {
        (Some(_), Some(false)) if stands(&shares) => Outcome::NoneSeen,
        (Some(c), _) if c.method == Method::Neighbours => Outcome::Between,
        (Some(_), _) => Outcome::Found,
        (None, _) => Outcome::Unclear,
    };
    let cache = cache.filter(|_| outcome != Outcome::NoneSeen);
    let expected = |s: &Share| cache.map(|c| 100.0 * (c.bytes as f64 / s.size).min(1.0));
    Some(Edge {
        outcome,
        cache,
        threshold_ns: Some(modes.threshold_ns),
        hit_latency_ns: Some(modes.fast_ns),
        miss_latency_ns: Some(modes.slow_ns),
        shares: shares
            .iter()
            .map(|s| SizeShare {
                file_bytes: bytes(s.size),
                ios: bytes(s.ios),
                fast_percent: 100.0 * s.fast,
                expected_percent: expected(s),
            })
            .collect(),
        follows_law,
        ..nothing()
    })
}

/// `C = sum w F h / sum w` with `w = 1 / var(F h)`; the standard error is that of the weighted
/// mean, widened where the sizes disagree by more than counting explains.
fn estimate(shares: &[Share]) -> Option<CacheSize> {
    let counted = |s: &&Share| s.fast < SHARE_MAX && s.fast * s.ios >= FAST_IOS_MIN;
    let clear: Vec<Share> =
        shares.iter().filter(counted).filter(|s| s.fast > SHARE_MIN).copied().collect();
    let used: Vec<Share> =
        if clear.is_empty() { shares.iter().filter(counted).copied().collect() } else { clear };
    let weight = |s: &Share| (s.size * s.error()).powi(-2);
    let weights: f64 = used.iter().map(weight).sum();
    let cache = used.iter().map(|s| weight(s) * s.size * s.fast).sum::<f64>() / weights;
    if !cache.is_finite() || cache <= 0.0 {
        return None;
    }
    let squares: f64 = used.iter().map(|s| weight(s) * (s.size * s.fast - cache).powi(2)).sum();
    let disagreement = if used.len() > 1 { squares / (used.len() - 1) as f64 } else { 1.0 };
    let error = (disagreement.max(1.0) / weights).sqrt().max(ERROR_MIN * cache);
    Some(CacheSize {
        bytes: bytes(cache),
        low_bytes: bytes((cache - 1.96 * error).max(0.0)),
        high_bytes: bytes(cache + 1.96 * error),
        method: Method::FastShare,
    })
}

/// The cache is between the last size that it holds and the size that the next one can hide.
fn neighbours(shares: &[Share]) -> Option<CacheSize> {
    let beyond = shares.iter().position(|s| s.fast < SHARE_MAX)?;
    let low = shares.get(beyond.checked_sub(1)?)?.size;
    let next = shares[beyond];
    // Fewer fast I/Os than can be counted: at most as many as would have been.
    let high = (next.size * (FAST_IOS_MIN / next.ios).min(1.0)).max(low);
    Some(CacheSize {
        bytes: bytes((low * high).sqrt()),
        low_bytes: bytes(low),
        high_bytes: bytes(high),
        method: Method::Neighbours,
    })
}

fn follows(share: &Share, cache: f64) -> bool {
    let distance = (share.fast - (cache / share.size).min(1.0)).abs();
    distance <= LAW_DISTANCE.max(LAW_ERRORS * share.error())
}

/// Whether the share of fast I/Os is much the same at the smallest and the largest size, which
/// differ fourfold or more.
fn stands(shares: &[Share]) -> bool {
    let (Some(first), Some(last)) = (shares.first(), shares.last()) else { return false };
    last.size >= 4.0 * first.size && last.fast >= STANDS * first.fast
}

/// `None` if a few slow I/Os raised the means, and the median did not follow: that is a
/// disturbance, not a cache.
fn from_means(points: &[SizePoint]) -> Option<Edge> {
    let hinge = hinge::fit(points)?;
    let (first, last) = (points.first()?, points.last()?);
    let rise = |of: fn(&SizePoint) -> f64| of(last) / of(first) - 1.0;
    if rise(SizePoint::typical_ns) < MEDIAN_FOLLOWS * rise(|p| p.mean_latency_ns) {
        return None;
    }
    let cache = CacheSize {
        bytes: bytes(hinge.cache_bytes),
        low_bytes: bytes(hinge.low_bytes),
        high_bytes: bytes(hinge.high_bytes),
        method: Method::MeanLatency,
    };
    Some(Edge {
        outcome: Outcome::Found,
        cache: Some(cache),
        hit_latency_ns: Some(hinge.hit_ns),
        miss_latency_ns: Some(hinge.miss_ns),
        ..nothing()
    })
}

fn without_edge(points: &[SizePoint], rotational: Option<bool>) -> Outcome {
    let typical = || points.iter().map(SizePoint::typical_ns);
    let (least, most) = (typical().fold(f64::INFINITY, f64::min), typical().fold(0.0, f64::max));
    if rotational == Some(true) && most < ROTATING_READ_NS {
        Outcome::AllFits
    } else if rotational == Some(true) && least >= ROTATING_READ_NS {
        Outcome::NoneSeen
    } else if most <= SAME * least {
        Outcome::Flat
    } else {
        Outcome::Unclear
    }
}

fn fair_sizes(edge: &Edge) -> Vec<FairSize> {
    let (Some(cache), Some(hit), Some(miss)) =
        (edge.cache, edge.hit_latency_ns, edge.miss_latency_ns)
    else {
        return Vec::new();
    };
    let fair = |times: u32| {
        let hit_percent = 100.0 / f64::from(times);
        FairSize {
            times,
            file_bytes: cache.high_bytes.saturating_mul(u64::from(times)),
            hit_percent,
            latency_error_percent: hit_percent * (1.0 - hit / miss),
        }
    };
    FAIR_TIMES.into_iter().map(fair).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn bytes(value: f64) -> u64 {
    value.round() as u64
}
