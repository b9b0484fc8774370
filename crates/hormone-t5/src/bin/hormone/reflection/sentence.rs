//! From a text to the words of one declarative sentence: cut, unshouted, without fillers, with its subject told.

use super::Subject;
use crate::corpora::{is_coarse, is_emoji};

/// Fewest and most words of a sentence that is turned.
const SHORTEST: usize = 3;
const LONGEST: usize = 14;

/// A word and the comma after it, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) comma: bool,
}

impl Word {
    /// In small letters.
    pub(super) fn lower(&self) -> String {
        self.text.to_lowercase()
    }
}

/// Words that open a sentence without belonging to it, and words that close it so.
#[rustfmt::skip]
const OPENERS: &[&str] = &[
    "well", "so", "oh", "ok", "okay", "and", "but", "anyway", "honestly", "lol", "yeah", "yes", "yep", "no", "nope", "nah", "hi", "hey",
    "hello", "actually", "sadly", "unfortunately", "man", "wow", "ugh", "ah", "aw", "haha", "hmm", "um", "uh", "omg", "yay", "plus",
    "like", "also", "thanks", "sorry", "dude", "guess", "what",
];
const CLOSERS: &[&str] =
    &["lol", "haha", "hahaha", "though", "tho", "lmao", "xd", "man", "dude", "bro", "sir", "smh", "guys", "anyway", "please", "ugh", "rn"];

/// Within a sentence these are a mark between two.
const LAUGHS: &[&str] = &["lol", "haha", "hahaha", "lmao", "lmfao", "rofl", "xd", "omg", "wow"];

/// Adverbs of time that may stand before the subject.
#[rustfmt::skip]
const TIMES: &[&str] = &[
    "today", "yesterday", "sometimes", "now", "finally", "tonight", "lately", "once", "again", "usually", "recently", "suddenly", "soon",
    "still",
];

/// Words without the apostrophe that people leave out.
#[rustfmt::skip]
const APOSTROPHES: &[(&str, &str)] = &[
    ("im", "I'm"), ("ive", "I've"), ("dont", "don't"), ("cant", "can't"), ("didnt", "didn't"), ("wasnt", "wasn't"), ("isnt", "isn't"),
    ("doesnt", "doesn't"), ("couldnt", "couldn't"), ("wont", "won't"), ("havent", "haven't"), ("hasnt", "hasn't"),
    ("wouldnt", "wouldn't"), ("shouldnt", "shouldn't"), ("arent", "aren't"), ("werent", "weren't"), ("thats", "that's"),
    ("youre", "you're"), ("theyre", "they're"), ("whats", "what's"),
];

/// Where no sentence ends.
#[rustfmt::skip]
const DANGLING: &[&str] = &[
    "and", "but", "or", "the", "a", "an", "of", "because", "my", "your", "if", "i", "than", "as", "i'm", "i've", "i'd", "i'll", "it's",
    "we're",
];

/// Sentences of a text, without their last marks; questions are left out.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut marks = String::new();
    for character in text.chars().chain(std::iter::once('.')) {
        if matches!(character, '.' | '!' | '?' | '\n') {
            marks.push(character);
        } else if marks.is_empty() || !(character.is_whitespace() || is_emoji(character)) {
            // "3.5" and "e.g." go on.
            current.push_str(&marks);
            marks.clear();
            current.push(character);
        } else {
            close(&mut sentences, &mut current, &mut marks);
        }
    }
    close(&mut sentences, &mut current, &mut marks);
    sentences
}

fn close(sentences: &mut Vec<String>, current: &mut String, marks: &mut String) {
    let sentence =
        current.trim_matches(|character: char| character.is_whitespace() || is_emoji(character) || ",-~".contains(character)).to_string();
    if !marks.contains('?') && !sentence.is_empty() {
        sentences.push(sentence);
    }
    current.clear();
    marks.clear();
}

/// The words of a plain sentence of the right length; `None` where a quote, a bracket or an odd word stands in the way.
pub(super) fn words(sentence: &str) -> Option<Vec<Word>> {
    if is_coarse(sentence) || sentence.chars().any(|character| !is_plain(character)) {
        return None;
    }
    let shouted = is_shouted(sentence);
    let mut words: Vec<Word> = Vec::new();
    for raw in sentence.split_whitespace() {
        if raw == "-" {
            return None;
        }
        let comma = raw.ends_with(',');
        let text = raw.trim_end_matches(',');
        if text.is_empty()
            || text.contains(',')
            || text.chars().count() > 20
            || text.starts_with(['\'', '-'])
            || text.ends_with(['\'', '-'])
            || has_drawn_out_letter(text)
        {
            return None;
        }
        let text = if shouted { text.to_lowercase() } else { text.to_string() };
        let text = APOSTROPHES.iter().find(|(bare, _)| *bare == text.to_lowercase()).map_or(text, |(_, right)| (*right).to_string());
        words.push(Word { text, comma });
    }
    strip(&mut words);
    let last = words.last()?;
    let ends_well = !DANGLING.contains(&last.lower().as_str()) && !words.iter().any(|word| LAUGHS.contains(&word.lower().as_str()));
    let commas = words.iter().filter(|word| word.comma).count();
    // "We're are": a slip that would be copied.
    let twice_be = words.windows(2).any(|pair| {
        ["i'm", "we're", "you're", "they're"].contains(&pair[0].lower().as_str())
            && ["am", "are", "is", "was", "were"].contains(&pair[1].lower().as_str())
    });
    ((SHORTEST..=LONGEST).contains(&words.len()) && !twice_be && ends_well && commas <= 1).then_some(words)
}

fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || " ',-".contains(character)
}

fn is_shouted(sentence: &str) -> bool {
    let letters: Vec<char> = sentence.chars().filter(|character| character.is_alphabetic()).collect();
    letters.len() > 4 && letters.iter().filter(|character| character.is_uppercase()).count() * 10 > letters.len() * 7
}

fn has_drawn_out_letter(word: &str) -> bool {
    let letters: Vec<char> = word.to_lowercase().chars().collect();
    letters.windows(3).any(|window| window[0] == window[1] && window[1] == window[2])
}

/// Drops openers, closers, "I guess" and a name called at the end.
fn strip(words: &mut Vec<Word>) {
    if let [.., pronoun, verb] = words.as_slice()
        && words.len() > SHORTEST + 1
        && pronoun.lower() == "i"
        && ["guess", "think", "suppose", "hope", "believe"].contains(&verb.lower().as_str())
    {
        words.truncate(words.len() - 2);
    }
    while words.len() > SHORTEST && OPENERS.contains(&words[0].lower().as_str()) {
        words.remove(0);
    }
    loop {
        let count = words.len();
        let Some(last) = words.last() else { return };
        let called = count > 1 && words[count - 2].comma && last.text.starts_with(char::is_uppercase) && last.lower() != "i";
        if count > SHORTEST && (called || CLOSERS.contains(&last.lower().as_str())) {
            words.pop();
            if let Some(last) = words.last_mut() {
                last.comma = false;
            }
        } else {
            break;
        }
    }
    if let Some(last) = words.last_mut() {
        last.comma = false;
    }
}

/// Whom the sentence is about, if it is a statement that begins with its subject, or with an adverb of time and its subject.
pub(super) fn subject(words: &[Word]) -> Option<Subject> {
    let lower: Vec<String> = words.iter().map(Word::lower).collect();
    let first = usize::from(TIMES.contains(&lower[0].as_str()));
    if first > 0 && words.len() <= SHORTEST {
        return None;
    }
    let rest = &lower[first..];
    let after = |count: usize| words.get(first + count..).unwrap_or_default();
    let (head, next) = (rest[0].as_str(), rest.get(1).map_or("", String::as_str));
    match head {
        "i" => (!words[first].comma && !NO_VERB.contains(&next)).then_some(Subject::Writer),
        "i'm" | "i've" | "i'd" | "i'll" | "we're" | "we've" | "we'd" | "we'll" => Some(Subject::Writer),
        "we" => (!NO_VERB.contains(&next)).then_some(Subject::Writer),
        "my" | "our" => (!NOT_OWNED.contains(&next) && has_verb(after(2))).then_some(Subject::Writer),
        "me" => (next == "and" && has_verb(after(2))).then_some(Subject::Writer),
        "you're" | "you've" => (first == 0).then_some(Subject::Listener),
        "you" if ADVICE.contains(&next) => None,
        "you" => (first == 0 && !NO_VERB.contains(&next) && !words.get(1).is_some_and(|word| word.comma)).then_some(Subject::Listener),
        "your" => (first == 0 && has_verb(after(2))).then_some(Subject::Listener),
        "he's" | "she's" | "it's" | "they're" | "there's" | "they've" | "he'll" | "she'll" | "they'll" | "it'll" => Some(Subject::Other),
        "he" | "she" | "it" | "they" | "everyone" | "everybody" | "nobody" | "someone" | "somebody" | "nothing" | "everything" => {
            (!NO_VERB.contains(&next)).then_some(Subject::Other)
        }
        "there" => ["is", "are", "was", "were", "will", "has", "isn't", "aren't"].contains(&next).then_some(Subject::Other),
        "the" | "this" | "his" | "her" | "their" | "a" | "an" | "these" | "those" | "some" => has_verb(after(1)).then_some(Subject::Other),
        _ => None,
    }
}

/// Words after "you" that make a sentence advice to anyone rather than a remark to the listener.
#[rustfmt::skip]
const ADVICE: &[&str] = &[
    "cannot", "couldn't", "won't", "had", "say", "shall", "have", "need", "can", "could", "should", "must", "may", "might", "want",
    "see", "get", "got", "will", "would", "go", "just", "ought", "better", "shouldn't", "can't", "gotta", "only",
];

/// Words after a pronoun that show it is no subject, or that its sentence has no plain verb.
#[rustfmt::skip]
const NO_VERB: &[&str] = &[
    "for", "in", "of", "to", "the", "a", "an", "guys", "all", "on", "at", "with", "is", "has", "does", "hasn't", "isn't", "doesn't",
    "who", "two", "too", "people", "mean", "i", "you", "know",
];

