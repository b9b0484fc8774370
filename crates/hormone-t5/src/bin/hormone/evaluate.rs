//! What a model does on text it was not trained on.
//!
//! The conditional gain is the held-out loss per token when every reply gets another message's encoding, minus the loss with its own:
//! near 0, replies ignore what was said, however low the loss.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow};
use candle_core::Tensor;
use hormone_t5::{Hormone, HormoneLevels, T5Config, Tone};
use serde::{Deserialize, Serialize};

use crate::batch::{Batch, EncodedExample};
use crate::mixture::Kind;
use crate::trainer::{Model, Objective};

/// Rows of one evaluation batch.
const ROWS: usize = 64;

/// Held-out examples, as padded batches.
pub(crate) struct HeldOut {
    /// Messages written for this project, with known levels.
    own: Vec<Batch>,
    /// Labelled texts of others.
    labelled: Vec<Batch>,
    /// Replies, to be read.
    voiced: Vec<Batch>,
    /// Messages with a reply.
    replies: Vec<Batch>,
}

/// Levels of one hormone on held-out messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct HormoneReport {
    pub(crate) mse: f64,
    pub(crate) mae: f64,
    /// Share within 0.15 of the target.
    pub(crate) accuracy: f64,
    /// Largest less smallest mean prediction over the tones.
    pub(crate) range: f64,
}

/// Everything on held-out messages.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct HeldOutReport {
    /// Messages with known levels.
    pub(crate) level_rows: usize,
    /// In the order of the hormones.
    pub(crate) hormones: Vec<HormoneReport>,
    pub(crate) level_mse: f64,
    /// Share of messages whose nearest tone is the nearest tone of their target.
    pub(crate) tone_accuracy: f64,
    /// The same among the messages that were written for this project.
    #[serde(default)]
    pub(crate) own_tone_accuracy: f64,
    /// The same among labelled texts of others.
    #[serde(default)]
    pub(crate) labelled_tone_accuracy: f64,
    /// Share of replies whose nearest tone is the one that they were written in.
    #[serde(default)]
    pub(crate) voiced_tone_accuracy: f64,
    /// Mean over the tones of the F1 of nearest tone.
    pub(crate) tone_macro_f1: f64,
    /// Replies' tokens.
    pub(crate) reply_tokens: usize,
    /// Cross-entropy per token of replies.
    pub(crate) sequence_loss: f64,
    pub(crate) conditional_gain: f64,
}

impl HeldOutReport {
    /// What early stopping watches: the paper's weighting of replies and levels.
    pub(crate) fn total(&self) -> f64 {
        self.sequence_loss + 5.0 * self.level_mse
    }
}

impl fmt::Display for HeldOutReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "held out: tone {:.1} % (own messages {:.1} %, labelled texts {:.1} %), replies read {:.1} %, level MSE {:.4}, reply loss {:.3}, conditional gain {:.3}",
            100.0 * self.tone_accuracy,
            100.0 * self.own_tone_accuracy,
            100.0 * self.labelled_tone_accuracy,
            100.0 * self.voiced_tone_accuracy,
            self.level_mse,
            self.sequence_loss,
            self.conditional_gain
        )
    }
}

impl HeldOut {
    /// Sorts and batches; rows without what is measured are left out.
    pub(crate) fn new(examples: &[EncodedExample], config: &T5Config) -> Result<Self> {
        let batches = |keep: &dyn Fn(&EncodedExample) -> bool| -> Result<Vec<Batch>> {
            let mut kept: Vec<EncodedExample> = examples.iter().filter(|example| keep(example)).cloned().collect();
            kept.sort_by_key(|example| (example.target.len(), example.source.len()));
            kept.chunks(ROWS).map(|rows| Batch::new(rows, config)).collect()
        };
        Ok(Self {
            own: batches(&|example| example.target_levels.is_some() && example.kind == Kind::Dialogue)?,
            labelled: batches(&|example| example.target_levels.is_some() && !matches!(example.kind, Kind::Dialogue | Kind::Voiced))?,
            voiced: batches(&|example| example.kind == Kind::Voiced)?,
            replies: batches(&|example| !example.target.is_empty())?,
        })
    }

