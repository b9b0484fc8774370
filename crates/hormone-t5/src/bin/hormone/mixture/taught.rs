//! Texts of others without a label, with the levels that a teacher reads in them.

use hormone_t5::{HormoneLevels, Tone};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::teacher::WordTeacher;

/// Longest text that is taught, in bytes.
const LONGEST: usize = 200;

/// Most texts of a tone: what others write is mostly neutral.
const MOST_OF_A_TONE: usize = 30_000;

/// The texts, by the tone that their levels are nearest to; a tone without texts is left out.
#[derive(Clone, Debug)]
pub(super) struct Taught {
    by_tone: Vec<Vec<(String, HormoneLevels)>>,
}

impl Taught {
    /// Has `teacher` read `texts`.
    pub(super) fn new(teacher: &WordTeacher, texts: impl IntoIterator<Item = String>) -> Self {
        let mut by_tone = vec![Vec::new(); Tone::ALL.len()];
        for text in texts.into_iter().filter(|text| text.len() <= LONGEST) {
            let levels = teacher.levels(&text);
            let of_tone = &mut by_tone[Tone::nearest(levels) as usize];
            if of_tone.len() < MOST_OF_A_TONE {
                of_tone.push((text, levels));
            }
        }
        by_tone.retain(|texts| !texts.is_empty());
        Self { by_tone }
    }

    /// One of them, every tone as often as any other.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> Option<(&str, HormoneLevels)> {
        let texts = self.by_tone.choose(rng)?;
        let (text, levels) = &texts[rng.random_range(0..texts.len())];
        Some((text, *levels))
    }
}
