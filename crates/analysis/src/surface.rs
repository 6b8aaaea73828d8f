//! Throughput over load and block size: one surface for a kind of I/O, from few of its points.
//!
//! `X(N, B) = ((R(B)/N)^p + K(B)^p)^(-1/p)`, with the unloaded latency `R(B) = r0 + r1 B`, and the
//! least time per I/O `K(B) = max(k0 + k1 B, B/L)`. For each block size this is the soft hinge of
//! [`crate::knee`]; between block sizes it is that a device needs a time per I/O and a time per
//! byte, and that a link carries so many bytes a second.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Parameters, as natural logarithms: R and k at the smallest and the largest block, 1/L, and p.
const PARAMETERS: usize = 6;
type Vector = [f64; PARAMETERS];
type Matrix = [Vector; PARAMETERS];

/// Fewer points say nothing about a surface.
const POINTS_MIN: usize = 3;
/// Where residuals stop being squared and count linearly, in natural log units (Huber 1964).
const HUBER: f64 = 0.15;
/// How far a parameter may be from where the search began, in natural log units: so wide that the
/// limit matters only for parameters that the points do not determine.
const PRIOR: f64 = 4.0;
/// The sharpest bend of a fitted curve.
const SHARPNESS_MAX: f64 = 30.0;
/// The best measurement scatters by this much, in natural log units.
const SCATTER_MIN: f64 = 0.005;
/// Steps of the search, and the gain below which it ends.
const STEPS_MAX: usize = 200;
const GAIN_MIN: f64 = 1e-10;

/// One measured point of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// I/Os in flight, over all threads.
    pub in_flight: f64,
    /// Size of one I/O in bytes.
    pub block_bytes: f64,
    /// I/Os per second.
    pub iops: f64,
}

/// A fitted surface, and how well it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    blocks: (f64, f64),
    parameters: Vector,
    covariance: Matrix,
    /// Student's factor for a 95 % interval.
    student: f64,
    /// Typical distance of the points from the surface, in natural log units; of those that a link
    /// does not limit.
    pub scatter: f64,
}

/// A point and how much it counts.
struct Weighed {
    at: SurfacePoint,
    weight: f64,
}

/// How far the points are from the surface. Throughput at a link's limit scatters less than that of
/// servers.
struct Scatter {
    servers: f64,
    link: f64,
    /// Points of the servers beyond the parameters.
    degrees: f64,
}

impl Surface {
    /// Fits a surface by robust least squares in log throughput (Levenberg and Marquardt).
    ///
    /// Points that hold anything but positive, finite numbers are left out. `None` for fewer than
    /// three.
    #[must_use]
    pub fn fit(points: &[SurfacePoint]) -> Option<Self> {
        let usable = |p: &&SurfacePoint| {
            [p.in_flight, p.block_bytes, p.iops].iter().all(|v| v.is_finite() && *v > 0.0)
        };
        let points: Vec<SurfacePoint> = points.iter().filter(usable).copied().collect();
        if points.len() < POINTS_MIN {
            return None;
        }
        let block = |p: &SurfacePoint| p.block_bytes;
        let least = points.iter().map(block).fold(f64::INFINITY, f64::min);
        let most = points.iter().map(block).fold(0.0, f64::max);
        let blocks = (least, most);
        // Two beginnings, because with a link the largest blocks say little about the servers, and
        // without one nothing about the link.
        let begins = [start(blocks, &points, false), start(blocks, &points, true)];
        let mut weighed: Vec<Weighed> =
            points.iter().map(|p| Weighed { at: *p, weight: 1.0 }).collect();
        let mut best = best_of(blocks, &begins, &weighed)?;
        let scatter = scatter(blocks, &best.0, &points);
        for point in &mut weighed {
            let own =
                if is_carried(blocks, &best.0, &point.at) { scatter.link } else { scatter.servers };
            point.weight = (scatter.servers / own).powi(2).clamp(1e-2, 1e2);
        }
        best = best_of(blocks, &begins, &weighed)?;
        let (parameters, begin) = best;
        let degrees = scatter.degrees;
        let (normal, _) = normal_equations(blocks, &parameters, &begin, &weighed, scatter.servers);
        let student = StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(0.975);
        let covariance = inverse(&normal)?;
        Some(Self { blocks, parameters, covariance, student, scatter: scatter.servers })
    }

    /// I/Os a second at a load and block size.
    #[must_use]
    pub fn iops(&self, in_flight: f64, block_bytes: f64) -> f64 {
        ln_iops(self.blocks, &self.parameters, in_flight, block_bytes).exp()
    }

