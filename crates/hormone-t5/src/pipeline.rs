//! Text in, levels and replies out: what the page, the command line and the tests share.

use std::rc::Rc;

use candle_core::{Device, Tensor};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HormoneLevels, Tone};
use crate::generation::{BeamSearch, Decoding, GenerationConfig, ScoreRules, sample};
use crate::hormone_block::{Alpha, HormoneBlock, levels_tensor};
use crate::manifest::ModelFiles;
use crate::ops::log_sum_exp;
use crate::t5::RowOutput;
use crate::tokenizer::{EncodedText, TextTokenizer};
use crate::{DecoderCache, Error, HormoneConfig, Result, T5, T5Config, Weights};

/// Alternatives that come with each token.
pub const ALTERNATIVES: usize = 5;

/// A T5 with its block and its vocabulary. Immutable: all that changes is in the values it returns.
#[derive(Clone, Debug)]
pub struct HormoneT5 {
    t5: T5,
    block: HormoneBlock,
    tokenizer: TextTokenizer,
    config: T5Config,
    hormone_config: HormoneConfig,
    learned_alpha: f32,
}

/// A text that the encoder and the block have read; replies at any alpha and any levels start from here.
#[derive(Clone, Debug)]
pub struct Encoded {
    text: EncodedText,
    hidden_states: Tensor,
    attention_mask: Tensor,
    analysis: Analysis,
}

impl Encoded {
    /// What was read.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// Encoder hidden states, `[1, S, D]`.
    pub fn hidden_states(&self) -> &Tensor {
        &self.hidden_states
    }
}

impl HormoneT5 {
    /// Loads a model from the bytes of its files.
    pub fn load(files: ModelFiles<Vec<u8>>) -> Result<Self> {
        let config = T5Config::from_json(&files.config)?;
        let hormone_config = HormoneConfig::from_json(&files.hormone)?;
        // The weights' file is consumed before the vocabulary needs room beside it.
        let weights = Weights::from_bytes(files.weights)?;
        let tokenizer = TextTokenizer::from_json(&files.tokenizer, config.eos_token_id)?;
        Self::from_parts(&weights, config, hormone_config, tokenizer)
    }

    /// Builds a model around weights at hand, named `t5.*` and `hormone_block.*`.
    pub fn from_parts(weights: &Weights, config: T5Config, hormone_config: HormoneConfig, tokenizer: TextTokenizer) -> Result<Self> {
        if tokenizer.vocab_size() > config.vocab_size {
            let reason = format!("it has {} tokens, but the model only {}.", tokenizer.vocab_size(), config.vocab_size);
            return Err(Error::Config { file: "tokenizer.json", reason });
        }
        let t5 = T5::load(&weights.at("t5"), &config)?;
        let block = HormoneBlock::load(&weights.at("hormone_block"), config.d_model)?;
        let learned_alpha = block.alpha()?.to_scalar()?;
        Ok(Self { t5, block, tokenizer, config, hormone_config, learned_alpha })
    }

    /// The T5 without the block.
    pub fn t5(&self) -> &T5 {
        &self.t5
    }

    /// The block.
    pub fn block(&self) -> &HormoneBlock {
        &self.block
    }

    /// The vocabulary.
    pub fn tokenizer(&self) -> &TextTokenizer {
        &self.tokenizer
    }

    /// Shape of the T5.
    pub fn config(&self) -> &T5Config {
        &self.config
    }

    /// Settings of the block and of reading.
    pub fn hormone_config(&self) -> &HormoneConfig {
        &self.hormone_config
    }

    /// The alpha that training arrived at.
    pub fn learned_alpha(&self) -> f32 {
        self.learned_alpha
    }

    /// Reads a text: levels and attention.
    pub fn analyze(&self, text: &str) -> Result<Analysis> {
        Ok(self.encode(text)?.analysis)
    }

    /// Reads a reply: the levels that its own wording shows, whatever it takes up from the message.
    pub fn analyze_reply(&self, reply: &str) -> Result<Analysis> {
        Ok(self.encode_after(&self.hormone_config.reply_prefix, reply)?.analysis)
    }

    /// Reads a text, and keeps what replies need.
    pub fn encode(&self, text: &str) -> Result<Encoded> {
        self.encode_after(&self.hormone_config.prompt_prefix, text)
    }

