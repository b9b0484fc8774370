//! What `assets/data` promises: how many dialogues there are, how varied and how careful they are.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use hormone_t5::Tone;

use super::{Dialogue, Exchange, Exchanges, Voice, load};
use crate::corpora::is_coarse;
use crate::evaluation::heldout_messages;
use crate::evaluation::wording::words;

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/data").join(file)
}

fn dialogues() -> Vec<Dialogue> {
    load(&data("dialogues.jsonl")).expect("readable dialogues")
}

fn exchanges() -> Vec<Exchange> {
    let Exchanges { train, validation } = Exchanges::load(&data("exchanges.jsonl"), 1).expect("readable exchanges");
    [train, validation].concat()
}

#[test]
fn every_tone_has_2500_messages_in_exchanges_and_every_voice_2000_replies() {
    let exchanges = exchanges();
    for tone in Tone::ALL {
        assert!(exchanges.iter().filter(|exchange| exchange.tone == tone).count() >= 2500, "{tone:?}");
        let replies = exchanges.iter().filter(|exchange| exchange.replies.contains_key(&Voice::Strong(tone)));
        assert!(replies.count() >= 2000, "{tone:?}");
    }
    assert!(exchanges.iter().filter(|exchange| exchange.replies.contains_key(&Voice::Flat)).count() >= 2000);
}

#[test]
fn replies_of_exchanges_are_none_coarse_none_twice_and_of_varied_openings() {
    let exchanges = exchanges();
    let replies: Vec<&String> = exchanges.iter().flat_map(|exchange| exchange.replies.values()).collect();
    let (mut seen, mut openings) = (HashSet::new(), HashMap::new());
    for reply in &replies {
        assert!(!is_coarse(reply), "{reply}");
        assert!(seen.insert(words(reply)), "twice: {reply}");
        *openings.entry(words(reply).into_iter().take(2).collect::<Vec<_>>()).or_insert(0) += 1;
    }
    let most = openings.values().max().copied().unwrap_or_default();
    assert!(most * 50 <= replies.len(), "an opening is used {most} times in {} replies", replies.len());
}

#[test]
fn nobody_in_danger_is_answered_by_an_exchange() {
    // Plain words for it: the rule that holds back reflections is wider, and takes "killed it at open mic" for danger.
    let danger =
        ["kill myself", "want to die", "end my life", "suicid", "hurt myself", "self-harm", "self harm", "cut myself", "end it all"];
    let is_in_danger = |input: &String| danger.iter().any(|words| input.to_lowercase().contains(words));
    let in_danger: Vec<String> = exchanges().into_iter().map(|exchange| exchange.input).filter(is_in_danger).collect();
    assert_eq!(in_danger, Vec::<String>::new(), "messages of people in crisis belong to the dialogues that point to help");
}

#[test]
fn every_tone_has_400_messages_and_500_dialogues_have_replies_in_all_tones() {
    let dialogues = dialogues();
    for tone in Tone::ALL {
        assert!(dialogues.iter().filter(|dialogue| dialogue.tone == tone).count() >= 400, "{tone:?}");
    }
    assert!(dialogues.iter().filter(|dialogue| !dialogue.other.is_empty()).count() >= 500);
}

#[test]
fn no_opening_of_two_words_begins_more_than_one_reply_in_fifty() {
    let dialogues = dialogues();
    let replies: Vec<&str> = dialogues.iter().flat_map(|dialogue| dialogue.texts().into_iter().skip(1)).collect();
    let mut openings: HashMap<Vec<String>, usize> = HashMap::new();
    for reply in &replies {
        *openings.entry(words(reply).into_iter().take(2).collect()).or_default() += 1;
    }
    let (opening, count) = openings.into_iter().max_by_key(|(_, count)| *count).expect("replies");
    assert!(count * 50 <= replies.len(), "{opening:?} opens {count} of {} replies", replies.len());
}

#[test]
fn no_reply_is_coarse_and_no_reply_is_given_twice() {
    let dialogues = dialogues();
    let mut seen = HashSet::new();
    for reply in dialogues.iter().flat_map(|dialogue| dialogue.texts().into_iter().skip(1)) {
        assert!(!is_coarse(reply), "{reply}");
        assert!(seen.insert(words(reply)), "twice: {reply}");
    }
}

#[test]
fn every_tone_is_written_in_capitals_in_small_letters_with_emoji_and_with_exclamation_marks() {
    let dialogues = dialogues();
    for tone in Tone::ALL {
        let share =
            |holds: &dyn Fn(&str) -> bool| dialogues.iter().filter(|dialogue| dialogue.tone == tone && holds(&dialogue.input)).count();
        let letters =
            |text: &str, capital: bool| text.chars().any(|letter| if capital { letter.is_uppercase() } else { letter.is_lowercase() });
        assert!(share(&|text| letters(text, true) && !letters(text, false)) >= 10, "{tone:?} in capitals");
        assert!(share(&|text| letters(text, false) && !letters(text, true)) >= 10, "{tone:?} in small letters");
        assert!(share(&|text| text.contains('!')) >= 10, "{tone:?} with an exclamation mark");
        assert!(share(&|text| text.chars().any(|mark| mark as u32 > 0x2600)) >= 5, "{tone:?} with an emoji");
    }
}

#[test]
fn whoever_is_in_danger_is_pointed_to_real_help_in_every_tone() {
    let help = ["help", "line", "emergency", "call", "doctor", "trust", "adult", "service"];
    let crises: Vec<Dialogue> = dialogues().into_iter().filter(|dialogue| dialogue.topic == "crisis").collect();
    assert!(crises.len() >= 10);
    for reply in crises.iter().flat_map(|dialogue| dialogue.texts().into_iter().skip(1)) {
        let reply_in_small_letters = reply.to_lowercase();
        assert!(help.iter().any(|word| reply_in_small_letters.contains(word)), "{reply}");
    }
    assert!(crises.iter().all(|dialogue| !dialogue.other.is_empty()));
}

#[test]
fn held_out_messages_are_50_a_tone_and_none_is_trained_on() {
    let heldout = heldout_messages(&data("heldout.jsonl")).expect("readable messages");
    for tone in Tone::ALL {
        assert_eq!(heldout.iter().filter(|message| message.tone == tone).count(), 50, "{tone:?}");
    }
    let exchanges = exchanges();
    let dialogues = dialogues();
    let inputs = dialogues.iter().map(|dialogue| &dialogue.input).chain(exchanges.iter().map(|exchange| &exchange.input));
    let written: HashSet<Vec<String>> = inputs.map(|input| words(input)).collect();
    let messages: HashSet<Vec<String>> = heldout.iter().map(|message| words(&message.input)).collect();
    assert_eq!(messages.len(), heldout.len());
    assert!(messages.is_disjoint(&written));
}
