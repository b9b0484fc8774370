//! What the page draws of an [`Analysis`]: pieces grouped into words, the mean of the four heads, the strongest words of each hormone.

use hormone_t5::analysis::{Analysis, Hormone, HormoneLevels};
use hormone_t5::pipeline::GeneratedToken;

/// Which attention heads of a hormone are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadChoice {
    /// The mean of the four.
    #[default]
    Mean,
    /// One of them, from 0.
    One(usize),
}

/// One column of the heatmap.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What heads it: a word, a piece, or a mark for the end or the prompt.
    pub label: String,
    /// Bytes `start..end` of the text; empty for the end and the prompt.
    pub start: usize,
    /// See `start`.
    pub end: usize,
    /// Kind of column.
    pub kind: ColumnKind,
    /// Attention of each hormone, in the order of [`Hormone::ALL`].
    pub attention: [f32; 6],
}

/// What a column stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A word of the text, or a piece of one.
    Word,
    /// The prompt before the text.
    Prompt,
    /// The end token.
    End,
}

/// Columns of the heatmap: words, or single pieces where `grouped` is false. Every hormone's attention sums to 1 over all of them.
pub fn columns(analysis: &Analysis, heads: HeadChoice, grouped: bool) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let mut previous_word = None;
    let last = analysis.tokens.len().saturating_sub(1);
    for (index, token) in analysis.tokens.iter().enumerate() {
        let attention = token_attention(analysis, heads, index);
        let kind = match token.word {
            Some(_) => ColumnKind::Word,
            None if index == last => ColumnKind::End,
            // A lone space in the middle of a text belongs to the word it follows.
            None if previous_word.is_some() => ColumnKind::Word,
            None => ColumnKind::Prompt,
        };
        let joins = match kind {
            ColumnKind::Word => grouped && previous_word.is_some() && (token.word.is_none() || token.word == previous_word),
            ColumnKind::Prompt => columns.last().is_some_and(|column| column.kind == ColumnKind::Prompt),
            ColumnKind::End => false,
        };
        match columns.last_mut().filter(|_| joins) {
            Some(column) => {
                column.end = column.end.max(token.end);
                column.attention.iter_mut().zip(attention).for_each(|(sum, part)| *sum += part);
            }
            None => columns.push(Column { label: String::new(), start: token.start, end: token.end, kind, attention }),
        }
        if let (Some(column), false) = (columns.last_mut(), grouped && kind == ColumnKind::Word) {
            column.label = token.piece.clone();
        }
        previous_word = token.word.or(previous_word);
    }
    for column in columns.iter_mut().filter(|column| grouped && column.kind == ColumnKind::Word) {
        column.label = analysis.text.get(column.start..column.end).unwrap_or_default().trim().to_string();
    }
    columns
}

fn token_attention(analysis: &Analysis, heads: HeadChoice, token: usize) -> [f32; 6] {
    Hormone::ALL.map(|hormone| {
        let rows = &analysis.attention[hormone.index()];
        let at = |row: &Vec<f32>| row.get(token).copied().unwrap_or_default();
        match heads {
            HeadChoice::Mean => rows.iter().map(at).sum::<f32>() / rows.len().max(1) as f32,
            HeadChoice::One(head) => rows.get(head).map(at).unwrap_or_default(),
        }
    })
}

/// The word a hormone looks at most, with its share; `None` without words.
pub fn strongest_word(columns: &[Column], hormone: Hormone) -> Option<(&str, f32)> {
    columns
        .iter()
        .filter(|column| column.kind == ColumnKind::Word)
        .map(|column| (column.label.as_str(), column.attention[hormone.index()]))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The text cut at its columns: every byte once, with the column it belongs to.
pub fn text_parts<'a>(text: &'a str, columns: &[Column]) -> Vec<(&'a str, Option<usize>)> {
    let mut parts = Vec::new();
    let mut place = 0;
    for (index, column) in columns.iter().enumerate().filter(|(_, column)| column.kind == ColumnKind::Word) {
        if column.start < place || column.start >= column.end {
            continue;
        }
        let (Some(between), Some(word)) = (text.get(place..column.start), text.get(column.start..column.end)) else { continue };
        if !between.is_empty() {
            parts.push((between, None));
        }
        parts.push((word, Some(index)));
        place = column.end;
    }
    if let Some(rest) = text.get(place..).filter(|rest| !rest.is_empty()) {
        parts.push((rest, None));
    }
    parts
}

