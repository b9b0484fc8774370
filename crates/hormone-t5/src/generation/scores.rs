//! Rules on scores, in Hugging Face's order (repetition, n-grams, minimum length, then temperature, top-k, top-p), and the seeded draw.

use std::cmp::Ordering;

use rand::Rng;

use super::GenerationConfig;
use crate::ops::log_sum_exp;

/// The rules that look at the tokens so far.
#[derive(Clone, Copy, Debug)]
pub struct ScoreRules {
    repetition_penalty: f32,
    no_repeat_ngram_size: usize,
    min_new_tokens: usize,
    eos: u32,
}

impl ScoreRules {
    /// The rules of `config`, for a vocabulary with this end token.
    pub fn new(config: &GenerationConfig, eos: u32) -> Self {
        Self {
            repetition_penalty: config.repetition_penalty,
            no_repeat_ngram_size: config.no_repeat_ngram_size,
            min_new_tokens: config.min_new_tokens,
            eos,
        }
    }

    /// Changes `scores [V]` after `ids`, the start token first.
    pub fn apply(&self, scores: &mut [f32], ids: &[u32]) {
        if self.repetition_penalty != 1.0 {
            let mut seen = ids.to_vec();
            seen.sort_unstable();
            seen.dedup();
            for id in seen {
                let score = &mut scores[id as usize];
                *score = if *score < 0.0 { *score * self.repetition_penalty } else { *score / self.repetition_penalty };
            }
        }
        for id in self.repeated(ids) {
            scores[id as usize] = f32::NEG_INFINITY;
        }
        if ids.len() < self.min_new_tokens + 1 {
            scores[self.eos as usize] = f32::NEG_INFINITY;
        }
    }

    /// Tokens that would complete an n-gram for the second time.
    fn repeated(&self, ids: &[u32]) -> Vec<u32> {
        let size = self.no_repeat_ngram_size;
        if size == 0 || ids.len() + 1 < size {
            return Vec::new();
        }
        let current = &ids[ids.len() + 1 - size..];
        ids.windows(size).filter(|window| window[..size - 1] == *current).map(|window| window[size - 1]).collect()
    }
}

/// `x - log(sum(exp(x)))`.
pub fn log_softmax(scores: &[f32]) -> Vec<f32> {
    let log_sum = log_sum_exp(scores);
    scores.iter().map(|score| (f64::from(*score) - log_sum) as f32).collect()
}

/// The id of the highest score; of the lowest such id where several share it.
pub(crate) fn argmax(scores: &[f32]) -> usize {
    let mut best = 0;
    for (id, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = id;
        }
    }
    best
}

/// Ids by falling score, ties by rising id.
pub(crate) fn ranked(scores: &[f32], count: usize) -> Vec<usize> {
    if count < 32 {
        return highest(scores, count);
    }
    let falling = |a: &usize, b: &usize| scores[*b].partial_cmp(&scores[*a]).unwrap_or(Ordering::Equal).then(a.cmp(b));
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let count = count.min(order.len());
    if count > 0 && count < order.len() {
        order.select_nth_unstable_by(count - 1, falling);
        order.truncate(count);
    }
    order.sort_unstable_by(falling);
    order
}

/// The same for few: one pass, in which nearly every score is only compared with the lowest of them.
fn highest(scores: &[f32], count: usize) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::with_capacity(count + 1);
    for (id, score) in scores.iter().enumerate() {
        if best.len() == count && best.last().is_none_or(|last| *score <= scores[*last]) {
            continue;
        }
        let place = best.partition_point(|other| scores[*other] >= *score);
        best.insert(place, id);
        best.truncate(count);
    }
    best
}

/// What sampling may choose from: ids and their probabilities by falling probability.
pub fn candidates(scores: &[f32], temperature: f64, top_k: Option<usize>, top_p: Option<f64>) -> Vec<(usize, f64)> {
    let mut order = ranked(scores, scores.len());
    let Some(&first) = order.first() else { return Vec::new() };
    if let Some(&last) = top_k.and_then(|count| order.get(count.saturating_sub(1))) {
        // Tokens that share the last place stay together, as in Hugging Face's.
        let lowest = scores[last];
        order.retain(|&id| scores[id] >= lowest);
    }
    let max = f64::from(scores[first]);
    let weights: Vec<f64> = order.iter().map(|&id| ((f64::from(scores[id]) - max) / temperature).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut kept = Vec::with_capacity(order.len());
    let mut before = 0.0;
    for (id, weight) in order.into_iter().zip(weights) {
        let probability = weight / total;
        if before >= top_p.unwrap_or(f64::INFINITY) || probability == 0.0 {
            break;
        }
        before += probability;
        kept.push((id, probability));
    }
    kept
}

/// Draws one id of `scores [V]`.
pub fn sample(scores: &[f32], temperature: f64, top_k: Option<usize>, top_p: Option<f64>, random: &mut impl Rng) -> usize {
    let kept = candidates(scores, temperature, top_k, top_p);
    let total: f64 = kept.iter().map(|(_, probability)| probability).sum();
    let mut left = random.random::<f64>() * total;
    for (id, probability) in &kept {
        left -= probability;
        if left <= 0.0 {
            return *id;
        }
    }
    kept.last().map_or(0, |(id, _)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(count: usize) -> Vec<f32> {
        (0..count).map(|place| ((place * place) as f32 * 0.37).sin() * 9.0).collect()
    }

    #[test]
    fn few_and_all_are_ranked_alike_ties_by_rising_id() {
        let mut scores = scores(500);
        (scores[7], scores[300], scores[8]) = (20.0, 20.0, f32::NEG_INFINITY);
        let all = ranked(&scores, 500);
        for count in [0, 1, 5, 31, 32, 400] {
            assert_eq!(ranked(&scores, count), all[..count], "{count}");
        }
        assert_eq!(ranked(&scores[..3], 5).len(), 3);
    }
}
