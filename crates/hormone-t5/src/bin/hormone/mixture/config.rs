//! The mixture's weights and shares: `[mixture]` in `configs/*.toml`.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// How often what is drawn.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MixtureConfig {
    /// Weight of labelled texts.
    pub(crate) levels: f64,
    /// Weight of reflective replies.
    pub(crate) reflection: f64,
    /// Weight of our own dialogues.
    pub(crate) dialogue: f64,
    /// Weight of next turns.
    pub(crate) next_turn: f64,
    /// Weight of sentences with lost words.
    pub(crate) denoise: f64,
    /// Weight of messages to be repeated.
    pub(crate) repeat: f64,
    /// Weight of replies, written and reflective ones, to be read for the levels that they show.
    pub(crate) voiced: f64,
    /// Share of flat replies at alpha 0 among reflections and dialogues.
    pub(crate) flat: f64,
    /// Share of reflections of our own messages among all.
    pub(crate) own_reflections: f64,
    /// Share of flat reflections and of the exchanges' flat replies that come under some levels at a strength near 0.
    pub(crate) faint_flat: f64,
    /// Share of single exchanges among our own dialogues.
    pub(crate) exchanges: f64,
    /// Share of dialogues whose strong reply comes under the learned alpha and the predicted levels.
    pub(crate) learned_alpha: f64,
    /// Share of dialogues answered in another tone than their own, where such replies were written.
    pub(crate) other_tones: f64,
    /// Share of replies in the message's own tone that are modulated by the predicted levels.
    pub(crate) predicted_levels: f64,
    /// Share of labelled texts with a reflective reply, where the text can be turned.
    pub(crate) reflected_levels: f64,
    /// Share of level examples that come from our own dialogues.
    pub(crate) own_levels: f64,
    /// Share of texts that a teacher read, the word teacher unless `--taught` names another's, among the other level examples.
    pub(crate) taught_levels: f64,
    /// Share of words lost from messages of which only the levels are learnt: what a few words show should not hang on one of them.
    pub(crate) lost_words: f64,
    /// How evenly the tones of labelled texts are drawn: 0 as they come, 1 all alike.
    pub(crate) tone_balance: f64,
    /// Farthest that a given level is moved from its tone's.
    pub(crate) level_jitter: f32,
}

impl Default for MixtureConfig {
    fn default() -> Self {
        Self {
            levels: 0.30,
            reflection: 0.40,
            dialogue: 0.14,
            next_turn: 0.10,
            denoise: 0.03,
            repeat: 0.03,
            voiced: 0.0,
            flat: 0.25,
            own_reflections: 0.0,
            faint_flat: 0.0,
            exchanges: 0.5,
            learned_alpha: 0.15,
            other_tones: 0.35,
            predicted_levels: 0.3,
            reflected_levels: 0.5,
            own_levels: 0.0,
            taught_levels: 0.0,
            lost_words: 0.0,
            tone_balance: 0.3,
            level_jitter: 0.04,
        }
    }
}

impl MixtureConfig {
    /// Weights in the order of [`super::Kind::ALL`].
    pub(super) fn weights(&self) -> [f64; 7] {
        [self.levels, self.reflection, self.dialogue, self.next_turn, self.denoise, self.repeat, self.voiced]
    }

    pub(super) fn check(&self) -> Result<()> {
        let shares = [
            ("flat", self.flat),
            ("own_reflections", self.own_reflections),
            ("faint_flat", self.faint_flat),
            ("exchanges", self.exchanges),
            ("learned_alpha", self.learned_alpha),
            ("flat + learned_alpha", self.flat + self.learned_alpha),
            ("other_tones", self.other_tones),
            ("predicted_levels", self.predicted_levels),
            ("reflected_levels", self.reflected_levels),
            ("own_levels", self.own_levels),
            ("taught_levels", self.taught_levels),
            ("lost_words", self.lost_words),
            ("tone_balance", self.tone_balance),
            ("level_jitter", f64::from(self.level_jitter)),
        ];
        for (name, share) in shares {
            ensure!((0.0..=1.0).contains(&share), "mixture: {name} is {share}, but must be from 0 to 1");
        }
        ensure!(self.weights().iter().all(|weight| *weight >= 0.0), "mixture: weights must not be negative, but are {:?}", self.weights());
        Ok(())
    }
}
