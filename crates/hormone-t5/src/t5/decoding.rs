//! The decoder of replies: token after token, with a cache, on plain slices.
//!
//! The same formulas as [`T5::decode`], which the tests compare it with. What makes it fast: keys and values of the source are computed once;
//! those of earlier tokens stay where they are; the position bias grows by one distance a token; each matrix is read once for all rows; and no
//! tensor is made between two products. It has no gradients and no dropout.

use std::sync::Arc;

use candle_core::{Device, Tensor};

use super::slices::{Scratch, add, add_scaled, clear};
use super::{Attention, DecoderOutput, KeyValue, Stack, T5};
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
        let outputs = self.advance(&mut [cache], &ids)?;
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

    /// Takes the next token of every row of every cache, `ids` in that order, in one pass over the weights. Panics where they are more or fewer.
    pub fn advance(&self, caches: &mut [&mut DecoderCache], ids: &[u32]) -> Result<Vec<RowOutput>> {
        let mut rows: Vec<&mut Row> = caches.iter_mut().flat_map(|cache| &mut cache.rows).collect();
        assert_eq!(rows.len(), ids.len(), "each row takes a token");
        let count = rows.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        for row in &mut rows {
            self.decoder.extend_bias(&mut row.bias)?;
        }
        let width = self.width()?;
        let mut hidden = vec![0.0; count * width];
        self.shared.rows(ids, &mut hidden)?;
        let mut weights: Vec<Vec<f32>> = vec![Vec::new(); count];
        let scratch = &mut Scratch::default();
        for (index, layer) in self.decoder.layers.iter().enumerate() {
            let sublayer = &layer.self_attention;
            scratch.norm(&sublayer.layer_norm, &hidden)?;
            sublayer.attention.attend_to_past(&mut rows, index, scratch)?;
            add(&mut hidden, &scratch.product);
            if let Some(sublayer) = &layer.cross_attention {
                scratch.norm(&sublayer.layer_norm, &hidden)?;
                sublayer.attention.attend_to_source(&rows, index, scratch, &mut weights)?;
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
    /// Adds the bias of the next distance.
    fn extend_bias(&self, bias: &mut Vec<f32>) -> Result<()> {
        let heads = self.num_heads()?;
        let bucket = self.bucket(-((bias.len() / heads) as i64)) as usize;
        ops::with_values(&self.relative_attention_bias, |table| bias.extend_from_slice(&table[bucket * heads..(bucket + 1) * heads]))
    }
}

impl Attention {
    /// Attention of each row's token to the tokens so far and itself, whose key and value stay in the cache.
    fn attend_to_past(&self, rows: &mut [&mut Row], layer: usize, scratch: &mut Scratch) -> Result<()> {
        let width = self.num_heads * self.d_kv;
        let Scratch { normed, query, key, value, context, product, scores, .. } = scratch;
        self.q.product(normed, query)?;
        self.k.product(normed, key)?;
        self.v.product(normed, value)?;
        clear(context, query.len());
        for (index, row) in rows.iter_mut().enumerate() {
            let of_row = index * width..(index + 1) * width;
            let Row { past, bias, .. } = &mut **row;
            let past = &mut past[layer];
            past.key.extend_from_slice(&key[of_row.clone()]);
            past.value.extend_from_slice(&value[of_row.clone()]);
            let (query, context) = (&query[of_row.clone()], &mut context[of_row]);
            for (head, (query, context)) in query.chunks_exact(self.d_kv).zip(context.chunks_exact_mut(self.d_kv)).enumerate() {
                let columns = head * self.d_kv..(head + 1) * self.d_kv;
                // The oldest token is the farthest.
                let bias = bias[head..].iter().step_by(self.num_heads).rev();
                scores.clear();
                scores.extend(past.key.chunks_exact(width).zip(bias).map(|(key, bias)| ops::dot(query, &key[columns.clone()]) + bias));
                ops::softmax_row(scores);
                for (value, weight) in past.value.chunks_exact(width).zip(scores.iter()) {
                    add_scaled(context, *weight, &value[columns.clone()]);
                }
            }
        }
        normed.set(rows.len(), width, |rows| rows.copy_from_slice(context));
        self.o.product(normed, product)
    }

    /// Attention of each row's token to its source; where it looked is added to `weights`.
    fn attend_to_source(&self, rows: &[&mut Row], layer: usize, scratch: &mut Scratch, weights: &mut [Vec<f32>]) -> Result<()> {
        let width = self.num_heads * self.d_kv;
        let Scratch { normed, query, context, product, scores, .. } = scratch;
        self.q.product(normed, query)?;
        clear(context, query.len());
        for (index, row) in rows.iter().enumerate() {
            let of_row = index * width..(index + 1) * width;
            let SourceLayer { key, value } = &row.source.layers[layer];
            let of_head = row.source.mask.len() * self.d_kv;
            let heads = key.chunks_exact(of_head).zip(value.chunks_exact(of_head));
            let (query, context) = (&query[of_row.clone()], &mut context[of_row]);
            for ((query, context), (keys, values)) in query.chunks_exact(self.d_kv).zip(context.chunks_exact_mut(self.d_kv)).zip(heads) {
                scores.clear();
                scores.extend(keys.chunks_exact(self.d_kv).zip(&row.source.mask).map(|(key, mask)| ops::dot(query, key) + mask));
                ops::softmax_row(scores);
                for (value, weight) in values.chunks_exact(self.d_kv).zip(scores.iter()) {
                    add_scaled(context, *weight, value);
                }
                weights[index].extend_from_slice(scores);
            }
        }
        normed.set(rows.len(), width, |rows| rows.copy_from_slice(context));
        self.o.product(normed, product)
    }
}
