//! Configuration of the model: Hugging Face's fields for T5, and ours for the block.
//!
//! Source of the T5 fields and defaults: `transformers`' `configuration_t5.py`.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Hugging Face's `config.json` of a T5, as far as inference and training need it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct T5Config {
    /// Rows of the embedding.
    pub vocab_size: usize,
    /// Width `D` of hidden states.
    pub d_model: usize,
    /// Width of one attention head.
    pub d_kv: usize,
    /// Width between the two feed-forward layers.
    pub d_ff: usize,
    /// Encoder layers.
    pub num_layers: usize,
    /// Decoder layers; as many as the encoder's where the file is silent.
    #[serde(default)]
    pub num_decoder_layers: Option<usize>,
    /// Attention heads.
    pub num_heads: usize,
    /// Buckets of relative positions.
    #[serde(default = "default_buckets")]
    pub relative_attention_num_buckets: usize,
    /// Distance from which all positions share the last bucket.
    #[serde(default = "default_max_distance")]
    pub relative_attention_max_distance: usize,
    /// Dropout while training.
    #[serde(default = "default_dropout")]
    pub dropout_rate: f64,
    /// Epsilon of the root-mean-square norms.
    #[serde(default = "default_epsilon")]
    pub layer_norm_epsilon: f64,
    /// Which feed-forward layer: T5 v1.0's or v1.1's.
    #[serde(default)]
    pub feed_forward_proj: FeedForwardProj,
    /// Whether the head is the embedding (v1.0) or a matrix of its own (v1.1).
    #[serde(default = "default_true")]
    pub tie_word_embeddings: bool,
    /// Fills up short rows of a batch.
    #[serde(default)]
    pub pad_token_id: u32,
    /// Ends a text.
    #[serde(default = "default_eos")]
    pub eos_token_id: u32,
    /// Starts a reply.
    #[serde(default)]
    pub decoder_start_token_id: u32,
}

/// The feed-forward layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum FeedForwardProj {
    /// `wo(relu(wi x))`: T5 v1.0.
    #[default]
    #[serde(rename = "relu")]
    Relu,
    /// `wo(gelu_new(wi_0 x) * wi_1 x)`: T5 v1.1 and FLAN.
    #[serde(rename = "gated-gelu")]
    GatedGelu,
}

fn default_buckets() -> usize {
    32
}
fn default_max_distance() -> usize {
    128
}
fn default_dropout() -> f64 {
    0.1
}
fn default_epsilon() -> f64 {
    1e-6
}
fn default_eos() -> u32 {
    1
}
fn default_true() -> bool {
    true
}

impl T5Config {
    /// Reads and checks Hugging Face's `config.json`.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let config: Self = parse("config.json", json)?;
        let counts = [
            ("vocab_size", config.vocab_size),
            ("d_model", config.d_model),
            ("d_kv", config.d_kv),
            ("d_ff", config.d_ff),
            ("num_layers", config.num_layers),
            ("num_decoder_layers", config.num_decoder_layers()),
            ("num_heads", config.num_heads),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            let reason = format!("{name} is 0, but must be at least 1.");
            return Err(Error::Config { file: "config.json", reason });
        }
        if config.relative_attention_num_buckets < 4 || config.relative_attention_max_distance <= config.relative_attention_num_buckets / 2
        {
            let reason = format!(
                "{} buckets for distances up to {} make no sense: at least 4 buckets and a longer distance than half of them were expected.",
                config.relative_attention_num_buckets, config.relative_attention_max_distance
            );
            return Err(Error::Config { file: "config.json", reason });
        }
        let ids = [
            ("pad_token_id", config.pad_token_id),
            ("eos_token_id", config.eos_token_id),
            ("decoder_start_token_id", config.decoder_start_token_id),
        ];
        if let Some((name, id)) = ids.iter().find(|(_, id)| *id as usize >= config.vocab_size) {
            let reason = format!("{name} is {id}, but must be below vocab_size, which is {}.", config.vocab_size);
            return Err(Error::Config { file: "config.json", reason });
        }
        Ok(config)
    }

    /// Decoder layers.
    pub fn num_decoder_layers(&self) -> usize {
        self.num_decoder_layers.unwrap_or(self.num_layers)
    }

    /// Inner width `I` of attention.
    pub fn inner_dim(&self) -> usize {
        self.num_heads * self.d_kv
    }
}

/// What the block needs beside [`T5Config`]: `hormone.json`, all fields optional.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HormoneConfig {
    /// The paper's tau: lower is sharper.
    pub attention_temperature: f64,
    /// Dropout in the block while training.
    pub dropout_rate: f64,
    /// Put before every message, as the model was trained.
    pub prompt_prefix: String,
    /// Put before a reply that is read for the levels it shows, as the model was trained: a reply takes up words of the message it answers,
    /// whose feeling need not be its own.
    pub reply_prefix: String,
    /// Longest source in tokens, the end token included.
    pub max_source_tokens: usize,
}

impl Default for HormoneConfig {
    fn default() -> Self {
        Self {
            attention_temperature: 0.5,
            dropout_rate: 0.1,
            prompt_prefix: String::new(),
            reply_prefix: String::new(),
            max_source_tokens: 128,
        }
    }
}

impl HormoneConfig {
    /// Reads and checks `hormone.json`.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let config: Self = parse("hormone.json", json)?;
        let reason = if !(config.attention_temperature > 0.0 && config.attention_temperature.is_finite()) {
            format!("attention_temperature is {}, but must be above 0.", config.attention_temperature)
        } else if !(0.0..1.0).contains(&config.dropout_rate) {
            format!("dropout_rate is {}, but must be from 0 to below 1.", config.dropout_rate)
        } else if config.max_source_tokens < 2 {
            format!("max_source_tokens is {}, but must leave room for a token and the end token.", config.max_source_tokens)
        } else {
            return Ok(config);
        };
        Err(Error::Config { file: "hormone.json", reason })
    }
}

fn parse<T: serde::de::DeserializeOwned>(file: &'static str, json: &[u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| Error::Config { file, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_no_model_can_have_are_named() {
        let t5 = |change: &str| {
            let json = format!(r#"{{"vocab_size":20,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2{change}}}"#);
            T5Config::from_json(json.as_bytes()).map_err(|error| error.to_string())
        };
        assert!(t5("").is_ok());
        for (change, named) in [
            (r#","pad_token_id":20"#, "pad_token_id is 20"),
            (r#","eos_token_id":99"#, "eos_token_id is 99"),
            (r#","decoder_start_token_id":20"#, "decoder_start_token_id is 20"),
            (r#","relative_attention_num_buckets":2"#, "2 buckets"),
        ] {
            let error = t5(change).expect_err(change);
            assert!(error.contains(named), "{error}");
        }
        for (json, named) in [
            (r#"{"attention_temperature":0}"#, "attention_temperature is 0"),
            (r#"{"attention_temperature":-1.5}"#, "attention_temperature is -1.5"),
            (r#"{"dropout_rate":1.0}"#, "dropout_rate is 1"),
            (r#"{"max_source_tokens":1}"#, "max_source_tokens is 1"),
        ] {
            let error = HormoneConfig::from_json(json.as_bytes()).map_err(|error| error.to_string()).expect_err(json);
            assert!(error.contains(named), "{error}");
        }
    }
}
