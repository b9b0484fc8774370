//! Whether the levels cause the replies: greedy replies under different strengths and levels, read back by the block itself (as replies, see
//! `HormoneConfig::reply_prefix`).

use std::collections::HashSet;

use anyhow::Result;
use hormone_t5::{Decoding, Encoded, GenerationConfig, HormoneLevels, HormoneT5, Tone};
use serde::Serialize;

use super::statistics::{Estimate, spearman};
use super::wording::{Copies, distinct, names_what_was_said, stutters, words};
use crate::evaluate::on_all_cores;

/// Strengths that each prompt is answered at.
const ALPHAS: [f32; 6] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];
/// Strength of replies to levels set by hand: the middle of what strong replies were trained with.
pub(crate) const HAND_ALPHA: f32 = 0.4;
/// Prompts answered at every strength and in every tone.
const PROMPTS: usize = 100;
/// First-person messages whose replies should name what was said.
const FIRST_PERSON_MESSAGES: usize = 100;
/// So many words in a row are a copy.
const COPIED_WORDS: usize = 8;

/// What is known of greedy replies to messages that were never trained on.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReplyFigures {
    pub(crate) prompts: usize,
    pub(crate) learned_alpha: f32,
    /// Share of prompts whose reply at the learned alpha differs from that at alpha 0.
    pub(crate) changed: Estimate,
    /// Rank correlation of alpha with the distance of the read-back levels from neutral, over all replies.
    pub(crate) alpha_spearman: f64,
    /// The same correlation of the mean distance at each alpha.
    pub(crate) alpha_spearman_of_means: f64,
    /// Mean distance from neutral at each alpha.
    pub(crate) distances: Vec<(f32, f64)>,
    /// Share of replies under a tone's levels, set by hand, that read back as that tone.
    pub(crate) read_back: Estimate,
    pub(crate) read_back_by_tone: Vec<(Tone, f64)>,
    pub(crate) first_person_messages: usize,
    /// Share of replies to first-person messages with a content word of the message.
    pub(crate) names_what_was_said: Estimate,
    /// Share of replies with a word three times running.
    pub(crate) stutters: Estimate,
    pub(crate) distinct_1: f64,
    pub(crate) distinct_2: f64,
    /// Share of replies with eight words in a row of a reply that was trained on.
    pub(crate) copies: Estimate,
    pub(crate) longest_copy_words: usize,
}

/// One prompt, answered in every way, with the levels of the answers.
struct Answered {
    at_alphas: Vec<(String, HormoneLevels)>,
    at_learned_alpha: String,
    in_tones: Vec<(Tone, Option<Tone>)>,
}

impl Answered {
    /// Share of the tones that its replies read back as.
    fn read_back(&self) -> f64 {
        self.in_tones.iter().filter(|(tone, read)| Some(*tone) == *read).count() as f64 / self.in_tones.len().max(1) as f64
    }
}

impl ReplyFigures {
    /// `messages` were never trained on, `trained` are all replies that were.
    pub(crate) fn measure(model: &HormoneT5, messages: &[String], trained: &Copies) -> Result<Self> {
        let prompts = spread(messages, PROMPTS);
        let answered = on_all_cores(&prompts, |prompt| answer(model, prompt))?;
        let first_person: Vec<String> = messages.iter().filter(|message| is_first_person(message)).cloned().collect();
        let first_person = spread(&first_person, FIRST_PERSON_MESSAGES);
        let taken_up = on_all_cores(&first_person, |message| reply(model, &model.encode(message)?, None, None))?;

        let neutral = Tone::Neutral.levels();
        let distance = |answered: &Answered, place: usize| f64::from(answered.at_alphas[place].1.distance(neutral));
        let alphas = || ALPHAS.iter().enumerate().map(|(place, alpha)| (place, f64::from(*alpha)));
        let pairs: Vec<(f64, f64)> =
            answered.iter().flat_map(|one| alphas().map(move |(place, alpha)| (alpha, distance(one, place)))).collect();
        let mean = |place: usize| answered.iter().map(|one| distance(one, place)).sum::<f64>() / answered.len().max(1) as f64;
        let means: Vec<(f64, f64)> = alphas().map(|(place, alpha)| (alpha, mean(place))).collect();
        let changed: Vec<bool> = answered.iter().map(|one| one.at_alphas[0].0 != one.at_learned_alpha).collect();
        let read_back: Vec<(Tone, bool)> =
            answered.iter().flat_map(|one| one.in_tones.iter().map(|(tone, read)| (*tone, Some(*tone) == *read))).collect();
        let of_tone = |tone: Tone| read_back.iter().filter(move |(set, _)| *set == tone).map(|(_, right)| *right);
        let share = |rows: Vec<bool>| rows.iter().filter(|row| **row).count() as f64 / rows.len().max(1) as f64;
        let replies: Vec<String> = answered.iter().map(|one| one.at_learned_alpha.clone()).collect();
        let of_prompts = answered.iter().map(|one| one.at_alphas.iter().map(|(reply, _)| reply).collect::<Vec<_>>());
        let of_prompts: Vec<Vec<&String>> = of_prompts.chain(taken_up.iter().map(|reply| vec![reply])).collect();
        let runs: Vec<usize> = replies.iter().map(|reply| trained.longest_run(reply)).collect();
        Ok(Self {
            prompts: prompts.len(),
            learned_alpha: model.learned_alpha(),
            changed: Estimate::share(&changed),
            alpha_spearman: spearman(&pairs),
            alpha_spearman_of_means: spearman(&means),
            distances: ALPHAS.iter().zip(&means).map(|(alpha, (_, mean))| (*alpha, *mean)).collect(),
            // Replies to one prompt are alike: intervals are over prompts.
            read_back: Estimate::mean(&answered.iter().map(Answered::read_back).collect::<Vec<_>>()),
            read_back_by_tone: Tone::ALL.into_iter().map(|tone| (tone, share(of_tone(tone).collect()))).collect(),
            first_person_messages: first_person.len(),
            names_what_was_said: Estimate::share(
                &first_person.iter().zip(&taken_up).map(|(message, reply)| names_what_was_said(message, reply)).collect::<Vec<_>>(),
            ),
            stutters: Estimate::mean(
                &of_prompts.iter().map(|replies| share(replies.iter().map(|reply| stutters(reply)).collect())).collect::<Vec<_>>(),
            ),
            distinct_1: distinct(&replies, 1),
            distinct_2: distinct(&replies, 2),
            copies: Estimate::share(&runs.iter().map(|run| *run >= COPIED_WORDS).collect::<Vec<_>>()),
            longest_copy_words: runs.into_iter().max().unwrap_or(0),
        })
    }
}

