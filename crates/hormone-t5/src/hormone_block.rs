//! The hormone emotion block: encoder states in, six levels out, and the modulation of what the decoder sees.
//!
//! For each hormone, with `J = 4` heads of width `D / J`, a learned query `q [J, D/J]` and the padding mask:
//!
//! ```text
//! A = softmax_s( q . (H Wk^T) / (tau * sqrt(D/J)) + mask )      attention_weights [B, J, S]
//! c = LayerNorm( concat_j( A_j (H Wv^T)_j ) )                   [B, D]
//! h = sigmoid( MLP(c) + b )                                     level, MLP: D -> D -> D/2 -> D/4 -> 1 with GELU
//! ```
//!
//! and for all six levels `h [B, N]` together:
//!
//! ```text
//! e  = tanh( W2 LayerNorm(GELU(W1 h)) )                         emotion embedding [B, D]
//! H~ = H * (1 + alpha * e)                                      what the decoder sees [B, S, D]
//! ```
//!
//! As the query is the same for every token, `q . (H Wk^T)` is computed as `H . (q Wk)`, and the values are taken after the attention:
//! `A (H Wv^T) = (A H) Wv^T`. Both are exact, and neither a key nor a value per token is ever made.
//!
//! Source: HELT (arXiv:2605.13858); order of GELU and LayerNorm, start values and parameter names as in the authors' code.

use candle_core::{D, Device, Tensor};

use crate::analysis::Hormone;
use crate::linear::{Dropout, Linear};
use crate::ops;
use crate::t5::score_mask;
use crate::weights::Init;
use crate::{Result, Weights};

/// Attention heads of each hormone, `J`.
pub const HEADS: usize = 4;
/// Hormones, `N`.
pub const HORMONES: usize = Hormone::ALL.len();
/// Bounds of the learned alpha.
pub const ALPHA_RANGE: [f64; 2] = [0.1, 0.5];

const LAYER_NORM_EPSILON: f64 = 1e-5;

/// The six hormone heads and the emotion embedding.
#[derive(Clone, Debug)]
pub struct HormoneBlock {
    heads: Vec<HormoneHead>,
    embedding: EmotionEmbedding,
    modulation_strength: Tensor,
}

/// What the block reads from a text.
#[derive(Clone, Debug)]
pub struct HormoneOutput {
    /// `[B, N, J, S]`; rows sum to 1.
    pub attention_weights: Tensor,
    /// `[B, N]`, between 0 and 1.
    pub hormone_levels: Tensor,
}

/// Strength of the modulation.
#[derive(Clone, Debug)]
pub enum Alpha {
    /// The learned scalar, clamped to [`ALPHA_RANGE`]; differentiable.
    Learned,
    /// One value for all rows; 0 leaves `H` as it is, bit for bit.
    Fixed(f64),
    /// One value a row, `[B]`.
    PerRow(Tensor),
}

impl HormoneBlock {
    /// Loads from the authors' names (`hormone_heads.dopamine.hormone_query`, ...).
    pub fn load(weights: &Weights, d_model: usize) -> Result<Self> {
        let heads = weights.at("hormone_heads");
        let load_head = |hormone: Hormone| HormoneHead::load(&heads.at(hormone.name()), d_model, hormone);
        Ok(Self {
            heads: Hormone::ALL.into_iter().map(load_head).collect::<Result<_>>()?,
            embedding: EmotionEmbedding::load(&weights.at("hormone_to_embedding"), d_model)?,
            modulation_strength: weights.tensor("modulation_strength", &[], Init::Constant(0.2))?,
        })
    }

    /// The same block with dropout, for training.
    pub fn with_dropout(mut self, dropout: &Dropout) -> Self {
        self.embedding.dropout = dropout.clone();
        for head in &mut self.heads {
            head.dropout = dropout.clone();
        }
        self
    }

    /// Reads levels from `hidden_states [B, S, D]`, where `attention_mask [B, S]` is 1.
    pub fn forward(&self, hidden_states: &Tensor, attention_mask: &Tensor, attention_temperature: f64) -> Result<HormoneOutput> {
        let mask = score_mask(attention_mask)?.squeeze(1)?; // [B, 1, S]
        let (mut attention, mut levels) = (Vec::with_capacity(HORMONES), Vec::with_capacity(HORMONES));
        for head in &self.heads {
            let weights = head.attend(hidden_states, &mask, attention_temperature)?; // [B, J, S]
            levels.push(head.level(hidden_states, &weights)?); // [B, 1]
            attention.push(weights);
        }
        Ok(HormoneOutput { attention_weights: Tensor::stack(&attention, 1)?, hormone_levels: Tensor::cat(&levels, 1)? })
    }

