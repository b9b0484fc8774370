//! A teacher that counts words: multinomial logistic regression on words, pairs of words and groups of letters, weighted by how rare they are.
//!
//! From a few thousand messages it reads the tone of unseen ones better than a network does that starts from random weights. So it says what texts
//! without a label show, and the network learns from those as well.

use std::collections::HashMap;

use hormone_t5::{HormoneLevels, Tone};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::dialogues::stable_hash;

/// Places that words and groups are hashed to.
const BUCKETS: u64 = 1 << 18;
const EPOCHS: usize = 15;
/// AdaGrad's.
const RATE: f32 = 0.5;
/// Lengths of groups of letters, a word's borders included.
const GROUPS: std::ops::RangeInclusive<usize> = 2..=4;
/// Probabilities are raised to this power: means of tones that differ say little.
const SHARPNESS: i32 = 2;

const TONES: usize = Tone::ALL.len();

/// What has been learnt.
#[derive(Clone, Debug)]
pub(crate) struct WordTeacher {
    rarity: HashMap<u32, f32>,
    weights: HashMap<u32, [f32; TONES]>,
    bias: [f32; TONES],
}

/// Places and values of a text.
type Features = Vec<(u32, f32)>;

impl WordTeacher {
    /// Learns from messages with their tone.
    pub(crate) fn learn(texts: &[(&str, Tone)], seed: u64) -> Self {
        let counted: Vec<[HashMap<u32, f32>; 2]> = texts.iter().map(|(text, _)| counts(text)).collect();
        let mut occurs: HashMap<u32, f32> = HashMap::new();
        for place in counted.iter().flatten().flat_map(HashMap::keys) {
            *occurs.entry(*place).or_default() += 1.0;
        }
        let count = texts.len() as f32;
        let rarity = occurs.into_iter().map(|(place, texts)| (place, ((1.0 + count) / (1.0 + texts)).ln() + 1.0)).collect();
        let mut teacher = Self { rarity, weights: HashMap::new(), bias: [0.0; TONES] };
        let features: Vec<Features> = counted.into_iter().map(|counts| teacher.weighted(counts)).collect();

        let mut squares: HashMap<u32, [f32; TONES]> = HashMap::new();
        let mut bias_squares = [1e-6; TONES];
        let mut order: Vec<usize> = (0..texts.len()).collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..EPOCHS {
            order.shuffle(&mut random);
            for index in &order {
                let mut errors = teacher.probabilities_of(&features[*index]);
                errors[texts[*index].1 as usize] -= 1.0;
                step(&mut teacher.bias, &mut bias_squares, &errors, 1.0);
                for (place, value) in &features[*index] {
                    let squares = squares.entry(*place).or_insert([1e-6; TONES]);
                    step(teacher.weights.entry(*place).or_default(), squares, &errors, *value);
                }
            }
        }
        teacher
    }

    /// How likely each tone is, in the order of [`Tone::ALL`].
    pub(crate) fn probabilities(&self, text: &str) -> [f32; TONES] {
        self.probabilities_of(&self.weighted(counts(text)))
    }

    /// The levels of what it reads in a text.
    pub(crate) fn levels(&self, text: &str) -> HormoneLevels {
        levels_of(&self.probabilities(text))
    }

    fn probabilities_of(&self, features: &[(u32, f32)]) -> [f32; TONES] {
        let mut scores = self.bias;
        for (place, value) in features {
            let Some(weights) = self.weights.get(place) else { continue };
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * value);
        }
        let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let exponentials = scores.map(|score| (score - max).exp());
        let sum: f32 = exponentials.iter().sum();
        exponentials.map(|exponential| exponential / sum)
    }

    /// Counts as logarithms, times rarity; words and groups are scaled to length 1 each.
    fn weighted(&self, counts: [HashMap<u32, f32>; 2]) -> Features {
        let mut features = Features::new();
        for counts in counts {
            let known = counts.into_iter().filter_map(|(place, count)| Some((place, (1.0 + count.ln()) * self.rarity.get(&place)?)));
            let mut values: Features = known.collect();
            // Sums must not depend on a map's order.
            values.sort_unstable_by_key(|(place, _)| *place);
            let length = values.iter().map(|(_, value)| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            features.extend(values.into_iter().map(|(place, value)| (place, value / length)));
        }
        features
    }
}

/// The tones' levels, weighted by how likely they are, in the order of [`Tone::ALL`].
pub(crate) fn levels_of(probabilities: &[f32; TONES]) -> HormoneLevels {
    let sharp = probabilities.map(|probability| probability.powi(SHARPNESS));
    let sum = sharp.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let levels = Tone::ALL.map(|tone| tone.levels().to_array());
    HormoneLevels::from(std::array::from_fn(|place| levels.iter().zip(sharp).map(|(levels, share)| levels[place] * share / sum).sum()))
}

fn step(weights: &mut [f32; TONES], squares: &mut [f32; TONES], errors: &[f32; TONES], value: f32) {
    for ((weight, square), error) in weights.iter_mut().zip(squares).zip(errors) {
        let gradient = error * value;
        *square += gradient * gradient;
        *weight -= RATE * gradient / square.sqrt();
    }
}

/// How often words and pairs of words, and how often groups of letters occur.
fn counts(text: &str) -> [HashMap<u32, f32>; 2] {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let (mut of_words, mut of_groups) = (HashMap::new(), HashMap::new());
    let plain: Vec<&str> = words.iter().map(|word| word.trim_matches(|mark: char| !mark.is_alphanumeric())).collect();
    let count = |counts: &mut HashMap<u32, f32>, kind: u64, part: &str| {
        *counts.entry((stable_hash(part, kind) % BUCKETS) as u32).or_default() += 1.0;
    };
    plain.iter().filter(|word| !word.is_empty()).for_each(|word| count(&mut of_words, 1, word));
    plain.windows(2).for_each(|pair| count(&mut of_words, 1, &pair.join(" ")));
    for word in words {
        let letters: Vec<char> = format!(" {word} ").chars().collect();
        for length in GROUPS {
            letters.windows(length).for_each(|group| count(&mut of_groups, 2, &group.iter().collect::<String>()));
        }
    }
    [of_words, of_groups]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(&str, Tone); 6] = [
        ("my cat died and I miss her", Tone::Sad),
        ("I miss my old school so much", Tone::Sad),
        ("we won the cup!!!", Tone::Excited),
        ("we won, I can't believe it!!!", Tone::Excited),
        ("the bus leaves at nine", Tone::Neutral),
        ("the shop opens at ten", Tone::Neutral),
    ];

    #[test]
    fn the_teacher_reads_unseen_messages_by_their_words() {
        let teacher = WordTeacher::learn(&TEXTS, 1);
        for (text, tone) in [("I miss the cat", Tone::Sad), ("they won!!!", Tone::Excited), ("the school opens at nine", Tone::Neutral)] {
            let probabilities = teacher.probabilities(text);
            assert!((probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert_eq!(Tone::nearest(teacher.levels(text)), tone, "{text}: {probabilities:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_teacher() {
        let levels = || WordTeacher::learn(&TEXTS, 3).levels("I miss the cup");
        assert_eq!(levels(), levels());
    }

    #[test]
    fn a_text_of_unknown_words_has_levels_too() {
        let levels = WordTeacher::learn(&TEXTS, 1).levels("zzz");
        assert!(levels.to_array().iter().all(|level| (0.0..=1.0).contains(level)));
    }
}
