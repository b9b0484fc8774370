//! A tiny model with random weights, whose vocabulary is the small letters.
#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod parity;

use std::collections::BTreeMap;

use candle_core::{DType, Device, Tensor};
use hormone_t5::{HormoneConfig, HormoneT5, Result, T5Config, TextTokenizer, Weights};

pub const VOCABULARY: usize = 40;

pub fn config() -> Result<T5Config> {
    T5Config::from_json(br#"{"vocab_size":40,"d_model":32,"d_kv":8,"d_ff":48,"num_layers":2,"num_heads":4}"#)
}

pub fn tokenizer() -> Result<TextTokenizer> {
    let mut vocabulary =
        vec![("<pad>".to_string(), 0.0), ("</s>".to_string(), 0.0), ("<unk>".to_string(), 0.0), ("\u{2581}".to_string(), -2.0)];
    vocabulary.extend(('a'..='z').map(|letter| (letter.to_string(), -3.0)));
    vocabulary.extend(["the", "he", "ll", "!", "?", ".", ","].map(|piece| (piece.to_string(), -2.5)));
    vocabulary.push(("\u{2581}so".to_string(), -2.5));
    while vocabulary.len() < VOCABULARY {
        vocabulary.push((format!("<extra_id_{}>", vocabulary.len()), -9.0));
    }
    let special = |id: usize, content: &str| serde_json::json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true});
    let metaspace = serde_json::json!({"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true});
    let json = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
        "added_tokens": [special(0, "<pad>"), special(1, "</s>"), special(2, "<unk>")],
        "pre_tokenizer": metaspace, "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 2, "vocab": vocabulary, "byte_fallback": false},
    });
    TextTokenizer::from_json(json.to_string().as_bytes(), 1)
}

/// Random weights, wilder than a fresh model's, so that replies differ.
pub fn model() -> Result<HormoneT5> {
    let weights = Weights::trainable(BTreeMap::new(), 7);
    HormoneT5::from_parts(&weights, config()?, HormoneConfig::default(), tokenizer()?)?;
    for (name, variable) in weights.variables() {
        if name.contains("relative_attention_bias") || name.contains("hormone_query") || name.ends_with("EncDecAttention.o.weight") {
            variable.set(&(variable.as_tensor() * 8.0)?)?;
        }
    }
    HormoneT5::from_parts(&weights, config()?, HormoneConfig { max_source_tokens: 24, ..HormoneConfig::default() }, tokenizer()?)
}

pub fn ids(rows: &[&[u32]]) -> Result<Tensor> {
    let width = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let values: Vec<u32> = rows.iter().flat_map(|row| row.iter().copied().chain(std::iter::repeat(0)).take(width)).collect();
    Ok(Tensor::from_vec(values, (rows.len(), width), &Device::Cpu)?)
}

pub fn mask(rows: &[&[u32]]) -> Result<Tensor> {
    let width = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let values: Vec<f32> = rows.iter().flat_map(|row| (0..width).map(|place| f32::from(u8::from(place < row.len())))).collect();
    Ok(Tensor::from_vec(values, (rows.len(), width), &Device::Cpu)?)
}

pub fn assert_close(name: &str, actual: &Tensor, expected: &Tensor, tolerance: f32) -> Result<()> {
    assert_eq!(actual.dims(), expected.dims(), "{name}");
    let difference: f32 = (actual.to_dtype(DType::F32)? - expected.to_dtype(DType::F32)?)?.abs()?.flatten_all()?.max(0)?.to_scalar()?;
    assert!(difference <= tolerance, "{name}: largest difference {difference}, allowed {tolerance}");
    Ok(())
}
