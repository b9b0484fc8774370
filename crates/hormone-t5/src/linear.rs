//! Layers that hold one matrix, dense and differentiable or quantised: `y = x W^T + b`, a row lookup, and dropout.

use std::sync::Arc;
use std::sync::Mutex;

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Shape, Tensor};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::ops;
use crate::q8::{Activations, Q8Matrix};
use crate::weights::{Init, Matrix};
use crate::{Result, Weights};

/// `y = x W^T + b`, with `W [out, in]`.
#[derive(Clone, Debug)]
pub struct Linear {
    matrix: Matrix,
    bias: Option<Tensor>,
}

impl Linear {
    /// Loads `weight`, without bias.
    pub fn load(weights: &Weights, inputs: usize, outputs: usize, init: Init) -> Result<Self> {
        Ok(Self::from_matrix(weights.matrix("weight", &[outputs, inputs], init)?))
    }

    /// Loads `weight` and `bias`.
    pub fn load_with_bias(weights: &Weights, inputs: usize, outputs: usize, init: Init) -> Result<Self> {
        let bias = weights.tensor("bias", &[outputs], Init::Constant(0.0))?;
        Ok(Self { bias: Some(bias), ..Self::load(weights, inputs, outputs, init)? })
    }

    /// Multiplies by a matrix that is also used elsewhere.
    pub fn from_matrix(matrix: Matrix) -> Self {
        Self { matrix, bias: None }
    }

    /// `x [.., in]` to `[.., out]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = match &self.matrix {
            Matrix::Dense(weight) => {
                let mut shape = x.dims().to_vec();
                let (outputs, inputs) = weight.dims2()?;
                let rows = x.elem_count() / inputs;
                let y = x.reshape((rows, inputs))?.matmul(&weight.t()?)?;
                if let Some(last) = shape.last_mut() {
                    *last = outputs;
                }
                y.reshape(shape)?
            }
            Matrix::Quantized(weight) => x.contiguous()?.apply_op1_no_bwd(&QuantizedProduct(weight.clone()))?,
        };
        match &self.bias {
            Some(bias) => Ok(y.broadcast_add(bias)?),
            None => Ok(y),
        }
    }

    /// Columns of the matrix.
    pub(crate) fn inputs(&self) -> Result<usize> {
        Ok(match &self.matrix {
            Matrix::Dense(weight) => weight.dim(1)?,
            Matrix::Quantized(weight) => weight.inputs(),
        })
    }

    /// The same without gradients and without bias, on rows at hand.
    pub(crate) fn product(&self, x: &Rows, y: &mut Vec<f32>) -> Result<()> {
        match &self.matrix {
            Matrix::Dense(weight) => {
                let (outputs, inputs) = weight.dims2()?;
                y.resize(x.values.len() / inputs * outputs, 0.0);
                ops::with_values(weight, |weight| ops::product(&x.values, weight, inputs, y))
            }
            Matrix::Quantized(weight) => {
                y.resize(x.values.len() / weight.inputs() * weight.outputs(), 0.0);
                weight.product(&x.activations, y);
                Ok(())
            }
        }
    }
}

/// Rows that are multiplied by one or several matrices.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    values: Vec<f32>,
    activations: Activations,
}

impl Rows {
    /// Takes rows of this width; `fill` writes them.
    pub(crate) fn set(&mut self, count: usize, width: usize, fill: impl FnOnce(&mut [f32])) {
        self.values.resize(count * width, 0.0);
        fill(&mut self.values);
        self.activations.set(&self.values, width);
    }

    /// Multiplies all by a number.
    pub(crate) fn scale(&mut self, factor: f32, width: usize) {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self.activations.set(&self.values, width);
    }
}

/// `x W^T` of a quantised matrix, without gradient.
struct QuantizedProduct(Arc<Q8Matrix>);

