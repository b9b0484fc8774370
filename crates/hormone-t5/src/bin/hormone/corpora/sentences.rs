//! Plain sentences: stories, sentences to be read aloud, sentences to be translated.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, ensure};

use super::cleaning::clean;
use super::{Stories, is_coarse, read_text};

/// Longest sentence kept, in words.
const LONGEST: usize = 24;

/// TinyStories (CDLA-Sharing-1.0): `tinystories_sample.txt`, stories with `<|endoftext|>` between. The last tenth of the stories is held out; so
/// that nothing leaks, sentences of the rest are not repeated in it.
pub(super) fn tinystories(folder: &Path) -> Result<Stories> {
    let text = read_text(&folder.join("tinystories_sample.txt"), "stories with <|endoftext|> between them")?;
    let stories: Vec<&str> = text.split("<|endoftext|>").collect();
    ensure!(stories.len() >= 10, "{}: expected at least 10 stories with <|endoftext|> between them", folder.display());
    let (train, held_out) = stories.split_at(stories.len() - stories.len() / 10);
    let train = unique(train.iter().flat_map(|story| split_sentences(story)));
    let known: HashSet<&String> = train.iter().collect();
    let held_out =
        unique(held_out.iter().flat_map(|story| split_sentences(story))).into_iter().filter(|sentence| !known.contains(sentence)).collect();
    Ok(Stories { train, held_out })
}

/// Files of Common Voice with foreign phrases, code or single words.
#[rustfmt::skip]
const COMMON_VOICE_LISTS: [&str; 13] = [
    "DNGros", "RLarissa", "activate", "ajaydee", "bavencope", "elleo", "est31", "harvsents", "kieran_drew", "mlennox",
    "sentence-collector", "thehowl", "tww.id.au.proverbs",
];

/// Common Voice's English sentences (Mozilla, CC0): `*.txt`, one sentence a line.
pub(super) fn common_voice(folder: &Path) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for name in COMMON_VOICE_LISTS {
        let text = read_text(&folder.join(format!("{name}.txt")), "one sentence a line")?;
        lines.extend(text.lines().map(str::to_string));
    }
    Ok(unique(lines.into_iter()))
}

/// Tatoeba (CC BY 2.0 FR): `cmn.txt`, English, tab, Chinese, tab, attribution.
pub(super) fn tatoeba(folder: &Path) -> Result<Vec<String>> {
    let path = folder.join("cmn.txt");
    let expected = "rows of English, tab, Chinese, tab, attribution";
    let text = read_text(&path, expected)?;
    ensure!(text.lines().all(|line| line.contains('\t')), "{}: expected {expected}", path.display());
    Ok(unique(text.lines().filter_map(|line| line.split('\t').next()).map(str::to_string)))
}

/// Storybooks: `african_ccby.txt` and `pratham_ccby.txt` (CC BY, attribution beside them; `<|story|>` between), and Grimm, Andersen and Wilde (public
/// domain).
pub(super) fn storybooks(folder: &Path) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    for name in ["african_ccby.txt", "pratham_ccby.txt", "grimm_00.txt", "anderson_00.txt", "wilde_happy_prince_00.txt"] {
        let text = read_text(&folder.join(name), "stories in plain text")?;
        sentences.extend(text.split("<|story|>").flat_map(split_sentences).collect::<Vec<String>>());
    }
    Ok(unique(sentences.into_iter()))
}

/// Clean and decent sentences, each once, in the order they came.
fn unique(sentences: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    sentences
        .filter_map(|sentence| clean(&sentence, LONGEST))
        .filter(|sentence| !is_coarse(sentence) && seen.insert(sentence.clone()))
        .collect()
}

/// Paragraphs cut behind `.`, `!` or `?` (and a closing quote) where a space and a capital, a quote or a digit follow.
fn split_sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for paragraph in text.lines() {
        let mut rest = paragraph.trim();
        while let Some(end) = sentence_end(rest) {
            sentences.push(rest[..end].to_string());
            rest = rest[end..].trim_start();
        }
        // What has no full stop is a title or was cut off.
        if rest.ends_with(['.', '!', '?', '"', '\u{201d}', '\'']) {
            sentences.push(rest.to_string());
        }
    }
    sentences
}

/// Where the first of several sentences ends.
fn sentence_end(text: &str) -> Option<usize> {
    let mut ended = false;
    let mut space = None;
    for (place, character) in text.char_indices() {
        match character {
            '.' | '!' | '?' => ended = true,
            '"' | '\'' | '\u{201d}' | '\u{2019}' if ended && space.is_none() => {}
            ' ' if ended => space = Some(place),
            other => {
                if let (Some(place), true) = (space, other.is_uppercase() || "\"'\u{201c}\u{2018}".contains(other)) {
                    let title = ["Mr.", "Mrs.", "Dr.", "Ms."].iter().any(|title| text[..place].ends_with(title));
                    if !title {
                        return Some(place);
                    }
                }
                (ended, space) = (false, None);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_cut_into_sentences() {
        let text = "Mr. Fox ran. He said, \"Stop!\" Then... he slept. was it 3.5 m?\nA title\nThe end.";
        assert_eq!(split_sentences(text), ["Mr. Fox ran.", "He said, \"Stop!\"", "Then... he slept. was it 3.5 m?", "The end."]);
    }

    #[test]
    fn last_tenth_of_the_stories_is_held_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let text: Vec<String> = (0..10).map(|index| format!("Cat {index} sat. The end.")).collect();
        std::fs::write(folder.path().join("tinystories_sample.txt"), text.join("\n<|endoftext|>\n")).expect("written");
        let stories = tinystories(folder.path()).expect("readable");
        assert_eq!(stories.held_out, ["Cat 9 sat."]);
        assert_eq!(stories.train.len(), 10);
    }
}
