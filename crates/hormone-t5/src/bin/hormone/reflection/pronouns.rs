//! Persons swapped, with the verb forms of "to be": the only ones that differ between "I" and "you".

use super::sentence::Word;

/// Words that may stand between "I" and its verb.
#[rustfmt::skip]
const ADVERBS: &[&str] = &[
    "never", "really", "just", "also", "always", "still", "once", "only", "actually", "already", "even", "often", "honestly", "almost",
    "too", "probably", "definitely", "simply", "truly",
];

/// After "you" these show that it is an object: nothing follows that it could be the subject of.
#[rustfmt::skip]
const AFTER_OBJECT: &[&str] = &[
    "for", "so", "too", "a", "with", "very", "more", "about", "in", "at", "on", "again", "today", "to", "from", "guys", "the", "my",
    "like", "as", "because",
];

/// Before "you" these show that a new clause begins.
#[rustfmt::skip]
const BEFORE_SUBJECT: &[&str] = &[
    "that", "if", "when", "because", "what", "how", "why", "where", "who", "and", "or", "but", "than", "as", "think", "hope", "know",
    "guess", "bet", "wish", "say", "believe", "mean",
];

/// "I failed my exam" to "you failed your exam". `None` where a form is unsure.
pub(super) fn to_second_person(words: &[Word]) -> Option<Vec<Word>> {
    let words = with_you_first(words);
    let lower: Vec<String> = words.iter().map(Word::lower).collect();
    let at = |place: Option<usize>| place.and_then(|place| lower.get(place)).map_or("", String::as_str);
    let mut turned = Vec::with_capacity(words.len());
    for (place, word) in words.iter().enumerate() {
        let (previous, next) = (at(place.checked_sub(1)), at(Some(place + 1)));
        let text = match lower[place].as_str() {
            "i" if ["is", "has", "does", "are", "hasn't", "doesn't", "isn't", "aren't"].contains(&next) => return None,
            // "World War I", "aren't I".
            "i" if ["war", "part", "aren't"].contains(&previous) => return None,
            "i" | "me" | "we" => "you",
            "us" if word.text == "US" => "US",
            "us" => "you",
            "my" | "our" => "your",
            "mine" if ["a", "the", "coal", "gold", "salt", "silver", "old", "deep", "diamond"].contains(&previous) => return None,
            "mine" | "ours" => "yours",
            "myself" => "yourself",
            "ourselves" => "yourselves",
            "i'm" | "we're" => "you're",
            "i've" | "we've" => "you've",
            "i'd" | "we'd" => "you'd",
            "i'll" | "we'll" => "you'll",
            // "6 am".
            "am" if previous.chars().any(|character| character.is_ascii_digit()) => return None,
            "am" => "are",
            "was" | "wasn't" => match subject_of_was(&lower, &words, place) {
                WasSubject::Writer => {
                    if lower[place] == "was" {
                        "were"
                    } else {
                        "weren't"
                    }
                }
                WasSubject::Other => &word.text,
                WasSubject::Unsure => return None,
            },
            "shall" if ["i", "we"].contains(&previous) => "will",
            "you" if is_object(previous, next) => "me",
            "your" => "my",
            "let's" | "you" | "yours" | "yourself" | "you're" | "you've" | "you'd" | "you'll" | "u" | "ur" | "ya" | "thou" | "thee"
            | "thy" | "amn't" | "i's" | "yourselves" | "y'all" => return None,
            _ => &word.text,
        };
        turned.push(Word { text: text.to_string(), comma: word.comma });
    }
    Some(turned)
}

/// "You never listen to me" to "I never listen to you". `None` where a form is unsure.
pub(super) fn to_first_person(words: &[Word]) -> Option<Vec<Word>> {
    let lower: Vec<String> = words.iter().map(Word::lower).collect();
    let at = |place: Option<usize>| place.and_then(|place| lower.get(place)).map_or("", String::as_str);
    let mut turned = Vec::with_capacity(words.len());
    for (place, word) in words.iter().enumerate() {
        let (previous, next) = (at(place.checked_sub(1)), at(Some(place + 1)));
        let after_you = previous == "you" || (ADVERBS.contains(&previous) && at(place.checked_sub(2)) == "you");
        let text = match lower[place].as_str() {
            "you" if place == 0 => "I",
            // A second "you": subject again before a verb of its own, else unsure.
            "you" if BEFORE_SUBJECT.contains(&previous) && !AFTER_OBJECT.contains(&next) && !next.is_empty() => "I",
            "you" if is_object(previous, next) => "me",
            "you" => return None,
            "you're" => "I'm",
            "you've" => "I've",
            "you'd" => "I'd",
            "you'll" => "I'll",
            "your" => "my",
            "yours" => "mine",
            "yourself" => "myself",
            "are" if after_you => "am",
            // "I am not", for "amn't" is no word.
            "aren't" if after_you => "am not",
            "were" if after_you => "was",
            "weren't" if after_you => "wasn't",
            // "you have lost and are sad": whose verb is this?
            "are" | "were" if ["and", "but", "or"].contains(&previous) => return None,
            "me" => "you",
            "my" => "your",
            "mine" => "yours",
            "myself" => "yourself",
            "i" | "i'm" | "i've" | "i'd" | "i'll" | "am" | "was" | "we" | "us" | "our" | "ours" | "we're" | "let's" | "u" | "ur"
            | "y'all" | "ya" | "guys" | "people" | "all" | "two" | "both" | "folks" => return None,
            _ => &word.text,
        };
        turned.push(Word { text: text.to_string(), comma: word.comma });
    }
    Some(turned)
}

fn is_object(previous: &str, next: &str) -> bool {
    !BEFORE_SUBJECT.contains(&previous) && !previous.is_empty() && (next.is_empty() || AFTER_OBJECT.contains(&next))
}

/// "My brother and I" as "I and my brother", so that "you" comes first.
fn with_you_first(words: &[Word]) -> Vec<Word> {
    let and = words.iter().position(|word| word.text == "and");
    let Some(and) =
        and.filter(|and| (2..=3).contains(and) && words[0].lower() == "my" && words.get(and + 1).is_some_and(|word| word.lower() == "i"))
    else {
        return words.to_vec();
    };
    let mut ordered = vec![words[and + 1].clone(), words[and].clone()];
    ordered.extend_from_slice(&words[..and]);
    ordered.extend_from_slice(&words[and + 2..]);
    ordered
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WasSubject {
    Writer,
    Other,
    Unsure,
}

/// Whether the "was" at `place` belongs to "I": before it but for adverbs, or right behind it ("nor was I").
fn subject_of_was(lower: &[String], words: &[Word], place: usize) -> WasSubject {
    if lower.get(place + 1).is_some_and(|next| next == "i") {
        return WasSubject::Writer;
    }
    let before = (0..place).rev().find(|index| !ADVERBS.contains(&lower[*index].as_str()));
    match before.map(|index| (lower[index].as_str(), words[index].comma)) {
        Some(("i", false)) => WasSubject::Writer,
        Some((_, true)) | None => WasSubject::Unsure,
        Some(("and" | "but" | "or" | "then" | "nor" | "yet" | "me", _)) => WasSubject::Unsure,
        Some(_) => WasSubject::Other,
    }
}
