//! One training step: each core takes a part of the batch, gradients are summed, the optimizer moves the weights.
//!
//! candle's many small operations run on one core each, so two halves of a batch on two cores beat matrix products spread over both. A part is made
//! of buckets of rows of like length, so that little is computed for padding.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Result, anyhow, ensure};
use candle_core::{DType, Device, Tensor, Var};
use hormone_t5::hormone_block::Alpha;
use hormone_t5::linear::Dropout;
use hormone_t5::{HormoneBlock, HormoneConfig, T5, T5Config, Weights};

use crate::batch::{Batch, Counts, EncodedExample};
use crate::loss;
use crate::optimizer::{Gradients, Optimizer, OptimizerSettings};

/// More buckets waste less on padding, but each has its own gradient of the embeddings to add.
const BUCKETS_PER_THREAD: usize = 3;

/// The two halves of the model, as training sees them.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) t5: T5,
    pub(crate) block: HormoneBlock,
    pub(crate) attention_temperature: f64,
    /// See [`TrainerOptions::hormones`].
    pub(crate) hormones: usize,
}

/// The losses of a batch, or of a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    pub(crate) sequence: Tensor,
    pub(crate) repetition: Tensor,
    pub(crate) level_mse: Tensor,
    pub(crate) level_mae: Tensor,
    pub(crate) tone: Tensor,
    pub(crate) margin: Tensor,
    pub(crate) diversity: Tensor,
    /// Share of supervised levels within 0.15 of their target; no gradient.
    pub(crate) levels_within: f32,
}

/// The same as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LossReport {
    pub(crate) total: f32,
    pub(crate) sequence: f32,
    pub(crate) level_mse: f32,
    pub(crate) margin: f32,
    pub(crate) diversity: f32,
    pub(crate) levels_within: f32,
}

/// What the loss is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Objective {
    /// Weight of the unlikelihood of saying a recent token again.
    pub(crate) repetition_weight: f64,
    /// Weight of the hormone loss.
    pub(crate) hormone_weight: f64,
    /// Weight of the absolute error within it, beside the squared one.
    pub(crate) mae_weight: f64,
    /// Weight of the tones' cross-entropy within it.
    pub(crate) tone_weight: f64,
    /// Weight of the margin loss within it.
    pub(crate) margin_weight: f64,
    /// Weight of the diversity loss.
    pub(crate) diversity_weight: f64,
}

impl Objective {
    /// The paper's weights.
    pub(crate) const PAPER: Self = Self {
        repetition_weight: 0.0,
        hormone_weight: loss::HORMONE_WEIGHT,
        mae_weight: 0.0,
        tone_weight: 0.0,
        margin_weight: loss::MARGIN_WEIGHT,
        diversity_weight: loss::DIVERSITY_WEIGHT,
    };
}

impl Model {
    pub(crate) fn load(weights: &Weights, config: &T5Config, hormone_config: &HormoneConfig, hormones: usize) -> Result<Self> {
        Ok(Self {
            t5: T5::load(&weights.at("t5"), config)?,
            block: HormoneBlock::load(&weights.at("hormone_block"), config.d_model)?,
            attention_temperature: hormone_config.attention_temperature,
            hormones,
        })
    }

    fn with_dropout(self, dropout: &Dropout, block_rate: f64) -> Self {
        Self { t5: self.t5.with_dropout(dropout), block: self.block.with_dropout(&dropout.with_rate(block_rate)), ..self }
    }

