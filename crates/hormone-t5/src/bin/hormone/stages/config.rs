//! The configuration of a training stage: shape, mixture, learning rate, gate.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hormone_t5::T5Config;
use serde::Deserialize;

use crate::mixture::MixtureConfig;
use crate::trainer::Objective;

/// `configs/*.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageConfig {
    pub(super) seed: u64,
    pub(super) batch_size: usize,
    pub(super) max_tokens: usize,
    pub(super) total_steps: u64,
    pub(super) evaluate_every: u64,
    pub(super) checkpoint_every: u64,
    pub(super) learning_rate: f64,
    pub(super) warmup_steps: u64,
    pub(super) final_factor: f64,
    pub(super) weight_decay: f64,
    pub(super) clip_norm: f64,
    /// Muon for the layers' matrices instead of AdamW.
    #[serde(default)]
    pub(super) muon: bool,
    /// Learning rate of the MLP from levels to `e`, as a factor of `learning_rate`.
    pub(super) embedding_rate: f64,
    /// Whether what all tones' `e` have in common is taken away as the stage begins.
    #[serde(default)]
    pub(super) recentre_embedding: bool,
    /// Weight of the unlikelihood of saying a recent token again.
    #[serde(default)]
    pub(super) repetition_weight: f64,
    pub(super) hormone_weight: f64,
    /// Weight of the levels' absolute error beside their squared one.
    #[serde(default)]
    pub(super) mae_weight: f64,
    /// Weight of the cross-entropy of the tones that the levels are nearest to.
    #[serde(default)]
    pub(super) tone_weight: f64,
    pub(super) margin_weight: f64,
    pub(super) diversity_weight: f64,
    /// What a word that the reply takes up from the message counts in the loss, beside 1 for every other.
    #[serde(default = "one")]
    pub(super) copied_weight: f32,
    /// What the conditional gain must have reached at the end: a stage that starts from less would learn replies that ignore what was said.
    pub(super) least_conditional_gain: f64,
    /// Put before replies that are read for the levels they show; `None`: as in the stage before.
    pub(super) reply_prefix: Option<String>,
    /// Where a model starts at random.
    pub(super) model: Option<ModelShape>,
    pub(super) mixture: MixtureConfig,
}

impl StageConfig {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let config: Self = toml::from_str(&text).with_context(|| format!("{} is not a training configuration", path.display()))?;
        let counts = [
            ("batch_size", config.batch_size as u64),
            ("total_steps", config.total_steps),
            ("evaluate_every", config.evaluate_every),
            ("checkpoint_every", config.checkpoint_every),
        ];
        for (name, count) in counts {
            ensure!(count > 0, "{}: {name} is 0, but must be at least 1", path.display());
        }
        ensure!(config.max_tokens >= 2, "{}: max_tokens must leave room for a token and the end token", path.display());
        Ok(config)
    }

    pub(super) fn objective(&self) -> Objective {
        Objective {
            repetition_weight: self.repetition_weight,
            hormone_weight: self.hormone_weight,
            mae_weight: self.mae_weight,
            tone_weight: self.tone_weight,
            margin_weight: self.margin_weight,
            diversity_weight: self.diversity_weight,
        }
    }
}

fn one() -> f32 {
    1.0
}

/// The shape of a model to train from random weights.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelShape {
    pub(super) d_model: usize,
    pub(super) d_kv: usize,
    pub(super) d_ff: usize,
    pub(super) num_heads: usize,
    pub(super) num_layers: usize,
    pub(super) num_decoder_layers: usize,
    pub(super) dropout_rate: f64,
}

impl ModelShape {
    pub(super) fn t5_config(&self, vocab_size: usize) -> Result<T5Config> {
        let json = serde_json::json!({
            "vocab_size": vocab_size, "d_model": self.d_model, "d_kv": self.d_kv, "d_ff": self.d_ff, "num_heads": self.num_heads,
            "num_layers": self.num_layers, "num_decoder_layers": self.num_decoder_layers, "dropout_rate": self.dropout_rate,
        });
        Ok(T5Config::from_json(&serde_json::to_vec(&json)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_committed_configuration_is_read_and_only_the_first_stage_has_a_shape() -> Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        for (stage, has_shape) in [("pretrain", true), ("converse", false), ("finetune", false), ("sharpen", false)] {
            let config = StageConfig::read(&folder.join(format!("{stage}.toml")))?;
            assert_eq!(config.model.is_some(), has_shape, "{stage}");
            assert!(config.least_conditional_gain > 0.0, "{stage} has no gate");
        }
        Ok(())
    }
}
