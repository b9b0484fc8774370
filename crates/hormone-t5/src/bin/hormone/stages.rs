//! The stages of a model's life: a vocabulary, reading (from random weights), replying, the paper's losses over everything; and the paper's own recipe.

mod ablate;
mod config;
mod paper;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor, Var};
use hormone_t5::hormone_block::levels_tensor;
use hormone_t5::{Hormone, HormoneBlock, HormoneConfig, T5Config, TextTokenizer, Tone, Weights};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::batch::{ContentWords, EncodedExample};
use crate::checkpoint::ModelFolder;
use crate::cli::{ExamplesArguments, MixtureArguments, PretrainArguments, RunArguments, StageArguments, TextArguments, TokenizerArguments};
use crate::corpora::{Corpora, TaughtText};
use crate::dialogues::{self, Dialogue, Exchanges, SPLIT_SEED, Split};
use crate::evaluate::HeldOut;
use crate::export::sha256;
use crate::mixture::{Example, Mixture};
use crate::optimizer::OptimizerSettings;
use crate::run::{self, RunOptions};
use crate::schedule::Schedule;
use crate::trainer::{Trainer, TrainerOptions};
use crate::{embeddings, tokenizer_training};
pub(crate) use ablate::ablate;
use config::StageConfig;
pub(crate) use paper::train;

const END_TOKEN: u32 = 1;

/// Makes a vocabulary.
pub(crate) fn tokenizer(arguments: &TokenizerArguments) -> Result<()> {
    let corpora = Corpora::load(&arguments.texts.data)?;
    let dialogues = Split::new(dialogues::load(&arguments.texts.dialogues)?, SPLIT_SEED).train;
    let exchanges = Exchanges::load(&arguments.texts.exchanges, SPLIT_SEED)?;
    let own: Vec<&str> = dialogues.iter().flat_map(Dialogue::texts).chain(exchanges.texts()).collect();
    let json = tokenizer_training::train(&corpora, &own, arguments.vocab_size)?;
    if let Some(folder) = arguments.output.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&arguments.output, &json).with_context(|| format!("cannot write {}", arguments.output.display()))?;
    println!("{}: {} tokens", arguments.output.display(), TextTokenizer::from_json(&json, END_TOKEN)?.vocab_size());
    Ok(())
}

/// Prints what a run would learn from.
pub(crate) fn examples(arguments: &ExamplesArguments) -> Result<()> {
    let config = StageConfig::read(&arguments.config)?;
    let mixture = mixture(&config, &arguments.mixture)?;
    let mut output = std::io::stdout().lock();
    for step in 0..arguments.count.div_ceil(config.batch_size) as u64 {
        for example in mixture.batch(step, config.batch_size) {
            serde_json::to_writer(&mut output, &example)?;
            writeln!(output)?;
        }
    }
    Ok(())
}

fn mixture(config: &StageConfig, sources: &MixtureArguments) -> Result<Mixture> {
    let texts = &sources.texts;
    let split = Split::new(dialogues::load(&texts.dialogues)?, SPLIT_SEED);
    let exchanges = Exchanges::load(&texts.exchanges, SPLIT_SEED)?;
    let mut corpora = Corpora::load(&texts.data)?;
    if let Some(path) = &sources.taught {
        ensure!(config.mixture.taught_levels > 0.0, "--taught: the configuration's taught_levels is 0, so nothing would be learnt from it");
        corpora.taught = TaughtText::read(path)?;
    }
    Mixture::new(corpora, split, exchanges, config.mixture.clone(), config.seed)
}

/// Prints what a teacher of tones may learn from: our own messages and GoEmotions' rows, held-out ones left out.
pub(crate) fn messages(texts: &TextArguments) -> Result<()> {
    #[derive(Serialize)]
    struct Message<'a> {
        text: &'a str,
        tone: Option<Tone>,
    }

    let split = Split::new(dialogues::load(&texts.dialogues)?, SPLIT_SEED);
    let exchanges = Exchanges::load(&texts.exchanges, SPLIT_SEED)?;
    let goemotions = Corpora::goemotions(&texts.data)?;
    let own = split.train.iter().map(|dialogue| (dialogue.input.as_str(), Some(dialogue.tone)));
    let own = own.chain(exchanges.train.iter().map(|exchange| (exchange.input.as_str(), Some(exchange.tone))));
    let mut output = std::io::stdout().lock();
    for (text, tone) in own.chain(goemotions.train.iter().map(|row| (row.text.as_str(), row.tone))) {
        serde_json::to_writer(&mut output, &Message { text, tone })?;
        writeln!(output)?;
    }
    Ok(())
}

