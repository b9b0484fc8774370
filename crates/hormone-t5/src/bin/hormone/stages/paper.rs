//! The paper's recipe: its objective, frozen layers, learning rates and epochs, on our dialogues.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor, Var};
use hormone_t5::{Hormone, T5Config, TextTokenizer};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{curve_path, minutes};
use crate::batch::EncodedExample;
use crate::checkpoint::ModelFolder;
use crate::cli::{Recipe, RunArguments, TextArguments, TrainArguments};
use crate::dialogues::{self, Dialogue, SPLIT_SEED, Split};
use crate::evaluate::{HeldOut, HeldOutReport};
use crate::mixture::Example;
use crate::optimizer::OptimizerSettings;
use crate::run::{self, EarlyStop, RunOptions};
use crate::schedule::Schedule;
use crate::trainer::{Objective, Trainer, TrainerOptions};

const BATCH: usize = 8;

/// A change of the recipe. The paper's ablations, and what they are set beside: the whole recipe, and the same T5 fine-tuned without the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    Full,
    /// The encoder's states reach the decoder unchanged; only replies are learnt.
    NoBlock,
    /// Wk and Wv start at random instead of as the encoder's.
    RandomKv,
    /// The hormone loss has no gradient.
    Detached,
    NoDiversity,
    NoMargin,
    /// Only dopamine, serotonin and cortisol; the others stay at 0.5.
    ThreeHormones,
    /// Alpha stays at 0.1.
    AlphaLow,
    /// Alpha stays at 0.5.
    AlphaHigh,
    /// Queries start at random, at the same length.
    NoOrthogonalStart,
}

impl Variant {
    pub(super) const ALL: [Self; 10] = [
        Self::Full,
        Self::NoBlock,
        Self::RandomKv,
        Self::Detached,
        Self::NoDiversity,
        Self::NoMargin,
        Self::ThreeHormones,
        Self::AlphaLow,
        Self::AlphaHigh,
        Self::NoOrthogonalStart,
    ];

    /// As in `runs/ablations.csv`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::NoBlock => "no_block",
            Self::RandomKv => "random_kv",
            Self::Detached => "detached",
            Self::NoDiversity => "no_diversity",
            Self::NoMargin => "no_margin",
            Self::ThreeHormones => "three_hormones",
            Self::AlphaLow => "alpha_low",
            Self::AlphaHigh => "alpha_high",
            Self::NoOrthogonalStart => "no_orthogonal_start",
        }
    }

    fn objective(self) -> Objective {
        match self {
            Self::NoBlock => Objective { hormone_weight: 0.0, diversity_weight: 0.0, ..Objective::PAPER },
            Self::Detached => Objective { hormone_weight: 0.0, ..Objective::PAPER },
            Self::NoDiversity => Objective { diversity_weight: 0.0, ..Objective::PAPER },
            Self::NoMargin => Objective { margin_weight: 0.0, ..Objective::PAPER },
            _ => Objective::PAPER,
        }
    }

    /// How many hormones are read, of the six.
    pub(super) fn hormones(self) -> usize {
        if self == Self::ThreeHormones { 3 } else { 6 }
    }

    /// The alpha that does not learn.
    fn fixed_alpha(self) -> Option<f32> {
        match self {
            Self::AlphaLow => Some(0.1),
            Self::AlphaHigh => Some(0.5),
            _ => None,
        }
    }

    /// Sets what starts otherwise.
    fn prepare(self, variables: &mut BTreeMap<String, Var>, config: &T5Config, seed: u64) -> Result<()> {
        if self != Self::RandomKv {
            copy_projections(variables, config)?;
        }
        if let Some(alpha) = self.fixed_alpha() {
            variables.insert(MODULATION_STRENGTH.to_string(), Var::new(alpha, &Device::Cpu)?);
        }
        if self == Self::NoOrthogonalStart {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            for hormone in Hormone::ALL {
                let values: Vec<f32> = (0..config.d_model).map(|_| random.random_range(-1.0..1.0) * RANDOM_QUERY).collect();
                let query = Tensor::from_vec(values, (1, 4, config.d_model / 4), &Device::Cpu)?;
                variables.insert(format!("hormone_block.hormone_heads.{}.hormone_query", hormone.name()), Var::from_tensor(&query)?);
            }
        }
        Ok(())
    }
}

const MODULATION_STRENGTH: &str = "hormone_block.modulation_strength";

/// Uniform numbers up to this have about the length of the orthogonal queries.
const RANDOM_QUERY: f32 = 0.065;

/// What a run of the recipe is told.
pub(super) struct PaperRun<'a> {
    pub(super) variant: Variant,
    pub(super) texts: &'a TextArguments,
    pub(super) run: &'a RunArguments,
    pub(super) from: &'a Path,
    pub(super) epochs: u64,
    /// Epochs between evaluations.
    pub(super) evaluate_every: u64,
    pub(super) seed: u64,
}

/// `hormone train`.
pub(crate) fn train(arguments: &TrainArguments) -> Result<()> {
    let variant = match arguments.recipe {
        Recipe::Paper => Variant::Full,
        Recipe::Baseline => Variant::NoBlock,
    };
    let run = PaperRun {
        variant,
        texts: &arguments.texts,
        run: &arguments.run,
        from: &arguments.from,
        epochs: arguments.epochs,
        evaluate_every: 1,
        seed: arguments.seed,
    };
    run.train()?;
    Ok(())
}

