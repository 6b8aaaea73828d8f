//! The soft hinge: a curve that rises in proportion to the load and bends into a ceiling.
//!
//! `X(N) = ((a N)^-p + b^-p)^(-1/p)`, with `1/a` the unloaded latency, `b` the saturated throughput
//! and `p` the sharpness of the bend. For `p` to infinity this is the asymptotic bound
//! `X(N) <= min(N/R0, Xmax)` of operational analysis (Denning & Buzen 1978; Lazowska et al. 1984);
//! `p = 1` is the curve of servers that are chosen at random.

/// Where residuals stop being squared and count linearly, in natural log units (about 10 %): one
/// stalled point does not bend the curve (Huber 1964).
const HUBER: f64 = 0.1;
/// The sharpest bend: at the hinge itself such a curve is 2.3 % under the asymptotes.
const SHARPNESS_MAX: f64 = 30.0;
/// The fitted hinge may be this many times deeper than the deepest point, so that a straight line
/// can be fitted.
const BEYOND: f64 = 8.0;
/// The coarse grid on which the search for the best curve starts.
const STEPS_KNEE: usize = 16;
const STEPS_SHARPNESS: usize = 6;
/// Steps at which the search ends, in natural log units: far below what any measurement resolves.
pub(super) const FINE: f64 = 1e-3;
/// Enough for one of many curves that scatter by more.
pub(super) const COARSE: f64 = 1e-2;

/// A curve with a soft hinge, fitted to points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SoftHinge {
    /// `b`, in the unit of the points.
    pub(super) saturated_throughput: f64,
    /// `N* = b/a`, the load at which the two asymptotes meet.
    pub(super) little_knee: f64,
    /// The sharpness `p` of the bend.
    pub(super) sharpness: f64,
    /// Typical distance of the points from the curve, in natural log units.
    pub(super) error: f64,
}

impl SoftHinge {
    /// The throughput `X(N)` at a load.
    pub(super) fn throughput(&self, in_flight: f64) -> f64 {
        self.saturated_throughput * self.ceiling_share(in_flight)
    }

    /// `X(N) / b`: what does not depend on the unit of the points, to the last bit.
    pub(super) fn ceiling_share(&self, in_flight: f64) -> f64 {
        let depth = self.little_knee.ln() - in_flight.ln();
        (-bend(depth, self.sharpness)).exp()
    }

    /// The load at which the curve has a share of what it has at `deepest`.
    pub(super) fn load_of_share(&self, share: f64, deepest: f64) -> f64 {
        let short = -(share * self.ceiling_share(deepest)).ln();
        // From (N*/N)^p = (b/X)^p - 1; short is above 0 because the curve stays below b.
        let over = (self.sharpness * short).exp_m1();
        self.little_knee * over.powf(-1.0 / self.sharpness)
    }
}

/// The loads of a curve, made ready for fitting throughputs to them any number of times.
pub(super) struct Loads {
    ln: Vec<f64>,
    knees: (f64, f64),
    /// Knee and sharpness (natural logs) of each place of the coarse grid, and the bend there at
    /// each load.
    grid: Vec<(f64, f64, Vec<f64>)>,
}

impl Loads {
    /// Takes positive loads, at least three.
    pub(super) fn new(loads: &[f64]) -> Option<Self> {
        if loads.len() < 3 {
            return None;
        }
        let ln: Vec<f64> = loads.iter().map(|load| load.ln()).collect();
        let shallowest = ln.iter().copied().fold(f64::INFINITY, f64::min);
        let deepest = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let knees = (shallowest, deepest + BEYOND.ln());
        let mut grid = Vec::with_capacity((STEPS_KNEE + 1) * (STEPS_SHARPNESS + 1));
        for knee in steps(knees, STEPS_KNEE) {
            for sharpness in steps((0.0, SHARPNESS_MAX.ln()), STEPS_SHARPNESS) {
                let bends = ln.iter().map(|n| bend(knee - n, sharpness.exp())).collect();
                grid.push((knee, sharpness, bends));
            }
        }
        Some(Self { ln, knees, grid })
    }

    /// Fits positive throughputs, one for each load, by robust least squares in log throughput, to
    /// steps of this size.
    ///
    /// For a given hinge and sharpness the best height is a location estimate, which leaves two
    /// dimensions: the best place of a coarse grid, from which a compass search walks downhill with
    /// ever smaller steps. The hinge is not sought left of the shallowest point, where nothing was
    /// measured.
    pub(super) fn fit(&self, throughputs: &[f64], step: f64) -> Option<SoftHinge> {
        // Shares of the highest, so that the fit is the same in every unit.
        let highest = throughputs.iter().copied().fold(0.0, f64::max);
        let throughputs_ln: Vec<f64> = throughputs.iter().map(|x| (x / highest).ln()).collect();
        let mut residuals = vec![0.0; self.ln.len()];
        let mut best = (f64::INFINITY, 0.0, 0.0, 0.0);
        for (knee, sharpness, bends) in &self.grid {
            for (residual, (x, bend)) in residuals.iter_mut().zip(throughputs_ln.iter().zip(bends))
            {
                *residual = x + bend;
            }
            let (loss, height) = height(&residuals);
            if loss < best.0 {
                best = (loss, *knee, *sharpness, height);
            }
        }
        let best = self.descend(best, step, &throughputs_ln, &mut residuals);
        let (loss, knee, sharpness, height) = best;
        loss.is_finite().then(|| SoftHinge {
            saturated_throughput: highest * height.exp(),
            little_knee: knee.exp(),
            sharpness: sharpness.exp(),
            error: (2.0 * loss / self.ln.len() as f64).sqrt(),
        })
    }