    fn encode_after(&self, prefix: &str, text: &str) -> Result<Encoded> {
        let encoded = self.tokenizer.encode(prefix, text, self.hormone_config.max_source_tokens)?;
        let ids = encoded.ids();
        let attention_mask = Tensor::ones((1, ids.len()), candle_core::DType::F32, &Device::Cpu)?;
        let hidden_states = self.t5.encode_text(&ids)?;
        self.read(text, encoded, hidden_states, attention_mask, self.hormone_config.attention_temperature)
    }

    /// Reads again at another attention temperature; only the block runs.
    pub fn attend(&self, encoded: &Encoded, attention_temperature: f64) -> Result<Encoded> {
        if !(attention_temperature > 0.0 && attention_temperature.is_finite()) {
            return Err(Error::Setting {
                name: "attention_temperature",
                value: attention_temperature.to_string(),
                expected: "more than 0",
            });
        }
        let Encoded { text, hidden_states, attention_mask, analysis } = encoded.clone();
        self.read(&analysis.text, text, hidden_states, attention_mask, attention_temperature)
    }

    /// What must hold for any weights that fit the program: finite levels between 0 and 1, attention rows that sum to 1, and a first word that some
    /// tokens are likelier to be than others (a decoder of broken numbers finds all alike). An [`Error::Weights`] where it does not.
    pub fn check(&self) -> Result<()> {
        let broken = |what: &str| Err(Error::Weights(format!("{what}: they do not fit the program.")));
        let encoded = self.encode("hello")?;
        let analysis = encoded.analysis();
        if analysis.levels.to_array().iter().any(|level| !(0.0..=1.0).contains(level)) {
            return broken("the levels are not between 0 and 1");
        }
        let sums = analysis.attention.iter().flatten().map(|row| row.iter().sum::<f32>());
        if sums.into_iter().any(|sum| sum.is_nan() || (sum - 1.0).abs() > 1e-3) {
            return broken("the attention does not sum to 1");
        }
        let greedy = GenerationConfig { min_new_tokens: 1, max_new_tokens: 1, ..GenerationConfig::default() };
        let first = self.generate(&encoded, greedy)?.next().transpose()?;
        let likely: Vec<f32> = first.iter().flat_map(|token| &token.alternatives).map(|token| token.probability).collect();
        if likely.iter().any(|probability| !probability.is_finite()) || likely.first() == likely.last() {
            return broken("the decoder finds every word equally likely");
        }
        Ok(())
    }

    /// Starts a reply. Nothing of the encoder runs; dropping the [`Generation`] cancels it.
    pub fn generate(&self, encoded: &Encoded, config: GenerationConfig) -> Result<Generation<'_>> {
        config.check()?;
        let levels = encoded.analysis.levels.overridden(config.levels);
        let embedding = self.block.embed(&levels_tensor(&[levels])?)?;
        let alpha = Alpha::Fixed(f64::from(config.alpha.unwrap_or(self.learned_alpha)));
        let hidden_states = self.block.modulate(&encoded.hidden_states, &embedding, &alpha)?;
        let cache = self.t5.start_decoding(&hidden_states, &encoded.attention_mask)?;
        Ok(Generation::new(self, cache, config, levels))
    }

    fn read(
        &self,
        text: &str,
        encoded: EncodedText,
        hidden_states: Tensor,
        attention_mask: Tensor,
        attention_temperature: f64,
    ) -> Result<Encoded> {
        let output = self.block.forward(&hidden_states, &attention_mask, attention_temperature)?;
        let levels: Vec<f32> = output.hormone_levels.flatten_all()?.to_vec1()?;
        let levels: [f32; 6] = levels.try_into().map_err(|_| Error::Weights("the block gave other than six levels.".to_string()))?;
        let levels = HormoneLevels::from(levels);
        let analysis = Analysis {
            text: text.to_string(),
            tokens: encoded.tokens.clone(),
            levels,
            tone: Tone::nearest(levels),
            attention: output.attention_weights.squeeze(0)?.to_vec3()?,
            unknown: encoded.unknown.clone(),
            truncated: encoded.truncated,
            learned_alpha: self.learned_alpha,
        };
        Ok(Encoded { text: encoded, hidden_states, attention_mask, analysis })
    }
}