impl PaperRun<'_> {
    /// Fine-tunes with the paper's recipe: frozen embedding-side layers, AdamW 1e-4, weight decay 0.02, batch 8, warm restarts of 10 epochs doubling,
    /// gradient clip 1, early stop with patience 10 after epoch 30, a new block whose Wk and Wv are those of the last encoder layer; split by unique
    /// dialogue. Gives the figures of the held-out dialogues at the last step; none if it was stopped before.
    pub(super) fn train(&self) -> Result<Option<HeldOutReport>> {
        let folder = ModelFolder::new(&self.run.run);
        if !self.run.resume {
            folder.check_free()?;
        }
        let source = if self.run.resume { folder.clone() } else { ModelFolder::new(self.from) };
        let (config, hormone_config, tokenizer_json) = (source.config()?, source.hormone_config()?, source.tokenizer()?);
        let tokenizer = TextTokenizer::from_json(&tokenizer_json, config.eos_token_id)?.for_training();
        let mut variables = source.variables()?;
        if !self.run.resume {
            variables.retain(|name, _| !name.starts_with("hormone_block."));
            self.variant.prepare(&mut variables, &config, self.seed)?;
        }
        let mut frozen: Vec<String> =
            (0..2).flat_map(|layer| ["encoder", "decoder"].map(|stack| format!("t5.{stack}.block.{layer}."))).collect();
        frozen.extend(self.variant.fixed_alpha().map(|_| MODULATION_STRENGTH.to_string()));
        let options = TrainerOptions {
            objective: self.variant.objective(),
            optimizer: OptimizerSettings { weight_decay: 0.02, max_norm: 1.0, muon: false, embedding_rate: 1.0 },
            threads: self.run.threads,
            seed: self.seed,
            frozen,
            hormones: self.variant.hormones(),
        };
        let mut trainer = Trainer::new(config, hormone_config, variables, &options)?;
        folder.save_setup(&trainer.config, &trainer.hormone_config, &tokenizer_json)?;

        let split = Split::new(dialogues::load(&self.texts.dialogues)?, SPLIT_SEED);
        let settings = trainer.hormone_config.clone();
        let encode = |dialogue: &Dialogue| {
            let mut example = Example::paper(dialogue);
            if self.variant == Variant::NoBlock {
                example.alpha = Some(0.0);
            }
            EncodedExample::new(&example, &tokenizer, &settings, settings.max_source_tokens)
        };
        let of = |dialogues: &[Dialogue]| dialogues.iter().map(encode).collect::<Result<Vec<_>>>();
        let training = of(&split.train)?;
        let held_out = HeldOut::new(&of(&split.validation)?, &trainer.config)?;
        let steps_per_epoch = training.len().div_ceil(BATCH) as u64;
        let options = RunOptions {
            stage: "train",
            curve: curve_path(self.run),
            learning_rate: 1e-4,
            schedule: Schedule::WarmRestarts { first_period_steps: 10 * steps_per_epoch, multiplier: 2 },
            total_steps: self.epochs * steps_per_epoch,
            evaluate_every: self.evaluate_every * steps_per_epoch,
            checkpoint_every: steps_per_epoch,
            time_limit: self.run.minutes.map(minutes),
            resume: self.run.resume,
            taught: None,
            early_stop: Some(EarlyStop { after_steps: 30 * steps_per_epoch, patience_steps: 10 * steps_per_epoch }),
            least_conditional_gain: None,
        };
        let is_over = run::run(&mut trainer, &folder, &options, &held_out, |step| {
            let (epoch, place) = (step / steps_per_epoch, (step % steps_per_epoch) as usize);
            let mut order: Vec<&EncodedExample> = training.iter().collect();
            order.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed ^ (epoch << 20)));
            Ok(order.into_iter().skip(place * BATCH).take(BATCH).cloned().collect())
        })?;
        is_over.then(|| held_out.report(&trainer.model()?)).transpose()
    }
}

/// The heads' Wk and Wv start as those of the encoder's last layer.
fn copy_projections(variables: &mut BTreeMap<String, Var>, config: &T5Config) -> Result<()> {
    let layer = format!("t5.encoder.block.{}.layer.0.SelfAttention", config.num_layers - 1);
    for (projection, own) in [("k", "key_proj"), ("v", "value_proj")] {
        let name = format!("{layer}.{projection}.weight");
        let source = variables.get(&name).cloned().with_context(|| format!("the model has no {name}"))?;
        ensure!(
            source.dims() == [config.d_model, config.d_model],
            "the paper's recipe copies {name} into the block, so num_heads times d_kv must be d_model ({}), but is {}",
            config.d_model,
            config.inner_dim()
        );
        for hormone in Hormone::ALL {
            let name = format!("hormone_block.hormone_heads.{}.{own}.weight", hormone.name());
            variables.insert(name, Var::from_tensor(&source.as_tensor().copy()?)?);
        }
    }
    Ok(())
}
