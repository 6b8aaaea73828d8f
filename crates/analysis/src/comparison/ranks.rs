//! The rank test of H. B. Mann and D. R. Whitney (1947): are the values of one side larger than
//! those of the other?

use statrs::distribution::{ContinuousCDF as _, Normal};

/// Up to this many values, every way to deal them to two sides is counted; beyond, the normal
/// approximation is as good.
const COUNTED: usize = 60;

/// Two-sided chance that ranks are as far apart as these if both sides are alike. Equal values
/// share their mean rank.
///
/// `None` if a side has no value, or a value is not finite.
#[must_use]
pub fn rank_p(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|v| !v.is_finite()) {
        return None;
    }
    let mut all: Vec<(f64, bool)> =
        a.iter().map(|v| (*v, true)).chain(b.iter().map(|v| (*v, false))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    // Twice the mean ranks are whole numbers.
    let mut ranks = Vec::with_capacity(all.len());
    let mut of_a = 0;
    for same in all.chunk_by(|x, y| x.0 >= y.0) {
        let twice = 2 * ranks.len() + same.len() + 1;
        ranks.extend(std::iter::repeat_n(twice, same.len()));
        of_a += twice * same.iter().filter(|(_, first)| *first).count();
    }
    let p = if all.len() <= COUNTED { counted } else { approximated };
    Some(p(&ranks, a.len(), of_a))
}

/// The share of all ways to deal the ranks that are as far from the middle.
fn counted(ranks: &[usize], taken: usize, sum: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    // ways[k][s]: in how many ways k of the ranks so far sum up to s.
    let mut ways = vec![vec![0.0_f64; most + 1]; taken + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for k in (1..=taken).rev() {
            for s in (*rank..=most).rev() {
                ways[k][s] += ways[k - 1][s - rank];
            }
        }
    }
    let last = &ways[taken];
    let all: f64 = last.iter().sum();
    let middle = (taken * most) as f64 / ranks.len() as f64;
    let far = (sum as f64 - middle).abs() - 1e-9;
    let beyond = |(s, ways): (usize, &f64)| ((s as f64 - middle).abs() >= far).then_some(*ways);
    (last.iter().enumerate().filter_map(beyond).sum::<f64>() / all).min(1.0)
}

/// The normal approximation, from the variance of the ranks as they are.
fn approximated(ranks: &[usize], taken: usize, sum: usize) -> f64 {
    let count = ranks.len() as f64;
    let (a, b) = (taken as f64, count - taken as f64);
    let mean = ranks.iter().sum::<usize>() as f64 / count;
    let squares: f64 = ranks.iter().map(|r| (*r as f64 - mean).powi(2)).sum();
    let variance = a * b / count * squares / (count - 1.0);
    if variance <= 0.0 {
        return 1.0;
    }
    let far = (sum as f64 - a * mean).abs() / variance.sqrt();
    (2.0 * Normal::standard().sf(far)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_met() {
        // Wholly apart: 2 of C(8, 4) = 70 and of C(10, 5) = 252 ways.
        let apart = rank_p(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
        assert!((apart - 2.0 / 70.0).abs() < 1e-12, "{apart}");
        let apart = rank_p(&[9.0, 8.0, 7.0, 6.0, 10.0], &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((apart - 2.0 / 252.0).abs() < 1e-12, "{apart}");
        // U = 2 of five each: 4 of the 252 ways are below or at it on either side (0, 1, 2, 2).
        let p = rank_p(&[1.0, 2.0, 3.0, 5.0, 6.0], &[4.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
        assert!((p - 8.0 / 252.0).abs() < 1e-12, "{p}");
        assert_eq!(rank_p(&[1.0; 4], &[1.0; 4]), Some(1.0));
        assert_eq!(rank_p(&[], &[1.0]), None);
        assert_eq!(rank_p(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn the_approximation_meets_the_count() {
        let a: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 30)).collect();
        let b: Vec<f64> = (0..30).map(|i| f64::from(i * 11 % 30) + 6.3).collect();
        let exact = rank_p(&a, &b).unwrap();
        let more_a: Vec<f64> = a.iter().copied().chain([15.0]).collect();
        let near = rank_p(&more_a, &b).unwrap();
        assert!((exact - near).abs() < 0.02, "{exact} {near}");
    }
}
