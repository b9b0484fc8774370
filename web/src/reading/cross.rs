//! Where the decoder looked for a word of a reply.

use hormone_t5::pipeline::GeneratedToken;

use super::Column;

/// How much of a reply word's cross-attention falls on each column: `weights` has one number for each source token.
pub fn cross_shares(columns: &[Column], weights: &[f32]) -> Vec<f32> {
    columns.iter().map(|column| weights.get(column.tokens.clone()).unwrap_or_default().iter().sum()).collect()
}

/// The mean cross-attention of one word of a reply, counted by white space; `None` where its tokens carry none.
pub fn word_cross_attention(tokens: &[GeneratedToken], word: usize) -> Option<Vec<f32>> {
    let mut index = 0;
    let mut of_word = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        index += usize::from(place > 0 && token.piece.starts_with('▁'));
        if index == word {
            of_word.push(token.cross_attention.as_ref()?);
        }
    }
    let first = of_word.first()?;
    let mean = |source: usize| of_word.iter().filter_map(|weights| weights.get(source)).sum::<f32>() / of_word.len() as f32;
    Some((0..first.len()).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::tests::example;
    use crate::reading::{HeadChoice, columns};

    #[test]
    fn cross_attention_of_a_reply_word_falls_on_the_words_of_the_message() {
        let token = |piece: &str, weights: [f32; 4]| GeneratedToken {
            id: 1,
            piece: piece.into(),
            probability: 1.0,
            alternatives: Vec::new(),
            cross_attention: Some(weights.to_vec()),
        };
        let tokens = [token("▁oh", [1.0, 0.0, 0.0, 0.0]), token("▁ni", [0.0, 0.2, 0.4, 0.4]), token("ce", [0.2, 0.2, 0.6, 0.0])];
        let weights = word_cross_attention(&tokens, 1).expect("a word");
        let shares = cross_shares(&columns(&example(), HeadChoice::Mean, true), &weights);
        for (share, expected) in shares.iter().zip([0.1, 0.7, 0.2]) {
            assert!((share - expected).abs() < 1e-6, "{shares:?}");
        }
        assert_eq!(word_cross_attention(&tokens, 2), None);
    }
}
