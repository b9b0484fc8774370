//! AdamW, and for layers' matrices Muon where it is asked for; the state can be saved. AdamW's gradients are clipped by the global norm; Muon's
//! updates have the same size whatever the gradient.
//!
//! candle's own AdamW keeps its moments private, so a run could not be resumed. Source: Loshchilov and Hutter, *Decoupled Weight Decay
//! Regularization*; the same order of operations as PyTorch's.

mod muon;

use std::collections::BTreeMap;

use candle_core::{Device, Tensor, Var};
use hormone_t5::Result;

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Layers whose matrices Muon moves: not embeddings, norms and biases of positions, and not the block, whose matrices are small.
const LAYERS: [&str; 2] = ["t5.encoder.block.", "t5.decoder.block."];

/// What turns levels into `e`: at the rate of everything else its tanh saturates, and levels no longer change it.
const EMBEDDING: &str = "hormone_block.hormone_to_embedding.";

/// A gradient for each variable's name.
pub(crate) type Gradients = BTreeMap<String, Vec<f32>>;

/// The optimizer's state.
#[derive(Clone, Debug)]
pub(crate) struct Optimizer {
    moments: BTreeMap<String, Moments>,
    steps: u64,
    settings: OptimizerSettings,
}

/// How the weights are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OptimizerSettings {
    pub(crate) weight_decay: f64,
    /// Largest global norm of the gradient.
    pub(crate) max_norm: f64,
    /// Muon for the matrices of the encoder's and decoder's layers; else AdamW for everything.
    pub(crate) muon: bool,
    /// Learning rate of the MLP from levels to `e`, as a factor of that of everything else.
    pub(crate) embedding_rate: f64,
}

#[derive(Clone, Debug, Default)]
struct Moments {
    first: Vec<f32>,
    /// Empty under Muon.
    second: Vec<f32>,
}

/// One variable's step.
struct Task<'a> {
    name: &'a str,
    variable: &'a Var,
    gradient: &'a [f32],
    moments: Moments,
}

/// What AdamW corrects its moments by, and the clip.
#[derive(Clone, Copy)]
struct Step {
    rate: f32,
    clip: f32,
    correction1: f32,
    correction2: f32,
}

impl Optimizer {
    pub(crate) fn new(settings: OptimizerSettings) -> Self {
        Self { moments: BTreeMap::new(), steps: 0, settings }
    }

