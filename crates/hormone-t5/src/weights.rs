//! Where a model's weights come from: safetensors, GGUF, or fresh random values to train.
//!
//! One [`Weights`] is a name prefix into a shared map, so that loading code reads like the checkpoint's names:
//! `weights.at("encoder").at("block.0")`. Names and shapes are Hugging Face's; a matrix is `[outputs, inputs]`.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::rc::Rc;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{DType, Device, Tensor, Var};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::q8::Q8Matrix;
use crate::{Error, Result};

/// A matrix as it is stored.
#[derive(Clone, Debug)]
pub enum Matrix {
    /// f32, differentiable.
    Dense(Tensor),
    /// 8-bit weights, whatever blocks the file had.
    Quantized(Arc<Q8Matrix>),
}

/// How a parameter starts when there is no file to take it from.
#[derive(Clone, Debug)]
pub enum Init {
    /// The same value everywhere.
    Constant(f32),
    /// Normal around 0 with this standard deviation.
    Normal(f64),
    /// Uniform in `-bound..bound`.
    Uniform(f64),
    /// These values.
    Values(Vec<f32>),
}

/// Weights under a name prefix.
#[derive(Clone)]
pub struct Weights {
    source: Source,
    prefix: String,
}

#[derive(Clone)]
enum Source {
    Loaded(Rc<HashMap<String, Matrix>>),
    Trainable(Rc<RefCell<Trainable>>),
}

struct Trainable {
    variables: BTreeMap<String, Var>,
    random: ChaCha8Rng,
}

impl Weights {
    /// Reads a safetensors file of f32, f16 or bf16; all become f32.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self> {
        let tensors = candle_core::safetensors::load_buffer(bytes, &Device::Cpu)
            .map_err(|error| Error::Weights(format!("not a readable safetensors file ({error}).")))?;
        Self::from_tensors(tensors)
    }

    /// Reads a GGUF file; matrices stay quantised.
    ///
    /// Goes from the file's end to its start and gives back what it has read, so that file and weights never lie in memory twice.
    pub fn from_gguf(mut bytes: Vec<u8>) -> Result<Self> {
        let content = gguf_file::Content::read(&mut Cursor::new(&bytes)).map_err(unreadable)?;
        let mut infos: Vec<_> = content.tensor_infos.iter().collect();
        infos.sort_by_key(|(_, info)| std::cmp::Reverse(info.offset));
        let mut matrices = HashMap::with_capacity(infos.len());
        for (name, info) in infos {
            matrices.insert(name.clone(), read_tensor(&bytes, &content, info)?);
            bytes.truncate((content.tensor_data_offset + info.offset) as usize);
            bytes.shrink_to_fit();
        }
        Ok(Self::new(Source::Loaded(Rc::new(matrices))))
    }

    /// Reads either format, told apart by GGUF's magic bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        if bytes.starts_with(b"GGUF") { Self::from_gguf(bytes) } else { Self::from_safetensors(&bytes) }
    }

    /// Uses tensors at hand, for instance variables that another thread trains.
    pub fn from_tensors(tensors: HashMap<String, Tensor>) -> Result<Self> {
        let dense = |(name, tensor): (String, Tensor)| Ok((name, Matrix::Dense(tensor.to_dtype(DType::F32)?)));
        let matrices = tensors.into_iter().map(dense).collect::<Result<_>>()?;
        Ok(Self::new(Source::Loaded(Rc::new(matrices))))
    }

    /// Variables to train: those given, and seeded random ones for every other name that a model asks for.
    pub fn trainable(variables: BTreeMap<String, Var>, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self::new(Source::Trainable(Rc::new(RefCell::new(Trainable { variables, random }))))
    }

    /// All variables to train so far, by name; none where the weights were loaded.
    pub fn variables(&self) -> BTreeMap<String, Var> {
        match &self.source {
            Source::Loaded(_) => BTreeMap::new(),
            Source::Trainable(trainable) => trainable.borrow().variables.clone(),
        }
    }

    /// The weights below `name`.
    pub fn at(&self, name: &str) -> Self {
        Self { source: self.source.clone(), prefix: self.full_name(name) }
    }

    /// A dense tensor of this shape.
    pub fn tensor(&self, name: &str, shape: &[usize], init: Init) -> Result<Tensor> {
        match self.matrix(name, shape, init)? {
            Matrix::Dense(tensor) => Ok(tensor),
            Matrix::Quantized(matrix) => matrix.dequantized(),
        }
    }

    /// A tensor of this shape, as it is stored.
    pub fn matrix(&self, name: &str, shape: &[usize], init: Init) -> Result<Matrix> {
        let name = self.full_name(name);
        let matrix = match &self.source {
            Source::Loaded(matrices) => {
                matrices.get(&name).cloned().ok_or_else(|| Error::Weights(format!("tensor \"{name}\" is missing.")))?
            }
            Source::Trainable(trainable) => Matrix::Dense(trainable.borrow_mut().variable(&name, shape, init)?),
        };
        let matrix = match matrix {
            // GGUF has no scalars: one is stored as a vector of one value.
            Matrix::Dense(tensor) if shape.is_empty() && tensor.dims() == [1] => Matrix::Dense(tensor.reshape(())?),
            matrix => matrix,
        };
        let found = match &matrix {
            Matrix::Dense(tensor) => tensor.dims(),
            Matrix::Quantized(matrix) => &[matrix.outputs(), matrix.inputs()],
        };
        if found != shape {
            return Err(Error::Weights(format!("tensor \"{name}\" has shape {found:?}, but the configuration asks for {shape:?}.")));
        }
        Ok(matrix)
    }

    fn new(source: Source) -> Self {
        Self { source, prefix: String::new() }
    }

    fn full_name(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_string() } else { format!("{}.{name}", self.prefix) }
    }
}

