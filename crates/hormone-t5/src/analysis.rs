//! Plain results: what the page, the command line and the tests see of the model. No tensors.

use serde::{Deserialize, Serialize};

/// The six hormones, in the order used everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hormone {
    /// Reward and drive.
    Dopamine,
    /// Calm and contentment.
    Serotonin,
    /// Stress.
    Cortisol,
    /// Closeness.
    Oxytocin,
    /// Arousal.
    Adrenaline,
    /// Pleasure and relief.
    Endorphins,
}

impl Hormone {
    /// All six, in order.
    pub const ALL: [Self; 6] = [Self::Dopamine, Self::Serotonin, Self::Cortisol, Self::Oxytocin, Self::Adrenaline, Self::Endorphins];

    /// Place in [`Self::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Lower-case English name, as in checkpoints and JSON.
    pub fn name(self) -> &'static str {
        ["dopamine", "serotonin", "cortisol", "oxytocin", "adrenaline", "endorphins"][self.index()]
    }
}

/// One number for each hormone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct HormoneLevels {
    /// Reward and drive.
    pub dopamine: f32,
    /// Calm and contentment.
    pub serotonin: f32,
    /// Stress.
    pub cortisol: f32,
    /// Closeness.
    pub oxytocin: f32,
    /// Arousal.
    pub adrenaline: f32,
    /// Pleasure and relief.
    pub endorphins: f32,
}

impl HormoneLevels {
    /// As numbers in the order of [`Hormone::ALL`].
    pub fn to_array(self) -> [f32; 6] {
        [self.dopamine, self.serotonin, self.cortisol, self.oxytocin, self.adrenaline, self.endorphins]
    }

    /// The level of one hormone.
    pub fn get(self, hormone: Hormone) -> f32 {
        self.to_array()[hormone.index()]
    }

    /// Euclidean distance to other levels; at most sqrt(6).
    pub fn distance(self, other: Self) -> f32 {
        self.to_array().iter().zip(other.to_array()).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
    }

    /// These levels with every `Some` of `overrides` put in its place.
    pub fn overridden(self, overrides: [Option<f32>; 6]) -> Self {
        let mut levels = self.to_array();
        for (level, value) in levels.iter_mut().zip(overrides) {
            *level = value.unwrap_or(*level);
        }
        levels.into()
    }
}

impl From<[f32; 6]> for HormoneLevels {
    fn from([dopamine, serotonin, cortisol, oxytocin, adrenaline, endorphins]: [f32; 6]) -> Self {
        Self { dopamine, serotonin, cortisol, oxytocin, adrenaline, endorphins }
    }
}

/// The five tones the paper trains on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Warm and kind.
    Friendly,
    /// Matter-of-fact.
    Neutral,
    /// Hostile.
    Rude,
    /// Sorrowful.
    Sad,
    /// Thrilled.
    Excited,
}

impl Tone {
    /// All five, in the paper's order.
    pub const ALL: [Self; 5] = [Self::Friendly, Self::Neutral, Self::Rude, Self::Sad, Self::Excited];

    /// Lower-case English name, as in data and JSON.
    pub fn name(self) -> &'static str {
        ["friendly", "neutral", "rude", "sad", "excited"][self as usize]
    }

    /// The paper's target levels of this tone.
    pub fn levels(self) -> HormoneLevels {
        match self {
            Self::Friendly => [0.95, 0.90, 0.05, 0.90, 0.10, 0.95],
            Self::Neutral => [0.50, 0.50, 0.30, 0.50, 0.30, 0.50],
            Self::Rude => [0.05, 0.05, 0.95, 0.05, 0.95, 0.05],
            Self::Sad => [0.10, 0.15, 0.60, 0.90, 0.20, 0.10],
            Self::Excited => [0.95, 0.85, 0.05, 0.70, 0.90, 0.95],
        }
        .into()
    }

    /// The tone whose target levels are nearest to `levels` (Euclidean).
    pub fn nearest(levels: HormoneLevels) -> Self {
        let mut nearest = Self::Friendly;
        for tone in Self::ALL {
            if tone.levels().distance(levels) < nearest.levels().distance(levels) {
                nearest = tone;
            }
        }
        nearest
    }
}

/// One token of a text.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct SourceToken {
    /// Vocabulary id.
    pub id: u32,
    /// The piece as the vocabulary writes it, with `▁` for a leading space.
    pub piece: String,
    /// Bytes `start..end` of the user's text; empty for the end token and the prompt prefix.
    pub start: usize,
    /// See `start`.
    pub end: usize,
    /// Counts the words of the text from 0; `None` for the end token and the prompt prefix.
    pub word: Option<usize>,
}

/// A character the vocabulary does not know.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct UnknownMark {
    /// The text that became the unknown token.
    pub text: String,
    /// Byte offset in the user's text.
    pub start: usize,
}

/// What the encoder and the block say of a text, before any reply.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Analysis {
    /// The text as it came.
    pub text: String,
    /// The tokens the model saw, prompt prefix and end token included.
    pub tokens: Vec<SourceToken>,
    /// Predicted levels, 0 to 1.
    pub levels: HormoneLevels,
    /// Nearest of the five tones.
    pub tone: Tone,
    /// `attention[hormone][head][token]`; each row sums to 1.
    pub attention: Vec<Vec<Vec<f32>>>,
    /// Characters the vocabulary does not know.
    pub unknown: Vec<UnknownMark>,
    /// Whether the text was longer than the model reads, and its end was dropped.
    pub truncated: bool,
    /// The model's learned alpha.
    pub learned_alpha: f32,
}
