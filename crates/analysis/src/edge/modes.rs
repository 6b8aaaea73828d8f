//! Two humps in a distribution of latencies: what a cache answers, and what it does not.

use super::SizePoint;

/// Bins per power of two of latency.
const BINS: f64 = 16.0;
/// Humps closer than this are not told apart.
const RATIO_MIN: f64 = 2.0;
/// Between two humps the density falls below this share of the lower one.
const VALLEY: f64 = 0.5;
/// Weights of a bin and its neighbours, by which counts are smoothed.
const KERNEL: [f64; 5] = [1.0 / 9.0, 2.0 / 9.0, 3.0 / 9.0, 2.0 / 9.0, 1.0 / 9.0];

/// Where fast I/Os end and slow ones begin.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_field_names, reason = "units come last")]
pub(super) struct Modes {
    pub(super) threshold_ns: f64,
    pub(super) fast_ns: f64,
    pub(super) slow_ns: f64,
}

/// Splits the pooled latencies of all sizes, each size with the same weight, in two.
///
/// The first cut is the one that makes the variance between both parts largest (N. Otsu, 1979),
/// over log latencies. The threshold is then moved to the emptiest place between the two peaks,
/// because Otsu's cut moves into the larger part where the other is small. None if there is one
/// hump only, or if the two are less than twofold apart.
pub(super) fn split(points: &[SizePoint]) -> Option<Modes> {
    let (first, density) = pooled(points)?;
    let cut = otsu(&density)?;
    let smooth = smoothed(&density);
    let low_peak = peak(&smooth, 0, cut)?;
    let high_peak = peak(&smooth, cut, smooth.len())?;
    let between = smooth.get(low_peak..=high_peak)?;
    let lowest = between.iter().copied().fold(f64::INFINITY, f64::min);
    if lowest > VALLEY * smooth[low_peak].min(smooth[high_peak]) {
        return None;
    }
    let valley = low_peak + middle_of_longest(between, lowest * 1.1 + 1e-12)?;
    let threshold_ns = ((first + valley as f64 + 0.5) / BINS).exp2();
    let (fast_ns, slow_ns) = class_means(points, threshold_ns)?;
    (slow_ns >= RATIO_MIN * fast_ns).then_some(Modes { threshold_ns, fast_ns, slow_ns })
}

/// Share of the I/Os below the threshold, and how many I/Os there are.
pub(super) fn fast_share(point: &SizePoint, threshold_ns: f64) -> Option<(f64, u64)> {
    let ios = count(point);
    let fast: u64 = point
        .latencies
        .iter()
        .filter(|(ns, _)| (*ns as f64) < threshold_ns)
        .map(|(_, n)| *n)
        .fold(0, u64::saturating_add);
    (ios > 0).then(|| (fast as f64 / ios as f64, ios))
}

fn count(point: &SizePoint) -> u64 {
    point.latencies.iter().map(|(_, n)| *n).fold(0, u64::saturating_add)
}

fn place(ns: u64) -> f64 {
    ((ns.max(1) as f64).log2() * BINS).floor()
}

