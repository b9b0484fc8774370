//! T5-small's shape with random weights: tensors, a GGUF file of them, the configuration and a vocabulary.

use std::io::Cursor;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{Device, Result, Tensor};
use serde_json::{Value, json};

const VOCABULARY: usize = 32128;
const WIDTH: usize = 512;
const INNER: usize = 2048;
const LAYERS: usize = 6;
const HEADS: usize = 8;
const BUCKETS: usize = 32;

/// A tensor to be.
pub(crate) struct Planned {
    pub(crate) name: String,
    shape: Vec<usize>,
    /// Half the width of the uniform distribution; `None` is ones.
    bound: Option<f32>,
}

impl Planned {
    /// Seeded by the name: the same wherever it is asked for.
    pub(crate) fn dense(&self) -> Result<Tensor> {
        let count = self.shape.iter().product();
        let Some(bound) = self.bound else { return Tensor::ones(self.shape.as_slice(), candle_core::DType::F32, &Device::Cpu) };
        let mut state =
            self.name.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 40) as f32 / (1u32 << 23) as f32 - 1.0) * bound
        };
        Tensor::from_vec((0..count).map(|_| next()).collect::<Vec<f32>>(), self.shape.as_slice(), &Device::Cpu)
    }
}

fn planned(name: impl Into<String>, shape: &[usize], deviation: f32) -> Planned {
    Planned { name: name.into(), shape: shape.to_vec(), bound: Some(deviation * 3f32.sqrt()) }
}

fn ones(name: String) -> Planned {
    Planned { name, shape: vec![WIDTH], bound: None }
}

/// Hugging Face's names.
pub(crate) fn t5() -> Vec<Planned> {
    let fan = |width: usize| (width as f32).powf(-0.5);
    let mut all = vec![planned("shared.weight", &[VOCABULARY, WIDTH], 1.0)];
    for stack in ["encoder", "decoder"] {
        for block in 0..LAYERS {
            let layer = |index: usize| format!("{stack}.block.{block}.layer.{index}");
            let mut attention = |index: usize, name: &str| {
                for matrix in ["q", "k", "v", "o"] {
                    let deviation = if matrix == "q" { fan(WIDTH * 64) } else { fan(WIDTH) };
                    all.push(planned(format!("{}.{name}.{matrix}.weight", layer(index)), &[WIDTH, WIDTH], deviation));
                }
                all.push(ones(format!("{}.layer_norm.weight", layer(index))));
            };
            attention(0, "SelfAttention");
            let last = if stack == "decoder" {
                attention(1, "EncDecAttention");
                2
            } else {
                1
            };
            if block == 0 {
                let name = format!("{}.SelfAttention.relative_attention_bias.weight", layer(0));
                all.push(planned(name, &[BUCKETS, HEADS], fan(WIDTH)));
            }
            all.push(planned(format!("{}.DenseReluDense.wi.weight", layer(last)), &[INNER, WIDTH], fan(WIDTH)));
            all.push(planned(format!("{}.DenseReluDense.wo.weight", layer(last)), &[WIDTH, INNER], fan(INNER)));
            all.push(ones(format!("{}.layer_norm.weight", layer(last))));
        }
        all.push(ones(format!("{stack}.final_layer_norm.weight")));
    }
    all
}

/// The same under `t5.`, and the block.
pub(crate) fn hormone_t5() -> Vec<Planned> {
    let mut all = t5();
    for tensor in &mut all {
        // Seeds follow the name, values need not be the peers' own.
        tensor.name.insert_str(0, "t5.");
    }
    for hormone in ["dopamine", "serotonin", "cortisol", "oxytocin", "adrenaline", "endorphins"] {
        let at = |name: &str| format!("hormone_block.hormone_heads.{hormone}.{name}");
        all.push(planned(at("hormone_query"), &[1, 4, WIDTH / 4], 0.1));
        all.push(planned(at("key_proj.weight"), &[WIDTH, WIDTH], 0.04));
        all.push(planned(at("value_proj.weight"), &[WIDTH, WIDTH], 0.04));
        all.push(ones(at("attended_norm.weight")));
        all.push(planned(at("attended_norm.bias"), &[WIDTH], 0.01));
        for (index, inputs, outputs) in [(0, WIDTH, WIDTH), (3, WIDTH, WIDTH / 2), (6, WIDTH / 2, WIDTH / 4), (8, WIDTH / 4, 1)] {
            all.push(planned(at(&format!("output_proj.{index}.weight")), &[outputs, inputs], 0.04));
            all.push(planned(at(&format!("output_proj.{index}.bias")), &[outputs], 0.01));
        }
        all.push(planned(at("output_bias"), &[1], 0.1));
    }
    let at = |name: &str| format!("hormone_block.hormone_to_embedding.{name}");
    all.push(planned(at("0.weight"), &[WIDTH, 6], 0.4));
    all.push(planned(at("0.bias"), &[WIDTH], 0.1));
    all.push(ones(at("2.weight")));
    all.push(planned(at("2.bias"), &[WIDTH], 0.01));
    all.push(planned(at("4.weight"), &[WIDTH, WIDTH], 0.04));
    all.push(planned(at("4.bias"), &[WIDTH], 0.01));
    all.push(planned("hormone_block.modulation_strength", &[1], 0.2));
    all
}

/// Q8_0 for matrices of whole blocks, f32 for the rest.
pub(crate) fn gguf(tensors: &[Planned]) -> crate::Result<Vec<u8>> {
    let mut stored = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let whole_blocks = tensor.shape.len() == 2 && tensor.shape[1].is_multiple_of(GgmlDType::Q8_0.block_size());
        let dtype = if whole_blocks { GgmlDType::Q8_0 } else { GgmlDType::F32 };
        stored.push((tensor.name.as_str(), QTensor::quantize(&tensor.dense()?, dtype)?));
    }
    let entries: Vec<(&str, &QTensor)> = stored.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let mut bytes = Cursor::new(Vec::new());
    gguf_file::write(&mut bytes, &[], &entries)?;
    Ok(bytes.into_inner())
}

pub(crate) fn config() -> Value {
    json!({
        "vocab_size": VOCABULARY, "d_model": WIDTH, "d_kv": 64, "d_ff": INNER, "num_layers": LAYERS, "num_heads": HEADS,
        "relative_attention_num_buckets": BUCKETS, "relative_attention_max_distance": 128, "dropout_rate": 0.1,
        "layer_norm_epsilon": 1e-6, "initializer_factor": 1.0, "feed_forward_proj": "relu", "tie_word_embeddings": true,
        "is_decoder": false, "is_encoder_decoder": true, "use_cache": true,
        "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0,
    })
}

pub(crate) fn tokenizer() -> Value {
    let special = |id: usize, content: &str| json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true});
    let metaspace = json!({"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true});
    let words = (3..VOCABULARY).map(|id| (format!("\u{2581}w{id}"), -9.0));
    let vocabulary: Vec<(String, f64)> =
        ["<pad>", "</s>", "<unk>"].map(|piece| (piece.to_string(), 0.0)).into_iter().chain(words).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
        "added_tokens": [special(0, "<pad>"), special(1, "</s>"), special(2, "<unk>")],
        "pre_tokenizer": metaspace, "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 2, "vocab": vocabulary, "byte_fallback": false},
    })
}
