//! `eval` and `samples`: a finished model on messages it was never trained on.

mod levels;
mod paper;
mod replies;
mod statistics;
pub(crate) mod wording;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hormone_t5::{Hormone, HormoneLevels, HormoneT5, Tone};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::batch::EncodedExample;
use crate::checkpoint::ModelFolder;
use crate::cli::{EvalArguments, Reference, SamplesArguments};
use crate::corpora::Corpora;
use crate::dialogues::{self, Dialogue, Exchanges, SPLIT_SEED, Split, SurfaceShares, vary, with_other_name};
use crate::evaluate::HeldOut;
use crate::mixture::Example;
use crate::trainer::Model;
use levels::{LevelFigures, capitals_shift};
use paper::{CAVEAT, PAPER};
use replies::{ReplyFigures, spread};
use wording::Copies;

/// A seed of the surface generator that training never uses.
const SURFACE_SEED: u64 = 7_000_001;
const CAPITALS_MESSAGES: usize = 100;

/// One line of `assets/data/heldout.jsonl`: written apart from the dialogues, to evaluate and for nothing else.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeldOutMessage {
    #[allow(dead_code, reason = "names the line for people")]
    id: String,
    pub(crate) tone: Tone,
    #[allow(dead_code, reason = "for counts by people")]
    topic: String,
    pub(crate) input: String,
}

/// `eval`'s JSON: the top-level numbers go into the manifest.
#[derive(Debug, Serialize)]
struct Evaluation {
    heldout_tone_accuracy: f64,
    heldout_level_accuracy: f64,
    goemotions_tone_accuracy: f64,
    goemotions_tone_macro_f1: f64,
    perplexity: f64,
    conditional_gain: f64,
    replies_changed: f64,
    alpha_spearman: f64,
    read_back: f64,
    names_what_was_said: f64,
    stutters: f64,
    largest_capitals_shift: f64,
    /// Messages written apart from the dialogues.
    heldout: LevelFigures,
    /// Dialogues that were split off by their message.
    dialogues: LevelFigures,
    /// The same typed another way: names, case, marks, slips, from a seed of their own.
    dialogues_varied: LevelFigures,
    /// GoEmotions' test rows of one tone.
    goemotions: LevelFigures,
    replies: ReplyFigures,
    capitals_shift: Vec<(Hormone, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_full_precision: Option<Quantization>,
}

/// What storing the weights in 8 bits costs.
#[derive(Debug, Serialize)]
struct Quantization {
    largest_level_difference: f64,
    /// Perplexity over that of the full model.
    perplexity_ratio: f64,
}

/// Measures everything and prints it.
pub(crate) fn eval(arguments: &EvalArguments) -> Result<()> {
    let model = crate::talk::load(&arguments.model)?;
    let heldout = heldout_messages(&arguments.heldout)?;
    let dialogues = dialogues::load(&arguments.texts.dialogues)?;
    let split = Split::new(dialogues, SPLIT_SEED);
    let inputs: Vec<String> = heldout.iter().map(|message| message.input.clone()).collect();
    let targets: Vec<(String, HormoneLevels)> = heldout.iter().map(|message| (message.input.clone(), message.tone.levels())).collect();
    let goemotions: Vec<(String, HormoneLevels)> = Corpora::goemotions_test(&arguments.texts.data)?
        .into_iter()
        .filter_map(|example| Some((example.source, example.target_levels?)))
        .collect();
    let exchanges = Exchanges::load(&arguments.texts.exchanges, SPLIT_SEED)?;
    let of_dialogues = split.train.iter().flat_map(|dialogue| dialogue.texts().into_iter().skip(1));
    let trained = Copies::new(of_dialogues.chain(exchanges.train.iter().flat_map(|exchange| exchange.texts().skip(1))));

    let (perplexity, conditional_gain) = perplexity(&model, &split.validation)?;
    let figures = ReplyFigures::measure(&model, &inputs, &trained)?;
    let capitals_shift = capitals_shift(&model, &spread(&inputs, CAPITALS_MESSAGES))?;
    let heldout = LevelFigures::measure(&model, &targets)?;
    let goemotions = LevelFigures::measure(&model, &goemotions)?;
    let against_full_precision = arguments
        .full_precision
        .as_deref()
        .map(|folder| quantization(&model, folder, &inputs, &split.validation, perplexity))
        .transpose()?;
    let evaluation = Evaluation {
        heldout_tone_accuracy: heldout.tone_accuracy.value,
        heldout_level_accuracy: heldout.accuracy.value,
        goemotions_tone_accuracy: goemotions.tone_accuracy.value,
        goemotions_tone_macro_f1: goemotions.tone_macro_f1.value,
        perplexity,
        conditional_gain,
        replies_changed: figures.changed.value,
        alpha_spearman: figures.alpha_spearman,
        read_back: figures.read_back.value,
        names_what_was_said: figures.names_what_was_said.value,
        stutters: figures.stutters.value,
        largest_capitals_shift: capitals_shift.iter().map(|(_, shift)| *shift).fold(0.0, f64::max),
        heldout,
        dialogues: LevelFigures::measure(&model, &with_targets(&split.validation, None))?,
        dialogues_varied: LevelFigures::measure(&model, &with_targets(&split.validation, Some(SURFACE_SEED)))?,
        goemotions,
        replies: figures,
        capitals_shift,
        against_full_precision,
    };
    print!("{}", table(&evaluation)?);
    if arguments.against == Some(Reference::Paper) {
        print!("\n{}", beside_paper(&evaluation.heldout)?);
    }
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_vec_pretty(&evaluation)?).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Reads and checks the held-out messages.
pub(crate) fn heldout_messages(path: &Path) -> Result<Vec<HeldOutMessage>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}: expected id, tone, topic and input", path.display(), index + 1))
        })
        .collect()
}