    /// All losses of `batch`, whose means are taken over `counts`, those of the whole batch it is a part of.
    /// What weighs nothing in `objective` may be left out as 0.
    pub(crate) fn losses(&self, batch: &Batch, counts: Counts, objective: Objective) -> Result<Losses> {
        let hidden = self.t5.encode(&batch.input_ids, &batch.attention_mask)?;
        let levels = self.levels(&hidden, &batch.attention_mask)?;
        let (mut sequence, mut repetition) = (Tensor::zeros((), DType::F32, &Device::Cpu)?, Tensor::zeros((), DType::F32, &Device::Cpu)?);
        if batch.counts.label_tokens > 0 {
            let logits = self.reply_logits(batch, &hidden, &levels)?;
            sequence = loss::sequence_loss(&logits, &batch.labels, &batch.label_weights, counts.label_weight)?;
            if objective.repetition_weight > 0.0 {
                let count = counts.label_tokens as f64;
                repetition = loss::repetition_loss(&logits, &batch.labels, &batch.decoder_input_ids, &batch.label_weights, count)?;
            }
        }
        let level_values = (counts.level_rows * 6).max(1) as f64;
        let error = (&levels - &batch.target_levels)?.abs()?;
        let within = error.le(0.15f32)?.to_dtype(DType::F32)?.broadcast_mul(&batch.target_levels_mask.unsqueeze(1)?)?;
        Ok(Losses {
            sequence,
            repetition,
            level_mse: loss::level_mse(&levels, &batch.target_levels, &batch.target_levels_mask, level_values)?,
            level_mae: loss::level_mae(&levels, &batch.target_levels, &batch.target_levels_mask, level_values)?,
            tone: loss::tone_loss(&levels, &batch.target_tones, &batch.target_levels_mask, counts.level_rows.max(1) as f64)?,
            margin: loss::margin_loss(&levels, &batch.target_levels, &batch.target_levels_mask, counts.margins)?,
            diversity: loss::diversity_loss(&self.block.queries()?)?,
            levels_within: within.sum_all()?.to_scalar::<f32>()? / level_values as f32,
        })
    }

    /// The levels read in `hidden [B, S, D]`: `[B, N]`.
    pub(crate) fn levels(&self, hidden: &Tensor, attention_mask: &Tensor) -> Result<Tensor> {
        let levels = self.block.forward(hidden, attention_mask, self.attention_temperature)?.hormone_levels;
        let (rows, all) = levels.dims2()?;
        if self.hormones >= all {
            return Ok(levels);
        }
        let others = Tensor::full(0.5f32, (rows, all - self.hormones), &Device::Cpu)?;
        Ok(Tensor::cat(&[&levels.narrow(1, 0, self.hormones)?, &others], 1)?)
    }

    /// Logits `[B, T, V]` of the replies under each row's levels and alpha.
    fn reply_logits(&self, batch: &Batch, hidden: &Tensor, levels: &Tensor) -> Result<Tensor> {
        let given = batch.reply_levels_mask.unsqueeze(1)?; // [B, 1]
        let predicted = levels.broadcast_mul(&given.affine(-1.0, 1.0)?)?;
        let levels = (predicted + batch.reply_levels.broadcast_mul(&given)?)?; // [B, N]
        let learned = self.block.alpha()?.broadcast_mul(&batch.learned_alpha_mask)?;
        let alpha = Alpha::PerRow((&batch.alpha + learned)?);
        let modulated = self.block.modulate(hidden, &self.block.embed(&levels)?, &alpha)?;
        Ok(self.t5.decode(&batch.decoder_input_ids, &modulated, &batch.attention_mask)?.logits)
    }
}

/// About how long a bucket takes: a token that is written costs as much as two that are read, for the scores of the whole vocabulary.
fn cost(bucket: &Batch) -> usize {
    bucket.input_ids.elem_count() + 2 * bucket.labels.elem_count()
}

impl Losses {
    /// The weighted sum; `share` of the diversity loss, which does not depend on the batch.
    pub(crate) fn total(&self, objective: Objective, share: f64) -> Result<Tensor> {
        let errors = (&self.level_mse + (&self.level_mae * objective.mae_weight)?)?;
        let hormone = ((errors + (&self.tone * objective.tone_weight)?)? + (&self.margin * objective.margin_weight)?)?;
        let replies = (&self.sequence + (&self.repetition * objective.repetition_weight)?)?;
        let total = (replies + (hormone * objective.hormone_weight)?)?;
        Ok((total + (&self.diversity * (objective.diversity_weight * share))?)?)
    }