    /// One step, its variables dealt to `threads`; gives the gradient's norm before clipping. Variables without a gradient stay as they are, and
    /// all do where the norm is not finite: then there is no step.
    pub(crate) fn step(
        &mut self,
        variables: &BTreeMap<String, Var>,
        gradients: &Gradients,
        learning_rate: f64,
        threads: usize,
    ) -> Result<f32> {
        let norm = gradients.values().flatten().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt() as f32;
        if !norm.is_finite() {
            return Ok(norm);
        }
        let max_norm = self.settings.max_norm as f32;
        self.steps += 1;
        let steps = self.steps.min(100_000) as i32;
        let step = Step {
            rate: learning_rate as f32,
            clip: if norm > max_norm { max_norm / (norm + 1e-6) } else { 1.0 },
            correction1: 1.0 - BETA1.powi(steps),
            correction2: (1.0 - BETA2.powi(steps)).sqrt(),
        };
        let mut tasks: Vec<Task<'_>> = Vec::new();
        for (name, gradient) in gradients {
            let Some(variable) = variables.get(name) else { continue };
            tasks.push(Task { name, variable, gradient, moments: self.moments.remove(name).unwrap_or_default() });
        }
        // The largest first, dealt in turn.
        tasks.sort_by_key(|task| std::cmp::Reverse(task.gradient.len()));
        let mut hands: Vec<Vec<Task<'_>>> = (0..threads.max(1)).map(|_| Vec::new()).collect();
        for (index, task) in tasks.into_iter().enumerate() {
            hands[index % threads.max(1)].push(task);
        }
        let settings = self.settings;
        let work = |hand: &mut Vec<Task<'_>>| hand.iter_mut().try_for_each(|task| task.run(step, settings));
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let threads: Vec<_> = hands.iter_mut().map(|hand| scope.spawn(|| work(hand))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        self.moments.extend(hands.into_iter().flatten().map(|task| (task.name.to_string(), task.moments)));
        results.into_iter().collect::<Result<()>>()?;
        Ok(norm)
    }

    /// Steps taken.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// The state as tensors, to be saved.
    pub(crate) fn state(&self) -> Result<BTreeMap<String, Tensor>> {
        let mut tensors = BTreeMap::new();
        for (name, moments) in &self.moments {
            tensors.insert(format!("{name}.first"), Tensor::new(moments.first.as_slice(), &Device::Cpu)?);
            if !moments.second.is_empty() {
                tensors.insert(format!("{name}.second"), Tensor::new(moments.second.as_slice(), &Device::Cpu)?);
            }
        }
        Ok(tensors)
    }

    /// Goes on from a saved state after `steps` steps.
    pub(crate) fn restore(&mut self, tensors: &std::collections::HashMap<String, Tensor>, steps: u64) -> Result<()> {
        self.steps = steps;
        self.moments.clear();
        for (key, first) in tensors {
            let Some(name) = key.strip_suffix(".first") else { continue };
            let second = tensors.get(&format!("{name}.second")).map(Tensor::to_vec1).transpose()?.unwrap_or_default();
            self.moments.insert(name.to_string(), Moments { first: first.to_vec1()?, second });
        }
        Ok(())
    }
}

impl Task<'_> {
    fn run(&mut self, step: Step, settings: OptimizerSettings) -> Result<()> {
        let shape = match self.variable.dims() {
            [rows, columns] if settings.muon && is_layer_matrix(self.name) => Some((*rows, *columns)),
            _ => None,
        };
        let mut values: Vec<f32> = self.variable.flatten_all()?.to_vec1()?;
        let rate = if self.name.starts_with(EMBEDDING) { step.rate * settings.embedding_rate as f32 } else { step.rate };
        let kept = 1.0 - rate * settings.weight_decay as f32;
        self.moments.first.resize(values.len(), 0.0);
        if let Some(shape) = shape {
            let update = muon::update(&mut self.moments.first, self.gradient, shape)?;
            for (value, update) in values.iter_mut().zip(update) {
                *value = *value * kept - rate * update;
            }
        } else {
            self.moments.second.resize(values.len(), 0.0);
            let states = self.moments.first.iter_mut().zip(&mut self.moments.second);
            for ((value, gradient), (first, second)) in values.iter_mut().zip(self.gradient).zip(states) {
                let gradient = gradient * step.clip;
                *first = BETA1 * *first + (1.0 - BETA1) * gradient;
                *second = BETA2 * *second + (1.0 - BETA2) * gradient * gradient;
                *value *= kept;
                *value -= rate / step.correction1 * *first / (second.sqrt() / step.correction2 + EPSILON);
            }
        }
        self.variable.set(&Tensor::from_vec(values, self.variable.shape(), &Device::Cpu)?)?;
        Ok(())
    }
}

fn is_layer_matrix(name: &str) -> bool {
    LAYERS.iter().any(|layers| name.starts_with(layers)) && !name.contains("relative_attention_bias")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedding_of_levels_moves_by_its_own_factor_of_the_learning_rate() -> Result<()> {
        let names = ["hormone_block.hormone_to_embedding.4.weight", "hormone_block.modulation_strength"];
        let variables =
            BTreeMap::from(names.map(|name| (name.to_string(), Var::from_slice(&[0.0f32; 4], 4, &Device::Cpu).expect("zeros"))));
        let gradients = names.map(|name| (name.to_string(), vec![0.5, -1.0, 2.0, 1.0])).into();
        let settings = OptimizerSettings { weight_decay: 0.0, max_norm: 1e9, muon: false, embedding_rate: 0.1 };
        Optimizer::new(settings).step(&variables, &gradients, 0.01, 1)?;
        let [slow, fast] = names.map(|name| variables[name].to_vec1::<f32>().expect("values"));
        assert!(fast.iter().all(|value| (value.abs() - 0.01).abs() < 1e-5), "{fast:?}");
        assert!(slow.iter().zip(fast).all(|(slow, fast)| (slow - 0.1 * fast).abs() < 1e-6), "{slow:?}");
        Ok(())
    }
}