/// How much of a reply word's cross-attention falls on each column: `weights` has one number for each source token.
pub fn cross_shares(analysis: &Analysis, columns: &[Column], weights: &[f32]) -> Vec<f32> {
    let falls_on = |column: &Column| {
        let inside = analysis.tokens.iter().zip(weights).filter(|(token, _)| token.start < column.end && token.end > column.start);
        inside.map(|(_, weight)| weight).sum()
    };
    columns.iter().map(falls_on).collect()
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

/// A level in one word of five; the key of its translation.
pub fn level_word(level: f32) -> &'static str {
    match level {
        level if level < 0.2 => "level.very_low",
        level if level < 0.4 => "level.low",
        level if level < 0.6 => "level.medium",
        level if level < 0.8 => "level.high",
        _ => "level.very_high",
    }
}

/// Mood memory, a simulation outside the trained model: `h_t = lambda h_(t-1) + (1 - lambda) h^_t`.
pub fn remembered(levels: impl IntoIterator<Item = HormoneLevels>, lambda: f32) -> Vec<HormoneLevels> {
    let mut memory: Option<HormoneLevels> = None;
    levels
        .into_iter()
        .map(|predicted| {
            let next = match memory {
                Some(before) => blend(before, predicted, lambda),
                None => predicted,
            };
            memory = Some(next);
            next
        })
        .collect()
}

fn blend(before: HormoneLevels, predicted: HormoneLevels, lambda: f32) -> HormoneLevels {
    let (before, predicted) = (before.to_array(), predicted.to_array());
    let mut levels = [0.0; 6];
    for (index, level) in levels.iter_mut().enumerate() {
        *level = lambda * before[index] + (1.0 - lambda) * predicted[index];
    }
    levels.into()
}

#[cfg(test)]
pub(crate) mod tests {
    use hormone_t5::analysis::{SourceToken, Tone};

    use super::*;

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

    #[test]
    fn pieces_are_grouped_into_words_and_attention_still_sums_to_one() {
        let columns = columns(&example(), HeadChoice::Mean, true);
        let labels: Vec<&str> = columns.iter().map(|column| column.label.as_str()).collect();
        assert_eq!(labels, ["so", "good!", "</s>"]);
        assert!((columns[1].attention[0] - 0.7).abs() < 1e-6);
        assert!((columns.iter().map(|column| column.attention[3]).sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn raw_pieces_stay_apart() {
        let columns = columns(&example(), HeadChoice::One(2), false);
        let labels: Vec<&str> = columns.iter().map(|column| column.label.as_str()).collect();
        assert_eq!(labels, ["▁so", "▁go", "od!", "</s>"]);
    }

    #[test]
    fn a_prompt_is_one_column_of_its_own() {
        let mut analysis = example();
        for text in ["▁emotional", "▁response"] {
            analysis.tokens.insert(0, SourceToken { id: 3, piece: text.into(), start: 0, end: 0, word: None });
        }
        analysis.attention = vec![vec![vec![0.1, 0.1, 0.1, 0.3, 0.2, 0.2]; 4]; 6];
        let columns = columns(&analysis, HeadChoice::Mean, true);
        let kinds: Vec<ColumnKind> = columns.iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [ColumnKind::Prompt, ColumnKind::Word, ColumnKind::Word, ColumnKind::End]);
    }

    #[test]
    fn the_strongest_word_is_never_the_end_token() {
        let mut analysis = example();
        analysis.attention[2] = vec![vec![0.12, 0.04, 0.04, 0.8]; 4];
        let columns = columns(&analysis, HeadChoice::Mean, true);
        assert_eq!(strongest_word(&columns, Hormone::Cortisol).map(|found| found.0), Some("so"));
    }

    #[test]
    fn text_parts_keep_every_byte() {
        let analysis = example();
        let columns = columns(&analysis, HeadChoice::Mean, true);
        let parts = text_parts(&analysis.text, &columns);
        assert_eq!(parts, [("so", Some(0)), (" ", None), ("good!", Some(1))]);
    }

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
        let analysis = example();
        let shares = cross_shares(&analysis, &columns(&analysis, HeadChoice::Mean, true), &weights);
        for (share, expected) in shares.iter().zip([0.1, 0.7, 0.0]) {
            assert!((share - expected).abs() < 1e-6, "{shares:?}");
        }
        assert_eq!(word_cross_attention(&tokens, 2), None);
    }

    #[test]
    fn levels_have_five_words() {
        let words: Vec<&str> = [0.0, 0.2, 0.5, 0.79, 1.0].into_iter().map(level_word).collect();
        assert_eq!(words, ["level.very_low", "level.low", "level.medium", "level.high", "level.very_high"]);
    }

    #[test]
    fn memory_starts_at_the_first_prediction_and_then_lags() {
        let memory = remembered([[1.0; 6].into(), [0.0; 6].into()], 0.6);
        assert_eq!(memory[0].dopamine, 1.0);
        assert!((memory[1].dopamine - 0.6).abs() < 1e-6);
    }
}
