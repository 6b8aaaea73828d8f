//! The universal scalability law: throughput that falls again when too many work at once.
//!
//! `X(N) = l N / (1 + s (N - 1) + k N (N - 1))` (Gunther 1993), with `l` the throughput of one, `s`
//! the share of work that excludes the others (contention) and `k` the cost of keeping each in step
//! with every other (coherence). Its shape is wrong for storage that merely saturates; it describes
//! curves that have a peak.

use serde::{Deserialize, Serialize};

/// A universal scalability law (Gunther) fitted to a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Throughput of one in flight, `l`, in the unit of the points.
    pub one_throughput: f64,
    /// Contention, `s`: the share of work that one I/O at a time has to itself.
    pub contention: f64,
    /// Coherence, `k`: what I/Os cost each other in pairs.
    pub coherence: f64,
    /// Load at the peak of the fitted law, `sqrt((1 - s) / k)`; absent if it has none.
    pub peak_in_flight: Option<f64>,
    /// Typical distance of the points from the law.
    pub error_percent: f64,
}

impl Usl {
    /// The throughput `X(N)` at a load.
    #[must_use]
    pub fn throughput(&self, in_flight: f64) -> f64 {
        let others = in_flight - 1.0;
        let slowed = 1.0 + self.contention * others + self.coherence * in_flight * others;
        self.one_throughput * in_flight / slowed
    }
}

/// Fits the law to `(in_flight, throughput)`, all positive and finite; needs three loads.
///
/// `N / X` is a sum of three terms, linear in `1/l`, `s/l` and `k/l`; it is fitted by least squares
/// of the relative error, none of the three below zero.
#[must_use]
pub fn fit(points: &[(f64, f64)]) -> Option<Usl> {
    let usable = |(n, x): &(f64, f64)| n.is_normal() && x.is_normal() && *n > 0.0 && *x > 0.0;
    if points.len() < 3 || !points.iter().all(usable) {
        return None;
    }
    // With few terms, the best sum without negative parts is found by leaving out each set of them
    // in turn.
    let kept = [[true, true, true], [true, false, true], [true, true, false], [true, false, false]];
    let fits = kept.into_iter().filter_map(|terms| law(points, solve(points, terms)?));
    fits.min_by(|left, right| left.error_percent.total_cmp(&right.error_percent))
}

/// The three terms of `N / X` in units of `N / X` itself, whose sum is to be one.
fn terms((n, x): (f64, f64)) -> [f64; 3] {
    let weight = x / n;
    [weight, weight * (n - 1.0), weight * n * (n - 1.0)]
}

/// The normal equations of the terms that are kept, by Gauss's elimination.
fn solve(points: &[(f64, f64)], kept: [bool; 3]) -> Option<[f64; 3]> {
    let mut rows = [[0.0; 4]; 3];
    for point in points {
        let terms = terms(*point);
        for (row, of_row) in rows.iter_mut().zip(terms) {
            for (cell, of_column) in row.iter_mut().zip(terms) {
                *cell += of_row * of_column;
            }
            row[3] += of_row;
        }
    }
    for place in (0..3).filter(|place| !kept[*place]) {
        for row in &mut rows {
            row[place] = 0.0;
        }
        rows[place] = [0.0; 4];
        rows[place][place] = 1.0;
    }
    for place in 0..3 {
        let pivot = rows[place];
        if pivot[place].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != place) {
            let factor = row[place] / pivot[place];
            for (cell, of_pivot) in row.iter_mut().zip(pivot) {
                *cell -= factor * of_pivot;
            }
        }
    }
    let mut values = [0.0; 3];
    for (place, value) in values.iter_mut().enumerate() {
        *value = rows[place][3] / rows[place][place];
    }
    Some(values)
}

fn law(points: &[(f64, f64)], [one, contention, coherence]: [f64; 3]) -> Option<Usl> {
    if one <= 0.0 || contention < 0.0 || coherence < 0.0 {
        return None;
    }
    let (contention, coherence) = (contention / one, coherence / one);
    let peak = ((1.0 - contention) / coherence).sqrt();
    let peak_in_flight = (peak.is_finite() && peak > 0.0).then_some(peak);
    let mut law = Usl {
        one_throughput: 1.0 / one,
        contention,
        coherence,
        peak_in_flight,
        error_percent: 0.0,
    };
    let squares = points.iter().map(|(n, x)| (law.throughput(*n) / x).ln().powi(2)).sum::<f64>();
    law.error_percent = 100.0 * (squares / points.len() as f64).sqrt();
    let figures = [law.one_throughput, contention, coherence, law.error_percent];
    figures.iter().all(|figure| figure.is_finite()).then_some(law)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(law: &Usl) -> Vec<(f64, f64)> {
        (0..9).map(|power| f64::from(1 << power)).map(|n| (n, law.throughput(n))).collect()
    }

    #[test]
    fn finds_its_own_parameters() {
        let truth = Usl {
            one_throughput: 1e4,
            contention: 0.02,
            coherence: 0.0006,
            peak_in_flight: None,
            error_percent: 0.0,
        };
        let found = fit(&curve(&truth)).unwrap();
        assert!((found.one_throughput / 1e4 - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.contention / 0.02 - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.peak_in_flight.unwrap() - (0.98_f64 / 0.0006).sqrt()).abs() < 1e-3);
        assert!(found.error_percent < 1e-6);
    }

    #[test]
    fn no_part_of_it_is_negative() {
        // Better than proportional: contention and coherence would have to be below zero.
        let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0].map(|n: f64| (n, n.powf(1.2))).to_vec();
        let found = fit(&points).unwrap();
        assert!(found.contention >= 0.0 && found.coherence >= 0.0, "{found:?}");
        assert_eq!(found.peak_in_flight, None);
    }

    #[test]
    fn what_cannot_be_fitted_gives_nothing() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (2.0, f64::NAN), (4.0, 1.0)]), None);
    }
}