impl CustomOp1 for QuantizedProduct {
    fn name(&self) -> &'static str {
        "quantized-product"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        let mut shape = layout.dims().to_vec();
        if shape.last() != Some(&self.0.inputs()) {
            candle_core::bail!("a matrix of {} inputs cannot take {shape:?}", self.0.inputs());
        }
        let mut x = Activations::default();
        x.set(ops::values(storage, layout)?, self.0.inputs());
        let mut y = vec![0.0; layout.shape().elem_count() / self.0.inputs() * self.0.outputs()];
        self.0.product(&x, &mut y);
        if let Some(last) = shape.last_mut() {
            *last = self.0.outputs();
        }
        Ok((CpuStorage::F32(y), Shape::from(shape)))
    }
}

/// Rows of a matrix by id.
#[derive(Clone, Debug)]
pub struct Embedding {
    matrix: Matrix,
}

impl Embedding {
    /// Looks up rows of `matrix [rows, D]`.
    pub fn from_matrix(matrix: Matrix) -> Self {
        Self { matrix }
    }

    /// `ids [B, S]` (u32) to `[B, S, D]`.
    pub fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let (batch, length) = ids.dims2()?;
        let flat = ids.flatten_all()?; // [B*S]
        match &self.matrix {
            Matrix::Dense(weight) => Ok(weight.index_select(&flat, 0)?.reshape((batch, length, weight.dim(1)?))?),
            Matrix::Quantized(weight) => {
                let mut rows = vec![0.0; batch * length * weight.inputs()];
                self.rows(&flat.to_vec1()?, &mut rows)?;
                Ok(Tensor::from_vec(rows, (batch, length, weight.inputs()), &Device::Cpu)?)
            }
        }
    }

    /// Writes the rows of `ids`, one after the other.
    pub(crate) fn rows(&self, ids: &[u32], rows: &mut [f32]) -> Result<()> {
        let width = rows.len() / ids.len().max(1);
        match &self.matrix {
            Matrix::Dense(weight) => ops::with_values(weight, |weight| {
                for (row, id) in rows.chunks_exact_mut(width).zip(ids) {
                    row.copy_from_slice(&weight[*id as usize * width..][..width]);
                }
            }),
            Matrix::Quantized(weight) => {
                for (row, id) in rows.chunks_exact_mut(width).zip(ids) {
                    weight.row(*id as usize, row);
                }
                Ok(())
            }
        }
    }
}

/// Zeroes a random share of values and scales up the rest while training; does nothing otherwise.
#[derive(Clone, Debug, Default)]
pub struct Dropout {
    training: Option<Arc<Mutex<ChaCha8Rng>>>,
    rate: f64,
}

impl Dropout {
    /// Active, with its own seeded random numbers.
    pub fn training(rate: f64, seed: u64) -> Self {
        Self { training: Some(Arc::new(Mutex::new(ChaCha8Rng::seed_from_u64(seed)))), rate }
    }

    /// The same stream of random numbers at another rate.
    pub fn with_rate(&self, rate: f64) -> Self {
        Self { training: self.training.clone(), rate }
    }

    /// Goes on with the random numbers of `stream`, from their beginning.
    pub fn set_stream(&self, stream: u64) {
        if let Some(random) = &self.training {
            let mut random = random.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            random.set_stream(stream);
            random.set_word_pos(0);
        }
    }

    /// Any shape in, the same shape out.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let Some(random) = self.training.as_ref().filter(|_| self.rate > 0.0) else {
            return Ok(x.clone());
        };
        let threshold = (self.rate * f64::from(u32::MAX)) as u32;
        let scale = (1.0 / (1.0 - self.rate)) as f32;
        let mut random = random.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let keep: Vec<f32> = (0..x.elem_count()).map(|_| if random.random::<u32>() < threshold { 0.0 } else { scale }).collect();
        Ok((x * Tensor::from_vec(keep, x.shape(), &Device::Cpu)?)?)
    }
}