    /// Half of the width of its 95 % interval, in percent: from the scatter of the points and their
    /// places. What the surface itself does not describe is in the scatter only.
    #[must_use]
    pub fn half_width_percent(&self, in_flight: f64, block_bytes: f64) -> f64 {
        let gradient = gradient(self.blocks, &self.parameters, in_flight, block_bytes);
        let variance: f64 = (0..PARAMETERS)
            .flat_map(|i| (0..PARAMETERS).map(move |j| (i, j)))
            .map(|(i, j)| gradient[i] * self.covariance[i][j] * gradient[j])
            .sum();
        100.0 * (self.student * variance.max(0.0).sqrt()).exp_m1()
    }

    /// N*: the load at which the asymptotes of a block size meet.
    #[must_use]
    pub fn knee(&self, block_bytes: f64) -> f64 {
        let (unloaded, least) = times(self.blocks, &self.parameters, block_bytes);
        unloaded / least
    }
}

/// The better of the fits from two beginnings, and its beginning.
fn best_of(
    blocks: (f64, f64),
    begins: &[Vector; 2],
    points: &[Weighed],
) -> Option<(Vector, Vector)> {
    let fits = begins.iter().map(|begin| (descend(blocks, begin, points), *begin));
    fits.min_by(|a, b| a.0.1.total_cmp(&b.0.1)).map(|((place, _), begin)| (place, begin))
}

/// Whether a link limits a point, and not the servers or the load.
fn is_carried(blocks: (f64, f64), parameters: &Vector, point: &SurfacePoint) -> bool {
    let (unloaded, least) = times(blocks, parameters, point.block_bytes);
    let carried = point.block_bytes * parameters[4].exp();
    carried >= least * (1.0 - 1e-9) && point.in_flight > unloaded / least
}

fn scatter(blocks: (f64, f64), parameters: &Vector, points: &[SurfacePoint]) -> Scatter {
    let squares = |carried: bool| -> (f64, f64) {
        let these = points.iter().filter(|p| is_carried(blocks, parameters, p) == carried);
        these.fold((0.0, 0.0), |(sum, n), p| {
            (sum + residual(blocks, parameters, p).powi(2), n + 1.0)
        })
    };
    let ((servers, n), (link, m)) = (squares(false), squares(true));
    // Of one block size there are R, K and p; of several, a link takes the place of the time per
    // byte.
    let determined = if blocks.1 > blocks.0 { PARAMETERS - 1 } else { 3 };
    let degrees = (n - determined as f64).max(1.0);
    Scatter {
        servers: (servers / degrees).sqrt().max(SCATTER_MIN),
        link: (link / (m - 1.0).max(1.0)).sqrt().max(SCATTER_MIN),
        degrees,
    }
}

/// R and K of a block size.
fn times(blocks: (f64, f64), parameters: &Vector, block: f64) -> (f64, f64) {
    let share = if blocks.1 > blocks.0 { (block - blocks.0) / (blocks.1 - blocks.0) } else { 0.0 };
    let affine = |at: usize| {
        let (low, high) = (parameters[at].exp(), parameters[at + 1].exp());
        // Beyond the blocks measured a falling line would end below zero.
        (low + (high - low) * share).max(low.min(high) * 1e-3)
    };
    (affine(0), affine(2).max(block * parameters[4].exp()))
}

fn sharpness(parameters: &Vector) -> f64 {
    parameters[5].exp().clamp(1.0, SHARPNESS_MAX)
}

fn ln_iops(blocks: (f64, f64), parameters: &Vector, in_flight: f64, block: f64) -> f64 {
    let (unloaded, least) = times(blocks, parameters, block);
    let p = sharpness(parameters);
    let (one, other) = (p * (unloaded / in_flight).ln(), p * least.ln());
    let (high, low) = (one.max(other), one.min(other));
    -(high + (low - high).exp().ln_1p()) / p
}

fn residual(blocks: (f64, f64), parameters: &Vector, point: &SurfacePoint) -> f64 {
    point.iops.ln() - ln_iops(blocks, parameters, point.in_flight, point.block_bytes)
}

fn gradient(blocks: (f64, f64), parameters: &Vector, in_flight: f64, block: f64) -> Vector {
    const STEP: f64 = 1e-4;
    std::array::from_fn(|i| {
        let (mut up, mut down) = (*parameters, *parameters);
        up[i] += STEP;
        down[i] -= STEP;
        let at = |p: &Vector| ln_iops(blocks, p, in_flight, block);
        (at(&up) - at(&down)) / (2.0 * STEP)
    })
}

