//! Examples as tensors.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use candle_core::{Device, Tensor, WithDType};
use hormone_t5::{HormoneConfig, HormoneLevels, T5Config, TextTokenizer, Tone, TrainingTokenizer};

use crate::evaluation::wording;
use crate::loss::{MarginCounts, tones_of};
use crate::mixture::{Example, Kind};

/// An example as ids.
#[derive(Clone, Debug)]
pub(crate) struct EncodedExample {
    pub(crate) source: Vec<u32>,
    /// Ends with the end token; empty where only levels are learnt.
    pub(crate) target: Vec<u32>,
    /// What each target token counts in the loss.
    pub(crate) weights: Vec<f32>,
    pub(crate) target_levels: Option<HormoneLevels>,
    /// `None`: what the target levels say.
    pub(crate) target_tones: Option<[f32; Tone::ALL.len()]>,
    pub(crate) reply_levels: Option<HormoneLevels>,
    /// `None`: the learned alpha.
    pub(crate) alpha: Option<f32>,
    pub(crate) kind: Kind,
}

impl EncodedExample {
    /// Source and target are cut at `max_tokens`; `config` has the prefixes.
    pub(crate) fn new(example: &Example, tokenizer: &TrainingTokenizer, config: &HormoneConfig, max_tokens: usize) -> Result<Self> {
        let prefix = if example.kind == Kind::Voiced { &config.reply_prefix } else { &config.prompt_prefix };
        let source = tokenizer.ids(&format!("{prefix}{}", example.source), max_tokens)?;
        let target = example.target.as_ref().map(|target| tokenizer.ids(target, max_tokens)).transpose()?.unwrap_or_default();
        Ok(Self {
            source,
            weights: vec![1.0; target.len()],
            target,
            target_levels: example.target_levels,
            target_tones: example.target_tones,
            reply_levels: example.reply_levels,
            alpha: example.alpha,
            kind: example.kind,
        })
    }

    /// The same, where words that the reply takes up from the message count `weight`.
    pub(crate) fn with_copies_weighted(mut self, words: &ContentWords, weight: f32) -> Self {
        let said: HashSet<u32> = self.source.iter().filter_map(|id| words.of(*id)).collect();
        for (id, own) in self.target.iter().zip(&mut self.weights) {
            if words.of(*id).is_some_and(|word| said.contains(&word)) {
                *own = weight;
            }
        }
        self
    }
}

/// Which tokens are content words, whatever their case and ending.
#[derive(Clone, Debug)]
pub(crate) struct ContentWords {
    by_token: Vec<Option<u32>>,
}

impl ContentWords {
    pub(crate) fn new(tokenizer: &TextTokenizer) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let word = |id: usize| {
            let piece = tokenizer.piece(id as u32).trim_start_matches('\u{2581}').to_lowercase();
            let letters = piece.chars().all(char::is_alphabetic) && wording::is_content(&piece);
            letters.then(|| {
                let next = numbers.len() as u32;
                *numbers.entry(wording::stem(&piece).to_string()).or_insert(next)
            })
        };
        Self { by_token: (0..tokenizer.vocab_size()).map(word).collect() }
    }

    fn of(&self, id: u32) -> Option<u32> {
        self.by_token.get(id as usize).copied().flatten()
    }
}

/// A padded batch.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// `[B, S]`.
    pub(crate) input_ids: Tensor,
    /// `[B, S]`, 1 on tokens.
    pub(crate) attention_mask: Tensor,
    /// `[B, T]`: the labels shifted right behind the start token.
    pub(crate) decoder_input_ids: Tensor,
    /// `[B, T]`.
    pub(crate) labels: Tensor,
    /// `[B, T]`: what each token counts, 0 on padding.
    pub(crate) label_weights: Tensor,
    /// `[B, N]`; rows without target are 0 and masked.
    pub(crate) target_levels: Tensor,
    /// `[B]`.
    pub(crate) target_levels_mask: Tensor,
    /// `[B, tones]`: how likely each tone is; rows without target levels are masked with them.
    pub(crate) target_tones: Tensor,
    /// `[B, N]`; rows without given levels are 0 and masked.
    pub(crate) reply_levels: Tensor,
    /// `[B]`.
    pub(crate) reply_levels_mask: Tensor,
    /// `[B]`; 0 where the learned alpha applies.
    pub(crate) alpha: Tensor,
    /// `[B]`, 1 where the learned alpha applies.
    pub(crate) learned_alpha_mask: Tensor,
    pub(crate) counts: Counts,
}

