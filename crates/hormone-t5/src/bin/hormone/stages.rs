//! The stages of a model's life: vocabulary, training from random weights, fine-tuning as in the paper.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use candle_core::{Device, Tensor, Var};
use hormone_t5::{Hormone, HormoneConfig, T5Config, TextTokenizer};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::batch::EncodedExample;
use crate::checkpoint::ModelFolder;
use crate::cli::{PretrainArguments, Recipe, RunArguments, TokenizerArguments, TrainArguments};
use crate::corpora::Corpora;
use crate::dialogues::{self, Split};
use crate::evaluate::HeldOut;
use crate::mixture::{Example, Mixture, MixtureConfig};
use crate::run::{self, EarlyStop, RunOptions};
use crate::schedule::Schedule;
use crate::trainer::{Objective, Trainer, TrainerOptions};
use crate::{embeddings, tokenizer_training};

const END_TOKEN: u32 = 1;

/// `configs/pretrain.toml`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct PretrainConfig {
    seed: u64,
    batch_size: usize,
    max_tokens: usize,
    total_steps: u64,
    evaluate_every: u64,
    checkpoint_every: u64,
    learning_rate: f64,
    warmup_steps: u64,
    final_factor: f64,
    weight_decay: f64,
    clip_norm: f64,
    hormone_weight: f64,
    margin_weight: f64,
    diversity_weight: f64,
    model: ModelShape,
    mixture: MixtureConfig,
}

/// The shape of a model to train from random weights.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ModelShape {
    d_model: usize,
    d_kv: usize,
    d_ff: usize,
    num_heads: usize,
    num_layers: usize,
    num_decoder_layers: usize,
    dropout_rate: f64,
}

impl ModelShape {
    fn t5_config(&self, vocab_size: usize) -> Result<T5Config> {
        let json = serde_json::json!({
            "vocab_size": vocab_size, "d_model": self.d_model, "d_kv": self.d_kv, "d_ff": self.d_ff, "num_heads": self.num_heads,
            "num_layers": self.num_layers, "num_decoder_layers": self.num_decoder_layers, "dropout_rate": self.dropout_rate,
        });
        Ok(T5Config::from_json(&serde_json::to_vec(&json)?)?)
    }
}

/// Makes a vocabulary.
pub(crate) fn tokenizer(arguments: &TokenizerArguments) -> Result<()> {
    let corpora = Corpora::load(&arguments.texts.data)?;
    let dialogues = dialogues::load(&arguments.texts.dialogues)?;
    let json = tokenizer_training::train(&corpora, &dialogues, arguments.vocab_size)?;
    if let Some(folder) = arguments.output.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&arguments.output, &json).with_context(|| format!("cannot write {}", arguments.output.display()))?;
    println!("{}: {} tokens", arguments.output.display(), TextTokenizer::from_json(&json, END_TOKEN)?.vocab_size());
    Ok(())
}

/// Trains from random weights, or goes on.
pub(crate) fn pretrain(arguments: &PretrainArguments) -> Result<()> {
    let text = fs::read_to_string(&arguments.config).with_context(|| format!("cannot read {}", arguments.config.display()))?;
    let config: PretrainConfig =
        toml::from_str(&text).with_context(|| format!("{} is not a training configuration", arguments.config.display()))?;
    let folder = ModelFolder::new(&arguments.run.run);
    let (t5_config, hormone_config, tokenizer_json, variables) = if arguments.run.resume {
        (folder.config()?, folder.hormone_config()?, folder.tokenizer()?, folder.variables()?)
    } else {
        let tokenizer_json = fs::read(&arguments.tokenizer)
            .with_context(|| format!("cannot read {}: make it with `hormone tokenizer`", arguments.tokenizer.display()))?;
        let t5_config = config.model.t5_config(TextTokenizer::from_json(&tokenizer_json, END_TOKEN)?.vocab_size())?;
        let variables = first_variables(&tokenizer_json, &t5_config, arguments.borrow.as_deref(), config.seed)?;
        let hormone_config = HormoneConfig { max_source_tokens: config.max_tokens, ..HormoneConfig::default() };
        (t5_config, hormone_config, tokenizer_json, variables)
    };
    let tokenizer = TextTokenizer::from_json(&tokenizer_json, END_TOKEN)?.for_training();
    let options = TrainerOptions {
        objective: Objective {
            hormone_weight: config.hormone_weight,
            margin_weight: config.margin_weight,
            diversity_weight: config.diversity_weight,
        },
        weight_decay: config.weight_decay,
        clip_norm: config.clip_norm,
        threads: arguments.run.threads,
        seed: config.seed,
        frozen: Vec::new(),
    };
    let mut trainer = Trainer::new(t5_config, hormone_config, variables, &options)?;
    folder.save_setup(&trainer.config, &trainer.hormone_config, &tokenizer_json)?;

    let split = Split::new(dialogues::load(&arguments.texts.dialogues)?, config.seed);
    let mixture = Mixture::new(Corpora::load(&arguments.texts.data)?, split, config.mixture.clone(), config.seed)?;
    let encode = |example: &Example| EncodedExample::new(example, &tokenizer, "", config.max_tokens);
    let held_out = mixture.held_out().iter().map(encode).collect::<Result<Vec<_>>>()?;
    let held_out = HeldOut::new(&held_out, &trainer.config)?;
    let schedule =
        Schedule::WarmupCosine { warmup_steps: config.warmup_steps, total_steps: config.total_steps, final_factor: config.final_factor };
    let options = RunOptions {
        stage: "pretrain",
        curve: curve_path(&arguments.run),
        learning_rate: config.learning_rate,
        schedule,
        total_steps: config.total_steps,
        evaluate_every: config.evaluate_every,
        checkpoint_every: config.checkpoint_every,
        time_limit: arguments.run.minutes.map(minutes),
        resume: arguments.run.resume,
        early_stop: None,
    };
    run::run(&mut trainer, &folder, &options, &held_out, |step| mixture.batch(step, config.batch_size).iter().map(encode).collect())?;
    Ok(())
}

