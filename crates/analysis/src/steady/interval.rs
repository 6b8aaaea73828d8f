//! The interval of the mean of an autocorrelated series.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::numbers;

/// The counts of batches that are tried; the widest interval counts. Twenty give the steadier
/// estimate, ten the longer batches, which are less correlated.
const BATCHES: [usize; 2] = [20, 10];
/// Fewer values than this give no interval.
pub(crate) const FEWEST: usize = 10;
/// Beyond this lag-1 correlation of the batch means, the correction itself is too uncertain to
/// grow.
const MOST_CORRELATED: f64 = 0.8;

/// The mean of a series, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    /// Half width of the 95 % interval of the mean by noise alone.
    pub noise: f64,
    /// Mean of the second half less mean of the first.
    pub drift: f64,
    /// The drift that noise alone stays below 19 times in 20.
    pub drift_noise: f64,
}

/// The interval by batch means (A. Law, J. Carson, 1979), corrected for the correlation that is
/// left between them. The noise that a drift is held against is taken about the line fitted by
/// least squares, or the drift would hide itself. `None` of fewer than ten values.
pub(super) fn estimate(values: &[f64]) -> Option<Estimate> {
    let (first, second) = values.split_at(values.len() / 2);
    let drift = numbers::mean(second)? - numbers::mean(first)?;
    // Means of halves scatter by sqrt(2) more than the mean of all, their difference by 2.
    let drift_noise = 2.0 * noise(&about_line(values)?)?;
    Some(Estimate { noise: noise(values)?, drift, drift_noise })
}

/// Half width of the 95 % interval of the mean.
pub(crate) fn noise(values: &[f64]) -> Option<f64> {
    noises(values).reduce(f64::max)
}

/// The same, by the count of batches that gives less. Values several times this apart are not one
/// level.
pub(crate) fn least_noise(values: &[f64]) -> Option<f64> {
    noises(values).reduce(f64::min)
}

fn noises(values: &[f64]) -> impl Iterator<Item = f64> {
    BATCHES.iter().filter_map(|count| noise_of_batches(values, *count))
}

fn noise_of_batches(values: &[f64], count: usize) -> Option<f64> {
    let batches = batch_means(values, count)?;
    let spread = numbers::stddev(&batches)?;
    // The estimate from few values is low by about 1/count.
    let correlation = (lag_1(&batches)? + 1.0 / count as f64).clamp(0.0, MOST_CORRELATED);
    let independent = (count as f64 * (1.0 - correlation) / (1.0 + correlation)).max(2.0);
    Some(t_975(independent - 1.0)? * spread / independent.sqrt()).filter(|width| width.is_finite())
}

/// The standard deviation that independent values would have to have for the mean to scatter as it
/// does.
pub(super) fn effective_stddev(values: &[f64]) -> Option<f64> {
    let count = BATCHES.into_iter().find(|count| *count <= values.len())?;
    let spread = numbers::stddev(&batch_means(values, count)?)?;
    Some(spread * (values.len() as f64 / count as f64).sqrt())
}

/// Means of `count` consecutive parts of equal length; the values that are over at the beginning
/// are left out.
fn batch_means(values: &[f64], count: usize) -> Option<Vec<f64>> {
    let length = values.len() / count;
    if length == 0 {
        return None;
    }
    values[values.len() - length * count..].chunks_exact(length).map(numbers::mean).collect()
}

/// The distances from the line fitted by least squares.
fn about_line(values: &[f64]) -> Option<Vec<f64>> {
    let (x_mean, y_mean) = ((values.len() - 1) as f64 / 2.0, numbers::mean(values)?);
    let points = || values.iter().enumerate().map(|(x, y)| (x as f64 - x_mean, y - y_mean));
    let squares: f64 = points().map(|(x, _)| x * x).sum();
    let slope = points().map(|(x, y)| x * y).sum::<f64>() / squares.max(1.0);
    Some(points().map(|(x, y)| y - slope * x).collect())
}

/// Autocorrelation at lag 1; 0 of values that are all equal.
fn lag_1(values: &[f64]) -> Option<f64> {
    let mean = numbers::mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares > 0.0 { Some(products / squares) } else { Some(0.0) }
}

/// The 97.5 % quantile of Student's t distribution.
pub(crate) fn t_975(freedom: f64) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
    t.is_finite().then_some(t)
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

    #[test]
    fn a_line_has_drift_and_no_noise_about_it() {
        let line: Vec<f64> = (0..40).map(|index| 100.0 + f64::from(index)).collect();
        let estimate = estimate(&line).unwrap();
        assert!((estimate.drift - 20.0).abs() < 1e-9, "{estimate:?}");
        assert!(estimate.drift_noise < 1e-9 && estimate.noise > 1.0, "{estimate:?}");
    }
}