/// Stage 1: from random weights, learn to read.
pub(crate) fn pretrain(arguments: &PretrainArguments) -> Result<()> {
    let config = StageConfig::read(&arguments.config)?;
    let begin = || {
        let tokenizer = fs::read(&arguments.tokenizer)
            .with_context(|| format!("cannot read {}: make it with `hormone tokenizer`", arguments.tokenizer.display()))?;
        let shape = config.model.as_ref().with_context(|| format!("{}: expected a [model]", arguments.config.display()))?;
        let t5_config = shape.t5_config(TextTokenizer::from_json(&tokenizer, END_TOKEN)?.vocab_size())?;
        let variables = first_variables(&tokenizer, &t5_config, arguments.borrow.as_deref(), config.seed)?;
        let reply_prefix = config.reply_prefix.clone().unwrap_or_default();
        let hormone_config = HormoneConfig { max_source_tokens: config.max_tokens, reply_prefix, ..HormoneConfig::default() };
        Ok(Setup { t5_config, hormone_config, tokenizer, variables })
    };
    train_on_mixture("pretrain", &config, &arguments.mixture, &arguments.run, begin)
}

/// Stage 2: learn to reply in the tone of the levels.
pub(crate) fn converse(arguments: &StageArguments) -> Result<()> {
    next_stage("converse", arguments)
}

/// Stage 3: the paper's losses over everything.
pub(crate) fn finetune(arguments: &StageArguments) -> Result<()> {
    next_stage("finetune", arguments)
}

/// A stage that starts from the model of another, if that reached its conditional gain.
fn next_stage(stage: &'static str, arguments: &StageArguments) -> Result<()> {
    let path = arguments.config.clone().unwrap_or_else(|| format!("crates/hormone-t5/configs/{stage}.toml").into());
    let config = StageConfig::read(&path)?;
    let begin = || {
        let from = arguments.from.as_ref().context("expected --from, the run folder of the stage before, or --resume")?;
        let from = ModelFolder::new(from);
        from.state()?.check_gate().with_context(|| format!("{} cannot be built on", from.path().display()))?;
        let mut setup = Setup::read(&from)?;
        if let Some(prefix) = &config.reply_prefix {
            setup.hormone_config.reply_prefix.clone_from(prefix);
        }
        if config.recentre_embedding {
            recentre_embedding(&setup.variables, setup.t5_config.d_model)?;
        }
        Ok(setup)
    };
    train_on_mixture(stage, &config, &arguments.mixture, &arguments.run, begin)
}

/// What a stage starts with.
struct Setup {
    t5_config: T5Config,
    hormone_config: HormoneConfig,
    tokenizer: Vec<u8>,
    variables: BTreeMap<String, Var>,
}

impl Setup {
    fn read(folder: &ModelFolder) -> Result<Self> {
        Ok(Self {
            t5_config: folder.config()?,
            hormone_config: folder.hormone_config()?,
            tokenizer: folder.tokenizer()?,
            variables: folder.variables()?,
        })
    }
}