/// Borrowed word embeddings where there are any; everything else starts at random.
fn first_variables(tokenizer_json: &[u8], config: &T5Config, borrow: Option<&Path>, seed: u64) -> Result<BTreeMap<String, Var>> {
    let mut variables = BTreeMap::new();
    if let Some(borrow) = borrow {
        let values = embeddings::borrow(borrow, tokenizer_json, config.d_model, seed)?;
        let tensor = Tensor::from_vec(values, (config.vocab_size, config.d_model), &Device::Cpu)?;
        variables.insert("t5.shared.weight".to_string(), Var::from_tensor(&tensor)?);
    }
    Ok(variables)
}

/// Fine-tunes with the paper's recipe: frozen embedding-side layers, AdamW 1e-4, weight decay 0.02, batch 8, warm restarts of 10 epochs doubling,
/// gradient clip 1, early stop with patience 10 after epoch 30, Wk and Wv copied from the last encoder layer; split by unique dialogue.
pub(crate) fn train(arguments: &TrainArguments) -> Result<()> {
    const BATCH: usize = 8;
    let Recipe::Paper = arguments.recipe;
    let folder = ModelFolder::new(&arguments.run.run);
    let source = if arguments.run.resume { folder.clone() } else { ModelFolder::new(&arguments.from) };
    let (config, hormone_config, tokenizer_json) = (source.config()?, source.hormone_config()?, source.tokenizer()?);
    let tokenizer = TextTokenizer::from_json(&tokenizer_json, config.eos_token_id)?.for_training();
    let mut variables = source.variables()?;
    if !arguments.run.resume && !variables.keys().any(|name| name.starts_with("hormone_block.")) {
        copy_projections(&mut variables, &config)?;
    }
    let frozen = (0..2).flat_map(|layer| ["encoder", "decoder"].map(|stack| format!("t5.{stack}.block.{layer}."))).collect();
    let options = TrainerOptions {
        objective: Objective::PAPER,
        weight_decay: 0.02,
        clip_norm: 1.0,
        threads: arguments.run.threads,
        seed: arguments.seed,
        frozen,
    };
    let mut trainer = Trainer::new(config, hormone_config, variables, &options)?;
    folder.save_setup(&trainer.config, &trainer.hormone_config, &tokenizer_json)?;

    let split = Split::new(dialogues::load(&arguments.texts.dialogues)?, arguments.seed);
    let max_tokens = trainer.hormone_config.max_source_tokens;
    let prefix = trainer.hormone_config.prompt_prefix.clone();
    let encode = |example: &Example| EncodedExample::new(example, &tokenizer, &prefix, max_tokens);
    let of =
        |dialogues: &[dialogues::Dialogue]| dialogues.iter().map(|dialogue| encode(&Example::paper(dialogue))).collect::<Result<Vec<_>>>();
    let training = of(&split.train)?;
    let held_out = HeldOut::new(&of(&split.validation)?, &trainer.config)?;
    let steps_per_epoch = training.len().div_ceil(BATCH) as u64;
    let options = RunOptions {
        stage: "train",
        curve: curve_path(&arguments.run),
        learning_rate: 1e-4,
        schedule: Schedule::WarmRestarts { first_period_steps: 10 * steps_per_epoch, multiplier: 2 },
        total_steps: arguments.epochs * steps_per_epoch,
        evaluate_every: steps_per_epoch,
        checkpoint_every: steps_per_epoch,
        time_limit: arguments.run.minutes.map(minutes),
        resume: arguments.run.resume,
        early_stop: Some(EarlyStop { after_steps: 30 * steps_per_epoch, patience_steps: 10 * steps_per_epoch }),
    };
    run::run(&mut trainer, &folder, &options, &held_out, |step| {
        let (epoch, place) = (step / steps_per_epoch, (step % steps_per_epoch) as usize);
        let mut order: Vec<&EncodedExample> = training.iter().collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(arguments.seed ^ (epoch << 20)));
        Ok(order.into_iter().skip(place * BATCH).take(BATCH).cloned().collect())
    })?;
    Ok(())
}

/// The heads' Wk and Wv start as those of the encoder's last layer.
fn copy_projections(variables: &mut BTreeMap<String, Var>, config: &T5Config) -> Result<()> {
    let layer = format!("t5.encoder.block.{}.layer.0.SelfAttention", config.num_layers - 1);
    for (projection, own) in [("k", "key_proj"), ("v", "value_proj")] {
        let Some(source) = variables.get(&format!("{layer}.{projection}.weight")).cloned() else { continue };
        if source.dims() != [config.d_model, config.d_model] {
            continue;
        }
        for hormone in Hormone::ALL {
            let name = format!("hormone_block.hormone_heads.{}.{own}.weight", hormone.name());
            variables.insert(name, Var::from_tensor(&source.as_tensor().copy()?)?);
        }
    }
    Ok(())
}

fn curve_path(run: &RunArguments) -> PathBuf {
    run.curve.clone().unwrap_or_else(|| {
        let name = run.run.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Path::new("runs").join(format!("{name}.csv"))
    })
}

fn minutes(minutes: f64) -> Duration {
    Duration::from_secs_f64(minutes.max(0.0) * 60.0)
}
