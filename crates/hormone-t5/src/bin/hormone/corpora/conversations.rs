//! Conversations between two persons, as pairs of a turn and the next.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use hormone_t5::Tone;
use serde::Deserialize;

use super::cleaning::clean;
use super::{TurnPair, is_coarse, read_text};

/// Longest message and reply, in words.
const LONGEST_MESSAGE: usize = 26;
const LONGEST_REPLY: usize = 22;

/// What Synthetic-Persona-Chat gives.
pub(super) struct PersonaChat {
    pub(super) turns: Vec<TurnPair>,
    pub(super) facts: Vec<String>,
}

/// Synthetic-Persona-Chat (Google, CC BY 4.0): `valid.csv` and `test.csv`, columns "user 1 personas", "user 2 personas" (one fact a line) and
/// "Best Generated Conversation" (lines "User 1: ..."). Turns with `[` (an unfilled place) are skipped, and so is whatever answers them.
pub(super) fn synthetic_persona_chat(folder: &Path) -> Result<PersonaChat> {
    let mut chat = PersonaChat { turns: Vec::new(), facts: Vec::new() };
    for name in ["valid.csv", "test.csv"] {
        let path = folder.join(name);
        let expected =
            || format!("{}: expected CSV with the columns user 1 personas, user 2 personas, Best Generated Conversation", path.display());
        let mut reader = csv::Reader::from_path(&path).with_context(expected)?;
        for row in reader.records() {
            let row = row.with_context(expected)?;
            let column = |index: usize| row.get(index).with_context(expected);
            for personas in [column(0)?, column(1)?] {
                chat.facts.extend(personas.lines().filter_map(|fact| clean(fact, 20)).map(|fact| capitalised(&fact)));
            }
            let turns: Vec<Turn> = column(2)?.lines().filter_map(persona_turn).collect();
            chat.turns.extend(pairs(&turns, None));
        }
    }
    chat.facts.sort();
    chat.facts.dedup();
    Ok(chat)
}

/// "User 1: text" (asterisks may stand around it) as a turn.
fn persona_turn(line: &str) -> Option<Turn> {
    let (speaker, text) = line.trim_matches(|character: char| character == '*' || character.is_whitespace()).split_once(':')?;
    let speaker = speaker.trim_end_matches('*');
    speaker.starts_with("User ").then(|| Turn { speaker: speaker.to_string(), text: text.trim_matches(['*', ' ']).to_string(), tone: None })
}

/// Topical-Chat (Amazon, CDLA-Sharing-1.0): `{valid,test}_{freq,rare}.json`, `{id: {"content": [{"message", "agent", "sentiment", ...}]}}`.
/// Only pairs of short turns.
pub(super) fn topical_chat(folder: &Path) -> Result<Vec<TurnPair>> {
    #[derive(Deserialize)]
    struct Conversation {
        content: Vec<Message>,
    }
    #[derive(Deserialize)]
    struct Message {
        message: String,
        agent: String,
        sentiment: String,
    }
    let mut all = Vec::new();
    for name in ["valid_freq.json", "valid_rare.json", "test_freq.json", "test_rare.json"] {
        let path = folder.join(name);
        let expected = "JSON of conversations, each with a content of messages with message, agent and sentiment";
        let text = read_text(&path, expected)?;
        let conversations: HashMap<String, Conversation> =
            serde_json::from_str(&text).with_context(|| format!("{}: expected {expected}", path.display()))?;
        let mut ids: Vec<&String> = conversations.keys().collect();
        ids.sort();
        for id in ids {
            let turn = |message: &Message| {
                let tone = match message.sentiment.as_str() {
                    "Happy" => Some(Tone::Friendly),
                    "Neutral" => Some(Tone::Neutral),
                    _ => None,
                };
                Turn { speaker: message.agent.clone(), text: message.message.clone(), tone }
            };
            let turns: Vec<Turn> = conversations[id].content.iter().map(turn).collect();
            all.extend(pairs(&turns, Some(18)));
        }
    }
    Ok(all)
}

struct Turn {
    speaker: String,
    text: String,
    tone: Option<Tone>,
}

/// Neighbouring turns of two speakers that are both clean, decent and no longer than `longest` or this file's limits.
fn pairs(turns: &[Turn], longest: Option<usize>) -> Vec<TurnPair> {
    let pair = |window: &[Turn]| {
        let message = clean(&window[0].text, longest.unwrap_or(LONGEST_MESSAGE))?;
        let reply = clean(&window[1].text, longest.unwrap_or(LONGEST_REPLY))?;
        // "User 1" is a place that was never filled.
        let unfilled = [&message, &reply].iter().any(|text| text.contains("User "));
        let good = window[0].speaker != window[1].speaker && !is_coarse(&reply) && !unfilled;
        good.then(|| TurnPair { message, reply, tone: window[1].tone })
    };
    turns.windows(2).filter_map(pair).collect()
}

/// The first letter in upper case, and every lone "i".
fn capitalised(text: &str) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| if word == "i" || word.starts_with("i'") { word.replacen('i', "I", 1) } else { word.to_string() })
        .collect();
    let text = words.join(" ");
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persona_conversations_become_pairs_without_unfilled_places() {
        let folder = tempfile::tempdir().expect("a folder");
        let csv = "user 1 personas,user 2 personas,Best Generated Conversation\n\"i like tea.\nI run.\",I sing.,\"User 1: Hi, I'm [name].\nUser 2: Hello there.\n* User 1: Do you run?\n* User 2: Yes, daily.\"\n";
        for name in ["valid.csv", "test.csv"] {
            std::fs::write(folder.path().join(name), csv).expect("written");
        }
        let chat = synthetic_persona_chat(folder.path()).expect("readable");
        assert_eq!(chat.facts, ["I like tea.", "I run.", "I sing."]);
        let first: Vec<_> = chat.turns[..2].iter().map(|pair| (pair.message.as_str(), pair.reply.as_str())).collect();
        assert_eq!(first, [("Hello there.", "Do you run?"), ("Do you run?", "Yes, daily.")]);
    }
}
