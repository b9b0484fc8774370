//! What can be said of a reply by its words alone: what it takes up, where it stutters, what it copies.

use std::collections::{HashMap, HashSet};

/// Words that say nothing about what a message is about.
#[rustfmt::skip]
const COMMON: [&str; 84] = [
    "about", "actually", "after", "again", "all", "almost", "already", "also", "always", "am", "and", "any", "are", "because", "been", "before", "being", "but",
    "can", "cannot", "could", "did", "does", "doing", "done", "down", "else", "even", "ever", "every", "everything", "feel", "feels", "for", "from", "getting",
    "going", "got", "had", "has", "have", "how", "into", "its", "just", "know", "like", "made", "make", "more", "much", "never", "not", "now", "off", "only",
    "over", "really", "right", "said", "should", "some", "something", "still", "such", "than", "that", "the", "then", "there", "they", "thing", "this", "today",
    "too", "very", "want", "was", "were", "what", "when", "will", "with", "would",
];

/// Small letters, apostrophes kept.
pub(crate) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let parts = lower.split(|character: char| !character.is_alphanumeric() && character != '\'' && character != '\u{2019}');
    parts.map(|word| word.trim_matches(['\'', '\u{2019}']).to_string()).filter(|word| !word.is_empty()).collect()
}

/// Whether `reply` has a content word of `message`, in any of its forms.
pub(crate) fn names_what_was_said(message: &str, reply: &str) -> bool {
    let replied: HashSet<String> = words(reply).iter().map(|word| stem(word).to_string()).collect();
    words(message).iter().filter(|word| is_content(word)).any(|word| replied.contains(stem(word)))
}

pub(crate) fn is_content(word: &str) -> bool {
    word.chars().count() >= 3
        && !COMMON.contains(&word)
        && !word.contains(['\'', '\u{2019}'])
        && !["you", "your", "her", "his", "she", "him", "our"].contains(&word)
}

/// The word without the commonest endings of its forms.
pub(crate) fn stem(word: &str) -> &str {
    let endings = ["ingly", "ing", "edly", "ed", "ies", "es", "s", "ly", "e", "y"];
    let cut = endings.iter().find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.chars().count() >= 3));
    cut.unwrap_or(word)
}

/// Whether a word comes three times running.
pub(crate) fn stutters(reply: &str) -> bool {
    words(reply).windows(3).any(|three| three[0] == three[1] && three[1] == three[2])
}

/// Different n-grams of words over all n-grams.
pub(crate) fn distinct(replies: &[String], n: usize) -> f64 {
    let split: Vec<Vec<String>> = replies.iter().map(|reply| words(reply)).collect();
    let all: Vec<&[String]> = split.iter().flat_map(|words| words.windows(n)).collect();
    all.iter().collect::<HashSet<_>>().len() as f64 / all.len().max(1) as f64
}

/// Replies that were trained on, searched for common runs of words.
pub(crate) struct Copies {
    replies: Vec<Vec<String>>,
    /// Where each pair of words stands: reply and place.
    pairs: HashMap<(String, String), Vec<(usize, usize)>>,
}

impl Copies {
    pub(crate) fn new<'a>(replies: impl IntoIterator<Item = &'a str>) -> Self {
        let replies: Vec<Vec<String>> = replies.into_iter().map(words).collect();
        let mut pairs: HashMap<(String, String), Vec<(usize, usize)>> = HashMap::new();
        for (index, reply) in replies.iter().enumerate() {
            for (place, two) in reply.windows(2).enumerate() {
                pairs.entry((two[0].clone(), two[1].clone())).or_default().push((index, place));
            }
        }
        Self { replies, pairs }
    }

    /// Longest run of words that `reply` shares with any of them; runs of one word count as none.
    pub(crate) fn longest_run(&self, reply: &str) -> usize {
        let words = words(reply);
        let mut longest = 0;
        for (start, two) in words.windows(2).enumerate() {
            for (index, place) in self.pairs.get(&(two[0].clone(), two[1].clone())).into_iter().flatten() {
                let common = words[start..].iter().zip(&self.replies[*index][*place..]).take_while(|(a, b)| a == b).count();
                longest = longest.max(common);
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_names_what_was_said_in_any_form_of_its_words() {
        assert!(names_what_was_said("I passed my driving test!", "Passing that test, wow."));
        assert!(names_what_was_said("my cats keep fighting", "A cat, a fight, what else."));
        assert!(!names_what_was_said("I passed my driving test!", "That is really something you have there."));
        assert!(!names_what_was_said("I was just there with you", "You were there, just like that."));
    }

    #[test]
    fn three_times_the_same_word_is_a_stutter_and_twice_is_not() {
        assert!(stutters("Oh, test test, TEST!"));
        assert!(!stutters("No, no. Not that test, that test."));
    }

    #[test]
    fn the_longest_common_run_is_found_wherever_it_stands() {
        let copies = Copies::new(["What a lovely day that was.", "I am sorry about your dog."]);
        assert_eq!(copies.longest_run("Oh, I am so sorry about your dog!"), 4);
        assert_eq!(copies.longest_run("what a lovely day"), 4);
        assert_eq!(copies.longest_run("dog day"), 0);
    }

    #[test]
    fn distinct_counts_different_runs_of_words() {
        let replies = ["so good so good".to_string(), "so good".to_string()];
        assert!((distinct(&replies, 1) - 2.0 / 6.0).abs() < 1e-12);
        assert!((distinct(&replies, 2) - 2.0 / 4.0).abs() < 1e-12);
    }
}
