//! Sentences about the cache edge.

use super::{CacheSize, Edge, Method, Outcome, SizePoint};
use crate::words::{milliseconds, number, size};

pub(super) fn rule(edge: &Edge) -> String {
    match edge.cache.map(|c| c.method) {
        Some(Method::FastShare) => "C = sum(w F h) / sum(w), w = 1 / var(F h), over the sizes F \
                                    with a share h of fast I/Os between 2 and 95 %. An I/O is fast \
                                    below the valley between the two humps of the pooled log \
                                    latencies (found from Otsu's threshold). The interval is 1.96 \
                                    standard errors either way, at least 2 %."
            .to_owned(),
        Some(Method::MeanLatency) => "Latencies have one hump or two that are less than twofold \
                                      apart, so the means were used. L = A u + B (1 - u) with u = \
                                      min(1, C/F), relative least squares over C. Seeks that grow \
                                      with the file look much the same."
            .to_owned(),
        Some(Method::Neighbours) => {
            "Every share of fast I/Os is above 95 % or too small to count. \
            The cache is at least the last size that fits, and at \
                                     most what the next could hide."
                .to_owned()
        }
        None => "A cache shows as two humps of latency, at least twofold apart, whose shares \
                 change with the size of the file, or as means that follow min(1, C/F)."
            .to_owned(),
    }
}

pub(super) fn explanation(edge: &Edge, points: &[SizePoint]) -> String {
    let range = range(points);
    match (edge.outcome, edge.cache) {
        (Outcome::Found, Some(cache)) => found(edge, &cache),
        (Outcome::Between, Some(cache)) => format!(
            "A cache of {} to {} answers random reads; measure sizes in between for a closer \
             figure.{}",
            size(cache.low_bytes),
            size(cache.high_bytes),
            fair(edge)
        ),
        (Outcome::AllFits, _) => format!(
            "Everything fitted in a cache: at {range} random reads took less than 2 ms on \
             average, which no turning disk can do. The cache is larger than the largest size; \
             the storage under it was not measured."
        ),
        (Outcome::NoneSeen, _) if edge.threshold_ns.is_some() => format!(
            "No cache of a size in {range} was seen: some I/Os are fast and some are slow, but in \
             much the same shares at every size."
        ),
        (Outcome::NoneSeen, _) => format!(
            "No cache was seen: at {range} random reads take as long as a turning disk does."
        ),
        (Outcome::Flat, _) => format!(
            "No edge was seen: random reads take about the same time (median) at {range}. Either \
             no cache helps them, or one holds even the largest size; only a larger file could \
             tell."
        ),
        _ => format!(
            "Latency changes with the size ({range}), but not as a cache makes it change. Longer \
             seeks, sizes that were not warm, or other load may be the cause; no size of a cache \
             is given."
        ),
    }
}

/// `256 MiB (0.11 ms) to 8 GiB (4.2 ms)`, with the medians.
fn range(points: &[SizePoint]) -> String {
    let at = |p: &SizePoint| format!("{} ({})", size(p.file_bytes), milliseconds(p.typical_ns()));
    match (points.first(), points.last()) {
        (Some(first), Some(last)) if points.len() > 1 => format!("{} to {}", at(first), at(last)),
        (Some(only), _) => at(only),
        _ => String::new(),
    }
}

fn found(edge: &Edge, cache: &CacheSize) -> String {
    let (low, high) = (size(cache.low_bytes), size(cache.high_bytes));
    let latencies = match (edge.hit_latency_ns, edge.miss_latency_ns) {
        (Some(hit), Some(miss)) => {
            format!(", in {} instead of {}", milliseconds(hit), milliseconds(miss))
        }
        _ => String::new(),
    };
    let law = match edge.follows_law {
        Some(false) => format!(
            " It is not like one that keeps what was read last: {}; the size is a rough guide.",
            worst(edge)
        ),
        _ => String::new(),
    };
    format!(
        "A cache of about {} ({low} to {high}) answers random reads{latencies}.{law}{}",
        size(cache.bytes),
        fair(edge)
    )
}

/// The size at which the share is farthest from the law.
fn worst(edge: &Edge) -> String {
    let off = |s: &&super::SizeShare| (s.fast_percent - s.expected_percent.unwrap_or(0.0)).abs();
    let worst = edge.shares.iter().max_by(|l, r| off(l).total_cmp(&off(r)));
    worst.map_or_else(String::new, |s| {
        format!(
            "at {} it answers {} % where C/F says {} %",
            size(s.file_bytes),
            number(s.fast_percent),
            number(s.expected_percent.unwrap_or(0.0))
        )
    })
}

fn fair(edge: &Edge) -> String {
    let [usual, strict] = edge.fair_sizes.as_slice() else { return String::new() };
    format!(
        " A fair test of the storage under it needs a file of {} ({} times the cache). {} % of \
         reads still come from the cache then, and the mean latency is {} % low. A file of {} ({} \
         times) still leaves {} % and {} %.",
        size(strict.file_bytes),
        strict.times,
        number(strict.hit_percent),
        number(strict.latency_error_percent),
        size(usual.file_bytes),
        usual.times,
        number(usual.hit_percent),
        number(usual.latency_error_percent),
    )
}
