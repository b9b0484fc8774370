//! Small talk with a bot: question and answer lists.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hormone_t5::Tone;
use serde::Deserialize;

use super::cleaning::clean;
use super::{TurnPair, is_coarse, read_text};

/// How many questions of one answer are kept, so that no answer is learnt as the answer to everything.
const QUESTIONS_OF_ONE_ANSWER: usize = 12;

/// Personality Chat (Microsoft, MIT): `qna/qna_chitchat_the_{friend,professional,comic}.tsv`, columns Question, Answer, Source, Metadata, the same
/// questions in three voices.
pub(super) fn personality_chat(folder: &Path) -> Result<Vec<TurnPair>> {
    let mut pairs = Vec::new();
    for (voice, tone) in [("friend", Some(Tone::Friendly)), ("professional", Some(Tone::Neutral)), ("comic", None)] {
        let path = folder.join(format!("qna/qna_chitchat_the_{voice}.tsv"));
        let expected = "a header and rows of question, tab, answer, tab, source";
        let mut questions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (index, line) in read_text(&path, expected)?.lines().enumerate().skip(1) {
            let mut columns = line.split('\t');
            let mut column = || columns.next().with_context(|| format!("{}, line {}: expected {expected}", path.display(), index + 1));
            let (question, answer) = (column()?.to_string(), column()?.to_string());
            questions.entry(answer).or_default().push(question);
        }
        pairs.extend(questions.iter().flat_map(|(answer, questions)| capped(questions, answer, tone)));
    }
    Ok(pairs)
}

/// QnA chitchat (Microsoft; MIT by association): `groups.json`, a list of `{"friendly", "professional", "enthusiastic", "questions"}`: one answer in
/// three voices to many questions.
pub(super) fn qna_chitchat(folder: &Path) -> Result<Vec<TurnPair>> {
    #[derive(Deserialize)]
    struct Group {
        friendly: String,
        professional: String,
        enthusiastic: String,
        questions: Vec<String>,
    }
    let path = folder.join("groups.json");
    let expected = "a JSON list of groups with friendly, professional, enthusiastic and questions";
    let groups: Vec<Group> =
        serde_json::from_str(&read_text(&path, expected)?).with_context(|| format!("{}: expected {expected}", path.display()))?;
    let voices = |group: &Group| {
        let voices = [(Tone::Friendly, &group.friendly), (Tone::Neutral, &group.professional), (Tone::Excited, &group.enthusiastic)];
        voices.into_iter().flat_map(|(tone, answer)| capped(&group.questions, answer, Some(tone))).collect::<Vec<_>>()
    };
    Ok(groups.iter().flat_map(voices).collect())
}

/// At most [`QUESTIONS_OF_ONE_ANSWER`] clean questions, spread over all, each with the answer.
fn capped(questions: &[String], answer: &str, tone: Option<Tone>) -> Vec<TurnPair> {
    let Some(reply) = clean(answer, 24).filter(|answer| !is_coarse(answer)) else { return Vec::new() };
    let messages: Vec<String> =
        questions.iter().filter_map(|question| clean(question, 24)).filter(|question| !is_coarse(question)).collect();
    let step = messages.len().div_ceil(QUESTIONS_OF_ONE_ANSWER).max(1);
    messages.into_iter().step_by(step).map(|message| TurnPair { message, reply: reply.clone(), tone }).collect()
}

/// Files of the ChatterBot corpus that are small talk; its trivia, coding and support are not, and gossip and jokes are stale.
const CHATTERBOT_FILES: [&str; 8] = ["conversations", "emotion", "greetings", "food", "health", "psychology", "botprofile", "sports"];

/// ChatterBot corpus (BSD-3-Clause): `english/*.yml`, `conversations:` a list of lists of lines. Up to three lines after the first are all answers to
/// it in `emotion`, and a conversation goes on line by line in the others.
pub(super) fn chatterbot(folder: &Path) -> Result<Vec<TurnPair>> {
    #[derive(Deserialize)]
    struct File {
        conversations: Vec<Vec<serde_yaml_ng::Value>>,
    }
    let mut pairs = Vec::new();
    for name in CHATTERBOT_FILES {
        let path = folder.join(format!("english/{name}.yml"));
        let expected = "YAML with conversations: a list of lists of lines";
        let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read; expected {expected}", path.display()))?;
        let file: File = serde_yaml_ng::from_str(&text).with_context(|| format!("{}: expected {expected}", path.display()))?;
        for conversation in file.conversations {
            let lines: Vec<&str> = conversation.iter().filter_map(|line| line.as_str()).collect();
            let answers_to_first = name == "emotion" || name == "psychology";
            for index in 1..lines.len() {
                let message = if answers_to_first { lines[0] } else { lines[index - 1] };
                let (Some(message), Some(reply)) = (clean(message, 24), clean(lines[index], 24)) else { continue };
                if !is_coarse(&reply) && !is_coarse(&message) {
                    pairs.push(TurnPair { message, reply, tone: None });
                }
            }
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_capped_and_their_questions_spread_over_all() {
        let questions: Vec<String> = (0..40).map(|index| format!("question {index}")).collect();
        let pairs = capped(&questions, "Yes.", None);
        assert_eq!(pairs.len(), 10);
        assert_eq!(pairs[9].message, "question 36");
    }

    #[test]
    fn chatterbot_lines_become_pairs() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("english")).expect("made");
        for name in CHATTERBOT_FILES {
            let text = "categories:\n- x\nconversations:\n- - Hello\n  - Hi there\n  - How are you?\n- - 'Are you sad?'\n  - \"No: not now\"\n  - 42\n";
            std::fs::write(folder.path().join(format!("english/{name}.yml")), text).expect("written");
        }
        let pairs = chatterbot(folder.path()).expect("readable");
        assert_eq!(pairs.len(), 3 * CHATTERBOT_FILES.len());
        assert_eq!((pairs[1].message.as_str(), pairs[1].reply.as_str()), ("Hi there", "How are you?"));
    }
}