fn train_on_mixture(
    stage: &'static str,
    config: &StageConfig,
    sources: &MixtureArguments,
    run: &RunArguments,
    begin: impl FnOnce() -> Result<Setup>,
) -> Result<()> {
    let folder = ModelFolder::new(&run.run);
    let setup = if run.resume {
        Setup::read(&folder)?
    } else {
        folder.check_free()?;
        begin()?
    };
    let tokenizer = TextTokenizer::from_json(&setup.tokenizer, setup.t5_config.eos_token_id)?;
    let content_words = ContentWords::new(&tokenizer);
    let tokenizer = tokenizer.for_training();
    let options = TrainerOptions {
        objective: config.objective(),
        optimizer: OptimizerSettings {
            weight_decay: config.weight_decay,
            max_norm: config.clip_norm,
            muon: config.muon,
            embedding_rate: config.embedding_rate,
        },
        threads: run.threads,
        seed: config.seed,
        frozen: Vec::new(),
        hormones: Hormone::ALL.len(),
    };
    let mut trainer = Trainer::new(setup.t5_config, setup.hormone_config, setup.variables, &options)?;
    folder.save_setup(&trainer.config, &trainer.hormone_config, &setup.tokenizer)?;

    let mixture = mixture(config, sources)?;
    let hormone_config = trainer.hormone_config.clone();
    let encode = |example: &Example| EncodedExample::new(example, &tokenizer, &hormone_config, config.max_tokens);
    let held_out = mixture.held_out().iter().map(encode).collect::<Result<Vec<_>>>()?;
    let held_out = HeldOut::new(&held_out, &trainer.config)?;
    let schedule =
        Schedule::WarmupCosine { warmup_steps: config.warmup_steps, total_steps: config.total_steps, final_factor: config.final_factor };
    let options = RunOptions {
        stage,
        curve: curve_path(run),
        learning_rate: config.learning_rate,
        schedule,
        total_steps: config.total_steps,
        evaluate_every: config.evaluate_every,
        checkpoint_every: config.checkpoint_every,
        time_limit: run.minutes.map(minutes),
        resume: run.resume,
        taught: sources.taught.as_deref().map(sha256_of).transpose()?,
        early_stop: None,
        least_conditional_gain: Some(config.least_conditional_gain),
    };
    let weighted = |example: &Example| Ok(encode(example)?.with_copies_weighted(&content_words, config.copied_weight));
    run::run(&mut trainer, &folder, &options, &held_out, |step| mixture.batch(step, config.batch_size).iter().map(weighted).collect())?;
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
    variables.extend(centred_embedding(config.d_model, seed)?);
    Ok(variables)
}

/// First layer from levels to `e`, so that levels of 0.5 give 0 before its GELU: levels are never negative, and without this those of any two
/// tones start as nearly the same `e`.
fn centred_embedding(d_model: usize, seed: u64) -> Result<BTreeMap<String, Var>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let hormones = Hormone::ALL.len();
    let bound = (hormones as f32).powf(-0.5);
    let weight: Vec<f32> = (0..d_model * hormones).map(|_| random.random_range(-bound..bound)).collect();
    let bias: Vec<f32> = weight.chunks(hormones).map(|row| -0.5 * row.iter().sum::<f32>()).collect();
    let name = |part: &str| format!("hormone_block.hormone_to_embedding.0.{part}");
    Ok(BTreeMap::from([
        (name("weight"), Var::from_vec(weight, (d_model, hormones), &Device::Cpu)?),
        (name("bias"), Var::from_vec(bias, d_model, &Device::Cpu)?),
    ]))
}

/// Takes away what the five tones' `e` have in common before their tanh: it uses up the tanh's range, and only shrinks every hidden state alike.
fn recentre_embedding(variables: &BTreeMap<String, Var>, d_model: usize) -> Result<()> {
    let bias = &variables["hormone_block.hormone_to_embedding.4.bias"];
    let block = HormoneBlock::load(&Weights::trainable(variables.clone(), 0).at("hormone_block"), d_model)?;
    let tones = block.embedding_before_tanh(&levels_tensor(&Tone::ALL.map(Tone::levels))?)?; // [5, D]
    bias.set(&(bias.as_tensor() - tones.mean(0)?)?.detach())?;
    Ok(())
}

fn sha256_of(path: &Path) -> Result<String> {
    Ok(sha256(&fs::read(path).with_context(|| format!("cannot read {}", path.display()))?))
}

fn curve_path(run: &RunArguments) -> PathBuf {
    run.curve.clone().unwrap_or_else(|| {
        let name = run.run.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Path::new("runs").join(format!("{name}.csv"))
    })
}

