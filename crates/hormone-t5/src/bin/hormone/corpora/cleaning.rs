//! Cleaning of strangers' text: one spelling of quotes and dashes, single spaces, no odd characters; and which words must never be taught as replies.

use std::collections::HashSet;

/// `text` with curly quotes, dashes and dots in ASCII, invisible characters gone and white space collapsed.
pub(crate) fn tidy(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' | '\u{b4}' => plain.push('\''),
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => plain.push('"'),
            '\u{2010}' | '\u{2011}' => plain.push('-'),
            '\u{2012}'..='\u{2015}' => plain.push_str(" - "),
            '\u{2026}' => plain.push_str("..."),
            '\u{200b}' | '\u{200c}' | '\u{feff}' | '\u{ad}' => {}
            other => plain.push(other),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tidied text if it has 1 to `max_words` words, none very long, and only letters, digits, common marks and emoji.
pub(super) fn clean(text: &str, max_words: usize) -> Option<String> {
    let text = tidy(text);
    let words = word_count(&text);
    let plain = (1..=max_words).contains(&words) && text.chars().all(is_common) && text.split(' ').all(|word| word.chars().count() <= 24);
    (plain && text.chars().any(char::is_alphabetic)).then_some(text)
}

/// Words between white space.
pub(crate) fn word_count(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Whether two texts share a word of at least three letters that is not everywhere.
pub(crate) fn share_a_word(one: &str, other: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        let lower = text.to_lowercase();
        lower
            .split(|character: char| !character.is_alphanumeric())
            .map(stem)
            .filter(|word| word.chars().count() >= 3 && !EVERYWHERE.contains(&word.as_str()))
            .collect()
    };
    !words(one).is_disjoint(&words(other))
}

/// A word without a plural's or a verb's "s".
fn stem(word: &str) -> String {
    word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word).to_string()
}

/// Words that say little, as [`stem`] leaves them.
#[rustfmt::skip]
const EVERYWHERE: &[&str] = &[
    "the", "and", "you", "are", "was", "for", "not", "but", "too", "all", "can", "has", "had", "did", "her", "him", "his", "she", "its",
    "out", "how", "who", "why", "any", "get", "got", "one", "our", "don", "use", "see", "say", "way", "yes", "now", "new", "day", "thi",
    "doe", "alway", "let", "hey", "okay", "isn", "wasn", "won", "aren", "wouldn", "couldn", "able", "here", "need", "going", "into",
    "over", "which", "that", "have", "what", "your", "with", "like", "really", "about", "just", "know", "think", "they", "this", "would",
    "there", "good", "great", "love", "well", "been", "yeah", "because", "some", "them", "very", "when", "from", "more", "much", "will",
    "don't", "sure", "time", "lot", "sound", "also", "were", "could", "people", "thing", "make", "want", "it's", "that's", "then",
    "than", "their", "being", "always", "never", "only", "even", "haven", "didn", "doesn", "cool", "nice",
];

/// Letters of western European languages, what a plain keyboard types but for the marks of code, and emoji.
fn is_common(character: char) -> bool {
    match character {
        ' '..='~' => !"[]{}|\\^~<>_=`".contains(character),
        '\u{c0}'..='\u{17f}' | '£' | '€' | '°' => true,
        other => is_emoji(other),
    }
}

/// A character of an emoji, joiners and variants included.
pub(crate) fn is_emoji(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f300}'..='\u{1faff}' | '\u{fe0f}' | '\u{200d}')
}

/// Beginnings of words that no reply may hold.
#[rustfmt::skip]
const COARSE: &[&str] = &[
    "fuck", "motherf", "shit", "bullshit", "bitch", "cunt", "dick", "dickhead", "cock", "cocksuck", "pussy", "nigg", "fag", "fags", "faggot",
    "retard", "whore", "slut", "ass", "asses", "asshole", "asshat", "dumbass", "jackass", "badass", "bastard", "piss", "tits", "titties",
    "boob", "penis", "vagina", "dildo", "porn", "sex", "sexual", "sexy", "rape", "raped", "raping", "rapist", "nazi", "hitler", "cum", "wank",
    "twat", "tranny", "crap", "damn", "goddamn", "nude", "naked", "horny", "orgasm", "erotic", "hentai", "pedo", "paedo", "molest", "incest", "genocide", "wtf", "stfu",
    "lmfao", "omfg", "milf", "hooker", "prostitut", "cocaine", "heroin", "meth",
];

/// Whole words among [`COARSE`]: as beginnings they would catch decent words such as "assume" or "method".
const WHOLE_WORDS: &[&str] =
    &["ass", "asses", "cock", "sex", "cum", "meth", "heroin", "crap", "dick", "tits", "fag", "fags", "piss", "rape", "nude"];

/// Whether a text holds a word that must not be taught as a reply: swearing, slurs, sex.
pub(crate) fn is_coarse(text: &str) -> bool {
    let lower = text.to_lowercase();
    if ["f*", "s**", "fck", "jerk off", "jerking off"].iter().any(|part| lower.contains(part)) {
        return true;
    }
    let mut words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| COARSE.iter().any(|coarse| if WHOLE_WORDS.contains(coarse) { word == *coarse } else { word.starts_with(coarse) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_dashes_and_spaces_become_plain() {
        assert_eq!(tidy("  “It’s\u{a0}late”\t– he said… "), "\"It's late\" - he said...");
    }

    #[test]
    fn emoji_and_accents_stay() {
        assert_eq!(clean("Café ❤️ 😭!", 9).as_deref(), Some("Café ❤️ 😭!"));
    }

    #[test]
    fn odd_characters_long_lines_and_letterless_lines_are_dropped() {
        for text in ["你好", "a [b]", "x = y", "1 2 3", "", "one two three four"] {
            assert_eq!(clean(text, 3), None, "{text}");
        }
    }

    #[test]
    fn related_turns_share_a_word_that_says_something() {
        assert!(share_a_word("I have two dogs.", "What is your dog called?"));
        assert!(!share_a_word("I think that is great", "That is really great, I think"));
    }

    #[test]
    fn decent_words_that_begin_like_coarse_ones_pass() {
        for text in ["I assume the cocktail class was a method", "Dickens sat in the Essex heroine's grape assembly"] {
            assert!(!is_coarse(text), "{text}");
        }
        for text in ["what the FUCK", "bullshit.", "you a$$ ass", "a dickhead", "Faggots", "she was raped", "jerk off", "sexual"] {
            assert!(is_coarse(text), "{text}");
        }
    }
}
