//! The decoder of replies: token after token, with a cache, on plain slices.
//!
//! The same formulas as [`T5::decode`], which the tests compare it with. What makes it fast: keys and values of the source are computed once;
//! those of earlier tokens stay where they are; the position bias grows by one distance a token; each matrix is read once for all rows; and no
//! tensor is made between two products. It has no gradients and no dropout.

use std::ops::Range;
use std::sync::Arc;

use candle_core::{Device, Tensor};

use super::{Attention, DecoderOutput, FeedForward, FeedForwardInput, KeyValue, RmsNorm, Stack, T5};
use crate::linear::Rows;
use crate::{Result, ops};

/// What decoding remembers of each row: keys and values of the source, and of the tokens so far.
///
/// A value: clone it to branch, [`DecoderCache::select`] rows to go on with.
#[derive(Clone, Debug, Default)]
pub struct DecoderCache {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    source: Arc<Source>,
    /// A layer each.
    past: Vec<Past>,
    /// `[distance, num_heads]`: what a key so far back adds to a score.
    bias: Vec<f32>,
}

/// The text as the decoder sees it.
#[derive(Debug)]
struct Source {
    layers: Vec<SourceLayer>,
    /// 0 or -inf for each token, added to scores.
    mask: Vec<f32>,
}

/// `[num_heads, S, d_kv]` each.
#[derive(Debug)]
struct SourceLayer {
    key: Vec<f32>,
    value: Vec<f32>,
}

/// `[T, I]` each.
#[derive(Clone, Debug, Default)]
struct Past {
    key: Vec<f32>,
    value: Vec<f32>,
}

/// What the decoder gives for one token of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOutput {
    /// Scores of every token: `[V]`.
    pub logits: Vec<f32>,
    /// Where each layer and head looked: `[layers, num_heads, S]`, rows sum to 1.
    pub cross_attention: Vec<f32>,
}

/// Working memory of one pass.
#[derive(Debug, Default)]
struct Scratch {
    normed: Rows,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    context: Vec<f32>,
    gate: Vec<f32>,
    product: Vec<f32>,
    scores: Vec<f32>,
}

impl T5 {
    /// Prepares replies to `encoder_hidden_states [B, S, D]`, seen where `attention_mask [B, S]` is 1.
    pub fn start_decoding(&self, encoder_hidden_states: &Tensor, attention_mask: &Tensor) -> Result<DecoderCache> {
        let cross_attention = self.decoder.layers.iter().filter_map(|layer| layer.cross_attention.as_ref());
        let sources: Vec<KeyValue> =
            cross_attention.map(|sublayer| sublayer.attention.key_value(encoder_hidden_states)).collect::<Result<_>>()?;
        let mut rows = Vec::with_capacity(attention_mask.dim(0)?);
        for row in 0..attention_mask.dim(0)? {
            let values = |tensor: &Tensor| -> Result<Vec<f32>> { Ok(tensor.get(row)?.flatten_all()?.to_vec1()?) };
            let layer = |source: &KeyValue| Ok(SourceLayer { key: values(&source.key)?, value: values(&source.value)? });
            let layers: Vec<SourceLayer> = sources.iter().map(layer).collect::<Result<_>>()?;
            let hidden = |seen: f32| if seen == 0.0 { f32::NEG_INFINITY } else { 0.0 };
            let mask = values(attention_mask)?.into_iter().map(hidden).collect();
            let past = vec![Past::default(); self.decoder.layers.len()];
            rows.push(Row { source: Arc::new(Source { layers, mask }), past, bias: Vec::new() });
        }
        Ok(DecoderCache { rows })
    }

    /// Takes one more token a row, `ids [B]`; gives logits `[B, 1, V]` and cross-attention `[B, num_heads, 1, S]` a layer.
    pub fn decode_step(&self, ids: &Tensor, cache: &mut DecoderCache) -> Result<DecoderOutput> {
        let ids: Vec<u32> = ids.to_vec1()?;
        let outputs = self.advance(&mut [cache], &ids.iter().map(std::slice::from_ref).collect::<Vec<_>>())?;
        let logits: Vec<f32> = outputs.iter().flat_map(|output| &output.logits).copied().collect();
        let logits = Tensor::from_vec(logits, (ids.len(), 1, outputs[0].logits.len()), &Device::Cpu)?;
        let (layers, heads) = (self.decoder.layers.len(), self.decoder.num_heads()?);
        let length = outputs[0].cross_attention.len() / (layers * heads);
        let cross_attention = (0..layers).map(|layer| {
            let of_layer = layer * heads * length..(layer + 1) * heads * length;
            let weights: Vec<f32> = outputs.iter().flat_map(|output| &output.cross_attention[of_layer.clone()]).copied().collect();
            Ok(Tensor::from_vec(weights, (ids.len(), heads, 1, length), &Device::Cpu)?)
        });
        Ok(DecoderOutput { logits, cross_attention: cross_attention.collect::<Result<_>>()? })
    }

