//! Layers that hold one matrix, dense and differentiable or quantised: `y = x W^T + b`, a row lookup, and dropout.

use std::sync::Arc;
use std::sync::Mutex;

use candle_core::quantized::QMatMul;
use candle_core::{Device, Module, Tensor};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::weights::{Init, Matrix};
use crate::{Result, Weights};

/// `y = x W^T + b`, with `W [out, in]`.
#[derive(Clone, Debug)]
pub struct Linear {
    product: Product,
    bias: Option<Tensor>,
}

#[derive(Clone, Debug)]
enum Product {
    Dense(Tensor),
    Quantized(QMatMul),
}

impl Linear {
    /// Loads `weight`, without bias.
    pub fn load(weights: &Weights, inputs: usize, outputs: usize, init: Init) -> Result<Self> {
        Self::from_matrix(weights.matrix("weight", &[outputs, inputs], init)?)
    }

    /// Loads `weight` and `bias`.
    pub fn load_with_bias(weights: &Weights, inputs: usize, outputs: usize, init: Init) -> Result<Self> {
        let bias = weights.tensor("bias", &[outputs], Init::Constant(0.0))?;
        Ok(Self { bias: Some(bias), ..Self::load(weights, inputs, outputs, init)? })
    }

    /// Multiplies by a matrix that is also used elsewhere.
    pub fn from_matrix(matrix: Matrix) -> Result<Self> {
        let product = match matrix {
            Matrix::Dense(weight) => Product::Dense(weight),
            Matrix::Quantized(weight) => Product::Quantized(QMatMul::from_arc(weight)?),
        };
        Ok(Self { product, bias: None })
    }

    /// `x [.., in]` to `[.., out]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = match &self.product {
            Product::Dense(weight) => {
                let mut shape = x.dims().to_vec();
                let (outputs, inputs) = weight.dims2()?;
                let rows = x.elem_count() / inputs;
                let y = x.reshape((rows, inputs))?.matmul(&weight.t()?)?;
                if let Some(last) = shape.last_mut() {
                    *last = outputs;
                }
                y.reshape(shape)?
            }
            Product::Quantized(weight) => weight.forward(&x.contiguous()?)?,
        };
        match &self.bias {
            Some(bias) => Ok(y.broadcast_add(bias)?),
            None => Ok(y),
        }
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
        let rows = match &self.matrix {
            Matrix::Dense(weight) => weight.index_select(&flat, 0)?,
            Matrix::Quantized(weight) => weight.embedding(&flat)?,
        };
        let width = rows.dim(1)?;
        Ok(rows.reshape((batch, length, width))?)
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
