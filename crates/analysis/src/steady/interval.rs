//! The interval of the mean of an autocorrelated series.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::numbers;

/// The counts of batches that are tried; the widest interval counts. Twenty give the steadier estimate, ten the
/// longer batches, which are less correlated.
const BATCHES: [usize; 2] = [20, 10];
/// Fewer values than this give no interval.
pub(super) const FEWEST: usize = 10;
/// Beyond this lag-1 correlation of the batch means, the correction itself is too uncertain to grow.
const MOST_CORRELATED: f64 = 0.8;

/// What is known of the mean of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    /// Half width of the 95 % interval of the mean, drift included.
    pub half_width: f64,
    /// Mean of the second half less mean of the first.
    pub drift: f64,
    /// Half width of the 95 % interval of the drift, were there none.
    pub drift_half_width: f64,
}

/// The interval by batch means (A. Law, J. Carson, 1979), corrected for the correlation that is left between
/// them, and widened by half the drift. `None` of fewer than ten values.
pub(super) fn estimate(values: &[f64]) -> Option<Estimate> {
    let noise = BATCHES.iter().filter_map(|count| noise(values, *count)).reduce(f64::max)?;
    let (first, second) = values.split_at(values.len() / 2);
    let drift = numbers::mean(second)? - numbers::mean(first)?;
    let half_width = noise.hypot(drift / 2.0);
    half_width.is_finite().then_some(Estimate { half_width, drift, drift_half_width: 2.0 * noise })
}

/// Half width of the 95 % interval from `count` batch means.
fn noise(values: &[f64], count: usize) -> Option<f64> {
    let batches = batch_means(values, count)?;
    let spread = numbers::stddev(&batches)?;
    let left = (lag_1(&batches)? + 1.0 / count as f64).clamp(0.0, MOST_CORRELATED);
    let independent = (count as f64 * (1.0 - left) / (1.0 + left)).max(2.0);
    Some(t_975(independent - 1.0)? * spread / independent.sqrt())
}

/// The standard deviation that independent values would have to have for the mean to scatter as it does.
pub(super) fn effective_stddev(values: &[f64]) -> Option<f64> {
    let count = BATCHES.into_iter().find(|count| *count <= values.len())?;
    let spread = numbers::stddev(&batch_means(values, count)?)?;
    Some(spread * (values.len() as f64 / count as f64).sqrt())
}

/// Means of `count` consecutive parts of equal length; the values that are over at the beginning are left out.
fn batch_means(values: &[f64], count: usize) -> Option<Vec<f64>> {
    let length = values.len() / count;
    if length == 0 {
        return None;
    }
    values[values.len() - length * count..].chunks_exact(length).map(numbers::mean).collect()
}

/// Autocorrelation at lag 1; 0 of values that are all equal.
fn lag_1(values: &[f64]) -> Option<f64> {
    let mean = numbers::mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares > 0.0 { Some(products / squares) } else { Some(0.0) }
}

/// The 97.5 % quantile of Student's t distribution.
pub(super) fn t_975(freedom: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975)).filter(|t| t.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_are_those_of_the_tables() {
        for (freedom, table) in [(1.0, 12.7062), (4.0, 2.7764), (9.0, 2.2622), (19.0, 2.0930)] {
            assert!((t_975(freedom).unwrap() - table).abs() < 1e-4, "{freedom}");
        }
        assert_eq!(t_975(0.0), None);
        assert_eq!(t_975(f64::NAN), None);
    }
}
