//! AdamW whose state can be saved, with the gradient clipped by its global norm.
//!
//! candle's own AdamW keeps its moments private, so a run could not be resumed. Source: Loshchilov and Hutter, *Decoupled Weight Decay
//! Regularization*; the same order of operations as PyTorch's.

use std::collections::BTreeMap;

use candle_core::{Device, Tensor, Var};
use hormone_t5::Result;

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// A gradient for each variable's name.
pub(crate) type Gradients = BTreeMap<String, Vec<f32>>;

/// The optimizer's state.
#[derive(Clone, Debug)]
pub(crate) struct AdamW {
    moments: BTreeMap<String, Moments>,
    steps: u64,
    weight_decay: f32,
    /// Largest global norm of the gradient.
    max_norm: f32,
}

#[derive(Clone, Debug)]
struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
}

impl AdamW {
    pub(crate) fn new(weight_decay: f64, max_norm: f64) -> Self {
        Self { moments: BTreeMap::new(), steps: 0, weight_decay: weight_decay as f32, max_norm: max_norm as f32 }
    }

    /// One step; gives the gradient's norm before clipping. Variables without a gradient stay as they are.
    pub(crate) fn step(&mut self, variables: &BTreeMap<String, Var>, gradients: &Gradients, learning_rate: f64) -> Result<f32> {
        let norm = gradients.values().flatten().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt() as f32;
        let clip = if norm > self.max_norm { self.max_norm / (norm + 1e-6) } else { 1.0 };
        self.steps += 1;
        let correction1 = 1.0 - BETA1.powi(self.steps.min(100_000) as i32);
        let correction2 = (1.0 - BETA2.powi(self.steps.min(100_000) as i32)).sqrt();
        let rate = learning_rate as f32;
        for (name, gradient) in gradients {
            let Some(variable) = variables.get(name) else { continue };
            let count = gradient.len();
            let moments = self.moments.entry(name.clone()).or_insert_with(|| Moments { first: vec![0.0; count], second: vec![0.0; count] });
            let mut values: Vec<f32> = variable.flatten_all()?.to_vec1()?;
            let states = moments.first.iter_mut().zip(&mut moments.second);
            for ((value, gradient), (first, second)) in values.iter_mut().zip(gradient).zip(states) {
                let gradient = gradient * clip;
                *first = BETA1 * *first + (1.0 - BETA1) * gradient;
                *second = BETA2 * *second + (1.0 - BETA2) * gradient * gradient;
                *value *= 1.0 - rate * self.weight_decay;
                *value -= rate / correction1 * *first / (second.sqrt() / correction2 + EPSILON);
            }
            variable.set(&Tensor::from_vec(values, variable.shape(), &Device::Cpu)?)?;
        }
        Ok(norm)
    }

    /// The state as tensors, to be saved.
    pub(crate) fn state(&self) -> Result<BTreeMap<String, Tensor>> {
        let mut tensors = BTreeMap::new();
        for (name, moments) in &self.moments {
            tensors.insert(format!("{name}.first"), Tensor::new(moments.first.as_slice(), &Device::Cpu)?);
            tensors.insert(format!("{name}.second"), Tensor::new(moments.second.as_slice(), &Device::Cpu)?);
        }
        Ok(tensors)
    }

    /// Goes on from a saved state after `steps` steps.
    pub(crate) fn restore(&mut self, tensors: &std::collections::HashMap<String, Tensor>, steps: u64) -> Result<()> {
        self.steps = steps;
        self.moments.clear();
        for (key, first) in tensors {
            let Some(name) = key.strip_suffix(".first") else { continue };
            let Some(second) = tensors.get(&format!("{name}.second")) else { continue };
            self.moments.insert(name.to_string(), Moments { first: first.to_vec1()?, second: second.to_vec1()? });
        }
        Ok(())
    }
}
