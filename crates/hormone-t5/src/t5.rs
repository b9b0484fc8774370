//! T5, the whole of it: v1.0 (ReLU, tied head) and v1.1/FLAN (gated GELU, untied head). Here encoder and decoder with gradients and padding; in
//! `encoding` and `decoding` the fast ones of one text and of its replies.
//!
//! Reference: `transformers`' `modeling_t5.py`. What sets T5 apart from other transformers:
//!
//! * attention scores are not divided by `sqrt(d_kv)`;
//! * norms are root-mean-square, without mean and bias;
//! * positions enter as a bias on self-attention scores, learned per head and bucket of distance; each stack's first layer holds it for all its layers;
//!   buckets are two-sided in the encoder and one-sided in the decoder; cross-attention has none;
//! * with a tied head the decoder's output is multiplied by `1 / sqrt(D)` before it.

mod decoding;
mod encoding;
mod slices;

use candle_core::{DType, Device, Tensor};
pub use decoding::{DecoderCache, RowOutput};

use crate::config::FeedForwardProj;
use crate::linear::{Dropout, Embedding, Linear};
use crate::ops;
use crate::weights::Init;
use crate::{Result, T5Config, Weights};

/// The whole T5.
#[derive(Clone, Debug)]
pub struct T5 {
    shared: Embedding,
    encoder: Stack,
    decoder: Stack,
    lm_head: Linear,
    /// `1 / sqrt(D)` where the head is the embedding.
    head_scale: Option<f64>,
    dropout: Dropout,
}

/// What the decoder gives.
#[derive(Clone, Debug)]
pub struct DecoderOutput {
    /// Scores of every token: `[B, T, V]`.
    pub logits: Tensor,
    /// For each layer, where each target position looked: `[B, num_heads, T, S]`, rows sum to 1.
    pub cross_attention: Vec<Tensor>,
}

/// `[B, num_heads, length, d_kv]` each.
#[derive(Clone, Debug)]
struct KeyValue {
    key: Tensor,
    value: Tensor,
}

impl T5 {
    /// Loads from Hugging Face's names (`shared.weight`, `encoder.block.0...`).
    pub fn load(weights: &Weights, config: &T5Config) -> Result<Self> {
        let embedding_shape = [config.vocab_size, config.d_model];
        let shared = weights.matrix("shared.weight", &embedding_shape, Init::Normal(1.0))?;
        let lm_head = match config.tie_word_embeddings {
            true => shared.clone(),
            false => weights.matrix("lm_head.weight", &embedding_shape, Init::Normal((config.d_model as f64).powf(-0.5)))?,
        };
        Ok(Self {
            shared: Embedding::from_matrix(shared),
            encoder: Stack::load(&weights.at("encoder"), config, StackKind::Encoder)?,
            decoder: Stack::load(&weights.at("decoder"), config, StackKind::Decoder)?,
            lm_head: Linear::from_matrix(lm_head),
            head_scale: config.tie_word_embeddings.then(|| (config.d_model as f64).powf(-0.5)),
            dropout: Dropout::default(),
        })
    }

    /// The same model with dropout, for training.
    pub fn with_dropout(mut self, dropout: &Dropout) -> Self {
        self.dropout = dropout.clone();
        for stack in [&mut self.encoder, &mut self.decoder] {
            stack.dropout = dropout.clone();
            for layer in &mut stack.layers {
                layer.set_dropout(dropout);
            }
        }
        self
    }

    /// Encodes `input_ids [B, S]` (u32); `attention_mask [B, S]` (f32) is 1 on tokens, 0 on padding. Gives `[B, S, D]`.
    pub fn encode(&self, input_ids: &Tensor, attention_mask: &Tensor) -> Result<Tensor> {
        let hidden = self.dropout.forward(&self.shared.forward(input_ids)?)?;
        let length = input_ids.dim(1)?;
        let bias = self.encoder.position_bias(length)?.broadcast_add(&score_mask(attention_mask)?)?; // [B, num_heads, S, S]
        let mut hidden = hidden;
        for layer in &self.encoder.layers {
            hidden = layer.self_attention.forward(&hidden, None, &bias)?.hidden;
            hidden = layer.feed_forward.forward(&hidden)?;
        }
        self.encoder.finish(&hidden)
    }