/// "My god" and its like name no possession.
const NOT_OWNED: &[&str] = &["god", "gosh", "goodness", "lord", "dear", "bad", "man", "friend", "lady", "oh", "word", "turn"];

/// Finite verbs that show a sentence to be one; beside them, words in -ed.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "is", "was", "are", "were", "has", "had", "have", "will", "would", "can", "could", "should", "must", "might", "may", "does", "did",
    "do", "isn't", "wasn't", "aren't", "weren't", "hasn't", "hadn't", "haven't", "won't", "wouldn't", "can't", "couldn't", "doesn't",
    "didn't", "don't", "went", "got", "came", "left", "lost", "broke", "made", "said", "told", "took", "gave", "won", "ran", "forgot",
    "bought", "sold", "fell", "felt", "found", "kept", "knew", "met", "paid", "saw", "slept", "spoke", "stole", "thought", "wrote",
    "ate", "drank", "began", "grew", "threw", "loves", "likes", "says", "wants", "lives", "works", "makes", "plays", "looks", "thinks",
    "goes", "keeps", "needs", "gets", "hates", "takes", "eats", "comes", "knows", "feels", "sounds", "smells", "tastes", "hurts",
    "helps", "sings", "runs", "sleeps", "barks", "calls", "gives", "tells", "cries", "always", "never", "just", "died", "used", "lied",
    "hurt", "let", "put", "cost", "sent", "built", "shook", "gone", "stopped",
];

fn has_verb(words: &[Word]) -> bool {
    words.iter().any(|word| {
        let lower = word.lower();
        VERBS.contains(&lower.as_str()) || (word.text.len() > 4 && word.text.ends_with("ed") && word.text.starts_with(char::is_lowercase))
    })
}

/// The words as a clause: the first one small, but for "I".
pub(super) fn join(words: &[Word]) -> String {
    let mut clause = String::new();
    for (index, word) in words.iter().enumerate() {
        if index == 0 && word.text != "I" && !word.text.starts_with("I'") {
            let mut characters = word.text.chars();
            clause.extend(characters.next().into_iter().flat_map(char::to_lowercase).chain(characters));
        } else {
            clause.push_str(&word.text);
        }
        clause.push_str(if word.comma { ", " } else { " " });
    }
    clause.trim_end().to_string()
}

/// Marks of what a text is about: whole words, beginnings of words, and phrases, all small.
struct Marks {
    words: &'static [&'static str],
    beginnings: &'static [&'static str],
    phrases: &'static [&'static str],
}

impl Marks {
    fn stand_in(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let mut words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        self.phrases.iter().any(|phrase| lower.contains(phrase))
            || words.any(|word| self.words.contains(&word) || self.beginnings.iter().any(|beginning| word.starts_with(beginning)))
    }
}

/// A person in danger, and violence: no frame is right for these.
#[rustfmt::skip]
const CRISIS: Marks = Marks {
    words: &["gun", "guns", "stab", "stabs", "stabbed", "stabbing", "rape", "raped"],
    beginnings: &["suicid", "kill", "murder", "abus", "overdos", "shoot", "choke", "tortur", "terroris", "strangl", "bomb"],
    phrases: &[
        "self harm", "self-harm", "cut myself", "cutting myself", "hurt myself", "hurting myself", "harm myself", "harming myself",
        "want to die", "wanna die", "hang myself", "end it all", "beats me", "hits me", "hit me",
    ],
};

/// Whether nothing but help is a fitting answer, so that the text must not be reflected.
pub(crate) fn is_crisis(text: &str) -> bool {
    CRISIS.stand_in(text)
}

/// Grief and illness, and what people are: nothing to be rude or thrilled about.
#[rustfmt::skip]
const DELICATE: Marks = Marks {
    words: &[
        "die", "died", "dies", "dead", "dying", "death", "deaths", "bury", "buried", "coma", "stroke", "gay", "gays", "trans", "black", "white",
        "jew", "jews", "jewish", "fat", "fatter", "blind", "deaf", "ugly", "cry", "cries", "cried", "crying", "drunk", "adhd", "ptsd", "virgin",
    ],
    beginnings: &[
        "funeral", "cancer", "tumor", "tumour", "miscarr", "stillb", "grief", "griev", "widow", "hospice", "dementia", "alzheim", "lesbian",
        "transgend", "transsex", "bisexual", "queer", "asian", "latino", "mexican", "muslim", "islam", "christian", "catholic", "hindu", "sikh",
        "buddhist", "disab", "autis", "wheelchair", "crippl", "depress", "anxiety", "bipolar", "therap", "overweight", "obes", "anorex", "bulimi",
        "immigrant", "refugee", "pregnan", "abort", "alcoholic", "addict", "homeless", "panic",
    ],
    phrases: &["passed away"],
};

/// Whether a rude or a thrilled answer would be cruel.
pub(crate) fn is_delicate(text: &str) -> bool {
    DELICATE.stand_in(text)
}
