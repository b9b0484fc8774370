//! The encoder of one text, on plain slices.
//!
//! The same formulas as [`T5::encode`], which the tests compare it with. What makes it fast: the rows of a norm become integers once for queries,
//! keys and values; one bias a distance serves all pairs of positions; and no tensor is made between two products. It has no gradients, no dropout
//! and no padding.

use candle_core::{Device, Tensor};

use super::slices::{Scratch, add, clear};
use super::{Attention, Stack, T5};
use crate::{Error, Result, ops};

/// `[num_heads, 2 S - 1]`: what a key adds to a score, from `S - 1` places before its query to `S - 1` behind.
struct DistanceBias {
    values: Vec<f32>,
    length: usize,
}

impl T5 {
    /// Encodes `ids [S]`, all of them seen: what [`T5::encode`] gives, `[1, S, D]`.
    pub fn encode_text(&self, ids: &[u32]) -> Result<Tensor> {
        if ids.is_empty() {
            return Err(Error::EmptyText);
        }
        let (length, width) = (ids.len(), self.width()?);
        let bias = self.encoder.distance_bias(length)?;
        let mut hidden = vec![0.0; length * width];
        self.shared.rows(ids, &mut hidden)?;
        let scratch = &mut Scratch::default();
        for layer in &self.encoder.layers {
            scratch.norm(&layer.self_attention.layer_norm, &hidden)?;
            layer.self_attention.attention.attend_to_all(&bias, scratch)?;
            add(&mut hidden, &scratch.product);
            scratch.norm(&layer.feed_forward.layer_norm, &hidden)?;
            layer.feed_forward.apply(scratch)?;
            add(&mut hidden, &scratch.product);
        }
        self.encoder.final_layer_norm.apply(&mut hidden)?;
        Ok(Tensor::from_vec(hidden, (1, length, width), &Device::Cpu)?)
    }
}

impl Stack {
    fn distance_bias(&self, length: usize) -> Result<DistanceBias> {
        let heads = self.num_heads()?;
        let buckets: Vec<usize> = (1..2 * length as i64).map(|place| self.bucket(place - length as i64) as usize).collect();
        let values = ops::with_values(&self.relative_attention_bias, |table| {
            (0..heads).flat_map(|head| buckets.iter().map(move |bucket| table[bucket * heads + head])).collect()
        })?;
        Ok(DistanceBias { values, length })
    }
}

impl DistanceBias {
    /// What each key adds to the scores of `query`.
    fn of(&self, head: usize, query: usize) -> &[f32] {
        let nearest = head * (2 * self.length - 1) + self.length - 1;
        &self.values[nearest - query..][..self.length]
    }
}

impl Attention {
    /// Attention of all rows to all rows.
    fn attend_to_all(&self, bias: &DistanceBias, scratch: &mut Scratch) -> Result<()> {
        let (length, inner) = (bias.length, self.num_heads * self.d_kv);
        let Scratch { normed, query, key, value, context, gate, product, scores } = scratch;
        self.q.product(normed, query)?;
        self.k.product(normed, key)?;
        self.v.product(normed, value)?;
        clear(context, query.len());
        clear(scores, length * length);
        // One head at a time, its rows side by side: queries and values `[S, d_kv]`, keys `[d_kv, S]`, contexts `[S, d_kv]`.
        clear(gate, 4 * length * self.d_kv);
        let (queries, others) = gate.split_at_mut(length * self.d_kv);
        let (keys, others) = others.split_at_mut(length * self.d_kv);
        let (values, contexts) = others.split_at_mut(length * self.d_kv);
        for head in 0..self.num_heads {
            let columns = head * self.d_kv..(head + 1) * self.d_kv;
            for place in 0..length {
                let of_head = place * inner + columns.start..place * inner + columns.end;
                let of_place = place * self.d_kv..(place + 1) * self.d_kv;
                queries[of_place.clone()].copy_from_slice(&query[of_head.clone()]);
                values[of_place].copy_from_slice(&value[of_head.clone()]);
                keys[place..].iter_mut().step_by(length).zip(&key[of_head]).for_each(|(to, key)| *to = *key);
            }
            ops::matmul(queries, keys, self.d_kv, scores);
            for (query, scores) in scores.chunks_exact_mut(length).enumerate() {
                add(scores, bias.of(head, query));
                ops::softmax_row(scores);
            }
            ops::matmul(scores, values, length, contexts);
            for (context, of_head) in context.chunks_exact_mut(inner).zip(contexts.chunks_exact(self.d_kv)) {
                context[columns.clone()].copy_from_slice(of_head);
            }
        }
        normed.set(length, inner, |rows| rows.copy_from_slice(context));
        self.o.product(normed, product)
    }
}
