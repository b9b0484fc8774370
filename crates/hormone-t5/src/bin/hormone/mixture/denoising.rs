//! Span corruption (T5, Raffel et al. 2020) on whole words: 15 % are lost, in spans of two or three where there are enough; each span leaves a
//! sentinel in the source, and the target holds every sentinel with its words and a last one to end with.

use rand::Rng;

use crate::tokenizer_training::{SENTINELS, sentinel};

const LOST_SHARE: f64 = 0.15;
const MEAN_SPAN: f64 = 2.5;

/// A sentence with holes, and what was in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Corrupted {
    pub(super) source: String,
    pub(super) target: String,
}

pub(super) fn corrupt(sentence: &str, rng: &mut impl Rng) -> Corrupted {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let lost = lost_places(words.len(), rng);
    let (mut source, mut target) = (Vec::new(), Vec::new());
    let mut spans = 0;
    for (place, word) in words.iter().enumerate() {
        if !lost[place] {
            source.push((*word).to_string());
            continue;
        }
        if place == 0 || !lost[place - 1] {
            source.push(sentinel(spans));
            target.push(sentinel(spans));
            spans += 1;
        }
        target.push((*word).to_string());
    }
    target.push(sentinel(spans));
    Corrupted { source: source.join(" "), target: target.join(" ") }
}

/// Which words are lost: at least one, never all of several, in spans that do not touch.
fn lost_places(words: usize, rng: &mut impl Rng) -> Vec<bool> {
    let mut lost = vec![false; words];
    let count = ((words as f64 * LOST_SHARE).round() as usize).clamp(1, words.max(2) - 1);
    let spans = ((count as f64 / MEAN_SPAN).round() as usize).clamp(1, SENTINELS - 1);
    // The kept words part the spans: as many cuts among the lost and among the kept words as there are spans.
    let lengths: Vec<usize> = (0..spans).map(|index| count / spans + usize::from(index < count % spans)).collect();
    let mut free = words.saturating_sub(count + spans - 1);
    let mut place = 0;
    for (index, length) in lengths.iter().enumerate() {
        let left = spans - index;
        let gap = if left == 1 { rng.random_range(0..=free) } else { rng.random_range(0..=2 * free / left).min(free) };
        free -= gap;
        place += gap;
        for mark in lost.iter_mut().skip(place).take(*length) {
            *mark = true;
        }
        place += length + 1;
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The sentence, from its two halves.
    fn mended(corrupted: &Corrupted) -> String {
        let mut text = corrupted.source.clone();
        for index in 0.. {
            let Some((_, rest)) = corrupted.target.split_once(&sentinel(index)) else { break };
            let words = rest.split('<').next().unwrap_or_default().trim().to_string();
            text = text.replace(&sentinel(index), &words);
        }
        text
    }

    #[test]
    fn source_and_target_hold_the_sentence_together() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for count in 1..60 {
            let sentence: String = (0..count).map(|index| format!("w{index}")).collect::<Vec<_>>().join(" ");
            let corrupted = corrupt(&sentence, &mut rng);
            assert_eq!(mended(&corrupted), sentence, "{corrupted:?}");
            let kept = corrupted.source.split(' ').filter(|word| !word.starts_with('<')).count();
            let lost = count - kept;
            assert!(lost >= 1 && lost.abs_diff((count as f64 * LOST_SHARE).round() as usize) <= 1, "{corrupted:?}");
        }
    }

    #[test]
    fn every_word_may_be_lost() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut seen = [false; 30];
        for _ in 0..500 {
            for (mark, lost) in seen.iter_mut().zip(lost_places(30, &mut rng)) {
                *mark |= lost;
            }
        }
        assert!(seen.iter().all(|seen| *seen), "{seen:?}");
    }
}
