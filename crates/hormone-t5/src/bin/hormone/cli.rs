//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// T5 with a hormone emotion block: train, evaluate, export, talk.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a vocabulary (unigram with byte fallback) from the training texts.
    Tokenizer(TokenizerArguments),
    /// Print what a stage would learn from: a JSON line for each example, in the order in which a run sees them.
    Examples(ExamplesArguments),
    /// Print every message whose levels are learnt, with its tone where it has one: a JSON line each.
    Messages(TextArguments),
    /// Stage 1: from random weights, learn to read: messages are repeated, levels learnt beside it.
    Pretrain(PretrainArguments),
    /// Stage 2: learn to reply in the tone of the levels.
    Converse(StageArguments),
    /// Stage 3: the paper's losses over everything.
    Finetune(StageArguments),
    /// Fine-tune on the dialogues with the paper's objective.
    Train(TrainArguments),
    /// Train every variant of the paper's recipe that lacks something, for as many epochs each, and write one table.
    Ablate(AblateArguments),
    /// Measure a model on held-out text.
    Eval(EvalArguments),
    /// Write unseen messages with their replies, as they come, to a Markdown file.
    Samples(SamplesArguments),
    /// Write what the page loads: GGUF Q8_0 and an entry in the manifest; with --safetensors also f16.
    Export(ExportArguments),
    /// Read texts: one JSON line each with levels and tone.
    Analyze(AnalyzeArguments),
    /// Reply to texts: one JSON line each with reply and levels.
    Generate(GenerateArguments),
    /// Talk to a model in the terminal.
    Chat(ChatArguments),
}

/// Where the texts are.
#[derive(Clone, Debug, Args)]
pub(crate) struct TextArguments {
    /// Folder with the texts of others (GoEmotions and so on).
    #[arg(long, default_value = "../shared/data")]
    pub(crate) data: PathBuf,
    /// Our own dialogues.
    #[arg(long, default_value = "assets/data/dialogues.jsonl")]
    pub(crate) dialogues: PathBuf,
    /// Our own single exchanges.
    #[arg(long, default_value = "assets/data/exchanges.jsonl")]
    pub(crate) exchanges: PathBuf,
}

/// What a mixture is made of.
#[derive(Clone, Debug, Args)]
pub(crate) struct MixtureArguments {
    #[command(flatten)]
    pub(crate) texts: TextArguments,
    /// Texts that a teacher has read (scripts/sentence_teacher.py), to be learnt from in place of the word teacher's.
    #[arg(long)]
    pub(crate) taught: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TokenizerArguments {
    #[command(flatten)]
    pub(crate) texts: TextArguments,
    /// Number of tokens in all.
    #[arg(long, default_value_t = 8000)]
    pub(crate) vocab_size: usize,
    /// Where to write it.
    #[arg(long, default_value = "checkpoints/tokenizer.json")]
    pub(crate) output: PathBuf,
}

/// How long a run lasts and where it lives.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArguments {
    /// Folder of the run: checkpoint and model.
    #[arg(long)]
    pub(crate) run: PathBuf,
    /// Go on from the checkpoint in the folder.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Stop after so many minutes, to be resumed later.
    #[arg(long)]
    pub(crate) minutes: Option<f64>,
    /// Cores to use.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    pub(crate) threads: usize,
    /// Where to write the loss curve; by default runs/NAME.csv.
    #[arg(long)]
    pub(crate) curve: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PretrainArguments {
    #[command(flatten)]
    pub(crate) mixture: MixtureArguments,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Shape, mixture and learning rate.
    #[arg(long, default_value = "crates/hormone-t5/configs/pretrain.toml")]
    pub(crate) config: PathBuf,
    /// Vocabulary made by `tokenizer`.
    #[arg(long, default_value = "checkpoints/tokenizer.json")]
    pub(crate) tokenizer: PathBuf,
    /// Word embeddings to start from: the zip or folder of all-MiniLM-L6-v2.
    #[arg(long)]
    pub(crate) borrow: Option<PathBuf>,
}

/// A stage after the first.
#[derive(Debug, Args)]
pub(crate) struct StageArguments {
    #[command(flatten)]
    pub(crate) mixture: MixtureArguments,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Run folder of the stage before; its conditional gain must have passed its gate.
    #[arg(long)]
    pub(crate) from: Option<PathBuf>,
    /// Mixture and learning rate; by default the stage's in crates/hormone-t5/configs.
    #[arg(long)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExamplesArguments {
    #[command(flatten)]
    pub(crate) mixture: MixtureArguments,
    /// Shape, mixture and learning rate.
    #[arg(long, default_value = "crates/hormone-t5/configs/pretrain.toml")]
    pub(crate) config: PathBuf,
    /// How many; they come in whole batches.
    #[arg(long, default_value_t = 64)]
    pub(crate) count: usize,
}

/// What the fine-tuning follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recipe {
    /// The paper's, exactly: frozen lower layers, its loss, its learning rates, 50 epochs.
    Paper,
    /// The same without the block: what the paper compares itself with.
    Baseline,
}

