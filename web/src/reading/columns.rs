//! The text as columns: pieces grouped into words, the mean of a hormone's four heads, the words it looks at most.

use std::ops::Range;

use hormone_t5::analysis::{Analysis, Hormone};

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
    /// Its tokens, by their places in the text.
    pub tokens: Range<usize>,
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
                column.tokens.end = index + 1;
                column.attention.iter_mut().zip(attention).for_each(|(sum, part)| *sum += part);
            }
            None => {
                columns.push(Column { label: String::new(), start: token.start, end: token.end, kind, tokens: index..index + 1, attention })
            }
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

#[cfg(test)]
mod tests {
    use hormone_t5::analysis::SourceToken;

    use super::*;
    use crate::reading::tests::example;

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
}
