//! What a model is trained on: levels of labelled texts and of replies, reflective replies, our dialogues, next turns, denoising and messages to be
//! repeated, drawn by weight.
//!
//! In most reflective replies the tone and its levels are drawn independently of the message, so that only the levels can tell the decoder how to
//! answer. Every batch depends on the seed and the step alone: a run can go on from any step.

mod config;
mod denoising;
mod own;
mod reflections;
mod taught;

use anyhow::{Context, Result, ensure};
use hormone_t5::{HormoneLevels, Tone};
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::corpora::{Corpora, LabelledText, TurnPair, is_coarse, share_a_word};
use crate::dialogues::{Dialogue, Exchange, Exchanges, SPLIT_SEED, Split, SurfaceShares, stable_hash, vary, with_other_name};
use crate::reflection::Frames;
use crate::teacher::{WordTeacher, levels_of};
pub(crate) use config::MixtureConfig;
use own::OwnTexts;
use reflections::{Reflected, Reflections};
use taught::Taught;

/// Something to learn from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Example {
    /// What the encoder reads.
    pub(crate) source: String,
    /// What the decoder writes, if anything.
    pub(crate) target: Option<String>,
    /// The levels the block is to predict, where they are known.
    pub(crate) target_levels: Option<HormoneLevels>,
    /// How likely each tone is in the order of [`Tone::ALL`], where a teacher said so; `None`: what the target levels say.
    pub(crate) target_tones: Option<[f32; Tone::ALL.len()]>,
    /// The levels that modulate the decoder; `None`: those that the block predicts.
    pub(crate) reply_levels: Option<HormoneLevels>,
    /// Strength of the modulation; 0 is the plain T5, `None` the learned one.
    pub(crate) alpha: Option<f32>,
    /// Which part of the mixture it comes from.
    pub(crate) kind: Kind,
}

/// The parts of the mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A labelled text, with a reflective reply or none.
    Levels,
    /// A reflective reply.
    Reflection,
    /// A reply of our own dialogues.
    Dialogue,
    /// The next turn of a conversation.
    NextTurn,
    /// Lost words to be filled in.
    Denoise,
    /// A reply, written or reflective, to be read for the levels that it shows.
    Voiced,
    /// The message itself, typed cleanly: reading every word, whatever the levels.
    Repeat,
}

impl Kind {
    /// All, in the order of [`MixtureConfig::weights`].
    pub(crate) const ALL: [Self; 7] =
        [Self::Levels, Self::Reflection, Self::Dialogue, Self::NextTurn, Self::Denoise, Self::Repeat, Self::Voiced];
}

impl Example {
    /// A dialogue as the paper trains on it: its strong reply under the learned alpha and the predicted levels.
    pub(crate) fn paper(dialogue: &Dialogue) -> Self {
        Self {
            source: dialogue.input.clone(),
            target: Some(dialogue.strong.clone()),
            target_levels: Some(dialogue.tone.levels()),
            target_tones: None,
            reply_levels: None,
            alpha: None,
            kind: Kind::Dialogue,
        }
    }

    /// A dialogue's flat reply, and its strong ones in every tone that was written, each under that tone's levels.
    pub(crate) fn of_every_strength(dialogue: &Dialogue) -> Vec<Self> {
        let with = |reply: &str, tone: Option<Tone>, alpha: f32| Self {
            target: Some(reply.to_string()),
            reply_levels: tone.map(Tone::levels),
            alpha: Some(alpha),
            ..Self::paper(dialogue)
        };
        let strong = Tone::ALL.into_iter().filter_map(|tone| Some(with(dialogue.strong_reply(tone)?, Some(tone), WATCHED_STRONG_ALPHA)));
        std::iter::once(with(&dialogue.flat, None, 0.0)).chain(strong).collect()
    }

    /// A labelled text without a reply, with its labels' levels; `None` where its feelings are of several tones.
    fn levels(row: &LabelledText) -> Option<Self> {
        row.tone.map(|_| Self::unanswered(row.text.clone(), Some(row.levels)))
    }

    /// A reply to be read.
    fn voiced(reply: String, levels: HormoneLevels) -> Self {
        Self { kind: Kind::Voiced, ..Self::unanswered(reply, Some(levels)) }
    }

    /// A text of which only the levels are asked for.
    fn unanswered(source: String, target_levels: Option<HormoneLevels>) -> Self {
        Self { source, target: None, target_levels, target_tones: None, reply_levels: None, alpha: Some(0.0), kind: Kind::Levels }
    }
}

