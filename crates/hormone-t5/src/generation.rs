//! Choosing the next token: settings, the rules that change scores, and greedy, sampling and beam search.
//!
//! Reference: `transformers`' `generation/logits_process.py` and beam search; the same order of rules, the same results.

mod beams;
mod scores;

pub use beams::{BeamSearch, BeamStep, Hypothesis};
pub use scores::{ScoreRules, candidates, log_softmax, sample};
pub(crate) use scores::{argmax, ranked};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How the next token is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decoding {
    /// Always the likeliest.
    #[default]
    Greedy,
    /// At random, by probability.
    Sampling {
        /// Divides the scores: below 1 bolder, above 1 flatter. More than 0.
        temperature: f64,
        /// Only among so many likeliest.
        top_k: Option<usize>,
        /// Only among the likeliest that together reach this probability, 0 to 1.
        top_p: Option<f64>,
    },
    /// The likeliest of several whole replies that are followed at once.
    Beams {
        /// How many are followed.
        num_beams: usize,
        /// A reply's log-probability is divided by its length to this power.
        length_penalty: f32,
    },
}

/// Settings of one reply.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct GenerationConfig {
    /// How the next token is chosen.
    pub decoding: Decoding,
    /// Strength of the modulation; `None` is the learned one, 0 the plain T5.
    pub alpha: Option<f32>,
    /// Levels set by hand, in the order of [`crate::Hormone::ALL`]; `None` keeps the predicted one.
    pub levels: [Option<f32>; 6],
    /// No run of so many tokens occurs twice; 0 is off.
    pub no_repeat_ngram_size: usize,
    /// Above 1 makes tokens that have occurred less likely; 1 is off.
    pub repetition_penalty: f32,
    /// The end token waits for so many tokens.
    pub min_new_tokens: usize,
    /// The reply ends after so many tokens.
    pub max_new_tokens: usize,
    /// Same seed, same reply.
    pub seed: u64,
    /// Whether tokens carry their cross-attention.
    pub cross_attention: bool,
}

impl Default for GenerationConfig {
    fn default() -> Self {
        Self {
            decoding: Decoding::Greedy,
            alpha: None,
            levels: [None; 6],
            no_repeat_ngram_size: 0,
            repetition_penalty: 1.0,
            min_new_tokens: 0,
            max_new_tokens: 80,
            seed: 0,
            cross_attention: false,
        }
    }
}

impl GenerationConfig {
    /// Longest reply that can be asked for.
    pub const MAX_NEW_TOKENS: usize = 512;
    /// Most beams that can be followed.
    pub const MAX_BEAMS: usize = 16;

    /// Checks every setting's range.
    pub fn check(&self) -> Result<()> {
        fn within(name: &'static str, value: impl ToString, valid: bool, expected: &'static str) -> Result<()> {
            if valid { Ok(()) } else { Err(Error::Setting { name, value: value.to_string(), expected }) }
        }
        if let Some(alpha) = self.alpha {
            within("alpha", alpha, (0.0..=2.0).contains(&alpha), "between 0 and 2")?;
        }
        for level in self.levels.into_iter().flatten() {
            within("a level", level, (0.0..=1.0).contains(&level), "between 0 and 1")?;
        }
        match self.decoding {
            Decoding::Greedy => {}
            Decoding::Sampling { temperature, top_k, top_p } => {
                within("temperature", temperature, temperature > 0.0 && temperature.is_finite(), "more than 0; use greedy decoding for 0")?;
                within("top_k", top_k.unwrap_or(1), top_k != Some(0), "at least 1")?;
                let top_p = top_p.unwrap_or(1.0);
                within("top_p", top_p, top_p > 0.0 && top_p <= 1.0, "more than 0 and at most 1")?;
            }
            Decoding::Beams { num_beams, length_penalty } => {
                within("num_beams", num_beams, (1..=Self::MAX_BEAMS).contains(&num_beams), "between 1 and 16")?;
                within("length_penalty", length_penalty, length_penalty.is_finite(), "a number")?;
            }
        }
        within(
            "repetition_penalty",
            self.repetition_penalty,
            self.repetition_penalty > 0.0 && self.repetition_penalty.is_finite(),
            "more than 0",
        )?;
        within("max_new_tokens", self.max_new_tokens, (1..=Self::MAX_NEW_TOKENS).contains(&self.max_new_tokens), "between 1 and 512")?;
        within("min_new_tokens", self.min_new_tokens, self.min_new_tokens <= self.max_new_tokens, "at most max_new_tokens")
    }
}
