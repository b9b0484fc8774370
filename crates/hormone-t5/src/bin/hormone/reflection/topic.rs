//! What a turned sentence is about: a noun with "your" or "the", where the word behind it shows that the noun has ended.

use super::sentence::Word;

/// Words that cannot go on a noun phrase.
#[rustfmt::skip]
const BORDERS: &[&str] = &[
    "is", "was", "are", "were", "has", "had", "have", "will", "would", "can", "could", "should", "isn't", "wasn't", "aren't", "weren't",
    "hasn't", "won't", "can't", "doesn't", "didn't", "don't", "did", "does", "and", "but", "or", "because", "so", "if", "when", "while",
    "that", "who", "which", "in", "on", "at", "to", "for", "from", "with", "without", "by", "of", "about", "after", "before", "into",
    "over", "under", "near", "again", "today", "yesterday", "tomorrow", "tonight", "now", "last", "next", "this", "every", "too", "very",
    "really", "never", "always", "just", "still", "the", "a", "an", "your", "you", "his", "her", "their", "him", "them", "it", "not",
    "no", "as", "than", "then", "there", "here", "out", "up", "down", "all", "also", "only", "even",
];

/// Words that a noun may follow, beside those in -ing, -al, -ful and -ous.
#[rustfmt::skip]
const ADJECTIVES: &[&str] = &[
    "new", "old", "best", "little", "big", "first", "last", "favourite", "favorite", "older", "younger", "beautiful", "small", "lovely",
    "dear", "good", "bad", "great", "only", "maths", "math", "history", "job", "birthday", "summer", "school", "bank", "phone",
    "football", "nice", "lost", "broken", "long", "red", "blue", "green", "poor", "sweet", "final", "piano", "guitar", "science",
    "english",
];

/// No nouns, though they stand where nouns do.
#[rustfmt::skip]
const NOT_NOUNS: &[&str] = &[
    "own", "best", "new", "old", "other", "same", "first", "last", "only", "lot", "bit", "few", "little", "kind", "sort", "way", "time",
    "thing", "one", "most", "more", "next", "rest", "self", "god", "two", "three", "big", "good", "great", "bad", "whole", "long",
    "part", "point", "fact", "reason", "favorite", "favourite", "couple", "number", "sake", "while", "hell", "such", "very", "really",
];

/// "your exam" of "you failed your exam"; the nouns that are the person's own come first.
pub(super) fn topic(words: &[Word]) -> Option<String> {
    let lower: Vec<String> = words.iter().map(Word::lower).collect();
    let find = |determiner: &[&str]| {
        (0..words.len()).filter(|place| determiner.contains(&lower[*place].as_str())).find_map(|place| noun_after(words, &lower, place))
    };
    find(&["your"]).map(|noun| format!("your {noun}")).or_else(|| find(&["the", "a", "an"]).map(|noun| format!("the {noun}")))
}

/// The noun right behind a determiner, perhaps with one adjective.
fn noun_after(words: &[Word], lower: &[String], determiner: usize) -> Option<String> {
    let noun = |place: usize| {
        lower.get(place).is_some_and(|word| {
            word.len() > 2
                && word.chars().all(char::is_alphabetic)
                && !NOT_NOUNS.contains(&word.as_str())
                && !BORDERS.contains(&word.as_str())
        })
    };
    // "the taste of apples", "the cheap and the good": named by half, unless it is the person's own.
    let half_named = |place: usize| {
        lower[determiner] != "your" && lower.get(place + 1).is_some_and(|next| ["of", "and", "that", "who"].contains(&next.as_str()))
    };
    let ends = |place: usize| {
        !half_named(place) && (words[place].comma || lower.get(place + 1).is_none_or(|next| BORDERS.contains(&next.as_str())))
    };
    // "You are a teacher" is about no teacher.
    let before = determiner.checked_sub(1).map_or("", |place| lower[place].as_str());
    if lower[determiner] != "your" && ["are", "were", "you're", "be", "been", "as", "am", "i'm", "is", "was", "not"].contains(&before) {
        return None;
    }
    let first = determiner + 1;
    if words[determiner].comma || first >= words.len() {
        return None;
    }
    let adjective = ADJECTIVES.contains(&lower[first].as_str())
        || ["ing", "al", "ful", "ous"].iter().any(|ending| lower[first].len() > 4 && lower[first].ends_with(ending));
    if noun(first) && ends(first) && !adjective {
        return Some(words[first].text.clone());
    }
    let second = first + 1;
    (adjective && noun(second) && ends(second)).then(|| format!("{} {}", words[first].text, words[second].text))
}