/// The first bin and the density from there on.
fn pooled(points: &[SizePoint]) -> Option<(f64, Vec<f64>)> {
    let used = || points.iter().flat_map(|p| &p.latencies).filter(|(_, n)| *n > 0);
    let first = used().map(|(ns, _)| place(*ns)).fold(f64::INFINITY, f64::min);
    let last = used().map(|(ns, _)| place(*ns)).fold(f64::NEG_INFINITY, f64::max);
    if !first.is_finite() {
        return None;
    }
    // One empty bin at either end lets a peak at the edge be smoothed like any other.
    let first = first - 2.0;
    let mut density = vec![0.0; index(last - first) + 3];
    for point in points {
        let ios = count(point) as f64;
        for (ns, n) in &point.latencies {
            if ios > 0.0 {
                density[index(place(*ns) - first)] += *n as f64 / ios;
            }
        }
    }
    Some((first, density))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 64 x BINS")]
fn index(place: f64) -> usize {
    place as usize
}

/// The first bin of the upper part: the middle of the bins that cut equally well, as all empty ones
/// between two humps do.
fn otsu(density: &[f64]) -> Option<usize> {
    let total: f64 = density.iter().sum();
    let moment: f64 = density.iter().enumerate().map(|(i, d)| i as f64 * d).sum();
    let (mut weight, mut sum) = (0.0, 0.0);
    let between = |(i, d): (usize, &f64)| {
        weight += d;
        sum += i as f64 * d;
        let rest = total - weight;
        let apart = sum / weight - (moment - sum) / rest;
        let inside = weight > 0.0 && rest > 1e-12 * total;
        if inside { weight * rest * apart * apart } else { 0.0 }
    };
    let between: Vec<f64> = density.iter().enumerate().map(between).collect();
    let highest = between.iter().copied().fold(0.0, f64::max);
    let best = |b: &f64| highest > 0.0 && *b >= highest * (1.0 - 1e-9);
    let (first, last) = (between.iter().position(best)?, between.iter().rposition(best)?);
    Some(usize::midpoint(first, last) + 1)
}

fn smoothed(density: &[f64]) -> Vec<f64> {
    let at = |i: usize, shift: usize| (i + shift).checked_sub(2).and_then(|j| density.get(j));
    let bin = |i| (0..5).filter_map(|s| at(i, s).map(|d| d * KERNEL[s])).sum();
    (0..density.len()).map(bin).collect()
}

fn peak(density: &[f64], from: usize, to: usize) -> Option<usize> {
    let bins = density.get(from..to)?.iter().enumerate();
    bins.max_by(|left, right| left.1.total_cmp(right.1)).map(|(i, _)| from + i)
}

/// The middle of the longest run of bins that do not exceed this height.
fn middle_of_longest(bins: &[f64], height: f64) -> Option<usize> {
    let (mut best, mut begin) = ((0, 0), None);
    for (i, bin) in bins.iter().chain([&f64::INFINITY]).enumerate() {
        match (*bin <= height, begin) {
            (true, None) => begin = Some(i),
            (false, Some(b)) => {
                if i - b > best.1 - best.0 {
                    best = (b, i);
                }
                begin = None;
            }
            _ => {}
        }
    }
    (best.1 > best.0).then(|| usize::midpoint(best.0, best.1 - 1))
}

/// Mean latency below and above the threshold; every size has the same weight.
fn class_means(points: &[SizePoint], threshold_ns: f64) -> Option<(f64, f64)> {
    let (mut fast, mut slow) = ((0.0, 0.0), (0.0, 0.0));
    for point in points {
        let ios = count(point) as f64;
        for (ns, n) in &point.latencies {
            let class = if (*ns as f64) < threshold_ns { &mut fast } else { &mut slow };
            let weight = *n as f64 / ios.max(1.0);
            class.0 += weight * *ns as f64;
            class.1 += weight;
        }
    }
    (fast.1 > 0.0 && slow.1 > 0.0).then(|| (fast.0 / fast.1, slow.0 / slow.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(latencies: &[(u64, u64)]) -> SizePoint {
        SizePoint { file_bytes: 1 << 30, mean_latency_ns: 1.0, latencies: latencies.to_vec() }
    }

    #[test]
    fn two_humps_are_cut_in_the_valley() {
        let modes = split(&[point(&[(90, 400), (100, 500), (4000, 50), (5000, 60)])]).unwrap();
        assert!((150.0..3000.0).contains(&modes.threshold_ns), "{modes:?}");
        assert!((modes.fast_ns - 95.6).abs() < 0.1 && modes.slow_ns > 4000.0);
    }

    /// Equal shares of an exponential distribution: a wide hump is still one.
    #[test]
    fn one_hump_is_not_cut_however_wide() {
        let quantile = |i: u32| (-(1.0 - (f64::from(i) + 0.5) / 4000.0).ln() * 1e6).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let latencies: Vec<(u64, u64)> = (0..4000).map(|i| (quantile(i) as u64, 1)).collect();
        assert_eq!(split(&[point(&latencies)]), None);
        assert_eq!(split(&[point(&[(100, 7)])]), None);
        assert_eq!(split(&[point(&[])]), None);
    }

    #[test]
    fn a_threshold_is_found_where_one_hump_is_small() {
        let slow = (0..200).map(|i| (3_000_000 + i * 20_000, 10));
        let latencies: Vec<(u64, u64)> = slow.chain([(100_000, 40)]).collect();
        let modes = split(&[point(&latencies)]).unwrap();
        assert!((150_000.0..2_900_000.0).contains(&modes.threshold_ns), "{modes:?}");
    }
}