    /// `e [B, D]` of `levels [B, N]`; each value between -1 and 1.
    pub fn embed(&self, levels: &Tensor) -> Result<Tensor> {
        self.embedding.forward(levels)
    }

    /// What `e` of `levels [B, N]` is the tanh of, `[B, D]`: far from 0 it is saturated.
    pub fn embedding_before_tanh(&self, levels: &Tensor) -> Result<Tensor> {
        self.embedding.before_tanh(levels)
    }

    /// `H * (1 + alpha * e)`: `hidden_states [B, S, D]`, `embedding [B, D]`.
    pub fn modulate(&self, hidden_states: &Tensor, embedding: &Tensor, alpha: &Alpha) -> Result<Tensor> {
        let scaled = match alpha {
            Alpha::Fixed(0.0) => return Ok(hidden_states.clone()),
            Alpha::Fixed(alpha) => (embedding * *alpha)?,
            Alpha::Learned => embedding.broadcast_mul(&self.alpha()?)?,
            Alpha::PerRow(alpha) => embedding.broadcast_mul(&alpha.unsqueeze(1)?)?,
        }; // [B, D]
        Ok(hidden_states.broadcast_mul(&(scaled + 1.0)?.unsqueeze(1)?)?)
    }

    /// The learned alpha, a scalar tensor.
    pub fn alpha(&self) -> Result<Tensor> {
        Ok(self.modulation_strength.clamp(ALPHA_RANGE[0] as f32, ALPHA_RANGE[1] as f32)?)
    }

    /// The learned queries `[N, D]`, which the diversity loss keeps apart.
    pub fn queries(&self) -> Result<Tensor> {
        let queries: Vec<Tensor> = self.heads.iter().map(|head| head.query.flatten_all()).collect::<candle_core::Result<_>>()?;
        Ok(Tensor::stack(&queries, 0)?)
    }
}

#[derive(Clone, Debug)]
struct HormoneHead {
    /// `[1, J, D/J]`.
    query: Tensor,
    /// `Wk [D, D]`; dense, as it is folded into the query.
    key_proj: Tensor,
    /// `[J, D]`: the query with `Wk` folded in, where neither of them is being trained.
    folded: Option<Tensor>,
    value_proj: Linear,
    norm_weight: Tensor,
    norm_bias: Tensor,
    output_proj: Vec<Linear>,
    output_bias: Tensor,
    dropout: Dropout,
}

impl HormoneHead {
    fn load(weights: &Weights, width: usize, hormone: Hormone) -> Result<Self> {
        let shapes = [(0, width, width), (3, width, width / 2), (6, width / 2, width / 4), (8, width / 4, 1)];
        let output_proj = shapes.into_iter().map(|(index, inputs, outputs)| {
            let xavier = Init::Uniform(0.5 * (6.0 / (inputs + outputs) as f64).sqrt());
            Linear::load_with_bias(&weights.at(&format!("output_proj.{index}")), inputs, outputs, xavier)
        });
        let projection = || Init::Normal((width as f64).powf(-0.5));
        let query = weights.tensor("hormone_query", &[1, HEADS, width / HEADS], Init::Values(initial_query(hormone, width)))?;
        let key_proj = weights.tensor("key_proj.weight", &[width, width], projection())?;
        let is_trained = query.track_op() || key_proj.track_op();
        Ok(Self {
            folded: if is_trained { None } else { Some(fold(&query, &key_proj)?) },
            query,
            key_proj,
            value_proj: Linear::load(&weights.at("value_proj"), width, width, projection())?,
            norm_weight: weights.tensor("attended_norm.weight", &[width], Init::Constant(1.0))?,
            norm_bias: weights.tensor("attended_norm.bias", &[width], Init::Constant(0.0))?,
            output_proj: output_proj.collect::<Result<_>>()?,
            output_bias: weights.tensor("output_bias", &[1], Init::Constant(0.0))?,
            dropout: Dropout::default(),
        })
    }