    pub(crate) fn report(&self, objective: Objective, share: f64) -> Result<LossReport> {
        Ok(LossReport {
            total: self.total(objective, share)?.to_scalar()?,
            sequence: self.sequence.to_scalar()?,
            level_mse: self.level_mse.to_scalar()?,
            margin: self.margin.to_scalar()?,
            diversity: self.diversity.to_scalar::<f32>()? * share as f32,
            levels_within: self.levels_within,
        })
    }
}

impl std::ops::AddAssign for LossReport {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.sequence += other.sequence;
        self.level_mse += other.level_mse;
        self.margin += other.margin;
        self.diversity += other.diversity;
        self.levels_within += other.levels_within;
    }
}

/// The model, its variables and its optimizer.
pub(crate) struct Trainer {
    pub(crate) config: T5Config,
    pub(crate) hormone_config: HormoneConfig,
    pub(crate) variables: BTreeMap<String, Var>,
    pub(crate) optimizer: Optimizer,
    objective: Objective,
    /// One copy a core, all of the same variables, each with its own dropout.
    models: Vec<Model>,
    /// Their dropout: what it drops depends on seed and step alone, so that a resumed run is the same as one that never stopped.
    dropouts: Vec<Dropout>,
    /// Variables that learn.
    trained: BTreeMap<String, Var>,
}

/// What a trainer is made with.
#[derive(Clone, Debug)]
pub(crate) struct TrainerOptions {
    pub(crate) objective: Objective,
    pub(crate) optimizer: OptimizerSettings,
    pub(crate) threads: usize,
    pub(crate) seed: u64,
    /// Beginnings of names that stay as they are.
    pub(crate) frozen: Vec<String>,
    /// How many hormones are read, in their order; the others stay at 0.5.
    pub(crate) hormones: usize,
}

impl Trainer {
    /// Trains `variables`; those that the configuration asks for and that are missing start at random.
    pub(crate) fn new(
        config: T5Config,
        hormone_config: HormoneConfig,
        variables: BTreeMap<String, Var>,
        options: &TrainerOptions,
    ) -> Result<Self> {
        let weights = Weights::trainable(variables, options.seed);
        Model::load(&weights, &config, &hormone_config, options.hormones)?;
        let variables = weights.variables();
        let frozen = |name: &str| options.frozen.iter().any(|beginning| name.starts_with(beginning.as_str()));
        // What is frozen is no variable: nothing is computed to find its gradient.
        let tensor = |name: &str, variable: &Var| if frozen(name) { variable.as_detached_tensor() } else { variable.as_tensor().clone() };
        let tensors: HashMap<String, Tensor> = variables.iter().map(|(name, variable)| (name.clone(), tensor(name, variable))).collect();
        let model = Model::load(&Weights::from_tensors(tensors)?, &config, &hormone_config, options.hormones)?;
        let threads = 0..options.threads.max(1) as u64;
        let dropouts: Vec<Dropout> =
            threads.map(|thread| Dropout::training(config.dropout_rate, options.seed ^ ((thread + 1) << 32))).collect();
        Ok(Self {
            models: dropouts.iter().map(|dropout| model.clone().with_dropout(dropout, hormone_config.dropout_rate)).collect(),
            dropouts,
            trained: variables.iter().filter(|(name, _)| !frozen(name)).map(|(name, variable)| (name.clone(), variable.clone())).collect(),
            optimizer: Optimizer::new(options.optimizer),
            objective: options.objective,
            config,
            hormone_config,
            variables,
        })
    }

    /// The model as it is now, without dropout.
    pub(crate) fn model(&self) -> Result<Model> {
        let tensors = self.variables.iter().map(|(name, variable)| (name.clone(), variable.as_detached_tensor())).collect();
        Model::load(&Weights::from_tensors(tensors)?, &self.config, &self.hormone_config, self.models[0].hormones)
    }