fn with_targets(dialogues: &[Dialogue], surface_seed: Option<u64>) -> Vec<(String, HormoneLevels)> {
    let mut rng = ChaCha8Rng::seed_from_u64(surface_seed.unwrap_or_default());
    let input = |dialogue: &Dialogue| match surface_seed {
        None => dialogue.input.clone(),
        Some(_) => vary(&with_other_name(&[&dialogue.input], &mut rng).concat(), SurfaceShares::FULL, &mut rng),
    };
    let inputs: Vec<String> = dialogues.iter().map(input).collect();
    inputs.into_iter().zip(dialogues).map(|(input, dialogue)| (input, dialogue.tone.levels())).collect()
}

/// Perplexity per token of held-out replies, each under its own levels and strength, and the conditional gain.
fn perplexity(model: &HormoneT5, dialogues: &[Dialogue]) -> Result<(f64, f64)> {
    let tokenizer = model.tokenizer().for_training();
    let settings = model.hormone_config();
    let examples = dialogues.iter().flat_map(Example::of_every_strength);
    let encode = |example: Example| EncodedExample::new(&example, &tokenizer, settings, settings.max_source_tokens);
    let examples = examples.map(encode).collect::<Result<Vec<_>>>()?;
    let parts = Model {
        t5: model.t5().clone(),
        block: model.block().clone(),
        attention_temperature: settings.attention_temperature,
        hormones: Hormone::ALL.len(),
    };
    let report = HeldOut::new(&examples, model.config())?.report(&parts)?;
    Ok((report.sequence_loss.exp(), report.conditional_gain))
}

fn quantization(model: &HormoneT5, full: &Path, inputs: &[String], dialogues: &[Dialogue], own_perplexity: f64) -> Result<Quantization> {
    let full = ModelFolder::new(full).load()?;
    let mut largest = 0.0f64;
    for input in inputs {
        let (own, other) = (model.analyze(input)?.levels, full.analyze(input)?.levels);
        largest = own.to_array().iter().zip(other.to_array()).fold(largest, |largest, (a, b)| largest.max(f64::from((a - b).abs())));
    }
    Ok(Quantization { largest_level_difference: largest, perplexity_ratio: own_perplexity / perplexity(&full, dialogues)?.0 })
}

