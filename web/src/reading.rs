//! What the page draws of an [`Analysis`](hormone_t5::analysis::Analysis): columns of words, levels in words and by rule, cross-attention.

mod columns;
mod cross;
mod levels;
mod state;

pub use columns::{Column, ColumnKind, HeadChoice, columns, strongest_word, text_parts};
pub use cross::{cross_shares, word_cross_attention};
pub use levels::{Beat, ProfileMark, beats, level_word, profile_marks};
pub use state::{Condition, STATE_NAMES, Side, State, state};

#[cfg(test)]
pub(crate) mod tests {
    use hormone_t5::analysis::{Analysis, SourceToken, Tone};

    /// "so good!" as four pieces, every head looking mostly at "good".
    pub(crate) fn example() -> Analysis {
        let piece = |piece: &str, start, end, word| SourceToken { id: 9, piece: piece.into(), start, end, word };
        Analysis {
            text: "so good!".into(),
            tokens: vec![piece("▁so", 0, 2, Some(0)), piece("▁go", 3, 5, Some(1)), piece("od!", 5, 8, Some(1)), piece("</s>", 8, 8, None)],
            levels: [0.9, 0.8, 0.1, 0.7, 0.6, 0.9].into(),
            tone: Tone::Excited,
            attention: vec![vec![vec![0.1, 0.4, 0.3, 0.2]; 4]; 6],
            unknown: Vec::new(),
            truncated: false,
            learned_alpha: 0.25,
        }
    }
}
