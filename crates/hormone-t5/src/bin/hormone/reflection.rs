//! Reflective listening (after Rogers, and Weizenbaum's ELIZA): what a person said, turned to "you" by rule and set in a hand-written frame.
//!
//! "I failed my exam" becomes the clause "you failed your exam" and the reply "Oh no, you failed your exam, that must hurt." The tone of the frame is
//! free, so a model learns both to copy what was said and to let the levels choose how to answer. What cannot be turned surely is not turned at all.

mod frames;
mod pronouns;
mod sentence;
mod topic;

pub(crate) use frames::{Frames, Strength};
pub(crate) use sentence::{is_crisis, is_delicate};

/// A sentence turned round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reflection {
    /// The clause, such as "you failed your exam"; begins small, ends without a mark.
    pub(crate) clause: String,
    /// What it is about, such as "your exam", where that is sure.
    pub(crate) topic: Option<String>,
    /// Whom the sentence is about.
    pub(crate) subject: Subject,
}

/// Whom a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// The person who wrote it: "I am late", "my dog is ill".
    Writer,
    /// The one who answers: "you are useless" becomes "I am useless".
    Listener,
    /// Anyone or anything else: "the bus is late".
    Other,
}

/// Turns a sentence of `text`: the first that can be turned, those about its writer before others.
pub(crate) fn reflect(text: &str) -> Option<Reflection> {
    if is_crisis(text) {
        return None;
    }
    let turned = sentence::sentences(text).into_iter().filter_map(|sentence| turn(&sentence));
    turned.min_by_key(|reflection| reflection.subject != Subject::Writer)
}

