//! Texts without a label, with the tones that a teacher reads in them.

use hormone_t5::Tone;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::corpora::TaughtText;
use crate::teacher::{WordTeacher, levels_of};

/// Longest text that is taught, in bytes.
const LONGEST: usize = 200;

/// Most texts of a tone: what others write is mostly neutral.
const MOST_OF_A_TONE: usize = 30_000;

/// The texts, in lists of which each is drawn as often as any other.
#[derive(Clone, Debug)]
pub(super) struct Taught {
    lists: Vec<Vec<TaughtText>>,
}

impl Taught {
    /// What a teacher elsewhere has read.
    pub(super) fn as_they_come(texts: Vec<TaughtText>) -> Self {
        Self { lists: vec![texts] }
    }

    /// Has `teacher` read `texts`, every tone as often as any other; a tone without texts is left out.
    pub(super) fn new(teacher: &WordTeacher, texts: impl IntoIterator<Item = String>) -> Self {
        let mut lists = vec![Vec::new(); Tone::ALL.len()];
        for text in texts.into_iter().filter(|text| text.len() <= LONGEST) {
            let tones = teacher.probabilities(&text);
            let of_tone = &mut lists[Tone::nearest(levels_of(&tones)) as usize];
            if of_tone.len() < MOST_OF_A_TONE {
                of_tone.push(TaughtText { text, tones });
            }
        }
        lists.retain(|texts| !texts.is_empty());
        Self { lists }
    }

    /// One of them, with how likely each tone is.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> Option<(&str, &[f32; Tone::ALL.len()])> {
        let TaughtText { text, tones } = self.lists.choose(rng)?.choose(rng)?;
        Some((text, tones))
    }
}