#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    #[command(flatten)]
    pub(crate) texts: TextArguments,
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Model folder whose T5 it starts from, with a new block.
    #[arg(long)]
    pub(crate) from: PathBuf,
    #[arg(long, value_enum, default_value_t = Recipe::Paper)]
    pub(crate) recipe: Recipe,
    #[arg(long, default_value_t = 50)]
    pub(crate) epochs: u64,
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct AblateArguments {
    #[command(flatten)]
    pub(crate) texts: TextArguments,
    /// Model folder whose T5 all variants start from; each gets a new block.
    #[arg(long)]
    pub(crate) from: PathBuf,
    /// Folder of the runs; what is done already is not done again.
    #[arg(long, default_value = "checkpoints/ablations")]
    pub(crate) run: PathBuf,
    #[arg(long, default_value_t = 4)]
    pub(crate) epochs: u64,
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,
    /// Cores to use.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    pub(crate) threads: usize,
    /// Where to write the table.
    #[arg(long, default_value = "runs/ablations.csv")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArguments {
    #[command(flatten)]
    pub(crate) texts: TextArguments,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Messages written to evaluate and for nothing else.
    #[arg(long, default_value = "assets/data/heldout.jsonl")]
    pub(crate) heldout: PathBuf,
    /// Print this table beside ours.
    #[arg(long, value_enum)]
    pub(crate) against: Option<Reference>,
    /// Run folder with the same weights in full precision, to say what 8 bits cost.
    #[arg(long)]
    pub(crate) full_precision: Option<PathBuf>,
    /// Write the numbers as JSON here as well.
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
}

/// Whose figures ours are set beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reference {
    /// The paper's table.
    Paper,
}

#[derive(Debug, Args)]
pub(crate) struct SamplesArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Messages written to evaluate and for nothing else.
    #[arg(long, default_value = "assets/data/heldout.jsonl")]
    pub(crate) heldout: PathBuf,
    /// How many of them.
    #[arg(long, default_value_t = 50)]
    pub(crate) count: usize,
    /// Where to write.
    #[arg(long, default_value = "docs/samples.md")]
    pub(crate) output: PathBuf,
}

/// Which model.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelArguments {
    /// Model folder; by default the manifest's default model.
    #[arg(long)]
    pub(crate) model: Option<PathBuf>,
    /// Folder of the manifest.
    #[arg(long, default_value = "assets/models")]
    pub(crate) models: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Run folder to export.
    #[arg(long)]
    pub(crate) from: PathBuf,
    /// Folder of the manifest.
    #[arg(long, default_value = "assets/models")]
    pub(crate) models: PathBuf,
    /// Id of the model: the name of its folder.
    #[arg(long)]
    pub(crate) id: String,
    /// What the model is, in English.
    #[arg(long)]
    pub(crate) description_en: String,
    /// What the model is, in Dutch.
    #[arg(long)]
    pub(crate) description_nl: String,
    /// Name of a text it was trained on; several times.
    #[arg(long)]
    pub(crate) trained_on: Vec<String>,
    /// SPDX expression of the weights' licence.
    #[arg(long, default_value = "MIT OR Apache-2.0")]
    pub(crate) licence: String,
    /// JSON of `eval`, whose numbers go into the manifest.
    #[arg(long)]
    pub(crate) results: Option<PathBuf>,
    /// Also keep model.safetensors (f16) beside the GGUF.
    #[arg(long)]
    pub(crate) safetensors: bool,
    /// Make this the model that is loaded by default.
    #[arg(long)]
    pub(crate) default: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// A text a line; `-` is standard input.
    #[arg(long)]
    pub(crate) input: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// A text a line; `-` is standard input.
    #[arg(long)]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) reply: ReplyArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) reply: ReplyArguments,
}

/// How replies are made.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplyArguments {
    /// Strength of the modulation; by default the learned one, 0 is the plain T5.
    #[arg(long)]
    pub(crate) alpha: Option<f32>,
    /// Six levels set by hand: dopamine,serotonin,cortisol,oxytocin,adrenaline,endorphins.
    #[arg(long, value_delimiter = ',', num_args = 1)]
    pub(crate) levels: Option<Vec<f32>>,
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,
    /// Always the likeliest token; else sampling at 0.8 with top-p 0.92.
    #[arg(long)]
    pub(crate) greedy: bool,
    #[arg(long, default_value_t = 60)]
    pub(crate) max_new_tokens: usize,
}