/// Longer than any run where the number is endless.
fn minutes(minutes: f64) -> Duration {
    Duration::try_from_secs_f64(minutes.max(0.0) * 60.0).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::corpora::tests::shared_data;
    use crate::mixture::Kind;

    /// Dialogues and exchanges of a stage: what it never trains on, and some that it does.
    fn own_texts(stage: &str, data: &Path) -> Result<(HashSet<String>, HashSet<String>)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let config = StageConfig::read(&root.join(format!("configs/{stage}.toml")))?;
        let own = |file: &str| root.join("../../assets/data").join(file);
        let texts = TextArguments { data: data.to_path_buf(), dialogues: own("dialogues.jsonl"), exchanges: own("exchanges.jsonl") };
        let mixture = mixture(&config, &MixtureArguments { texts, taught: None })?;
        let reply = |example: &Example| match example.kind {
            Kind::Dialogue => example.target.clone(),
            Kind::Voiced => Some(example.source.clone()),
            _ => None,
        };
        let replies = |examples: &[Example]| examples.iter().filter_map(reply).collect();
        Ok((replies(mixture.held_out()), replies(&mixture.batch(0, 8000))))
    }

    #[test]
    fn a_new_run_leaves_a_folder_that_holds_a_run_as_it_is() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for name in ["state.json", "hormone.json", "tokenizer.json"] {
            fs::write(folder.path().join(name), "former")?;
        }
        let config = StageConfig::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/finetune.toml"))?;
        let own = PathBuf::from("no-such-file");
        let sources = MixtureArguments { texts: TextArguments { data: own.clone(), dialogues: own.clone(), exchanges: own }, taught: None };
        let run = RunArguments { run: folder.path().to_path_buf(), resume: false, minutes: None, threads: 1, curve: None };
        let begin = || -> Result<Setup> { panic!("a setup was read") };
        let error = train_on_mixture("finetune", &config, &sources, &run, begin).expect_err("the folder holds a run");
        assert!(error.to_string().contains("already holds a run"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join("hormone.json"))?, "former");
        Ok(())
    }

    #[test]
    fn tones_start_with_embeddings_that_lie_apart() -> Result<()> {
        let weights = Weights::trainable(centred_embedding(64, 5)?, 5);
        let block = HormoneBlock::load(&weights.at("hormone_block"), 64)?;
        let e = block.embed(&levels_tensor(&Tone::ALL.map(Tone::levels))?)?; // [5, D]
        let e = e.broadcast_div(&e.sqr()?.sum_keepdim(1)?.sqrt()?)?;
        let cosines: Vec<Vec<f32>> = e.matmul(&e.t()?)?.to_vec2()?;
        let (friendly, rude) = (Tone::Friendly as usize, Tone::Rude as usize);
        assert!(cosines[friendly][rude] < 0.5, "{cosines:?}");
        Ok(())
    }

    #[test]
    fn a_recentred_embedding_has_nothing_that_all_tones_share() -> Result<()> {
        let weights = Weights::trainable(BTreeMap::new(), 5);
        HormoneBlock::load(&weights.at("hormone_block"), 64)?;
        let variables = weights.variables();
        variables["hormone_block.hormone_to_embedding.4.bias"].set(&Tensor::full(-3.0f32, 64, &Device::Cpu)?)?;
        recentre_embedding(&variables, 64)?;
        let block = HormoneBlock::load(&Weights::trainable(variables, 5).at("hormone_block"), 64)?;
        let tones = block.embedding_before_tanh(&levels_tensor(&Tone::ALL.map(Tone::levels))?)?;
        let shared: Vec<f32> = tones.mean(0)?.to_vec1()?;
        assert!(shared.iter().all(|value| value.abs() < 1e-5), "{shared:?}");
        Ok(())
    }

    #[test]
    fn what_is_held_out_in_one_stage_is_trained_on_in_none() -> Result<()> {
        let Some(data) = shared_data() else { return Ok(()) };
        let stages = ["converse", "finetune"].map(|stage| own_texts(stage, &data));
        let [(held_out, _), (other_held_out, trained)] = stages.map(|texts| texts.expect("texts of a stage"));
        assert_eq!(held_out, other_held_out);
        assert!(trained.len() > 1000 && held_out.is_disjoint(&trained));
        Ok(())
    }
}
