//! Reflective replies as examples: whose sentence, which tone, how strong.

use std::collections::HashSet;

use hormone_t5::{HormoneLevels, Tone};
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    Example, FAINT_ALPHA, Kind, MILD_ALPHA, MixtureConfig, STRONG_ALPHA, WATCHED_MILD_ALPHA, WATCHED_STRONG_ALPHA, is_held_out, jittered,
};
use crate::corpora::{Corpora, LabelledText, is_coarse, word_count};
use crate::dialogues::{SurfaceShares, Voice, vary};
use crate::reflection::{Frames, Reflection, Strength, Subject, is_delicate, reflect};

/// Longest message with a reflection, in words.
const LONGEST: usize = 26;

/// How often sentences about their writer, the listener and others are drawn.
const SUBJECTS: [(Subject, f64); 3] = [(Subject::Writer, 0.74), (Subject::Listener, 0.10), (Subject::Other, 0.16)];

/// Unseen sentences held out, at most.
const WATCHED_SENTENCES: usize = 300;

/// Tones that are right for grief, illness and what people are.
const GENTLE: [Tone; 3] = [Tone::Friendly, Tone::Neutral, Tone::Sad];

/// A text, turned round where that is possible.
#[derive(Clone, Debug)]
pub(super) struct Reflected {
    pub(super) text: String,
    /// Its own tone, where it is known.
    pub(super) tone: Option<Tone>,
    /// The levels the block is to read in it, where they are known.
    pub(super) levels: Option<HormoneLevels>,
    pub(super) reflection: Option<Reflection>,
    delicate: bool,
}

impl Reflected {
    pub(super) fn unlabelled(text: &str) -> Self {
        let short = word_count(text) <= LONGEST && !is_coarse(text);
        let reflection = short.then(|| reflect(text)).flatten();
        Self { text: text.to_string(), tone: None, levels: None, reflection, delicate: is_delicate(text) }
    }

    pub(super) fn labelled(row: &LabelledText) -> Self {
        Self { tone: row.tone, levels: Some(row.levels), ..Self::unlabelled(&row.text) }
    }

    /// A message of our own.
    pub(super) fn own(text: &str, tone: Tone) -> Self {
        Self { tone: Some(tone), levels: Some(tone.levels()), ..Self::unlabelled(text) }
    }

    fn subject(&self) -> Option<Subject> {
        self.reflection.as_ref().map(|reflection| reflection.subject)
    }
}

/// All sentences that can be turned, by subject.
#[derive(Clone, Debug)]
pub(super) struct Reflections {
    frames: Frames,
    own: BySubject,
    others: BySubject,
}

impl Reflections {
    /// Turns every sentence of the corpora, and `own` messages, all of which may be trained on; the second part is never trained on.
    pub(super) fn new(corpora: &Corpora, own: Vec<Reflected>, frames: Frames) -> (Self, Vec<Reflected>) {
        let mut seen = HashSet::new();
        let plain = corpora.possible_first_person().map(Reflected::unlabelled);
        let labelled = corpora.goemotions.train.iter().map(Reflected::labelled);
        let all: Vec<Reflected> = labelled
            .chain(plain)
            .filter(|reflected| reflected.reflection.is_some() && seen.insert(reflected.text.to_lowercase()))
            .collect();
        let (unseen, all): (Vec<Reflected>, Vec<Reflected>) = all.into_iter().partition(|reflected| is_held_out(&reflected.text));
        (Self { frames, own: BySubject::new(own), others: BySubject::new(all) }, unseen)
    }

    /// One of the sentences with a reply.
    pub(super) fn draw(&self, config: &MixtureConfig, rng: &mut ChaCha8Rng) -> Example {
        let Some(reflected) = self.reflected(config, rng) else {
            return Example { kind: Kind::Reflection, ..Example::unanswered(String::new(), None) };
        };
        self.reply(reflected, config, rng)
    }

    fn reflected(&self, config: &MixtureConfig, rng: &mut ChaCha8Rng) -> Option<&Reflected> {
        let own = if rng.random_bool(config.own_reflections) { self.own.draw(rng) } else { None };
        own.or_else(|| self.others.draw(rng))
    }

