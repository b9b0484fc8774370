//! The numbers that come with a reply.

use serde::{Deserialize, Serialize};

/// How long a reply took: the steps that it had a part in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct LaneTimings {
    /// From the lane's start to its first token.
    pub first_token_ms: f64,
    /// All its steps.
    pub total_ms: f64,
    /// Tokens made, the end token not counted.
    pub tokens: usize,
}

impl LaneTimings {
    /// Tokens a second; 0 where nothing was made.
    pub fn tokens_per_second(self) -> f64 {
        if self.total_ms > 0.0 { self.tokens as f64 * 1000.0 / self.total_ms } else { 0.0 }
    }
}

/// The numbers of `H~ = H * (1 + alpha * e)` that do not depend on alpha.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Modulation {
    /// The emotion embedding `e`, one number for each of the `D` hidden features.
    pub embedding: Vec<f32>,
    /// `|H * e| / |H|`: how much `H` would change at alpha 1; at another alpha, alpha times as much.
    pub relative_change: f32,
}

impl Modulation {
    /// Euclidean length of `e`.
    pub fn embedding_norm(&self) -> f32 {
        self.embedding.iter().map(|feature| feature * feature).sum::<f32>().sqrt()
    }

    /// Smallest and largest factor `1 + alpha * e` at an alpha.
    pub fn factors(&self, alpha: f32) -> (f32, f32) {
        let factors = || self.embedding.iter().map(|feature| 1.0 + alpha * feature);
        (factors().fold(f32::INFINITY, f32::min), factors().fold(f32::NEG_INFINITY, f32::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_one_where_the_modulation_is_off() {
        let modulation = Modulation { embedding: vec![-0.5, 1.0], relative_change: 0.7 };
        assert_eq!(modulation.factors(0.0), (1.0, 1.0));
        assert_eq!(modulation.factors(0.5), (0.75, 1.5));
        assert!((modulation.embedding_norm() - 1.25_f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn tokens_a_second_of_an_empty_reply_is_zero() {
        assert_eq!(LaneTimings::default().tokens_per_second(), 0.0);
        assert_eq!(LaneTimings { first_token_ms: 10.0, total_ms: 500.0, tokens: 20 }.tokens_per_second(), 40.0);
    }
}