/// What the means are taken over; parts of a batch divide by the counts of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) label_tokens: usize,
    /// Sum of their weights.
    pub(crate) label_weight: f64,
    pub(crate) level_rows: usize,
    pub(crate) margins: MarginCounts,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.label_tokens += other.label_tokens;
        self.label_weight += other.label_weight;
        self.level_rows += other.level_rows;
        self.margins.high += other.margins.high;
        self.margins.low += other.margins.low;
    }
}

impl Batch {
    pub(crate) fn new(examples: &[EncodedExample], config: &T5Config) -> Result<Self> {
        let rows = examples.len();
        let pad = config.pad_token_id;
        let sources: Vec<&[u32]> = examples.iter().map(|example| example.source.as_slice()).collect();
        let targets: Vec<&[u32]> = examples.iter().map(|example| example.target.as_slice()).collect();
        let weights: Vec<&[f32]> = examples.iter().map(|example| example.weights.as_slice()).collect();
        let shifted: Vec<Vec<u32>> = targets.iter().map(|target| shifted_right(target, config.decoder_start_token_id)).collect();
        let shifted: Vec<&[u32]> = shifted.iter().map(Vec::as_slice).collect();
        let levels = |levels: &dyn Fn(&EncodedExample) -> Option<HormoneLevels>| -> Result<(Tensor, Tensor)> {
            let values: Vec<f32> = examples.iter().flat_map(|example| levels(example).unwrap_or_default().to_array()).collect();
            let mask = examples.iter().map(|example| f32::from(levels(example).is_some()));
            Ok((Tensor::from_vec(values, (rows, 6), &Device::Cpu)?, Tensor::from_iter(mask, &Device::Cpu)?))
        };
        let (target_levels, target_levels_mask) = levels(&|example| example.target_levels)?;
        let (reply_levels, reply_levels_mask) = levels(&|example| example.reply_levels)?;
        let tones =
            examples.iter().map(|example| example.target_tones.unwrap_or_else(|| tones_of(example.target_levels.unwrap_or_default())));
        let supervised = examples.iter().filter_map(|example| example.target_levels);
        Ok(Self {
            input_ids: padded(&sources, pad)?,
            attention_mask: mask(&sources)?,
            decoder_input_ids: padded(&shifted, pad)?,
            labels: padded(&targets, pad)?,
            label_weights: padded(&weights, 0.0)?,
            target_levels,
            target_levels_mask,
            target_tones: Tensor::from_vec(tones.flatten().collect(), (rows, Tone::ALL.len()), &Device::Cpu)?,
            reply_levels,
            reply_levels_mask,
            alpha: Tensor::from_iter(examples.iter().map(|example| example.alpha.unwrap_or(0.0)), &Device::Cpu)?,
            learned_alpha_mask: Tensor::from_iter(examples.iter().map(|example| f32::from(example.alpha.is_none())), &Device::Cpu)?,
            counts: Counts {
                label_tokens: targets.iter().map(|target| target.len()).sum(),
                label_weight: examples.iter().flat_map(|example| &example.weights).map(|weight| f64::from(*weight)).sum(),
                level_rows: supervised.clone().count(),
                margins: MarginCounts::of(supervised.flat_map(HormoneLevels::to_array)),
            },
        })
    }

    /// The same replies, each to the next message that is another.
    pub(crate) fn with_sources_rotated(&self) -> Result<Self> {
        let sources: Vec<Vec<u32>> = self.input_ids.to_vec2()?;
        let rows = sources.len();
        let next = |row: usize| (1..rows).map(|step| (row + step) % rows).find(|other| sources[*other] != sources[row]).unwrap_or(row);
        let order = Tensor::from_iter((0..rows).map(|row| next(row) as u32), &Device::Cpu)?;
        let mut rotated = self.clone();
        rotated.input_ids = self.input_ids.index_select(&order, 0)?;
        rotated.attention_mask = self.attention_mask.index_select(&order, 0)?;
        Ok(rotated)
    }
}

fn shifted_right(target: &[u32], start: u32) -> Vec<u32> {
    let kept = target.len().saturating_sub(1);
    std::iter::once(start).chain(target[..kept].iter().copied()).take(target.len()).collect()
}

/// `[rows, longest]`; at least one column, so that a batch without replies is still a tensor.
fn padded<T: WithDType>(rows: &[&[T]], pad: T) -> Result<Tensor> {
    let width = width(rows);
    let values: Vec<T> = rows.iter().flat_map(|row| row.iter().copied().chain(std::iter::repeat(pad)).take(width)).collect();
    Ok(Tensor::from_vec(values, (rows.len(), width), &Device::Cpu)?)
}

fn mask(rows: &[&[u32]]) -> Result<Tensor> {
    let width = width(rows);
    let values: Vec<f32> = rows.iter().flat_map(|row| (0..width).map(|place| f32::from(place < row.len()))).collect();
    Ok(Tensor::from_vec(values, (rows.len(), width), &Device::Cpu)?)
}

