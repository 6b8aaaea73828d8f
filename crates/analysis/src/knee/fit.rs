//! The soft hinge: a curve that rises in proportion to the load and bends into a ceiling.
//!
//! `X(N) = ((a N)^-p + b^-p)^(-1/p)`, with `1/a` the unloaded latency, `b` the saturated throughput and `p` the
//! sharpness of the bend. For `p` to infinity this is the asymptotic bound `X(N) <= min(N/R0, Xmax)` of operational
//! analysis (Denning & Buzen 1978; Lazowska et al. 1984); `p = 1` is the curve of servers that are chosen at random.

/// Where residuals stop being squared and count linearly, in natural log units (about 10 %): one stalled point does
/// not bend the curve (Huber 1964).
const HUBER: f64 = 0.1;
/// The sharpest bend: at the hinge itself such a curve lies 2.3 % under the asymptotes.
const SHARPNESS_MAX: f64 = 30.0;
/// The fitted hinge may lie this many times deeper than the deepest point, so that a straight line can be fitted.
const BEYOND: f64 = 8.0;
const ZOOMS: usize = 7;
const STEPS_KNEE: usize = 30;
const STEPS_SHARPNESS: usize = 12;

/// A fitted curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SoftHinge {
    /// `b`, in the unit of the points.
    pub(super) saturated_throughput: f64,
    /// `N* = b/a`, the load at which the two asymptotes meet.
    pub(super) little_knee: f64,
    /// `p`.
    pub(super) sharpness: f64,
    /// Typical distance of the points from the curve, in natural log units.
    pub(super) error: f64,
}

impl SoftHinge {
    /// `X(N)`.
    pub(super) fn throughput(&self, in_flight: f64) -> f64 {
        let depth = self.little_knee.ln() - in_flight.ln();
        (self.saturated_throughput.ln() - bend(depth, self.sharpness)).exp()
    }
}

/// Fits `(in_flight, throughput)`, all positive, by robust least squares in log throughput. Needs three points.
///
/// For a given hinge and sharpness the best height is a location estimate, which leaves two dimensions: a grid over
/// both, narrowed around the best cell until it is finer than any measurement. The hinge is not sought left of the
/// shallowest point, where nothing was measured.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<SoftHinge> {
    if points.len() < 3 {
        return None;
    }
    let points_ln: Vec<(f64, f64)> = points.iter().map(|(n, x)| (n.ln(), x.ln())).collect();
    let shallowest = points_ln.iter().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let deepest = points_ln.iter().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    let knee_bounds = (shallowest, deepest + BEYOND.ln());
    let sharpness_bounds = (0.0, SHARPNESS_MAX.ln());
    let (mut knees, mut sharpnesses) = (knee_bounds, sharpness_bounds);
    let mut residuals = vec![0.0; points_ln.len()];
    let mut best = (f64::INFINITY, shallowest, sharpness_bounds.1, 0.0);
    for _ in 0..ZOOMS {
        for knee in grid(knees, STEPS_KNEE) {
            for sharpness in grid(sharpnesses, STEPS_SHARPNESS) {
                let (loss, height) = height(&points_ln, knee, sharpness.exp(), &mut residuals);
                if loss < best.0 {
                    best = (loss, knee, sharpness, height);
                }
            }
        }
        knees = narrow(knees, best.1, STEPS_KNEE, knee_bounds);
        sharpnesses = narrow(sharpnesses, best.2, STEPS_SHARPNESS, sharpness_bounds);
    }
    let (loss, knee, sharpness, height) = best;
    loss.is_finite().then(|| SoftHinge {
        saturated_throughput: height.exp(),
        little_knee: knee.exp(),
        sharpness: sharpness.exp(),
        error: (2.0 * loss / points_ln.len() as f64).sqrt(),
    })
}

/// `ln(b / X)` at `depth = ln(N*/N)`: a soft maximum of zero and `depth`, computed without overflow.
fn bend(depth: f64, sharpness: f64) -> f64 {
    let scaled = sharpness * depth;
    (scaled.max(0.0) + (-scaled.abs()).exp().ln_1p()) / sharpness
}

/// The best `ln b` for a hinge and a sharpness, after the loss it leaves.
fn height(
    points_ln: &[(f64, f64)],
    knee: f64,
    sharpness: f64,
    residuals: &mut [f64],
) -> (f64, f64) {
    for (residual, (n, x)) in residuals.iter_mut().zip(points_ln) {
        *residual = x + bend(knee - n, sharpness);
    }
    let mut height = residuals.iter().sum::<f64>() / residuals.len() as f64;
    for _ in 0..6 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for residual in residuals.iter() {
            let weight = (HUBER / (residual - height).abs()).min(1.0);
            sum += weight * residual;
            weights += weight;
        }
        height = sum / weights;
    }
    let loss = residuals.iter().map(|residual| huber(residual - height)).sum();
    (loss, height)
}

fn huber(residual: f64) -> f64 {
    let size = residual.abs();
    if size <= HUBER { 0.5 * size * size } else { HUBER * (size - 0.5 * HUBER) }
}

fn grid((low, high): (f64, f64), steps: usize) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |step| low + (high - low) * step as f64 / steps as f64)
}

/// Two grid steps either side of the best value, within the bounds.
fn narrow((low, high): (f64, f64), best: f64, steps: usize, bounds: (f64, f64)) -> (f64, f64) {
    let reach = 2.0 * (high - low) / steps as f64;
    ((best - reach).max(bounds.0), (best + reach).min(bounds.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(a: f64, b: f64, p: f64) -> Vec<(f64, f64)> {
        (0..10)
            .map(|power| f64::from(1 << power))
            .map(|n: f64| (n, ((a * n).powf(-p) + b.powf(-p)).powf(-1.0 / p)))
            .collect()
    }

    #[test]
    fn finds_its_own_parameters() {
        for (a, b, p) in [(100.0, 3200.0, 30.0), (5000.0, 80_000.0, 1.0), (40.0, 900.0, 3.0)] {
            let hinge = fit(&curve(a, b, p)).unwrap();
            assert!((hinge.little_knee / (b / a) - 1.0).abs() < 0.003, "{hinge:?}");
            assert!((hinge.saturated_throughput / b - 1.0).abs() < 0.003, "{hinge:?}");
            assert!(hinge.error < 0.001, "{hinge:?}");
            assert!((hinge.throughput(16.0) / curve(a, b, p)[4].1 - 1.0).abs() < 0.003);
        }
    }

    #[test]
    fn one_stalled_point_does_not_bend_it() {
        let mut points = curve(100.0, 3200.0, 30.0);
        points[7].1 /= 3.0;
        let hinge = fit(&points).unwrap();
        assert!((hinge.little_knee / 32.0 - 1.0).abs() < 0.05, "{hinge:?}");
    }

    #[test]
    fn needs_three_points() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
    }
}
