//! The edge from means alone: latency is a mixture of hits and misses whose share of hits is
//! `u = min(1, C/F)`.

use super::SizePoint;

/// Steps over the possible sizes of the cache, on a logarithmic scale.
const STEPS: usize = 2000;
/// Means scatter by at least this from run to run, as a share.
const SCATTER_MIN: f64 = 0.01;
/// The interval holds every size whose loss is at most this many squared standard errors above the
/// least; about 95 % for the few sizes of a sweep.
const ERRORS: f64 = 3.0;
/// A miss takes at least this many times as long as a hit; less is within what runs differ by.
const RISE_MIN: f64 = 1.3;
/// The points may scatter around the curve by this share of its rise.
const SCATTER_MAX: f64 = 0.25;

/// The edge of a cache, fitted to mean latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hinge {
    pub(super) cache_bytes: f64,
    pub(super) low_bytes: f64,
    pub(super) high_bytes: f64,
    pub(super) hit_ns: f64,
    pub(super) miss_ns: f64,
}

/// Fits `L = A u + B (1 - u)` by relative least squares, with `C` sought between the smallest and
/// the last but one size.
///
/// Needs four sizes. `None` if latency does not rise, or not in this way.
pub(super) fn fit(points: &[SizePoint]) -> Option<Hinge> {
    let mut data: Vec<(f64, f64)> =
        points.iter().map(|p| (p.file_bytes as f64, p.mean_latency_ns)).collect();
    data.sort_by(|left, right| left.0.total_cmp(&right.0));
    if data.len() < 4 || data.iter().any(|(f, l)| *f <= 0.0 || !l.is_finite() || *l <= 0.0) {
        return None;
    }
    let (least, most) = (data[0].0, data[data.len() - 2].0);
    let size = |step: usize| least * (most / least).powf(step as f64 / STEPS as f64);
    let fits: Vec<(f64, Line)> =
        (0..=STEPS).filter_map(|s| line(&data, size(s)).map(|l| (size(s), l))).collect();
    let (cache_bytes, best) = *fits.iter().min_by(|l, r| l.1.loss.total_cmp(&r.1.loss))?;
    let spread = (best.loss / (data.len() - 3) as f64).sqrt();
    let rise = best.miss_ns / best.hit_ns - 1.0;
    if rise < RISE_MIN - 1.0 || spread > SCATTER_MAX * rise {
        return None;
    }
    let limit = best.loss + (ERRORS * spread.max(SCATTER_MIN)).powi(2);
    let inside = || fits.iter().filter(|(_, l)| l.loss <= limit).map(|(c, _)| *c);
    Some(Hinge {
        cache_bytes,
        low_bytes: inside().fold(cache_bytes, f64::min),
        high_bytes: inside().fold(cache_bytes, f64::max),
        hit_ns: best.hit_ns,
        miss_ns: best.miss_ns,
    })
}

#[derive(Clone, Copy)]
struct Line {
    hit_ns: f64,
    miss_ns: f64,
    loss: f64,
}

/// The best hit and miss latency for a given size of the cache; none if a hit would take no time,
/// or longer than a miss.
fn line(data: &[(f64, f64)], cache: f64) -> Option<Line> {
    let share = |size: f64| (cache / size).min(1.0);
    let (mut s, mut su, mut suu, mut sy, mut suy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (size, latency) in data {
        let (u, w) = (share(*size), latency.powi(-2));
        s += w;
        su += w * u;
        suu += w * u * u;
        sy += w * latency;
        suy += w * u * latency;
    }
    let determinant = s * suu - su * su;
    if determinant <= 1e-12 * s * suu {
        return None;
    }
    let slope = (s * suy - su * sy) / determinant;
    let miss_ns = (sy - slope * su) / s;
    let hit_ns = miss_ns + slope;
    let residual = |size: f64, latency: f64| {
        let u = share(size);
        (hit_ns * u + miss_ns * (1.0 - u)) / latency - 1.0
    };
    let loss: f64 = data.iter().map(|(f, l)| residual(*f, *l).powi(2)).sum();
    (hit_ns > 0.0 && miss_ns > hit_ns && loss.is_finite()).then_some(Line { hit_ns, miss_ns, loss })
}