    /// A message with a reply: flat at alpha 0, else of a tone that mostly has nothing to do with the message.
    pub(super) fn reply(&self, reflected: &Reflected, config: &MixtureConfig, rng: &mut ChaCha8Rng) -> Example {
        let example = Example {
            source: vary(&reflected.text, SurfaceShares::FULL, rng),
            target: None,
            target_levels: reflected.levels,
            target_tones: None,
            reply_levels: None,
            alpha: Some(0.0),
            kind: Kind::Reflection,
        };
        let Some(reflection) = &reflected.reflection else { return example };
        let tones = if reflected.delicate { GENTLE.as_slice() } else { Tone::ALL.as_slice() };
        if rng.random_bool(config.flat) {
            let target = Some(self.frames.reply(reflection, Tone::Neutral, Strength::Flat, rng));
            // At a strength near 0 any levels leave a reply as flat as none.
            let faint = Some(Tone::ALL[rng.random_range(0..Tone::ALL.len())]).filter(|_| rng.random_bool(config.faint_flat));
            let alpha = Some(if faint.is_some() { rng.random_range(FAINT_ALPHA) } else { 0.0 });
            return Example { target, reply_levels: faint.map(|tone| jittered(tone, config.level_jitter, rng)), alpha, ..example };
        }
        // The predicted levels must be able to steer as well: then the reply takes the message's own tone.
        let own = reflected.tone.filter(|tone| tones.contains(tone) && rng.random_bool(config.predicted_levels));
        let tone = own.or_else(|| tones.choose(rng).copied()).unwrap_or(Tone::Neutral);
        let alpha = rng.random_range(MILD_ALPHA.start..=*STRONG_ALPHA.end());
        let strength = if MILD_ALPHA.contains(&alpha) { Strength::Mild } else { Strength::Strong };
        let reply_levels = own.is_none().then(|| jittered(tone, config.level_jitter, rng));
        Example { target: Some(self.frames.reply(reflection, tone, strength, rng)), reply_levels, alpha: Some(alpha), ..example }
    }

    /// A reflective reply, with the levels that its frame shows, as something to read.
    pub(super) fn voiced(&self, config: &MixtureConfig, rng: &mut ChaCha8Rng) -> Option<(String, HormoneLevels)> {
        let reflection = self.reflected(config, rng)?.reflection.as_ref()?;
        let tone = *Tone::ALL.choose(rng)?;
        let (strength, voice) =
            *[(Strength::Flat, Voice::Flat), (Strength::Mild, Voice::Mild(tone)), (Strength::Strong, Voice::Strong(tone))].choose(rng)?;
        Some((self.frames.reply(reflection, tone, strength, rng), voice.levels()))
    }

    /// Unseen sentences as they are, tones and strengths in turn; every frame drawn from a fixed seed.
    pub(super) fn held_out(&self, unseen: &[Reflected]) -> Vec<Example> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let step = unseen.len().div_ceil(WATCHED_SENTENCES).max(1);
        let mut examples = Vec::new();
        for (index, reflected) in unseen.iter().step_by(step).enumerate() {
            let Some(reflection) = &reflected.reflection else { continue };
            let tone = if reflected.delicate { GENTLE[index % GENTLE.len()] } else { Tone::ALL[index % Tone::ALL.len()] };
            let (strength, alpha) = [(Strength::Strong, WATCHED_STRONG_ALPHA), (Strength::Mild, WATCHED_MILD_ALPHA), (Strength::Flat, 0.0)]
                [index / Tone::ALL.len() % 3];
            examples.push(Example {
                source: reflected.text.clone(),
                target: Some(self.frames.reply(reflection, tone, strength, &mut rng)),
                target_levels: None,
                target_tones: None,
                reply_levels: (alpha > 0.0).then(|| tone.levels()),
                alpha: Some(alpha),
                kind: Kind::Reflection,
            });
        }
        examples
    }

    /// How many sentences of others there are about each subject.
    #[cfg(test)]
    pub(super) fn counts(&self) -> Vec<(Subject, usize)> {
        SUBJECTS.iter().zip(&self.others.lists).map(|((subject, _), list)| (*subject, list.len())).collect()
    }
}

/// Sentences by whom they are about.
#[derive(Clone, Debug)]
struct BySubject {
    lists: Vec<Vec<Reflected>>,
    /// `None` where there is no sentence at all.
    subjects: Option<WeightedIndex<f64>>,
}

impl BySubject {
    fn new(sentences: Vec<Reflected>) -> Self {
        let of = |subject: Subject| sentences.iter().filter(|sentence| sentence.subject() == Some(subject)).cloned().collect();
        let lists: Vec<Vec<Reflected>> = SUBJECTS.iter().map(|(subject, _)| of(*subject)).collect();
        let weights = SUBJECTS.iter().zip(&lists).map(|((_, weight), list)| if list.is_empty() { 0.0 } else { *weight });
        Self { subjects: WeightedIndex::new(weights).ok(), lists }
    }

    fn draw(&self, rng: &mut ChaCha8Rng) -> Option<&Reflected> {
        self.lists[self.subjects.as_ref()?.sample(rng)].choose(rng)
    }
}
