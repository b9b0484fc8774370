//! What encoder and decoder share where they run on plain slices: no tensor is made between two products.

use super::{FeedForward, FeedForwardInput, RmsNorm, Stack, T5};
use crate::linear::Rows;
use crate::{Result, ops};

/// Working memory of one pass.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) normed: Rows,
    pub(super) query: Vec<f32>,
    pub(super) key: Vec<f32>,
    pub(super) value: Vec<f32>,
    pub(super) context: Vec<f32>,
    pub(super) gate: Vec<f32>,
    pub(super) product: Vec<f32>,
    pub(super) scores: Vec<f32>,
}

impl T5 {
    /// `D`.
    pub(super) fn width(&self) -> Result<usize> {
        Ok(self.decoder.final_layer_norm.weight.dim(0)?)
    }
}

impl Stack {
    pub(super) fn num_heads(&self) -> Result<usize> {
        Ok(self.relative_attention_bias.dim(1)?)
    }
}

impl Scratch {
    /// Takes `hidden [rows, D]`, normed.
    pub(super) fn norm(&mut self, norm: &RmsNorm, hidden: &[f32]) -> Result<()> {
        ops::with_values(&norm.weight, |weight| {
            self.normed.set(hidden.len() / weight.len(), weight.len(), |rows| {
                rows.copy_from_slice(hidden);
                norm.of_rows(rows, weight);
            });
        })
    }
}

impl RmsNorm {
    /// Norms `rows [rows, D]` where they are.
    pub(super) fn apply(&self, rows: &mut [f32]) -> Result<()> {
        ops::with_values(&self.weight, |weight| self.of_rows(rows, weight))
    }

    fn of_rows(&self, rows: &mut [f32], weight: &[f32]) {
        rows.chunks_exact_mut(weight.len()).for_each(|row| ops::rms_norm_row(row, weight, self.epsilon as f32));
    }
}

impl FeedForward {
    /// What the rows taken last give, into `product`.
    pub(super) fn apply(&self, scratch: &mut Scratch) -> Result<()> {
        let Scratch { normed, gate, context: inner, product, .. } = scratch;
        match &self.input {
            FeedForwardInput::Relu { wi } => {
                wi.product(normed, inner)?;
                // `f32::max` is a call in wasm.
                inner.iter_mut().for_each(|value| *value = if *value < 0.0 { 0.0 } else { *value });
            }
            FeedForwardInput::GatedGelu { wi_0, wi_1 } => {
                wi_0.product(normed, gate)?;
                wi_1.product(normed, inner)?;
                inner.iter_mut().zip(gate.iter()).for_each(|(value, gate)| *value *= gelu(*gate));
            }
        }
        let width = self.wo.inputs()?;
        normed.set(inner.len() / width, width, |rows| rows.copy_from_slice(inner));
        self.wo.product(normed, product)
    }
}

/// The tanh approximation that Hugging Face calls `gelu_new`.
fn gelu(x: f32) -> f32 {
    let inner = (2.0 / std::f32::consts::PI).sqrt() * x * (1.0 + 0.044715 * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

/// `length` zeros.
pub(super) fn clear(values: &mut Vec<f32>, length: usize) {
    values.clear();
    values.resize(length, 0.0);
}

pub(super) fn add(sum: &mut [f32], values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

pub(super) fn add_scaled(sum: &mut [f32], scale: f32, values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += scale * value);
}