    /// Takes the next tokens of every row of every cache, in one pass over the weights; gives an output for each token, row after row.
    pub fn advance(&self, caches: &mut [&mut DecoderCache], ids: &[&[u32]]) -> Result<Vec<RowOutput>> {
        let mut rows: Vec<&mut Row> = caches.iter_mut().flat_map(|cache| &mut cache.rows).collect();
        assert_eq!(rows.len(), ids.len(), "each row takes tokens");
        let count = ids.iter().map(|ids| ids.len()).sum();
        // Which tokens belong to which row.
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(rows.len());
        for (row, ids) in rows.iter_mut().zip(ids) {
            let start = spans.last().map_or(0, |last| last.end);
            spans.push(start..start + ids.len());
            self.decoder.extend_bias(&mut row.bias, ids.len())?;
        }
        let width = self.width()?;
        let mut hidden = vec![0.0; count * width];
        self.shared.rows(&ids.concat(), &mut hidden)?;
        let mut weights: Vec<Vec<f32>> = vec![Vec::new(); count];
        let scratch = &mut Scratch::default();
        for (index, layer) in self.decoder.layers.iter().enumerate() {
            let sublayer = &layer.self_attention;
            scratch.norm(&sublayer.layer_norm, &hidden)?;
            sublayer.attention.attend_to_past(&mut rows, &spans, index, scratch)?;
            add(&mut hidden, &scratch.product);
            if let Some(sublayer) = &layer.cross_attention {
                scratch.norm(&sublayer.layer_norm, &hidden)?;
                sublayer.attention.attend_to_source(&rows, &spans, index, scratch, &mut weights)?;
                add(&mut hidden, &scratch.product);
            }
            scratch.norm(&layer.feed_forward.layer_norm, &hidden)?;
            layer.feed_forward.apply(scratch)?;
            add(&mut hidden, &scratch.product);
        }
        scratch.norm(&self.decoder.final_layer_norm, &hidden)?;
        if let Some(scale) = self.head_scale {
            scratch.normed.scale(scale as f32, width);
        }
        self.lm_head.product(&scratch.normed, &mut scratch.product)?;
        let logits = scratch.product.chunks_exact(scratch.product.len() / count);
        Ok(logits.zip(weights).map(|(logits, cross_attention)| RowOutput { logits: logits.to_vec(), cross_attention }).collect())
    }

    fn width(&self) -> Result<usize> {
        Ok(self.decoder.final_layer_norm.weight.dim(0)?)
    }
}

impl DecoderCache {
    /// The rows `rows [B']` (u32) of this cache, in that order: beams that go on.
    pub fn select(&self, rows: &Tensor) -> Result<Self> {
        let rows: Vec<u32> = rows.to_vec1()?;
        Ok(self.clone().into_rows(&rows))
    }

    /// The same, but what only one row goes on with is not copied.
    pub fn into_rows(self, rows: &[u32]) -> Self {
        let mut left: Vec<Option<Row>> = self.rows.into_iter().map(Some).collect();
        let mut selected = Vec::with_capacity(rows.len());
        for (place, &row) in rows.iter().enumerate() {
            let slot = &mut left[row as usize];
            let is_last = !rows[place + 1..].contains(&row);
            selected.extend(if is_last { slot.take() } else { slot.clone() });
        }
        Self { rows: selected }
    }
}

impl Stack {
    fn num_heads(&self) -> Result<usize> {
        Ok(self.relative_attention_bias.dim(1)?)
    }

    /// Adds the biases of the next `count` distances.
    fn extend_bias(&self, bias: &mut Vec<f32>, count: usize) -> Result<()> {
        let heads = self.num_heads()?;
        ops::with_values(&self.relative_attention_bias, |table| {
            let known = bias.len() / heads;
            for distance in known..known + count {
                let bucket = self.bucket(-(distance as i64)) as usize;
                bias.extend_from_slice(&table[bucket * heads..(bucket + 1) * heads]);
            }
        })
    }
}

impl Scratch {
    fn norm(&mut self, norm: &RmsNorm, hidden: &[f32]) -> Result<()> {
        ops::with_values(&norm.weight, |weight| {
            self.normed.set(hidden.len() / weight.len(), weight.len(), |rows| {
                rows.copy_from_slice(hidden);
                rows.chunks_exact_mut(weight.len()).for_each(|row| ops::rms_norm_row(row, weight, norm.epsilon as f32));
            });
        })
    }
}

