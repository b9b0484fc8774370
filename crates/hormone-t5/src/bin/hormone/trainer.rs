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
        let hormone = ((&self.level_mse + (&self.level_mae * objective.mae_weight)?)? + (&self.margin * objective.margin_weight)?)?;
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
mod tests {
    use candle_core::Device;
    use hormone_t5::{Hormone, HormoneLevels, Tone};
    use serde_json::Value;

    use super::*;
    use crate::mixture::Kind;

    fn fixture(path: &str) -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
    }

    fn json(path: &str) -> Result<Value> {
        Ok(serde_json::from_slice(&std::fs::read(fixture(path))?)?)
    }

    /// The tiny T5 and the block of the fixtures, without dropout.
    fn fixture_trainer(threads: usize) -> Result<Trainer> {
        let config = T5Config { dropout_rate: 0.0, ..T5Config::from_json(&std::fs::read(fixture("t5-v1_0/config.json"))?)? };
        let hormone_config = HormoneConfig { dropout_rate: 0.0, ..HormoneConfig::default() };
        let mut variables = BTreeMap::new();
        for (file, prefix) in [("t5-v1_0/model.safetensors", "t5."), ("hormone-block/model.safetensors", "")] {
            for (name, tensor) in candle_core::safetensors::load(fixture(file), &Device::Cpu)? {
                variables.insert(format!("{prefix}{name}"), Var::from_tensor(&tensor.to_dtype(candle_core::DType::F32)?)?);
            }
        }
        Trainer::new(config, hormone_config, variables, &options(threads))
    }

    fn options(threads: usize) -> TrainerOptions {
        TrainerOptions {
            objective: Objective::PAPER,
            optimizer: OptimizerSettings { weight_decay: 0.0, max_norm: 1e9, muon: false, embedding_rate: 1.0 },
            threads,
            seed: 1,
            frozen: Vec::new(),
            hormones: Hormone::ALL.len(),
        }
    }

    fn ids(row: &Value) -> Vec<u32> {
        row.as_array().into_iter().flatten().filter_map(Value::as_u64).map(|id| id as u32).collect()
    }

    /// The fixtures' batch, each row without its padding.
    fn fixture_examples(facts: &Value) -> Vec<EncodedExample> {
        let rows = |name: &str| facts[name].as_array().cloned().unwrap_or_default();
        let rows = rows("input_ids").into_iter().zip(rows("attention_mask")).zip(rows("labels")).zip(rows("target_levels"));
        rows.map(|(((source, mask), labels), levels)| {
            let seen = ids(&mask).iter().sum::<u32>() as usize;
            let levels: Vec<f32> = levels.as_array().into_iter().flatten().filter_map(Value::as_f64).map(|level| level as f32).collect();
            EncodedExample {
                source: ids(&source)[..seen].to_vec(),
                weights: vec![1.0; ids(&labels).len()],
                target: ids(&labels), // -100 is no id and falls away
                target_levels: <[f32; 6]>::try_from(levels).ok().map(HormoneLevels::from),
                reply_levels: None,
                alpha: None,
                kind: Kind::Dialogue,
            }
        })
        .collect()
    }

    #[test]
    fn losses_and_every_gradient_equal_pytorchs() -> Result<()> {
        let facts = json("training-step/expected.json")?;
        let expected = candle_core::safetensors::load(fixture("training-step/gradients.safetensors"), &Device::Cpu)?;
        for threads in [1, 2] {
            let trainer = fixture_trainer(threads)?;
            let (report, gradients) = trainer.gradients(&fixture_examples(&facts))?;
            let losses = &facts["losses"];
            let pairs = [
                ("seq", report.sequence),
                ("mse", report.level_mse),
                ("margin", report.margin),
                ("diversity", report.diversity),
                ("total", report.total),
            ];
            for (name, value) in pairs {
                let expected = losses[name].as_f64().unwrap_or(f64::NAN);
                assert!(
                    (f64::from(value) - expected).abs() < 1e-3 * expected.abs().max(1.0),
                    "{name} with {threads} threads: {value}, expected {expected}"
                );
            }
            assert_eq!(gradients.len(), expected.len());
            for (name, gradient) in &gradients {
                let expected: Vec<f32> = expected[name].to_dtype(candle_core::DType::F32)?.flatten_all()?.to_vec1()?;
                let largest = expected.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
                let difference = gradient.iter().zip(&expected).fold(0.0f32, |worst, (a, b)| worst.max((a - b).abs()));
                assert!(
                    difference < 2e-3 * largest.max(0.01),
                    "{name} with {threads} threads: differs by {difference}, largest value {largest}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn one_batch_can_be_overfitted() -> Result<()> {
        let mut trainer = fixture_trainer(2)?;
        let examples = fixture_examples(&json("training-step/expected.json")?);
        let first = trainer.step(&examples, 3e-3)?;
        let mut last = first;
        for _ in 0..300 {
            last = trainer.step(&examples, 3e-3)?;
        }
        assert!(last.sequence < 0.1 * first.sequence && last.level_mse < 0.01, "{first:?} {last:?}");
        Ok(())
    }

    fn example(id: u32, tone: Tone) -> EncodedExample {
        EncodedExample {
            source: vec![id, 1],
            target: vec![id + 3, 1],
            weights: vec![1.0; 2],
            target_levels: Some(tone.levels()),
            reply_levels: None,
            alpha: None,
            kind: Kind::Dialogue,
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run() -> Result<()> {
        let config = T5Config::from_json(br#"{"vocab_size":20,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2}"#)?;
        let run = || -> Result<LossReport> {
            let mut trainer = Trainer::new(config.clone(), HormoneConfig::default(), BTreeMap::new(), &options(2))?;
            let examples = [example(4, Tone::Sad), example(9, Tone::Excited)];
            trainer.step(&examples, 1e-3)?;
            trainer.step(&examples, 1e-3)
        };
        assert_eq!(run()?, run()?);
        Ok(())
    }

    #[test]
    fn a_resumed_run_equals_one_that_never_stopped_dropout_included() -> Result<()> {
        let config =
            T5Config::from_json(br#"{"vocab_size":20,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2,"dropout_rate":0.3}"#)?;
        let muon = TrainerOptions { optimizer: OptimizerSettings { muon: true, ..options(2).optimizer }, ..options(2) };
        let examples: Vec<EncodedExample> = (4..12).map(|id| example(id, Tone::ALL[id as usize % 5])).collect();
        let mut whole = Trainer::new(config.clone(), HormoneConfig::default(), BTreeMap::new(), &muon)?;
        whole.step(&examples, 1e-2)?;
        whole.step(&examples, 1e-2)?;
        let folder = tempfile::tempdir()?;
        let folder = crate::checkpoint::ModelFolder::new(folder.path());
        let state = crate::checkpoint::RunState { stage: "converse".into(), step: 2, seconds: 0.0, best: None, gate: None };
        folder.save_run(&whole.variables, &whole.optimizer, &state)?;
        let expected = whole.step(&examples, 1e-2)?;
        let mut resumed = Trainer::new(config, HormoneConfig::default(), folder.variables()?, &muon)?;
        let (optimizer, state) = folder.load_run()?;
        resumed.optimizer.restore(&optimizer, state.step)?;
        assert_eq!(resumed.step(&examples, 1e-2)?, expected);
        for (name, variable) in &whole.variables {
            let values = |variable: &Var| variable.flatten_all().and_then(|flat| flat.to_vec1::<f32>());
            assert_eq!(values(&resumed.variables[name])?, values(variable)?, "{name}");
        }
        Ok(())
    }

    #[test]
    fn a_gradient_that_is_not_finite_moves_no_weight() -> Result<()> {
        let variables = BTreeMap::from([("a".to_string(), Var::new(&[1.0f32, 2.0], &Device::Cpu)?)]);
        let mut optimizer = Optimizer::new(options(1).optimizer);
        let norm = optimizer.step(&variables, &BTreeMap::from([("a".to_string(), vec![f32::NAN, 1.0])]), 0.1, 1)?;
        assert!(norm.is_nan() && optimizer.steps() == 0);
        assert_eq!(variables["a"].to_vec1::<f32>()?, [1.0, 2.0]);
        Ok(())
    }

    #[test]
    fn frozen_weights_stay_as_they_are() -> Result<()> {
        let facts = json("training-step/expected.json")?;
        let base = fixture_trainer(1)?;
        let options = TrainerOptions { frozen: vec!["t5.encoder.block.0.".to_string()], ..options(1) };
        let mut trainer = Trainer::new(base.config.clone(), base.hormone_config.clone(), base.variables.clone(), &options)?;
        let value = |name: &str| -> Result<Vec<f32>> { Ok(base.variables[name].flatten_all()?.to_vec1()?) };
        let names = ["t5.encoder.block.0.layer.0.SelfAttention.q.weight", "t5.encoder.block.1.layer.0.SelfAttention.q.weight"];
        let before = names.map(value);
        trainer.step(&fixture_examples(&facts), 1e-2)?;
        let after = names.map(value);
        assert_eq!(before[0].as_ref().ok(), after[0].as_ref().ok());
        assert_ne!(before[1].as_ref().ok(), after[1].as_ref().ok());
        Ok(())
    }

    #[test]
    fn what_is_frozen_changes_no_gradient_of_the_rest() -> Result<()> {
        let examples = fixture_examples(&json("training-step/expected.json")?);
        let base = fixture_trainer(1)?;
        let options = TrainerOptions { frozen: vec!["t5.".to_string()], ..options(1) };
        let trainer = Trainer::new(base.config.clone(), base.hormone_config.clone(), base.variables.clone(), &options)?;
        let ((_, all), (_, rest)) = (base.gradients(&examples)?, trainer.gradients(&examples)?);
        assert!(!rest.is_empty() && rest.keys().all(|name| name.starts_with("hormone_block.")));
        for (name, gradient) in rest {
            assert_eq!(gradient, all[&name], "{name}");
        }
        Ok(())
    }
}