/// Strength of the modulation for restrained and for full replies.
const MILD_ALPHA: std::ops::Range<f32> = 0.15..0.30;
const STRONG_ALPHA: std::ops::RangeInclusive<f32> = 0.30..=0.50;
/// The same for what is watched, where nothing is drawn.
const WATCHED_MILD_ALPHA: f32 = 0.22;
const WATCHED_STRONG_ALPHA: f32 = 0.4;
/// For replies that show next to nothing of their levels.
const FAINT_ALPHA: std::ops::Range<f32> = 0.05..0.15;

/// How often each list of [`Mixture::turns`] is drawn.
const TURN_WEIGHTS: [f64; 5] = [0.55, 0.15, 0.12, 0.12, 0.06];

/// Labelled rows held out for watching, at most.
const WATCHED_ROWS: usize = 1200;

/// A source of examples.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    config: MixtureConfig,
    seed: u64,
    kinds: WeightedIndex<f64>,
    /// Labelled rows of one tone each, by tone, then those of none or several; and how often each list is drawn.
    labelled: Vec<Vec<Reflected>>,
    tones: WeightedIndex<f64>,
    reflections: Reflections,
    own: OwnTexts,
    taught: Option<Taught>,
    /// Turn pairs: persona chat, topical chat, personality chat, QnA chitchat, ChatterBot.
    turns: Vec<Vec<TurnPair>>,
    turn_lists: WeightedIndex<f64>,
    sentences: Vec<String>,
    held_out: Vec<Example>,
}

impl Mixture {
    /// Prepares everything that is drawn from.
    pub(crate) fn new(corpora: Corpora, split: Split, exchanges: Exchanges, config: MixtureConfig, seed: u64) -> Result<Self> {
        config.check()?;
        let frames = Frames::load()?;
        let own_messages = messages(&split.train, &exchanges.train).map(|(text, tone)| Reflected::own(text, tone)).collect();
        let (reflections, unseen) = Reflections::new(&corpora, own_messages, frames);
        let held_out = held_out(&corpora, &split, &exchanges.validation, &reflections, &unseen);
        let labelled: Vec<Vec<Reflected>> =
            Tone::ALL.into_iter().map(Some).chain([None]).map(|tone| rows_of(&corpora.goemotions.train, tone)).collect();
        let balanced = |count: usize| (count as f64).powf(1.0 - config.tone_balance);
        let Corpora {
            persona_chat,
            topical_chat,
            personality_chat,
            qna_chitchat,
            chatterbot,
            common_voice,
            tatoeba,
            tinystories,
            storybooks,
            persona_facts,
            taught,
            ..
        } = corpora;
        // Small talk that takes nothing up from the message teaches to ignore it.
        let related = |pairs: Vec<TurnPair>| pairs.into_iter().filter(|pair| share_a_word(&pair.message, &pair.reply)).collect();
        let mut turns = vec![related(persona_chat), related(topical_chat), personality_chat, qna_chitchat, chatterbot];
        turns.iter_mut().for_each(|pairs: &mut Vec<TurnPair>| pairs.retain(|pair| !is_held_out(&pair.message)));
        let mut sentences = [common_voice, tatoeba, tinystories.train, storybooks, persona_facts].concat();
        sentences.retain(|sentence| !is_held_out(sentence));
        let taught = (config.taught_levels > 0.0).then(|| {
            if !taught.is_empty() {
                return Taught::as_they_come(taught.into_iter().filter(|taught| !is_held_out(&taught.text)).collect());
            }
            let teacher = teacher(&split, &exchanges);
            let said = turns.iter().flatten().map(|pair| pair.message.clone());
            Taught::new(&teacher, sentences.iter().cloned().chain(said))
        });
        ensure!(
            !split.train.is_empty() && labelled.iter().take(Tone::ALL.len()).all(|rows| !rows.is_empty()),
            "expected dialogues, and labelled texts of every tone, to train on"
        );
        Ok(Self {
            kinds: WeightedIndex::new(config.weights()).context("mixture: expected weights that are not all 0")?,
            tones: WeightedIndex::new(labelled.iter().map(|rows| if rows.is_empty() { 0.0 } else { balanced(rows.len()) }))?,
            turn_lists: WeightedIndex::new(
                TURN_WEIGHTS.iter().zip(&turns).map(|(weight, list)| if list.is_empty() { 0.0 } else { *weight }),
            )
            .context("expected turn pairs to train on")?,
            labelled,
            reflections,
            own: OwnTexts::new(split.train, exchanges.train),
            taught,
            turns,
            sentences,
            held_out,
            config,
            seed,
        })
    }