/// Where the search begins: from the extremes that were measured at the smallest and the largest
/// block.
fn start(blocks: (f64, f64), points: &[SurfacePoint], link: bool) -> Vector {
    let at = |block: f64| {
        let here = || points.iter().filter(move |p| (p.block_bytes / block).ln().abs() < 1e-9);
        let latency = here().map(|p| p.in_flight / p.iops).fold(f64::INFINITY, f64::min);
        let highest = here().map(|p| p.iops).fold(0.0, f64::max);
        (latency.ln(), -highest.ln())
    };
    let (small, large) = (at(blocks.0), at(blocks.1));
    let carried = large.1 - blocks.1.ln();
    let p = 8.0f64.ln();
    if link {
        [small.0, large.0, small.1, small.1, carried, p]
    } else {
        [small.0, large.0, small.1, large.1, carried - 2.0, p]
    }
}

/// Huber's weight of a residual: 1 near 0, less far from it.
fn weight(residual: f64) -> f64 {
    if residual.abs() <= HUBER { 1.0 } else { HUBER / residual.abs() }
}

fn loss(blocks: (f64, f64), parameters: &Vector, begin: &Vector, points: &[Weighed]) -> f64 {
    let of_point = |p: &Weighed| {
        let r = residual(blocks, parameters, &p.at).abs();
        p.weight * if r <= HUBER { r * r } else { HUBER * (2.0 * r - HUBER) }
    };
    let near: f64 = parameters.iter().zip(begin).map(|(p, b)| ((p - b) / PRIOR).powi(2)).sum();
    // The prior counts as much as it does next to points that scatter by half a percent.
    points.iter().map(of_point).sum::<f64>() + near * SCATTER_MIN * SCATTER_MIN
}

/// The matrix and the right side of the normal equations at a place, for points of this scatter.
fn normal_equations(
    blocks: (f64, f64),
    parameters: &Vector,
    begin: &Vector,
    points: &[Weighed],
    scatter: f64,
) -> (Matrix, Vector) {
    let (mut matrix, mut right) = ([[0.0; PARAMETERS]; PARAMETERS], [0.0; PARAMETERS]);
    for point in points {
        let r = residual(blocks, parameters, &point.at);
        let g = gradient(blocks, parameters, point.at.in_flight, point.at.block_bytes);
        let w = point.weight * weight(r) / (scatter * scatter);
        for i in 0..PARAMETERS {
            right[i] += w * g[i] * r;
            for j in 0..PARAMETERS {
                matrix[i][j] += w * g[i] * g[j];
            }
        }
    }
    for i in 0..PARAMETERS {
        matrix[i][i] += 1.0 / (PRIOR * PRIOR);
        right[i] += (begin[i] - parameters[i]) / (PRIOR * PRIOR);
    }
    (matrix, right)
}

/// Walks downhill; gives the place and its loss.
fn descend(blocks: (f64, f64), begin: &Vector, points: &[Weighed]) -> (Vector, f64) {
    let mut place = *begin;
    let mut best = loss(blocks, &place, begin, points);
    let mut damping = 1e-2;
    for _ in 0..STEPS_MAX {
        let (mut matrix, right) = normal_equations(blocks, &place, begin, points, SCATTER_MIN);
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] *= 1.0 + damping;
        }
        let Some(inverse) = inverse(&matrix) else { break };
        let mut next: Vector = std::array::from_fn(|i| {
            let step: f64 = (0..PARAMETERS).map(|j| inverse[i][j] * right[j]).sum();
            place[i] + step.clamp(-1.0, 1.0)
        });
        next[5] = next[5].clamp(0.0, SHARPNESS_MAX.ln());
        let found = loss(blocks, &next, begin, points);
        if found < best {
            let gained = best - found;
            (place, best) = (next, found);
            damping = (damping / 3.0).max(1e-9);
            if gained < GAIN_MIN * best.max(1e-12) {
                break;
            }
        } else {
            damping *= 4.0;
            if damping > 1e9 {
                break;
            }
        }
    }
    (place, best)
}

/// The inverse of a symmetric, positive matrix (Gauss and Jordan with pivots); `None` if it has
/// none.
fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let mut left = *matrix;
    let mut right: Matrix =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    for column in 0..PARAMETERS {
        let pivot = (column..PARAMETERS)
            .max_by(|a, b| left[*a][column].abs().total_cmp(&left[*b][column].abs()))?;
        left.swap(column, pivot);
        right.swap(column, pivot);
        let divisor = left[column][column];
        if !(divisor.abs() > 1e-300 && divisor.is_finite()) {
            return None;
        }
        for j in 0..PARAMETERS {
            left[column][j] /= divisor;
            right[column][j] /= divisor;
        }
        for i in (0..PARAMETERS).filter(|i| *i != column) {
            let factor = left[i][column];
            for j in 0..PARAMETERS {
                left[i][j] -= factor * left[column][j];
                right[i][j] -= factor * right[column][j];
            }
        }
    }
    Some(right)
}
