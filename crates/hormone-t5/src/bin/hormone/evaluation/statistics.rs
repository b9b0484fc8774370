//! Intervals and rank correlation.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

const RESAMPLES: usize = 1000;

/// A figure with its 95 % interval by the percentile bootstrap over rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Estimate {
    /// `measure` of all rows, and of rows drawn again and again with replacement.
    pub(crate) fn of<T: Copy>(rows: &[T], measure: impl Fn(&[T]) -> f64) -> Self {
        if rows.is_empty() {
            return Self::default();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut resampled = rows.to_vec();
        let mut values: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                resampled.iter_mut().for_each(|row| *row = rows[rng.random_range(0..rows.len())]);
                measure(&resampled)
            })
            .collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[((RESAMPLES - 1) as f64 * share).round() as usize];
        Self { value: measure(rows), low: at(0.025), high: at(0.975) }
    }

    /// The share of rows that hold.
    pub(crate) fn share(rows: &[bool]) -> Self {
        Self::of(rows, |rows| rows.iter().filter(|row| **row).count() as f64 / rows.len() as f64)
    }

    /// The mean of the rows.
    pub(crate) fn mean(rows: &[f64]) -> Self {
        Self::of(rows, |rows| rows.iter().sum::<f64>() / rows.len() as f64)
    }

    /// As per cent.
    pub(crate) fn percent(self) -> String {
        format!("{:.1} % ({:.1} to {:.1})", 100.0 * self.value, 100.0 * self.low, 100.0 * self.high)
    }
}

/// Spearman's rank correlation of pairs; equal values share their mean rank. 0 where one side never changes.
pub(crate) fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let (left, right) = (ranks(pairs.iter().map(|pair| pair.0)), ranks(pairs.iter().map(|pair| pair.1)));
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let spread = (sum(&left, &left) * sum(&right, &right)).sqrt();
    if spread > 0.0 { sum(&left, &right) / spread } else { 0.0 }
}

fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let below = order.iter().take_while(|index| values[**index] < values[group[0]]).count();
        let rank = below as f64 + (group.len() as f64 + 1.0) / 2.0;
        group.iter().for_each(|index| ranks[*index] = rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlation_is_one_for_any_rising_curve_and_shares_ranks_of_ties() {
        let rising: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), f64::from(x).exp())).collect();
        assert!((spearman(&rising) - 1.0).abs() < 1e-12);
        let falling: Vec<(f64, f64)> = rising.iter().map(|(x, y)| (*x, -y)).collect();
        assert!((spearman(&falling) + 1.0).abs() < 1e-12);
        assert_eq!(ranks([3.0, 1.0, 3.0].into_iter()), [2.5, 1.0, 2.5]);
        assert_eq!(spearman(&[(1.0, 2.0), (2.0, 2.0)]), 0.0);
    }

    #[test]
    fn intervals_hold_the_value_and_shrink_with_more_rows() {
        let rows = |count: usize| (0..count).map(|index| index % 4 != 0).collect::<Vec<bool>>();
        let (few, many) = (Estimate::share(&rows(40)), Estimate::share(&rows(4000)));
        assert_eq!((few.value, many.value), (0.75, 0.75));
        assert!(few.low < 0.75 && 0.75 < few.high && many.high - many.low < few.high - few.low);
        assert_eq!(Estimate::share(&[]), Estimate::default());
    }
}