    pub(crate) fn report(&self, model: &Model) -> Result<HeldOutReport> {
        let mut report = HeldOutReport::default();
        self.report_levels(model, &mut report)?;
        self.report_replies(model, &mut report)?;
        Ok(report)
    }

    fn report_levels(&self, model: &Model, report: &mut HeldOutReport) -> Result<()> {
        let read = |batches: &[Batch]| -> Result<Vec<(HormoneLevels, HormoneLevels)>> {
            let rows = on_all_cores(batches, |batch| {
                let hidden = model.t5.encode(&batch.input_ids, &batch.attention_mask)?;
                let levels = model.levels(&hidden, &batch.attention_mask)?;
                Ok(as_levels(&levels)?.into_iter().zip(as_levels(&batch.target_levels)?).collect::<Vec<_>>())
            });
            Ok(rows?.concat())
        };
        let own = read(&self.own)?;
        report.own_tone_accuracy = tone_accuracy(&tones(&own));
        let labelled = read(&self.labelled)?;
        report.labelled_tone_accuracy = tone_accuracy(&tones(&labelled));
        report.voiced_tone_accuracy = tone_accuracy(&tones(&read(&self.voiced)?));
        let rows = [own, labelled].concat();
        report.level_rows = rows.len();
        report.hormones = Hormone::ALL.into_iter().map(|hormone| hormone_report(&rows, hormone)).collect();
        report.level_mse = report.hormones.iter().map(|hormone| hormone.mse).sum::<f64>() / report.hormones.len().max(1) as f64;
        let tones = tones(&rows);
        report.tone_accuracy = tone_accuracy(&tones);
        report.tone_macro_f1 = macro_f1(&tones);
        Ok(())
    }

    fn report_replies(&self, model: &Model, report: &mut HeldOutReport) -> Result<()> {
        let losses = on_all_cores(&self.replies, |batch| {
            let right = model.losses(batch, batch.counts, Objective::PAPER)?.sequence.to_scalar::<f32>()?;
            let shuffled = model.losses(&batch.with_sources_rotated()?, batch.counts, Objective::PAPER)?.sequence.to_scalar::<f32>()?;
            Ok((right, shuffled, batch.counts.label_tokens))
        })?;
        let tokens: usize = losses.iter().map(|(.., tokens)| tokens).sum();
        let sum =
            |loss: &dyn Fn(&(f32, f32, usize)) -> f32| losses.iter().map(|batch| f64::from(loss(batch)) * batch.2 as f64).sum::<f64>();
        let (right, shuffled) = (sum(&|batch| batch.0), sum(&|batch| batch.1));
        report.reply_tokens = tokens;
        report.sequence_loss = right / tokens.max(1) as f64;
        report.conditional_gain = (shuffled - right) / tokens.max(1) as f64;
        Ok(())
    }
}

/// `measure` of every item, in order. Not rayon's pool: that has one thread here, so that products do not spread as well.
pub(crate) fn on_all_cores<T: Sync, R: Send>(items: &[T], measure: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, R)>> {
        let places = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < items.len()));
        places.map(|place| Ok((place, measure(&items[place])?))).collect()
    };
    let parts: Vec<Result<Vec<(usize, R)>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("an evaluation thread panicked")))).collect()
    });
    let mut measured = Vec::with_capacity(items.len());
    for part in parts {
        measured.extend(part?);
    }
    measured.sort_by_key(|(place, _)| *place);
    Ok(measured.into_iter().map(|(_, result)| result).collect())
}

fn as_levels(tensor: &Tensor) -> Result<Vec<HormoneLevels>> {
    let rows: Vec<Vec<f32>> = tensor.to_vec2()?;
    Ok(rows.into_iter().map(|row| HormoneLevels::from(std::array::from_fn(|place| row.get(place).copied().unwrap_or_default()))).collect())
}