    /// Scores all positions at once (teacher forcing, differentiable): position t sees `decoder_input_ids [B, T]` up to t, and
    /// `encoder_hidden_states [B, S, D]` where `attention_mask [B, S]` is 1.
    pub fn decode(&self, decoder_input_ids: &Tensor, encoder_hidden_states: &Tensor, attention_mask: &Tensor) -> Result<DecoderOutput> {
        let length = decoder_input_ids.dim(1)?;
        let bias = self.decoder.position_bias(length)?.broadcast_add(&causal_mask(length)?)?; // [1, num_heads, T, T]
        let source_mask = score_mask(attention_mask)?;
        let mut hidden = self.dropout.forward(&self.shared.forward(decoder_input_ids)?)?; // [B, T, D]
        let mut cross_attention = Vec::with_capacity(self.decoder.layers.len());
        for layer in &self.decoder.layers {
            hidden = layer.self_attention.forward(&hidden, None, &bias)?.hidden;
            if let Some(sublayer) = &layer.cross_attention {
                let source = sublayer.attention.key_value(encoder_hidden_states)?;
                let output = sublayer.forward(&hidden, Some(&source), &source_mask)?;
                hidden = output.hidden;
                cross_attention.push(output.weights);
            }
            hidden = layer.feed_forward.forward(&hidden)?;
        }
        let mut hidden = self.decoder.finish(&hidden)?;
        if let Some(scale) = self.head_scale {
            hidden = (hidden * scale)?;
        }
        Ok(DecoderOutput { logits: self.lm_head.forward(&hidden)?, cross_attention })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StackKind {
    Encoder,
    Decoder,
}

/// The encoder's or the decoder's layers.
#[derive(Clone, Debug)]
struct Stack {
    layers: Vec<Layer>,
    final_layer_norm: RmsNorm,
    /// `[buckets, num_heads]`.
    relative_attention_bias: Tensor,
    max_distance: usize,
    kind: StackKind,
    dropout: Dropout,
}

impl Stack {
    fn load(weights: &Weights, config: &T5Config, kind: StackKind) -> Result<Self> {
        let count = match kind {
            StackKind::Encoder => config.num_layers,
            StackKind::Decoder => config.num_decoder_layers(),
        };
        let layers =
            (0..count).map(|index| Layer::load(&weights.at(&format!("block.{index}.layer")), config, kind)).collect::<Result<_>>()?;
        let bias_shape = [config.relative_attention_num_buckets, config.num_heads];
        let bias_init = Init::Normal((config.d_model as f64).powf(-0.5));
        Ok(Self {
            layers,
            final_layer_norm: RmsNorm::load(&weights.at("final_layer_norm"), config)?,
            relative_attention_bias: weights.at("block.0.layer.0.SelfAttention").tensor(
                "relative_attention_bias.weight",
                &bias_shape,
                bias_init,
            )?,
            max_distance: config.relative_attention_max_distance,
            kind,
            dropout: Dropout::default(),
        })
    }

    fn finish(&self, hidden: &Tensor) -> Result<Tensor> {
        self.dropout.forward(&self.final_layer_norm.forward(hidden)?)
    }

    /// Score bias between `length` positions: `[1, num_heads, length, length]`.
    fn position_bias(&self, length: usize) -> Result<Tensor> {
        let num_heads = self.relative_attention_bias.dim(1)?;
        let positions = || 0..length as i64;
        let buckets: Vec<u32> =
            positions().flat_map(|query| positions().map(move |key| key - query)).map(|distance| self.bucket(distance)).collect();
        let buckets = Tensor::from_vec(buckets, length * length, &Device::Cpu)?;
        let bias = self.relative_attention_bias.index_select(&buckets, 0)?; // [length*length, num_heads]
        Ok(bias.t()?.reshape((1, num_heads, length, length))?)
    }

    fn bucket(&self, distance: i64) -> u32 {
        let num_buckets = self.relative_attention_bias.dims()[0];
        relative_position_bucket(distance, self.kind == StackKind::Encoder, num_buckets, self.max_distance)
    }
}

/// Bucket of a distance `key - query`: near ones have a bucket each, far ones share logarithmic ones.
pub fn relative_position_bucket(distance: i64, bidirectional: bool, num_buckets: usize, max_distance: usize) -> u32 {
    let (side, num_buckets, distance) = match bidirectional {
        true => (if distance > 0 { num_buckets / 2 } else { 0 }, num_buckets / 2, distance.unsigned_abs() as usize),
        false => (0, num_buckets, (-distance).max(0) as usize),
    };
    let exact = num_buckets / 2;
    let bucket = if distance < exact {
        distance
    } else {
        // f32, as the reference computes it: a rounding at a bucket's border must be the same.
        let share = (distance as f32 / exact as f32).ln() / (max_distance as f64 / exact as f64).ln() as f32;
        (exact + (share * (num_buckets - exact) as f32) as usize).min(num_buckets - 1)
    };
    (side + bucket) as u32
}

#[derive(Clone, Debug)]
struct Layer {
    self_attention: AttentionSublayer,
    cross_attention: Option<AttentionSublayer>,
    feed_forward: FeedForward,
}

impl Layer {
    fn load(weights: &Weights, config: &T5Config, kind: StackKind) -> Result<Self> {
        let self_attention = AttentionSublayer::load(&weights.at("0"), "SelfAttention", config)?;
        let (cross_attention, feed_forward) = match kind {
            StackKind::Encoder => (None, weights.at("1")),
            StackKind::Decoder => (Some(AttentionSublayer::load(&weights.at("1"), "EncDecAttention", config)?), weights.at("2")),
        };
        Ok(Self { self_attention, cross_attention, feed_forward: FeedForward::load(&feed_forward, config)? })
    }

    fn set_dropout(&mut self, dropout: &Dropout) {
        for sublayer in [Some(&mut self.self_attention), self.cross_attention.as_mut()].into_iter().flatten() {
            sublayer.dropout = dropout.clone();
            sublayer.attention.dropout = dropout.clone();
        }
        self.feed_forward.dropout = dropout.clone();
    }
}

/// `x + attention(norm(x))`.
#[derive(Clone, Debug)]
struct AttentionSublayer {
    attention: Attention,
    layer_norm: RmsNorm,
    dropout: Dropout,
}

struct AttentionOutput {
    /// `[B, T, D]`.
    hidden: Tensor,
    /// `[B, num_heads, T, S]`.
    weights: Tensor,
}

impl AttentionSublayer {
    fn load(weights: &Weights, name: &str, config: &T5Config) -> Result<Self> {
        Ok(Self {
            attention: Attention::load(&weights.at(name), config)?,
            layer_norm: RmsNorm::load(&weights.at("layer_norm"), config)?,
            dropout: Dropout::default(),
        })
    }

    /// Attends to `source`, or to `x [B, T, D]` itself; `bias` is added to the scores.
    fn forward(&self, x: &Tensor, source: Option<&KeyValue>, bias: &Tensor) -> Result<AttentionOutput> {
        let normed = self.layer_norm.forward(x)?;
        let output = match source {
            Some(source) => self.attention.forward(&normed, source, bias)?,
            None => self.attention.forward(&normed, &self.attention.key_value(&normed)?, bias)?,
        };
        Ok(AttentionOutput { hidden: (x + self.dropout.forward(&output.hidden)?)?, ..output })
    }
}

/// Scaled by nothing: `softmax(q k^T + bias) v`.
#[derive(Clone, Debug)]
struct Attention {
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    num_heads: usize,
    d_kv: usize,
    dropout: Dropout,
}

impl Attention {
    fn load(weights: &Weights, config: &T5Config) -> Result<Self> {
        let (width, inner) = (config.d_model, config.inner_dim());
        let normal = |fan: usize| Init::Normal((fan as f64).powf(-0.5));
        Ok(Self {
            q: Linear::load(&weights.at("q"), width, inner, normal(width * config.d_kv))?,
            k: Linear::load(&weights.at("k"), width, inner, normal(width))?,
            v: Linear::load(&weights.at("v"), width, inner, normal(width))?,
            o: Linear::load(&weights.at("o"), inner, width, normal(inner))?,
            num_heads: config.num_heads,
            d_kv: config.d_kv,
            dropout: Dropout::default(),
        })
    }

    fn key_value(&self, x: &Tensor) -> Result<KeyValue> {
        Ok(KeyValue { key: self.split_heads(&self.k.forward(x)?)?, value: self.split_heads(&self.v.forward(x)?)? })
    }

    fn forward(&self, x: &Tensor, source: &KeyValue, bias: &Tensor) -> Result<AttentionOutput> {
        let query = self.split_heads(&self.q.forward(x)?)?; // [B, num_heads, T, d_kv]
        let scores = query.matmul(&source.key.t()?)?.broadcast_add(bias)?; // [B, num_heads, T, S]
        let weights = ops::softmax_last_dim(&scores)?;
        let context = self.dropout.forward(&weights)?.matmul(&source.value)?; // [B, num_heads, T, d_kv]
        let (batch, _, length, _) = context.dims4()?;
        let context = context.transpose(1, 2)?.reshape((batch, length, self.num_heads * self.d_kv))?; // [B, T, I]
        Ok(AttentionOutput { hidden: self.o.forward(&context)?, weights })
    }

    /// `[B, T, I]` to `[B, num_heads, T, d_kv]`.
    fn split_heads(&self, x: &Tensor) -> Result<Tensor> {
        let (batch, length, _) = x.dims3()?;
        Ok(x.reshape((batch, length, self.num_heads, self.d_kv))?.transpose(1, 2)?.contiguous()?)
    }
}

/// `x + wo(act(wi norm(x)))`.
#[derive(Clone, Debug)]
struct FeedForward {
    input: FeedForwardInput,
    wo: Linear,
    layer_norm: RmsNorm,
    dropout: Dropout,
}

#[derive(Clone, Debug)]
enum FeedForwardInput {
    Relu { wi: Linear },
    GatedGelu { wi_0: Linear, wi_1: Linear },
}

impl FeedForward {
    fn load(weights: &Weights, config: &T5Config) -> Result<Self> {
        let (width, inner) = (config.d_model, config.d_ff);
        let normal = |fan: usize| Init::Normal((fan as f64).powf(-0.5));
        let dense = weights.at("DenseReluDense");
        let wi = |name: &str| Linear::load(&dense.at(name), width, inner, normal(width));
        let input = match config.feed_forward_proj {
            FeedForwardProj::Relu => FeedForwardInput::Relu { wi: wi("wi")? },
            FeedForwardProj::GatedGelu => FeedForwardInput::GatedGelu { wi_0: wi("wi_0")?, wi_1: wi("wi_1")? },
        };
        Ok(Self {
            input,
            wo: Linear::load(&dense.at("wo"), inner, width, normal(inner))?,
            layer_norm: RmsNorm::load(&weights.at("layer_norm"), config)?,
            dropout: Dropout::default(),
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let normed = self.layer_norm.forward(x)?;
        let inner = match &self.input {
            FeedForwardInput::Relu { wi } => wi.forward(&normed)?.relu()?,
            // candle's `gelu` is the tanh approximation that Hugging Face calls `gelu_new`.
            FeedForwardInput::GatedGelu { wi_0, wi_1 } => (wi_0.forward(&normed)?.gelu()? * wi_1.forward(&normed)?)?,
        }; // [B, T, d_ff]
        let output = self.wo.forward(&self.dropout.forward(&inner)?)?;
        Ok((x + self.dropout.forward(&output)?)?)
    }
}

/// `weight * x / sqrt(mean(x^2) + eps)`.
#[derive(Clone, Debug)]
struct RmsNorm {
    weight: Tensor,
    epsilon: f64,
}

impl RmsNorm {
    fn load(weights: &Weights, config: &T5Config) -> Result<Self> {
        Ok(Self { weight: weights.tensor("weight", &[config.d_model], Init::Constant(1.0))?, epsilon: config.layer_norm_epsilon })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        ops::rms_norm(x, &self.weight, self.epsilon)
    }
}

/// Turns `attention_mask [B, S]` of 1 and 0 into `[B, 1, 1, S]` of 0 and -inf, to be added to scores.
pub(crate) fn score_mask(attention_mask: &Tensor) -> Result<Tensor> {
    let (batch, length) = attention_mask.dims2()?;
    let zeros = attention_mask.zeros_like()?;
    let hidden = Tensor::full(f32::NEG_INFINITY, (batch, length), &Device::Cpu)?;
    let mask = attention_mask.to_dtype(DType::U8)?.where_cond(&zeros, &hidden)?;
    Ok(mask.reshape((batch, 1, 1, length))?)
}

/// `[1, 1, T, T]`: a position sees keys up to itself.
fn causal_mask(length: usize) -> Result<Tensor> {
    let rows = (0..length).flat_map(|query| (0..length).map(move |key| if key > query { f32::NEG_INFINITY } else { 0.0 }));
    Ok(Tensor::from_iter(rows, &Device::Cpu)?.reshape((1, 1, length, length))?)
}