    fn descend(
        &self,
        mut best: (f64, f64, f64, f64),
        finest: f64,
        throughputs_ln: &[f64],
        residuals: &mut [f64],
    ) -> (f64, f64, f64, f64) {
        const WAYS: [(f64, f64); 8] = [
            (1.0, 0.0),
            (-1.0, 0.0),
            (0.0, 1.0),
            (0.0, -1.0),
            (1.0, 1.0),
            (-1.0, -1.0),
            (1.0, -1.0),
            (-1.0, 1.0),
        ];
        let mut step_knee = (self.knees.1 - self.knees.0) / STEPS_KNEE as f64 / 2.0;
        let mut step_sharpness = SHARPNESS_MAX.ln() / STEPS_SHARPNESS as f64 / 2.0;
        while step_knee.max(step_sharpness) > finest {
            let from = best;
            for (right, up) in WAYS {
                if best.0 < from.0 {
                    break;
                }
                let knee = (from.1 + right * step_knee).clamp(self.knees.0, self.knees.1);
                let sharpness = (from.2 + up * step_sharpness).clamp(0.0, SHARPNESS_MAX.ln());
                for (residual, (x, n)) in
                    residuals.iter_mut().zip(throughputs_ln.iter().zip(&self.ln))
                {
                    *residual = x + bend(knee - n, sharpness.exp());
                }
                let (loss, height) = height(residuals);
                if loss < best.0 {
                    best = (loss, knee, sharpness, height);
                }
            }
            // A gain below the rounding of the sums would let it walk for ever.
            if best.0 >= from.0 * (1.0 - 1e-9) {
                step_knee /= 2.0;
                step_sharpness /= 2.0;
            }
        }
        best
    }
}

/// `ln(b / X)` at `depth = ln(N*/N)`: a soft maximum of zero and `depth`, computed without
/// overflow.
fn bend(depth: f64, sharpness: f64) -> f64 {
    let scaled = sharpness * depth;
    (scaled.max(0.0) + (-scaled.abs()).exp().ln_1p()) / sharpness
}

/// The best `ln b` for a hinge and a sharpness, after the loss it leaves.
fn height(residuals: &[f64]) -> (f64, f64) {
    let mut height = residuals.iter().sum::<f64>() / residuals.len() as f64;
    let near = |residual: &f64| (residual - height).abs() <= HUBER;
    let rounds = if residuals.iter().all(near) { 0 } else { 6 };
    for _ in 0..rounds {
        let (mut sum, mut weights) = (0.0, 0.0);
        for residual in residuals {
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

fn steps((low, high): (f64, f64), steps: usize) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |step| low + (high - low) * step as f64 / steps as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(a: f64, b: f64, p: f64) -> (Vec<f64>, Vec<f64>) {
        let loads: Vec<f64> = (0..10).map(|power| f64::from(1 << power)).collect();
        let height = |n: &f64| ((a * n).powf(-p) + b.powf(-p)).powf(-1.0 / p);
        let heights = loads.iter().map(height).collect();
        (loads, heights)
    }

    fn fit(loads: &[f64], heights: &[f64]) -> Option<SoftHinge> {
        Loads::new(loads)?.fit(heights, FINE)
    }

    #[test]
    fn finds_its_own_parameters() {
        for (a, b, p) in [(100.0, 3200.0, 30.0), (5000.0, 80_000.0, 1.0), (40.0, 900.0, 3.0)] {
            let (loads, heights) = curve(a, b, p);
            let hinge = fit(&loads, &heights).unwrap();
            assert!((hinge.little_knee / (b / a) - 1.0).abs() < 0.003, "{hinge:?}");
            assert!((hinge.saturated_throughput / b - 1.0).abs() < 0.003, "{hinge:?}");
            assert!(hinge.error < 0.001, "{hinge:?}");
            assert!((hinge.throughput(16.0) / heights[4] - 1.0).abs() < 0.003);
        }
    }

    #[test]
    fn the_load_of_a_share_has_that_share() {
        for p in [1.0, 2.5, 30.0] {
            let (loads, heights) = curve(100.0, 3200.0, p);
            let hinge = fit(&loads, &heights).unwrap();
            for share in [0.5, 0.9, 0.95] {
                let load = hinge.load_of_share(share, 512.0);
                let has = hinge.throughput(load) / hinge.throughput(512.0);
                assert!((has / share - 1.0).abs() < 1e-6, "{has} for {share} at p {p}");
            }
        }
    }

    #[test]
    fn one_stalled_point_does_not_bend_it() {
        let (loads, mut heights) = curve(100.0, 3200.0, 30.0);
        heights[7] /= 3.0;
        let hinge = fit(&loads, &heights).unwrap();
        assert!((hinge.little_knee / 32.0 - 1.0).abs() < 0.05, "{hinge:?}");
    }

    #[test]
    fn needs_three_points() {
        assert_eq!(fit(&[1.0, 2.0], &[1.0, 2.0]), None);
    }
}