    /// The examples of one step.
    pub(crate) fn batch(&self, step: u64, size: usize) -> Vec<Example> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(step);
        (0..size).map(|_| self.example(&mut rng)).collect()
    }

    /// What is never trained on: labelled texts, dialogues with their flat and strong replies, reflections of unseen sentences.
    pub(crate) fn held_out(&self) -> &[Example] {
        &self.held_out
    }

    fn example(&self, rng: &mut ChaCha8Rng) -> Example {
        match Kind::ALL[self.kinds.sample(rng)] {
            Kind::Levels => self.labelled_text(rng),
            Kind::Reflection => self.reflections.draw(&self.config, rng),
            Kind::Dialogue => self.own.reply(&self.config, rng),
            Kind::NextTurn => self.next_turn(rng),
            Kind::Denoise => self.denoise(rng),
            Kind::Repeat => self.repeat(rng),
            Kind::Voiced => self.voiced(rng),
        }
    }

    fn labelled_text(&self, rng: &mut ChaCha8Rng) -> Example {
        if rng.random_bool(self.config.own_levels) {
            let (message, levels) = self.own.message(rng);
            let message = with_other_name(&[&message], rng).concat();
            return Example::unanswered(
                vary(&without_words(&message, self.config.lost_words, rng), SurfaceShares::FULL, rng),
                Some(levels),
            );
        }
        if let Some((text, tones)) =
            self.taught.as_ref().filter(|_| rng.random_bool(self.config.taught_levels)).and_then(|taught| taught.draw(rng))
        {
            let source = vary(&without_words(text, self.config.lost_words, rng), SurfaceShares::LIGHT, rng);
            return Example { target_tones: Some(*tones), ..Example::unanswered(source, Some(levels_of(tones))) };
        }
        let rows = &self.labelled[self.tones.sample(rng)];
        let row = &rows[rng.random_range(0..rows.len())];
        let reflective = row.reflection.is_some() && rng.random_bool(self.config.reflected_levels);
        if reflective {
            return Example { kind: Kind::Levels, ..self.reflections.reply(row, &self.config, rng) };
        }
        Example::unanswered(vary(&without_words(&row.text, self.config.lost_words, rng), SurfaceShares::LIGHT, rng), row.levels)
    }

    fn voiced(&self, rng: &mut ChaCha8Rng) -> Example {
        let reflective = if rng.random_bool(0.5) { self.reflections.voiced(&self.config, rng) } else { None };
        let (reply, levels) = reflective.unwrap_or_else(|| self.own.voiced(rng));
        Example::voiced(reply, levels)
    }

    fn next_turn(&self, rng: &mut ChaCha8Rng) -> Example {
        let list = self.turn_lists.sample(rng);
        let pair = &self.turns[list][rng.random_range(0..self.turns[list].len())];
        let (levels, alpha) = match pair.tone {
            Some(tone) if rng.random_bool(0.7) => (Some(jittered(tone, self.config.level_jitter, rng)), rng.random_range(MILD_ALPHA)),
            None if rng.random_bool(0.4) => {
                let tone = if rng.random_bool(0.5) { Tone::Friendly } else { Tone::Neutral };
                (Some(jittered(tone, self.config.level_jitter, rng)), rng.random_range(FAINT_ALPHA))
            }
            _ => (None, 0.0),
        };
        let source = vary(&pair.message, SurfaceShares::LIGHT, rng);
        Example {
            source,
            target: Some(pair.reply.clone()),
            target_levels: None,
            target_tones: None,
            reply_levels: levels,
            alpha: Some(alpha),
            kind: Kind::NextTurn,
        }
    }

    fn denoise(&self, rng: &mut ChaCha8Rng) -> Example {
        let sentence = &self.sentences[rng.random_range(0..self.sentences.len())];
        let corrupted = denoising::corrupt(sentence, rng);
        Example {
            source: corrupted.source,
            target: Some(corrupted.target),
            target_levels: None,
            target_tones: None,
            reply_levels: None,
            alpha: Some(0.0),
            kind: Kind::Denoise,
        }
    }

    fn repeat(&self, rng: &mut ChaCha8Rng) -> Example {
        let sentence = &self.sentences[rng.random_range(0..self.sentences.len())];
        let tone = Tone::ALL.choose(rng).copied().filter(|_| !rng.random_bool(self.config.flat));
        Example {
            source: vary(sentence, SurfaceShares::FULL, rng),
            target: Some(sentence.clone()),
            target_levels: None,
            target_tones: None,
            reply_levels: tone.map(|tone| jittered(tone, self.config.level_jitter, rng)),
            alpha: Some(if tone.is_some() { rng.random_range(MILD_ALPHA.start..=*STRONG_ALPHA.end()) } else { 0.0 }),
            kind: Kind::Repeat,
        }
    }
}