fn turn(sentence: &str) -> Option<Reflection> {
    let words = sentence::words(sentence)?;
    let subject = sentence::subject(&words)?;
    let turned = match subject {
        Subject::Writer | Subject::Other => pronouns::to_second_person(&words)?,
        Subject::Listener => pronouns::to_first_person(&words)?,
    };
    let topic = (subject != Subject::Listener).then(|| topic::topic(&turned)).flatten();
    Some(Reflection { clause: sentence::join(&turned), topic, subject })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(text: &str) -> Option<String> {
        reflect(text).map(|reflection| reflection.clause)
    }

    #[test]
    fn sentences_are_turned_to_the_second_person() {
        for (sentence, expected) in [
            ("I passed my driving test", "you passed your driving test"),
            ("my dog is ill", "your dog is ill"),
            ("I am not happy with my boss", "you are not happy with your boss"),
            ("I'm tired of my job.", "you're tired of your job"),
            ("im so tired today", "you're so tired today"),
            ("I AM SO TIRED OF MY JOB!!!", "you are so tired of your job"),
            ("I've lost my keys again", "you've lost your keys again"),
            ("ive lost my keys", "you've lost your keys"),
            ("I was late for work", "you were late for work"),
            ("I wasn't invited to the party", "you weren't invited to the party"),
            ("I really was afraid of her", "you really were afraid of her"),
            ("I was told that he was ill", "you were told that he was ill"),
            ("My sister was late", "your sister was late"),
            ("My friends forgot about me", "your friends forgot about you"),
            ("The red car is mine", "the red car is yours"),
            ("I did it all by myself", "you did it all by yourself"),
            ("We are moving to our new house", "you are moving to your new house"),
            ("We're getting married!", "you're getting married"),
            ("Our cat had kittens", "your cat had kittens"),
            ("They never invite us", "they never invite you"),
            ("I'll call my mother tomorrow", "you'll call your mother tomorrow"),
            ("I'd like a cup of tea", "you'd like a cup of tea"),
            ("I shall go home", "you will go home"),
            ("Well, I think I am right", "you think you are right"),
            ("So I quit my job lol", "you quit your job"),
            ("Yesterday I broke my arm", "yesterday you broke your arm"),
            ("Today my boss yelled at me", "today your boss yelled at you"),
            ("My brother and I are going to Spain", "you and your brother are going to Spain"),
            ("Me and my friend went swimming", "you and your friend went swimming"),
            ("I love you", "you love me"),
            ("I want to thank you for your help", "you want to thank me for my help"),
            ("I dont like my new school", "you don't like your new school"),
            ("I cant find my phone 😭😭", "you can't find your phone"),
            ("He gave me his book", "he gave you his book"),
            ("She said that I was rude", "she said that you were rude"),
            ("The bus is late again.", "the bus is late again"),
            ("It's raining all day", "it's raining all day"),
            ("I moved to the US last year", "you moved to the US last year"),
            ("i hate mondays...", "you hate mondays"),
            ("I don't know where I am", "you don't know where you are"),
            ("I wish I were taller", "you wish you were taller"),
            ("I got a new job! Can you believe it?", "you got a new job"),
            ("Really? I never said that.", "you never said that"),
            ("I was happy because I was home", "you were happy because you were home"),
            ("My favourite colour is blue, Tom.", "your favourite colour is blue"),
            ("I have a dog named Rex.", "you have a dog named Rex"),
            ("It would be exciting I guess.", "it would be exciting"),
            ("They are both great breeds! I have a black lab.", "you have a black lab"),
            ("You are a useless bot", "I am a useless bot"),
            ("You're so slow", "I'm so slow"),
            ("you never listen to me", "I never listen to you"),
            ("you were wrong about my exam", "I was wrong about your exam"),
            ("your answers are terrible", "my answers are terrible"),
        ] {
            assert_eq!(clause(sentence).as_deref(), Some(expected), "{sentence}");
        }
    }

    #[test]
    fn only_words_of_grief_and_danger_count_and_not_words_that_look_like_them() {
        for text in
            ["my father missed the deadline", "my diet starts on Monday", "he translates for a diesel garage", "the fate of the strokes"]
        {
            assert!(!is_delicate(text), "{text}");
        }
        for text in ["my dog died", "Grandma has dementia", "she passed away in May", "I am too fat", "I cried"] {
            assert!(is_delicate(text), "{text}");
        }
        for text in ["a skilled worker", "the stable has begun to leak", "I scraped the pan"] {
            assert!(!is_crisis(text), "{text}");
        }
        for text in ["he was stabbed", "I want to die", "they killed him", "thinking of suicide"] {
            assert!(is_crisis(text), "{text}");
        }
    }

    #[test]
    fn sentences_that_cannot_be_turned_surely_are_left() {
        for sentence in [
            "Am I late?",
            "How are you",
            "I think you are nice",
            "I went home and was sick",
            "I",
            "Me too",
            "Let's go home",
            "Open the door.",
            "My favourite colour",
            "I said \"no\" to him",
            "I is the best",
            "Oh my god",
            "My god, that is bad",
            "I want to kill myself",
            "I want you to know that you can call",
            "I get up at 6 am every day",
            "http://example.com is my page",
            "I love my dog and",
            "The United States",
            "We're are going on a trip",
            "You need to press the button",
            "You see, it turned out well",
            "I would like to know if you are coming to my party",
        ] {
            assert_eq!(clause(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn topics_are_named_where_they_are_sure() {
        for (sentence, expected) in [
            ("I failed my exam", Some("your exam")),
            ("I passed my driving test yesterday", Some("your driving test")),
            ("My dog is ill", Some("your dog")),
            ("I bought a car", Some("the car")),
            ("I am tired", None),
            ("My mother cries all day", None),
        ] {
            let reflection = reflect(sentence);
            assert_eq!(reflection.as_ref().and_then(|reflection| reflection.topic.as_deref()), expected, "{sentence}: {reflection:?}");
        }
    }

    #[test]
    fn no_turned_sentence_still_speaks_in_the_first_person() {
        let subjects = ["I", "My brother and I", "We", "My mother", "Today I", "Sometimes my boss"];
        let verbs = ["lost", "was at", "didn't like", "will miss", "has", "have never seen", "am tired of", "and my friends wrote about"];
        let objects =
            ["my keys", "our house", "me", "the man who told me that I am late", "a friend of mine", "myself", "what I said to my father"];
        let mut turned = 0;
        for subject in subjects {
            for verb in verbs {
                for object in objects {
                    for text in [
                        format!("{subject} {verb} {object}"),
                        format!("{subject} {verb} {object}!").to_uppercase(),
                        format!("{subject} {verb} {object}").to_lowercase(),
                    ] {
                        let Some(clause) = clause(&text) else { continue };
                        turned += 1;
                        let left = clause.split(' ').find(|word| {
                            ["i", "my", "am", "me", "mine", "myself", "we", "us", "our", "i'm"].contains(&word.to_lowercase().as_str())
                        });
                        assert_eq!(left, None, "{text}: {clause}");
                    }
                }
            }
        }
        assert!(turned > 500, "{turned}");
    }
}
