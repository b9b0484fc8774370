//! candle-transformers' T5 on the benchmark's work, the model files for our own worker, and the bound of memory.
//!
//! Shape: T5-small's. Weights: seeded random, of the spread that T5 starts with, the same for every side.

mod weights;

use candle_core::{Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{quantized_t5, t5};
use candle_transformers::quantized_var_builder;
use wasm_bindgen::prelude::*;

type Result<T> = std::result::Result<T, JsError>;

/// candle-transformers' T5 in f32.
#[wasm_bindgen]
pub struct DensePeer {
    model: t5::T5ForConditionalGeneration,
    hidden: Option<Tensor>,
}

#[wasm_bindgen]
impl DensePeer {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Self> {
        let tensors = weights::t5().into_iter().map(|tensor| Ok((tensor.name.clone(), tensor.dense()?)));
        let tensors = tensors.collect::<candle_core::Result<_>>()?;
        let weights = VarBuilder::from_tensors(tensors, candle_core::DType::F32, &Device::Cpu);
        let config: t5::Config = serde_json::from_value(weights::config())?;
        Ok(Self { model: t5::T5ForConditionalGeneration::load(weights, &config)?, hidden: None })
    }

    /// Reads a source.
    pub fn encode(&mut self, ids: &[u32]) -> Result<()> {
        self.model.clear_kv_cache();
        self.hidden = Some(self.model.encode(&Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?)?);
        Ok(())
    }

    /// Decodes greedily with its cache.
    pub fn generate(&mut self, count: usize) -> Result<u32> {
        let Some(hidden) = &self.hidden else { return Ok(0) };
        greedy(count, |ids| self.model.decode(ids, hidden))
    }
}

/// candle-transformers' quantized T5, from a GGUF file of Q8_0.
#[wasm_bindgen]
pub struct QuantizedPeer {
    model: quantized_t5::T5ForConditionalGeneration,
    hidden: Option<Tensor>,
}

#[wasm_bindgen]
impl QuantizedPeer {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Self> {
        let weights = quantized_var_builder::VarBuilder::from_gguf_buffer(&weights::gguf(&weights::t5())?, &Device::Cpu)?;
        let config: quantized_t5::Config = serde_json::from_value(weights::config())?;
        Ok(Self { model: quantized_t5::T5ForConditionalGeneration::load(weights, &config)?, hidden: None })
    }

    /// Reads a source.
    pub fn encode(&mut self, ids: &[u32]) -> Result<()> {
        self.model.clear_kv_cache();
        self.hidden = Some(self.model.encode(&Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?)?);
        Ok(())
    }

    /// Decodes greedily with its cache.
    pub fn generate(&mut self, count: usize) -> Result<u32> {
        let Some(hidden) = &self.hidden else { return Ok(0) };
        greedy(count, |ids| self.model.decode(ids, hidden))
    }
}

/// The last of `count` likeliest tokens.
fn greedy(count: usize, mut decode: impl FnMut(&Tensor) -> candle_core::Result<Tensor>) -> Result<u32> {
    let mut id = 0u32;
    for _ in 0..count {
        id = likeliest(&decode(&Tensor::new(&[[id]], &Device::Cpu)?)?)?;
    }
    Ok(id)
}

fn likeliest(logits: &Tensor) -> Result<u32> {
    let logits: Vec<f32> = logits.flatten_all()?.to_vec1()?;
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    Ok(best as u32)
}

/// `config.json` of the model that our worker loads.
#[wasm_bindgen]
pub fn config_json() -> String {
    weights::config().to_string()
}

/// `tokenizer.json`: the word `w17` is one token.
#[wasm_bindgen]
pub fn tokenizer_json() -> String {
    weights::tokenizer().to_string()
}

/// `model.gguf`: the same T5 with a block, in Q8_0.
#[wasm_bindgen]
pub fn model_gguf() -> Result<Vec<u8>> {
    weights::gguf(&weights::hormone_t5())
}

/// Memory to be read from end to end.
#[wasm_bindgen]
pub struct ReadLoop {
    words: Vec<u32>,
}

#[wasm_bindgen]
impl ReadLoop {
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: usize) -> Self {
        Self { words: (0..bytes as u32 / 4).collect() }
    }

    /// Adds up every word: the compiler makes 128-bit loads of it. Four places at once, since memory serves several streams faster than one.
    pub fn read(&self) -> u32 {
        let quarter = self.words.len() / 4 / LINE * LINE;
        let mut sums = [[0u32; LINE]; 4];
        let (first, second) = self.words.split_at(2 * quarter);
        let [a, b, c, d] =
            [&first[..quarter], &first[quarter..], &second[..quarter], &second[quarter..2 * quarter]].map(|words| words.chunks_exact(LINE));
        for (((a, b), c), d) in a.zip(b).zip(c).zip(d) {
            for (sums, words) in sums.iter_mut().zip([a, b, c, d]) {
                for (sum, word) in sums.iter_mut().zip(words) {
                    *sum = sum.wrapping_add(*word);
                }
            }
        }
        sums.into_iter().flatten().fold(0, u32::wrapping_add)
    }
}

/// Words in a line of cache.
const LINE: usize = 16;

impl Default for ReadLoop {
    fn default() -> Self {
        Self::new(0)
    }
}