    /// One step over `examples`; gives the losses before it.
    pub(crate) fn step(&mut self, examples: &[EncodedExample], learning_rate: f64) -> Result<LossReport> {
        self.dropouts.iter().for_each(|dropout| dropout.set_stream(self.optimizer.steps()));
        let (report, gradients) = self.gradients(examples)?;
        ensure!(report.total.is_finite(), "The loss became {}: lower the learning rate.", report.total);
        let norm = self.optimizer.step(&self.trained, &gradients, learning_rate, self.models.len())?;
        ensure!(norm.is_finite(), "The gradient became {norm}: lower the learning rate.");
        Ok(report)
    }

    /// Losses and every trained variable's gradient.
    pub(crate) fn gradients(&self, examples: &[EncodedExample]) -> Result<(LossReport, Gradients)> {
        let parts = self.parts(examples)?;
        let mut counts = Counts::default();
        for bucket in parts.iter().flatten() {
            counts += bucket.counts;
        }
        let share = 1.0 / parts.iter().flatten().count() as f64;
        let sums: Vec<Result<(LossReport, Gradients)>> = std::thread::scope(|scope| {
            let threads: Vec<_> = parts
                .iter()
                .zip(&self.models)
                .map(|(part, model)| {
                    scope.spawn(move || Self::sum(part.iter().map(|bucket| self.bucket_gradients(model, bucket, counts, share))))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a training thread panicked")))).collect()
        });
        Self::sum(sums)
    }

    /// Sums losses and gradients.
    fn sum(parts: impl IntoIterator<Item = Result<(LossReport, Gradients)>>) -> Result<(LossReport, Gradients)> {
        let mut total = LossReport::default();
        let mut sum = Gradients::new();
        for part in parts {
            let (report, gradients) = part?;
            total += report;
            for (name, gradient) in gradients {
                match sum.get_mut(&name) {
                    Some(sum) => sum.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value),
                    None => {
                        sum.insert(name, gradient);
                    }
                }
            }
        }
        Ok((total, sum))
    }

    /// Buckets of examples of like length, dealt to as many parts as there are models so that each has about as much to do.
    fn parts(&self, examples: &[EncodedExample]) -> Result<Vec<Vec<Batch>>> {
        let mut sorted = examples.to_vec();
        sorted.sort_by_key(|example| (example.target.len(), example.source.len()));
        let threads = self.models.len();
        let rows = sorted.len().div_ceil(threads * BUCKETS_PER_THREAD).max(1);
        let mut buckets = sorted.chunks(rows).map(|bucket| Batch::new(bucket, &self.config)).collect::<Result<Vec<_>>>()?;
        // The dearest first, each to whom has least to do.
        buckets.sort_by_key(|bucket| std::cmp::Reverse(cost(bucket)));
        let mut parts: Vec<(usize, Vec<Batch>)> = vec![(0, Vec::new()); threads];
        for bucket in buckets {
            if let Some((load, part)) = parts.iter_mut().min_by_key(|(load, _)| *load) {
                *load += cost(&bucket);
                part.push(bucket);
            }
        }
        Ok(parts.into_iter().map(|(_, part)| part).collect())
    }

    fn bucket_gradients(&self, model: &Model, bucket: &Batch, counts: Counts, share: f64) -> Result<(LossReport, Gradients)> {
        let losses = model.losses(bucket, counts, self.objective)?;
        let report = losses.report(self.objective, share)?;
        let store = losses.total(self.objective, share)?.backward()?;
        let mut gradients = Gradients::new();
        for (name, variable) in &self.trained {
            if let Some(gradient) = store.get(variable) {
                gradients.insert(name.clone(), gradient.flatten_all()?.to_vec1()?);
            }
        }
        Ok((report, gradients))
    }
}

#[cfg(test)]
mod tests;