/// One token of a reply.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct GeneratedToken {
    /// Vocabulary id.
    pub id: u32,
    /// The piece as the vocabulary writes it.
    pub piece: String,
    /// The model's probability of this token here, before any rule or temperature.
    pub probability: f32,
    /// The likeliest tokens here, by falling probability.
    pub alternatives: Vec<Alternative>,
    /// Where the decoder looked: one weight for each source token, the mean of all layers and heads; sums to 1.
    pub cross_attention: Option<Vec<f32>>,
}

/// A token that might have come.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Alternative {
    /// Vocabulary id.
    pub id: u32,
    /// The piece as the vocabulary writes it.
    pub piece: String,
    /// The model's probability.
    pub probability: f32,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended it.
    EndToken,
    /// It reached `max_new_tokens`.
    MaxNewTokens,
}

/// What one step of a generation brought.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The next token.
    Token(GeneratedToken),
    /// Beam search goes on; there is no token to show yet.
    Searching,
    /// The reply is complete.
    Finished(FinishReason),
}

/// A reply in the making: an iterator over its tokens, or step by step with [`Generation::advance`].
#[derive(Clone, Debug)]
pub struct Generation<'a> {
    model: &'a HormoneT5,
    config: GenerationConfig,
    rules: ScoreRules,
    levels: HormoneLevels,
    random: ChaCha8Rng,
    cache: DecoderCache,
    /// The start token first.
    ids: Vec<u32>,
    search: Option<Search>,
    finished: Option<FinishReason>,
}

/// Beam search decides on a whole reply first; then its tokens come one by one.
#[derive(Clone, Debug)]
enum Search {
    Running { beams: BeamSearch<Rc<GeneratedToken>>, ids: Vec<u32> },
    Decided { tokens: std::vec::IntoIter<Rc<GeneratedToken>> },
}

impl<'a> Generation<'a> {
    fn new(model: &'a HormoneT5, cache: DecoderCache, config: GenerationConfig, levels: HormoneLevels) -> Self {
        let (start, eos) = (model.config.decoder_start_token_id, model.config.eos_token_id);
        let rules = ScoreRules::new(&config, eos);
        let search = match config.decoding {
            Decoding::Beams { num_beams, length_penalty } => {
                let beams = BeamSearch::new(num_beams, length_penalty, config.max_new_tokens, start, eos, rules);
                Some(Search::Running { beams, ids: vec![start] })
            }
            Decoding::Greedy | Decoding::Sampling { .. } => None,
        };
        let random = ChaCha8Rng::seed_from_u64(config.seed);
        Self { model, config, rules, levels, random, cache, ids: vec![start], search, finished: None }
    }

    /// The levels that modulate this reply.
    pub fn levels(&self) -> HormoneLevels {
        self.levels
    }

    /// Ids so far, without the start token.
    pub fn ids(&self) -> &[u32] {
        &self.ids[1..]
    }

    /// The whole reply so far.
    pub fn text(&self) -> Result<String> {
        self.model.tokenizer.decode(self.ids())
    }

    /// Goes one step on.
    pub fn advance(&mut self) -> Result<Progress> {
        let mut progress = Self::advance_all(&mut [self])?;
        Ok(progress.remove(0))
    }

    /// Takes one step of several replies of one model, with one pass over its weights for all of them.
    pub fn advance_all(generations: &mut [&mut Self]) -> Result<Vec<Progress>> {
        let Some(model) = generations.first().map(|generation| generation.model) else { return Ok(Vec::new()) };
        let wanted: Vec<Vec<u32>> = generations.iter().map(|generation| generation.wanted()).collect();
        let busy = generations.iter_mut().zip(&wanted).filter(|(_, ids)| !ids.is_empty());
        let mut caches: Vec<&mut DecoderCache> = busy.map(|(generation, _)| &mut generation.cache).collect();
        let mut outputs = model.t5.advance(&mut caches, &wanted.concat())?.into_iter();
        generations
            .iter_mut()
            .zip(&wanted)
            .map(|(generation, ids)| generation.receive(&outputs.by_ref().take(ids.len()).collect::<Vec<_>>()))
            .collect()
    }

    /// The token that each row of the cache takes next; none where the decoder has nothing to do.
    fn wanted(&self) -> Vec<u32> {
        match &self.search {
            _ if self.finished.is_some() => Vec::new(),
            Some(Search::Running { ids, .. }) => ids.clone(),
            Some(Search::Decided { .. }) => Vec::new(),
            None if self.ids().len() >= self.config.max_new_tokens => Vec::new(),
            None => self.ids[self.ids.len() - 1..].to_vec(),
        }
    }