impl Corpora {
    /// GoEmotions' test rows of one tone: for the final figures only.
    pub(crate) fn goemotions_test(data: &std::path::Path) -> Result<Vec<Example>> {
        Ok(Self::goemotions(data)?.test.iter().filter_map(Example::levels).collect())
    }
}

/// Our own messages with their tones.
fn messages<'a>(dialogues: &'a [Dialogue], exchanges: &'a [Exchange]) -> impl Iterator<Item = (&'a str, Tone)> {
    let of_dialogues = dialogues.iter().map(|dialogue| (dialogue.input.as_str(), dialogue.tone));
    of_dialogues.chain(exchanges.iter().map(|exchange| (exchange.input.as_str(), exchange.tone)))
}

/// The word teacher of our own messages, and on standard error how well it reads those held out.
fn teacher(split: &Split, exchanges: &Exchanges) -> WordTeacher {
    let train: Vec<(&str, Tone)> = messages(&split.train, &exchanges.train).collect();
    let teacher = WordTeacher::learn(&train, SPLIT_SEED);
    let held_out: Vec<(&str, Tone)> = messages(&split.validation, &exchanges.validation).collect();
    let right = held_out.iter().filter(|(text, tone)| Tone::nearest(teacher.levels(text)) == *tone).count();
    eprintln!("The word teacher reads {right} of {} held-out messages rightly.", held_out.len());
    teacher
}

/// Each word is lost with probability `share`; one at least stays.
fn without_words(text: &str, share: f64, rng: &mut impl Rng) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let kept: Vec<&str> = words.iter().copied().filter(|_| !rng.random_bool(share)).collect();
    if kept.is_empty() { words.choose(rng).copied().unwrap_or_default().to_string() } else { kept.join(" ") }
}

/// A tone's levels, each moved by at most `jitter`.
fn jittered(tone: Tone, jitter: f32, rng: &mut impl Rng) -> HormoneLevels {
    let levels = tone.levels().to_array();
    levels.map(|level| if jitter > 0.0 { (level + rng.random_range(-jitter..jitter)).clamp(0.0, 1.0) } else { level }).into()
}

fn rows_of(rows: &[LabelledText], tone: Option<Tone>) -> Vec<Reflected> {
    let rows = rows.iter().filter(|row| row.tone == tone).map(Reflected::labelled);
    rows.filter(|row| row.reflection.is_none() || !is_held_out(&row.text)).collect()
}

fn held_out(corpora: &Corpora, split: &Split, exchanges: &[Exchange], reflections: &Reflections, unseen: &[Reflected]) -> Vec<Example> {
    let rows: Vec<Example> = corpora.goemotions.dev.iter().filter_map(Example::levels).collect();
    let step = rows.len().div_ceil(WATCHED_ROWS).max(1);
    let mut examples: Vec<Example> = rows.into_iter().step_by(step).collect();
    for dialogue in &split.validation {
        let mut replies = Example::of_every_strength(dialogue);
        replies.iter_mut().skip(1).for_each(|example| example.target_levels = None);
        examples.extend(replies);
    }
    examples.extend(exchanges.iter().flat_map(Example::of_exchange));
    examples.extend(reflections.held_out(unseen));
    // A mild reply is as near to neutral as to its tone.
    let plain = own::voiced(&split.validation, exchanges).into_iter().filter(|(_, levels)| Tone::nearest(*levels).levels() == *levels);
    examples.extend(plain.map(|(reply, levels)| Example::voiced(reply, levels)));
    examples.retain(|example| example.target.as_deref().is_none_or(|reply| !is_coarse(reply)));
    examples
}

/// Whether a text is held out, by its own words.
fn is_held_out(text: &str) -> bool {
    stable_hash(&text.to_lowercase(), 0).is_multiple_of(100)
}

#[cfg(test)]
mod tests;