    /// Attention of each sub-head over the tokens: `[B, J, S]`.
    fn attend(&self, hidden_states: &Tensor, mask: &Tensor, temperature: f64) -> Result<Tensor> {
        let width = hidden_states.dim(D::Minus1)?;
        let folded = match &self.folded {
            Some(folded) => folded.clone(),
            None => fold(&self.query, &self.key_proj)?,
        }; // [J, D]
        let scores = hidden_states.broadcast_matmul(&folded.t()?)?.transpose(1, 2)?; // [B, J, S]
        let scores = (scores / (temperature * ((width / HEADS) as f64).sqrt()))?;
        ops::softmax_last_dim(&scores.broadcast_add(mask)?)
    }

    /// Level of one hormone, `[B, 1]`, from where it looked.
    fn level(&self, hidden_states: &Tensor, attention: &Tensor) -> Result<Tensor> {
        let pooled = attention.matmul(hidden_states)?; // [B, J, D]
        let values = self.value_proj.forward(&pooled)?; // [B, J, D]: sub-head j owns the j-th quarter of row j
        let quarter = values.dim(D::Minus1)? / HEADS;
        let own = (0..HEADS).map(|head| Ok(values.narrow(1, head, 1)?.narrow(2, head * quarter, quarter)?.squeeze(1)?));
        let context = Tensor::cat(&own.collect::<Result<Vec<_>>>()?, 1)?; // [B, D]
        let mut x = ops::layer_norm(&context, &self.norm_weight, &self.norm_bias, LAYER_NORM_EPSILON)?;
        for (index, layer) in self.output_proj.iter().enumerate() {
            x = layer.forward(&x)?;
            if index < 3 {
                x = x.gelu_erf()?;
            }
            if index < 2 {
                x = self.dropout.forward(&x)?;
            }
        } // [B, 1]
        ops::sigmoid(&x.broadcast_add(&self.output_bias)?)
    }
}

/// `q Wk` of each sub-head, `[J, D]`: what `q . k` is for a hidden state is its product with this.
fn fold(query: &Tensor, key_proj: &Tensor) -> Result<Tensor> {
    let width = key_proj.dim(0)?;
    let query = query.reshape((HEADS, 1, width / HEADS))?;
    Ok(query.matmul(&key_proj.reshape((HEADS, width / HEADS, width))?)?.squeeze(1)?)
}

/// Zeros, but for each sub-head a run of `+-0.1` that alternates in sign and lies elsewhere for every hormone: the six queries start orthogonal.
fn initial_query(hormone: Hormone, width: usize) -> Vec<f32> {
    let head_width = width / HEADS;
    let run = head_width / HORMONES;
    let start = hormone.index() * head_width / HORMONES;
    let mut query = vec![0.0; width];
    for head in 0..HEADS {
        for place in 0..run {
            query[head * head_width + start + place] = if (place + head) % 2 == 0 { 0.1 } else { -0.1 };
        }
    }
    query
}

/// `tanh(W2 Dropout(LayerNorm(GELU(W1 h))))`.
#[derive(Clone, Debug)]
struct EmotionEmbedding {
    w1: Linear,
    norm_weight: Tensor,
    norm_bias: Tensor,
    w2: Linear,
    dropout: Dropout,
}

impl EmotionEmbedding {
    fn load(weights: &Weights, width: usize) -> Result<Self> {
        let uniform = |inputs: usize| Init::Uniform((inputs as f64).powf(-0.5));
        let norm = weights.at("2");
        Ok(Self {
            w1: Linear::load_with_bias(&weights.at("0"), HORMONES, width, uniform(HORMONES))?,
            norm_weight: norm.tensor("weight", &[width], Init::Constant(1.0))?,
            norm_bias: norm.tensor("bias", &[width], Init::Constant(0.0))?,
            w2: Linear::load_with_bias(&weights.at("4"), width, width, uniform(width))?,
            dropout: Dropout::default(),
        })
    }

    fn forward(&self, levels: &Tensor) -> Result<Tensor> {
        Ok(self.before_tanh(levels)?.tanh()?)
    }

    fn before_tanh(&self, levels: &Tensor) -> Result<Tensor> {
        let x = self.w1.forward(levels)?.gelu_erf()?; // [B, D]
        let x = ops::layer_norm(&x, &self.norm_weight, &self.norm_bias, LAYER_NORM_EPSILON)?;
        self.w2.forward(&self.dropout.forward(&x)?)
    }
}

/// `levels` as a tensor `[B, N]`.
pub fn levels_tensor(levels: &[crate::HormoneLevels]) -> Result<Tensor> {
    let values: Vec<f32> = levels.iter().flat_map(|levels| levels.to_array()).collect();
    Ok(Tensor::from_vec(values, (levels.len(), HORMONES), &Device::Cpu)?)
}