impl Attention {
    /// Attention of every token to the tokens of its row up to itself, whose keys and values it leaves in the cache.
    fn attend_to_past(&self, rows: &mut [&mut Row], spans: &[Range<usize>], layer: usize, scratch: &mut Scratch) -> Result<()> {
        let width = self.num_heads * self.d_kv;
        let Scratch { normed, query, key, value, context, product, scores, .. } = scratch;
        self.q.product(normed, query)?;
        self.k.product(normed, key)?;
        self.v.product(normed, value)?;
        clear(context, query.len());
        for (row, span) in rows.iter_mut().zip(spans) {
            let Row { past, bias, .. } = &mut **row;
            let past = &mut past[layer];
            past.key.extend_from_slice(&key[span.start * width..span.end * width]);
            past.value.extend_from_slice(&value[span.start * width..span.end * width]);
            let total = past.key.len() / width;
            for (index, token) in span.clone().enumerate() {
                let seen = total - span.len() + index + 1;
                for head in 0..self.num_heads {
                    let columns = token * width + head * self.d_kv..token * width + (head + 1) * self.d_kv;
                    let place = |position: usize| position * width + head * self.d_kv..position * width + (head + 1) * self.d_kv;
                    scores.clear();
                    scores.extend((0..seen).map(|position| {
                        ops::dot(&query[columns.clone()], &past.key[place(position)]) + bias[(seen - 1 - position) * self.num_heads + head]
                    }));
                    ops::softmax_row(scores);
                    for (position, weight) in scores.iter().enumerate() {
                        add_scaled(&mut context[columns.clone()], *weight, &past.value[place(position)]);
                    }
                }
            }
        }
        normed.set(context.len() / width, width, |rows| rows.copy_from_slice(context));
        self.o.product(normed, product)
    }

    /// Attention of every token to its source; where it looked is added to `weights`.
    fn attend_to_source(
        &self,
        rows: &[&mut Row],
        spans: &[Range<usize>],
        layer: usize,
        scratch: &mut Scratch,
        weights: &mut [Vec<f32>],
    ) -> Result<()> {
        let width = self.num_heads * self.d_kv;
        let Scratch { normed, query, context, product, scores, .. } = scratch;
        self.q.product(normed, query)?;
        clear(context, query.len());
        for (row, span) in rows.iter().zip(spans) {
            let SourceLayer { key, value } = &row.source.layers[layer];
            let length = row.source.mask.len();
            for token in span.clone() {
                for head in 0..self.num_heads {
                    let columns = token * width + head * self.d_kv..token * width + (head + 1) * self.d_kv;
                    let of_head = head * length * self.d_kv..(head + 1) * length * self.d_kv;
                    let keys = key[of_head.clone()].chunks_exact(self.d_kv);
                    scores.clear();
                    scores.extend(keys.zip(&row.source.mask).map(|(key, mask)| ops::dot(&query[columns.clone()], key) + mask));
                    ops::softmax_row(scores);
                    for (value, weight) in value[of_head].chunks_exact(self.d_kv).zip(scores.iter()) {
                        add_scaled(&mut context[columns.clone()], *weight, value);
                    }
                    weights[token].extend_from_slice(scores);
                }
            }
        }
        normed.set(context.len() / width, width, |rows| rows.copy_from_slice(context));
        self.o.product(normed, product)
    }
}

impl FeedForward {
    fn apply(&self, scratch: &mut Scratch) -> Result<()> {
        let Scratch { normed, gate, context: inner, product, .. } = scratch;
        match &self.input {
            FeedForwardInput::Relu { wi } => {
                wi.product(normed, inner)?;
                inner.iter_mut().for_each(|value| *value = value.max(0.0));
            }
            FeedForwardInput::GatedGelu { wi_0, wi_1 } => {
                wi_0.product(normed, gate)?;
                wi_1.product(normed, inner)?;
                inner.iter_mut().zip(gate.iter()).for_each(|(value, gate)| *value *= gelu(*gate));
            }
        }
        let count = inner.len() / self.inner_width()?;
        normed.set(count, inner.len() / count, |rows| rows.copy_from_slice(inner));
        self.wo.product(normed, product)
    }

    fn inner_width(&self) -> Result<usize> {
        self.wo.inputs()
    }
}

/// The tanh approximation that Hugging Face calls `gelu_new`.
fn gelu(x: f32) -> f32 {
    let inner = (2.0 / std::f32::consts::PI).sqrt() * x * (1.0 + 0.044715 * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

fn clear(values: &mut Vec<f32>, length: usize) {
    values.clear();
    values.resize(length, 0.0);
}

fn add(sum: &mut [f32], values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

fn add_scaled(sum: &mut [f32], scale: f32, values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += scale * value);
}