pub(crate) fn hormone_report(rows: &[(HormoneLevels, HormoneLevels)], hormone: Hormone) -> HormoneReport {
    let errors = || rows.iter().map(|(predicted, target)| f64::from(predicted.get(hormone) - target.get(hormone)));
    let mut means = Vec::new();
    for tone in Tone::ALL {
        let of_tone = || rows.iter().filter(|(_, target)| Tone::nearest(*target) == tone);
        if of_tone().next().is_some() {
            means.push(mean(of_tone().map(|(predicted, _)| f64::from(predicted.get(hormone)))));
        }
    }
    let largest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = means.iter().copied().fold(f64::INFINITY, f64::min);
    HormoneReport {
        mse: mean(errors().map(|error| error * error)),
        mae: mean(errors().map(f64::abs)),
        accuracy: mean(errors().map(|error| f64::from(u8::from(error.abs() <= 0.15)))),
        range: if means.is_empty() { 0.0 } else { largest - smallest },
    }
}

/// Nearest tones of predicted levels and of their targets.
fn tones(rows: &[(HormoneLevels, HormoneLevels)]) -> Vec<(Tone, Tone)> {
    rows.iter().map(|(predicted, target)| (Tone::nearest(*predicted), Tone::nearest(*target))).collect()
}

fn tone_accuracy(tones: &[(Tone, Tone)]) -> f64 {
    mean(tones.iter().map(|(predicted, target)| f64::from(u8::from(predicted == target))))
}

pub(crate) fn macro_f1(tones: &[(Tone, Tone)]) -> f64 {
    let f1 = Tone::ALL.into_iter().filter_map(|tone| {
        let count = |keep: &dyn Fn(&(Tone, Tone)) -> bool| tones.iter().filter(|pair| keep(pair)).count() as f64;
        let both = count(&|(predicted, target)| *predicted == tone && *target == tone);
        let either = count(&|(predicted, _)| *predicted == tone) + count(&|(_, target)| *target == tone);
        (either > 0.0).then(|| 2.0 * both / either)
    });
    mean(f1)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_messages_labelled_texts_and_replies_are_counted_apart() {
        let example = |kind| EncodedExample {
            source: vec![3, 1],
            target: Vec::new(),
            weights: Vec::new(),
            target_levels: Some(Tone::Sad.levels()),
            target_tones: None,
            reply_levels: None,
            alpha: Some(0.0),
            kind,
        };
        let config =
            T5Config::from_json(br#"{"vocab_size":8,"d_model":8,"d_kv":4,"d_ff":8,"num_layers":1,"num_heads":2}"#).expect("a shape");
        let kinds = [Kind::Dialogue, Kind::Levels, Kind::Levels, Kind::Voiced, Kind::Voiced, Kind::Voiced];
        let held_out = HeldOut::new(&kinds.map(example), &config).expect("batches");
        let rows = [&held_out.own, &held_out.labelled, &held_out.voiced].map(|batches| batches[0].counts.level_rows);
        assert_eq!(rows, [1, 2, 3]);
        assert_eq!(tone_accuracy(&[(Tone::Sad, Tone::Sad), (Tone::Rude, Tone::Sad)]), 0.5);
    }

    #[test]
    fn macro_f1_counts_every_tone_that_occurs_alike() {
        let pairs = [(Tone::Sad, Tone::Sad), (Tone::Sad, Tone::Rude), (Tone::Rude, Tone::Rude), (Tone::Rude, Tone::Rude)];
        let (sad, rude) = (2.0 / 3.0, 4.0 / 5.0);
        assert!((macro_f1(&pairs) - (sad + rude) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_perfect_prediction_has_no_error_and_the_targets_range() {
        let rows: Vec<_> = Tone::ALL.into_iter().map(|tone| (tone.levels(), tone.levels())).collect();
        let report = hormone_report(&rows, Hormone::Cortisol);
        assert_eq!((report.mse, report.accuracy), (0.0, 1.0));
        assert!((report.range - 0.9).abs() < 1e-6);
    }
}