    /// Goes on with what the decoder gave for the tokens wanted.
    fn receive(&mut self, outputs: &[RowOutput]) -> Result<Progress> {
        if let Some(reason) = self.finished {
            return Ok(Progress::Finished(reason));
        }
        if let Some(Search::Running { .. }) = self.search {
            self.search_on(outputs);
            return Ok(Progress::Searching);
        }
        if self.ids().len() >= self.config.max_new_tokens {
            return Ok(self.finish(FinishReason::MaxNewTokens));
        }
        let next = match &mut self.search {
            Some(Search::Decided { tokens }) => tokens.next(),
            _ => outputs.first().map(|output| {
                let id = self.choose(&output.logits);
                Rc::new(self.model.describe(id, output, log_sum_exp(&output.logits), self.config.cross_attention))
            }),
        };
        let Some(token) = next else { return Ok(self.finish(FinishReason::EndToken)) };
        self.ids.push(token.id);
        if token.id == self.model.config.eos_token_id {
            return Ok(self.finish(FinishReason::EndToken));
        }
        Ok(Progress::Token(Rc::unwrap_or_clone(token)))
    }

    fn finish(&mut self, reason: FinishReason) -> Progress {
        self.finished = Some(reason);
        Progress::Finished(reason)
    }

    /// The next id.
    fn choose(&mut self, logits: &[f32]) -> u32 {
        let mut scores = logits.to_vec();
        self.rules.apply(&mut scores, &self.ids);
        let id = match self.config.decoding {
            Decoding::Sampling { temperature, top_k, top_p } => sample(&scores, temperature, top_k, top_p, &mut self.random),
            Decoding::Greedy | Decoding::Beams { .. } => crate::generation::argmax(&scores),
        };
        id as u32
    }

    fn search_on(&mut self, outputs: &[RowOutput]) {
        let Some(Search::Running { beams, ids }) = &mut self.search else { return };
        let logits: Vec<&[f32]> = outputs.iter().map(|output| output.logits.as_slice()).collect();
        let log_sums: Vec<f64> = logits.iter().map(|logits| log_sum_exp(logits)).collect();
        let describe = |row: usize, id| Rc::new(self.model.describe(id, &outputs[row], log_sums[row], self.config.cross_attention));
        match beams.advance(&logits, describe) {
            Some(step) => {
                self.cache = std::mem::take(&mut self.cache).into_rows(&step.parents);
                *ids = step.ids;
            }
            None => {
                let best = beams.hypotheses().first().map(|hypothesis| hypothesis.notes.clone()).unwrap_or_default();
                self.search = Some(Search::Decided { tokens: best.into_iter() });
            }
        }
    }
}

impl HormoneT5 {
    /// A token among those that could have come.
    fn describe(&self, id: u32, output: &RowOutput, log_sum: f64, cross_attention: bool) -> GeneratedToken {
        let probability = |id: usize| (f64::from(output.logits[id]) - log_sum).exp() as f32;
        let piece = |id: u32| self.tokenizer.piece(id);
        let alternatives = crate::generation::ranked(&output.logits, ALTERNATIVES)
            .into_iter()
            .map(|index| Alternative { id: index as u32, piece: piece(index as u32), probability: probability(index) })
            .collect();
        let cross_attention = cross_attention.then(|| self.mean_attention(&output.cross_attention));
        GeneratedToken { id, piece: piece(id), probability: probability(id as usize), alternatives, cross_attention }
    }

    /// Mean over layers and heads of `weights [layers, num_heads, S]`: `[S]`.
    fn mean_attention(&self, weights: &[f32]) -> Vec<f32> {
        let count = self.config.num_decoder_layers() * self.config.num_heads;
        let mut mean = vec![0.0; weights.len() / count];
        for weights in weights.chunks_exact(mean.len()) {
            mean.iter_mut().zip(weights).for_each(|(mean, weight)| *mean += weight / count as f32);
        }
        mean
    }
}

impl Iterator for Generation<'_> {
    type Item = Result<GeneratedToken>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.advance() {
                Ok(Progress::Token(token)) => return Some(Ok(token)),
                Ok(Progress::Searching) => {}
                Ok(Progress::Finished(_)) => return None,
                Err(error) => {
                    self.finished = Some(FinishReason::EndToken);
                    return Some(Err(error));
                }
            }
        }
    }
}
