//! Small statistics with one rule for bad input: an empty slice, a value that is not finite, or a
//! result that would not be, gives `None`. A hole in the data is seen, not averaged away.

/// The arithmetic mean; `None` without values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    finite(values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of the sample, `sqrt(sum((x - mean)^2) / (n - 1))`; needs two values.
#[must_use]
pub fn stddev(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    finite((squares / (values.len() - 1) as f64).sqrt())
}

/// Coefficient of variation: the standard deviation in percent of the mean; `None` where the mean
/// is zero.
#[must_use]
pub fn cv_percent(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    finite(100.0 * stddev(values)? / mean.abs())
}

/// Median; of an even count, the mean of the two in the middle.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    finite(lower / 2.0 + upper / 2.0)
}

/// How far `value` lies from `reference`, in percent of the reference: `100 (value - reference) /
/// |reference|`.
///
/// Positive if the value is the larger. Two zeros differ by 0 %; otherwise there is no percentage
/// of zero.
#[must_use]
pub fn percent_difference(value: f64, reference: f64) -> Option<f64> {
    if value == 0.0 && reference == 0.0 {
        return Some(0.0);
    }
    finite(100.0 * (value - reference) / reference.abs())
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert!((stddev(&values).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((cv_percent(&values).unwrap() - 42.761_798_705_987_9).abs() < 1e-9);
        assert_eq!(median(&values), Some(4.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(percent_difference(98.0, 100.0), Some(-2.0));
    }

    #[test]
    fn holes_are_seen() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, f64::NAN]), None);
        assert_eq!(median(&[1.0, f64::INFINITY]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(stddev(&[1.0]), None);
        assert_eq!(cv_percent(&[-1.0, 1.0]), None);
        assert_eq!(mean(&[f64::MAX, f64::MAX]), None);
        assert_eq!(percent_difference(0.0, 0.0), Some(0.0));
        assert_eq!(percent_difference(1.0, 0.0), None);
    }
}