fn unreadable(error: candle_core::Error) -> Error {
    Error::Weights(format!("not a readable GGUF file ({error})."))
}

/// One tensor of a GGUF file. Q8_0 is taken as it is; matrices in other blocks become Q8_0, which is at least as fine.
fn read_tensor(bytes: &[u8], content: &gguf_file::Content, info: &gguf_file::TensorInfo) -> Result<Matrix> {
    if let (GgmlDType::Q8_0, &[outputs, inputs]) = (info.ggml_dtype, info.shape.dims()) {
        let start = content.tensor_data_offset.saturating_add(info.offset) as usize;
        let length = info.shape.elem_count() / GgmlDType::Q8_0.block_size() * GgmlDType::Q8_0.type_size();
        let blocks = bytes.get(start..start.saturating_add(length));
        let blocks = blocks.ok_or_else(|| Error::Weights("not a readable GGUF file (it ends too early).".to_string()))?;
        return Ok(Matrix::Quantized(Arc::new(Q8Matrix::from_q8_0(blocks, outputs, inputs)?)));
    }
    let tensor = info.read(&mut Cursor::new(bytes), content.tensor_data_offset, &Device::Cpu).map_err(unreadable)?;
    let dense = tensor.dequantize(&Device::Cpu)?;
    match *dense.dims() {
        [outputs, inputs] if tensor.dtype().block_size() > 1 && inputs.is_multiple_of(GgmlDType::Q8_0.block_size()) => {
            let tensor = QTensor::quantize(&dense, GgmlDType::Q8_0)?;
            Ok(Matrix::Quantized(Arc::new(Q8Matrix::from_q8_0(&tensor.data()?, outputs, inputs)?)))
        }
        _ => Ok(Matrix::Dense(dense)),
    }
}

impl Trainable {
    fn variable(&mut self, name: &str, shape: &[usize], init: Init) -> Result<Tensor> {
        if let Some(variable) = self.variables.get(name) {
            return Ok(variable.as_tensor().clone());
        }
        let count = shape.iter().product();
        let values = match init {
            Init::Constant(value) => vec![value; count],
            Init::Normal(deviation) => (0..count).map(|_| (standard_normal(&mut self.random) * deviation) as f32).collect(),
            Init::Uniform(bound) => (0..count).map(|_| self.random.random_range(-bound..bound) as f32).collect(),
            Init::Values(values) => values,
        };
        let variable = Var::from_tensor(&Tensor::from_vec(values, shape, &Device::Cpu)?)?;
        let tensor = variable.as_tensor().clone();
        self.variables.insert(name.to_string(), variable);
        Ok(tensor)
    }
}

/// Box-Muller: two uniform numbers make one normal one.
fn standard_normal(random: &mut impl Rng) -> f64 {
    let radius: f64 = 1.0 - random.random::<f64>();
    let angle: f64 = std::f64::consts::TAU * random.random::<f64>();
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}