fn table(evaluation: &Evaluation) -> Result<String> {
    let mut text = String::new();
    let sets = [
        ("Held-out messages, written apart", &evaluation.heldout),
        ("Held-out dialogues, split by message", &evaluation.dialogues),
        ("The same, typed another way", &evaluation.dialogues_varied),
        ("GoEmotions test, rows of one tone", &evaluation.goemotions),
    ];
    for (name, figures) in sets {
        writeln!(text, "{name}: {} messages", figures.messages)?;
        writeln!(text, "  {:<12} {:>7} {:>7} {:>13} {:>7}", "hormone", "MSE", "MAE", "within 0.15", "range")?;
        for row in &figures.hormones {
            let (mse, mae, accuracy, range) = (row.mse.value, row.mae.value, 100.0 * row.accuracy.value, row.range.value);
            writeln!(text, "  {:<12} {mse:>7.3} {mae:>7.3} {accuracy:>11.1} % {range:>7.2}", row.hormone.name())?;
        }
        writeln!(text, "  mean accuracy  {}; smallest range {:.2}", figures.accuracy.percent(), figures.smallest_range())?;
        writeln!(text, "  nearest tone   {}", figures.tone_accuracy.percent())?;
        writeln!(
            text,
            "  macro-F1       {:.3} ({:.3} to {:.3})",
            figures.tone_macro_f1.value, figures.tone_macro_f1.low, figures.tone_macro_f1.high
        )?;
    }
    let replies = &evaluation.replies;
    writeln!(text, "Greedy replies to {} held-out messages; learned alpha {:.3}", replies.prompts, replies.learned_alpha)?;
    writeln!(text, "  perplexity {:.1} per token, conditional gain {:.3}", evaluation.perplexity, evaluation.conditional_gain)?;
    writeln!(text, "  differ between alpha 0 and the learned alpha: {}", replies.changed.percent())?;
    writeln!(
        text,
        "  rank correlation of alpha and distance from neutral: {:.2} over all replies, {:.2} of the means",
        replies.alpha_spearman, replies.alpha_spearman_of_means
    )?;
    let distances: Vec<String> = replies.distances.iter().map(|(alpha, distance)| format!("{alpha:.1}: {distance:.2}")).collect();
    writeln!(text, "  mean distance at each alpha: {}", distances.join(", "))?;
    writeln!(text, "  levels set by hand read back as their tone (alpha {}): {}", replies::HAND_ALPHA, replies.read_back.percent())?;
    let tones: Vec<String> =
        replies.read_back_by_tone.iter().map(|(tone, share)| format!("{} {:.0} %", tone.name(), 100.0 * share)).collect();
    writeln!(text, "    {}", tones.join(", "))?;
    writeln!(
        text,
        "  name what was said, of {} first-person messages: {}",
        replies.first_person_messages,
        replies.names_what_was_said.percent()
    )?;
    writeln!(text, "  stutter: {}", replies.stutters.percent())?;
    writeln!(text, "  distinct-1 {:.3}, distinct-2 {:.3}", replies.distinct_1, replies.distinct_2)?;
    writeln!(
        text,
        "  copy 8 words or more of a trained reply: {}; longest run {} words",
        replies.copies.percent(),
        replies.longest_copy_words
    )?;
    let shifts: Vec<String> = evaluation.capitals_shift.iter().map(|(hormone, shift)| format!("{} {shift:.3}", hormone.name())).collect();
    writeln!(text, "Capitals alone move levels by, on average: {}", shifts.join(", "))?;
    if let Some(quantization) = &evaluation.against_full_precision {
        writeln!(
            text,
            "Against full precision: largest difference of a level {:.4}, perplexity {:+.2} %",
            quantization.largest_level_difference,
            100.0 * (quantization.perplexity_ratio - 1.0)
        )?;
    }
    Ok(text)
}

fn beside_paper(figures: &LevelFigures) -> Result<String> {
    let mut text = format!("{:<12} {:^31}   {:^31}\n", "", "the paper", "ours, held out");
    let heads = format!("{:>6} {:>6} {:>10} {:>6}", "MSE", "MAE", "within", "range");
    writeln!(text, "{:<12} {heads}   {heads}", "hormone")?;
    for (row, paper) in figures.hormones.iter().zip(PAPER) {
        let ours = [row.mse.value, row.mae.value, row.accuracy.value, row.range.value];
        let cells = |row: [f64; 4]| format!("{:>6.3} {:>6.3} {:>8.1} % {:>6.2}", row[0], row[1], 100.0 * row[2], row[3]);
        writeln!(text, "{:<12} {}   {}", row.hormone.name(), cells(paper), cells(ours))?;
    }
    writeln!(text, "{CAVEAT}")?;
    Ok(text)
}

/// `samples`: unseen messages with both greedy replies, as they come.
pub(crate) fn samples(arguments: &SamplesArguments) -> Result<()> {
    let model = crate::talk::load(&arguments.model)?;
    let messages = spread(&heldout_messages(&arguments.heldout)?, arguments.count);
    let mut text = format!(
        "# {} unseen messages and their replies\n\nMade by `hormone samples`: held-out messages taken at even distances, greedy, as generated, nothing selected or edited. \
         Baseline: the same weights at alpha 0. Modulated: the learned alpha, {:.2}, and the levels that the model reads in the message. The levels are numbers that \
         a network computes, not feelings.\n\n| message (its written tone) | read as | baseline | modulated |\n|---|---|---|---|\n",
        messages.len(),
        model.learned_alpha()
    );
    for message in &messages {
        let encoded = model.encode(&message.input)?;
        let read = encoded.analysis().tone;
        let baseline = replies::reply(&model, &encoded, Some(0.0), None)?;
        let modulated = replies::reply(&model, &encoded, None, None)?;
        let cell = |text: &str| text.replace('|', "\\|");
        writeln!(
            text,
            "| {} ({}) | {} | {} | {} |",
            cell(&message.input),
            message.tone.name(),
            read.name(),
            cell(&baseline),
            cell(&modulated)
        )?;
    }
    fs::write(&arguments.output, text).with_context(|| format!("cannot write {}", arguments.output.display()))
}