fn width<T>(rows: &[&[T]]) -> usize {
    rows.iter().map(|row| row.len()).max().unwrap_or(0).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixture::Kind;

    #[test]
    fn replies_to_one_message_never_keep_it_when_sources_are_rotated() -> Result<()> {
        let config = T5Config::from_json(br#"{"vocab_size":20,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2}"#)?;
        let answered = |source: u32| EncodedExample {
            source: vec![source, 1],
            target: vec![7, 1],
            weights: vec![1.0; 2],
            target_levels: None,
            target_tones: None,
            reply_levels: None,
            alpha: Some(0.0),
            kind: Kind::Dialogue,
        };
        let batch = Batch::new(&[3, 3, 3, 4, 4, 5].map(answered), &config)?;
        let (before, after): (Vec<Vec<u32>>, Vec<Vec<u32>>) =
            (batch.input_ids.to_vec2()?, batch.with_sources_rotated()?.input_ids.to_vec2()?);
        assert!(before.iter().zip(&after).all(|(before, after)| before != after), "{after:?}");
        Ok(())
    }

    #[test]
    fn only_a_reply_that_is_read_stands_behind_the_prefix_of_replies() -> Result<()> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/models/hormone-t5-mini/tokenizer.json");
        let tokenizer = TextTokenizer::from_json(&std::fs::read(path)?, 1)?.for_training();
        let config = HormoneConfig { prompt_prefix: "say: ".into(), reply_prefix: "reply: ".into(), ..HormoneConfig::default() };
        for kind in Kind::ALL {
            let example = Example {
                source: "what a good day".into(),
                target: None,
                target_levels: None,
                target_tones: None,
                reply_levels: None,
                alpha: None,
                kind,
            };
            let prefix = if kind == Kind::Voiced { "reply: " } else { "say: " };
            let source = EncodedExample::new(&example, &tokenizer, &config, 64)?.source;
            assert_eq!(source, tokenizer.ids(&format!("{prefix}what a good day"), 64)?, "{kind:?}");
        }
        Ok(())
    }

    #[test]
    fn tones_are_those_of_a_teacher_or_else_those_of_the_target_levels() -> Result<()> {
        let config = T5Config::from_json(br#"{"vocab_size":20,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2}"#)?;
        let read = |target_tones| EncodedExample {
            source: vec![3, 1],
            target: Vec::new(),
            weights: Vec::new(),
            target_levels: Some(Tone::Sad.levels()),
            target_tones,
            reply_levels: None,
            alpha: None,
            kind: Kind::Levels,
        };
        let taught = [0.25, 0.5, 0.0, 0.25, 0.0];
        let tones: Vec<Vec<f32>> = Batch::new(&[read(Some(taught)), read(None)], &config)?.target_tones.to_vec2()?;
        assert_eq!(tones, [taught, tones_of(Tone::Sad.levels())]);
        Ok(())
    }

    #[test]
    fn words_taken_up_from_the_message_count_more_in_any_case_and_the_rest_counts_once() -> Result<()> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/models/hormone-t5-mini/tokenizer.json");
        let tokenizer = TextTokenizer::from_json(&std::fs::read(path)?, 1)?;
        let example = Example {
            source: "what a good day".into(),
            target: Some("Good, may every day be so.".into()),
            target_levels: None,
            target_tones: None,
            reply_levels: None,
            alpha: None,
            kind: Kind::Dialogue,
        };
        let plain = EncodedExample::new(&example, &tokenizer.for_training(), &HormoneConfig::default(), 64)?;
        assert!(plain.weights.iter().all(|weight| *weight == 1.0));
        let weighted = plain.clone().with_copies_weighted(&ContentWords::new(&tokenizer), 3.0);
        let heavy: Vec<String> = weighted
            .target
            .iter()
            .zip(&weighted.weights)
            .filter(|(_, weight)| **weight == 3.0)
            .map(|(id, _)| tokenizer.piece(*id))
            .collect();
        assert_eq!(heavy.concat().replace('\u{2581}', "").to_lowercase(), "goodday");
        let config = T5Config::from_json(br#"{"vocab_size":8000,"d_model":32,"d_kv":8,"d_ff":32,"num_layers":1,"num_heads":2}"#)?;
        let batch = Batch::new(&[weighted, EncodedExample { target: Vec::new(), weights: Vec::new(), ..plain }], &config)?;
        assert_eq!(batch.label_weights.sum_all()?.to_scalar::<f32>()? as f64, batch.counts.label_weight);
        Ok(())
    }
}
