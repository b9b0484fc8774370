//! Beam search over abstract scores: the model is elsewhere, so this is plain arithmetic.
//!
//! Each step keeps the `K` best unfinished replies among all continuations, and puts a reply that ends among the best `K` aside with its
//! log-probability divided by `length ^ length_penalty`. The search ends when no unfinished reply can still beat the worst of `K` finished ones.
//! Reference: `transformers`' beam search with `early_stopping = False`.

use super::scores::{ScoreRules, log_softmax, ranked};

/// A search in progress. `N` is what the caller wants to know of each token of a reply.
#[derive(Clone, Debug)]
pub struct BeamSearch<N> {
    beams: Vec<Beam<N>>,
    finished: Vec<Hypothesis<N>>,
    num_beams: usize,
    length_penalty: f32,
    max_new_tokens: usize,
    eos: u32,
    rules: ScoreRules,
}

/// An unfinished reply.
#[derive(Clone, Debug)]
struct Beam<N> {
    /// The start token first.
    ids: Vec<u32>,
    notes: Vec<N>,
    log_probability: f32,
}

/// A finished reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis<N> {
    /// Without the start token; with the end token where it ended by itself.
    pub ids: Vec<u32>,
    /// One for each id.
    pub notes: Vec<N>,
    /// Log-probability over length to the power of `length_penalty`.
    pub score: f32,
}

/// What the model must do next: row `parents[i]` of its cache becomes row `i`, which takes `ids[i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamStep {
    /// Rows to keep, in their new order.
    pub parents: Vec<u32>,
    /// Next token of each row.
    pub ids: Vec<u32>,
}

struct Candidate {
    beam: usize,
    id: u32,
    log_probability: f32,
}

impl<N: Clone> BeamSearch<N> {
    /// Starts with one beam that holds `start`; the model's cache has one row.
    pub fn new(num_beams: usize, length_penalty: f32, max_new_tokens: usize, start: u32, eos: u32, rules: ScoreRules) -> Self {
        let beams = vec![Beam { ids: vec![start], notes: Vec::new(), log_probability: 0.0 }];
        Self { beams, finished: Vec::new(), num_beams, length_penalty, max_new_tokens, eos, rules }
    }

    /// Takes the logits of every beam's next token; `None` when the search is over. `note` is asked about each token (row, id) that is kept.
    pub fn advance<L: AsRef<[f32]>>(&mut self, logits: &[L], mut note: impl FnMut(usize, u32) -> N) -> Option<BeamStep> {
        let length = self.beams[0].ids.len(); // tokens of each reply after this step
        let last = length >= self.max_new_tokens;
        let mut next = Vec::with_capacity(self.num_beams);
        let mut parents = Vec::with_capacity(self.num_beams);
        for (rank, candidate) in self.candidates(logits).into_iter().enumerate() {
            let ends = candidate.id == self.eos || last;
            // An end outside the best K is dropped: a better continuation exists for each.
            let is_kept = if ends { rank < self.num_beams } else { next.len() < self.num_beams };
            if !is_kept {
                continue;
            }
            let mut beam = self.beams[candidate.beam].clone();
            beam.ids.push(candidate.id);
            beam.notes.push(note(candidate.beam, candidate.id));
            beam.log_probability = candidate.log_probability;
            if ends {
                self.finish(beam);
            } else {
                parents.push(candidate.beam as u32);
                next.push(beam);
            }
        }
        self.beams = next;
        let is_over = last || self.beams.is_empty() || self.cannot_improve(length);
        (!is_over).then(|| BeamStep { parents, ids: self.beams.iter().filter_map(|beam| beam.ids.last().copied()).collect() })
    }

    /// The finished replies, best first.
    pub fn hypotheses(&self) -> &[Hypothesis<N>] {
        &self.finished
    }

    /// The `2 K` likeliest continuations of all beams: at most `K` of them can end, so `K` go on.
    fn candidates<L: AsRef<[f32]>>(&self, logits: &[L]) -> Vec<Candidate> {
        let mut candidates = Vec::with_capacity(2 * self.num_beams * self.beams.len());
        for (index, (beam, logits)) in self.beams.iter().zip(logits).enumerate() {
            let mut scores = log_softmax(logits.as_ref());
            self.rules.apply(&mut scores, &beam.ids);
            for id in ranked(&scores, 2 * self.num_beams) {
                if scores[id].is_finite() {
                    candidates.push(Candidate { beam: index, id: id as u32, log_probability: beam.log_probability + scores[id] });
                }
            }
        }
        candidates.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
        candidates.truncate(2 * self.num_beams);
        candidates
    }

    fn finish(&mut self, beam: Beam<N>) {
        let score = beam.log_probability / ((beam.ids.len() - 1) as f32).powf(self.length_penalty);
        self.finished.push(Hypothesis { ids: beam.ids[1..].to_vec(), notes: beam.notes, score });
        self.finished.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.finished.truncate(self.num_beams);
    }

    fn cannot_improve(&self, length: usize) -> bool {
        let best = self.beams[0].log_probability / (length as f32).powf(self.length_penalty);
        self.finished.len() == self.num_beams && self.finished.last().is_some_and(|worst| worst.score >= best)
    }
}