fn answer(model: &HormoneT5, prompt: &str) -> Result<Answered> {
    let read = |text: &str| -> Result<Option<HormoneLevels>> {
        if text.trim().is_empty() { Ok(None) } else { Ok(Some(model.analyze_reply(text)?.levels)) }
    };
    let encoded = model.encode(prompt)?;
    let at_alphas = ALPHAS.iter().map(|alpha| {
        let text = reply(model, &encoded, Some(*alpha), None)?;
        // A reply without words shows no feeling.
        let levels = read(&text)?.unwrap_or(Tone::Neutral.levels());
        Ok((text, levels))
    });
    let in_tones = Tone::ALL.into_iter().map(|tone| {
        let text = reply(model, &encoded, Some(HAND_ALPHA), Some(tone.levels()))?;
        Ok((tone, read(&text)?.map(Tone::nearest)))
    });
    Ok(Answered {
        at_alphas: at_alphas.collect::<Result<_>>()?,
        at_learned_alpha: reply(model, &encoded, None, None)?,
        in_tones: in_tones.collect::<Result<_>>()?,
    })
}

/// The greedy reply, no n-gram blocked; `None`: the learned alpha, the predicted levels.
pub(crate) fn reply(model: &HormoneT5, encoded: &Encoded, alpha: Option<f32>, levels: Option<HormoneLevels>) -> Result<String> {
    let config = GenerationConfig {
        decoding: Decoding::Greedy,
        alpha,
        levels: levels.map_or([None; 6], |levels| levels.to_array().map(Some)),
        no_repeat_ngram_size: 0,
        repetition_penalty: 1.0,
        max_new_tokens: 60,
        ..GenerationConfig::default()
    };
    let mut generation = model.generate(encoded, config)?;
    generation.by_ref().collect::<hormone_t5::Result<Vec<_>>>()?;
    Ok(generation.text()?)
}

fn is_first_person(message: &str) -> bool {
    let own: HashSet<&str> = ["i", "i'm", "im", "i've", "ive", "i'd", "i'll", "my", "me", "mine"].into();
    words(message).iter().any(|word| own.contains(word.as_str()))
}

/// `count` of `items`, evenly spread.
pub(crate) fn spread<T: Clone>(items: &[T], count: usize) -> Vec<T> {
    let count = count.min(items.len());
    (0..count).map(|index| items[index * items.len() / count].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_items_cover_the_list_once_each() {
        let items: Vec<usize> = (0..250).collect();
        let chosen = spread(&items, 100);
        assert_eq!((chosen.len(), chosen[0], chosen[50]), (100, 0, 125));
        assert_eq!(spread(&items[..3], 100), [0, 1, 2]);
    }

    #[test]
    fn first_person_messages_speak_of_their_writer() {
        assert!(is_first_person("my dog is ill") && is_first_person("Well, I'M done"));
        assert!(!is_first_person("You are late again"));
    }
}
