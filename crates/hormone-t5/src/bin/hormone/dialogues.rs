//! Our own dialogues, `assets/data/dialogues.jsonl`, one JSON line each: a message, a flat, a mild and a strong reply to it, and for some the strong
//! replies in the four other tones.

mod exchanges;
mod surface;
#[cfg(test)]
mod written;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hormone_t5::Tone;
use serde::Deserialize;

pub(crate) use exchanges::{Exchange, Exchanges, Voice};
pub(crate) use surface::{SurfaceShares, vary, with_other_name};

/// What decides which messages are held out: the same in every stage and in the evaluation, so that nothing is trained on in one and measured in another.
pub(crate) const SPLIT_SEED: u64 = 43;

/// One dialogue in so many is held out.
const HELD_OUT_ONE_IN: u64 = 10;

/// One line of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dialogue {
    /// Unique name, such as `sad-0001`.
    pub(crate) id: String,
    /// The tone of the message, and of its mild and strong reply.
    pub(crate) tone: Tone,
    /// What it is about; `crisis` calls for help, whatever the levels.
    pub(crate) topic: String,
    /// What the person says.
    pub(crate) input: String,
    /// A reply without feeling: what the plain T5 says.
    pub(crate) flat: String,
    /// A restrained reply.
    pub(crate) mild: String,
    /// A reply at full strength.
    pub(crate) strong: String,
    /// Strong replies in the four other tones, or none.
    #[serde(default)]
    pub(crate) other: BTreeMap<String, String>,
}

impl Dialogue {
    /// The message and all replies.
    pub(crate) fn texts(&self) -> Vec<&str> {
        [&self.input, &self.flat, &self.mild, &self.strong].into_iter().chain(self.other.values()).map(String::as_str).collect()
    }

    /// The strong reply in `tone`, if one was written.
    pub(crate) fn strong_reply(&self, tone: Tone) -> Option<&str> {
        if tone == self.tone { Some(&self.strong) } else { self.other.get(tone.name()).map(String::as_str) }
    }

    /// The other tones that a strong reply was written in.
    pub(crate) fn other_tones(&self) -> impl Iterator<Item = Tone> {
        Tone::ALL.into_iter().filter(|tone| *tone != self.tone && self.other.contains_key(tone.name()))
    }

    /// What makes a dialogue unique.
    pub(crate) fn key(&self) -> String {
        message_key(&self.input)
    }

    fn check(&self) -> Result<()> {
        ensure!(self.texts().iter().all(|text| !text.trim().is_empty()), "a text is empty");
        ensure!(self.topic.chars().all(|character| character.is_ascii_lowercase()), "the topic \"{}\" is not one small word", self.topic);
        let others: HashSet<&str> = Tone::ALL.into_iter().filter(|tone| *tone != self.tone).map(Tone::name).collect();
        let named: HashSet<&str> = self.other.keys().map(String::as_str).collect();
        ensure!(named.is_empty() || named == others, "\"other\" must hold the four other tones, but holds {named:?}");
        Ok(())
    }
}

/// A message in small letters and digits alone.
fn message_key(message: &str) -> String {
    let lower = message.to_lowercase();
    let words = lower.split_whitespace().map(|word| word.chars().filter(|character| character.is_alphanumeric()).collect::<String>());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Reads and checks the file; two dialogues with the same id or the same message are an error.
pub(crate) fn load(path: &Path) -> Result<Vec<Dialogue>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("{} cannot be read; expected one dialogue a line as JSON", path.display()))?;
    let mut dialogues: Vec<Dialogue> = Vec::new();
    let (mut ids, mut keys) = (HashSet::new(), HashSet::new());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}, line {}", path.display(), index + 1);
        let dialogue: Dialogue = serde_json::from_str(line)
            .with_context(|| format!("{}: expected id, tone, topic, input, flat, mild, strong and perhaps other", place()))?;
        dialogue.check().with_context(place)?;
        if !ids.insert(dialogue.id.clone()) {
            bail!("{}: the id \"{}\" is taken", place(), dialogue.id);
        }
        if !keys.insert(dialogue.key()) {
            bail!("{}: another dialogue has the message \"{}\"", place(), dialogue.input);
        }
        dialogues.push(dialogue);
    }
    ensure!(!dialogues.is_empty(), "{} holds no dialogue", path.display());
    Ok(dialogues)
}

/// The dialogues, parted by their messages before anything is repeated or varied: no message is in both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    /// To train on.
    pub(crate) train: Vec<Dialogue>,
    /// Never to be trained on.
    pub(crate) validation: Vec<Dialogue>,
}

impl Split {
    /// About one dialogue in ten is held out. Which ones depends on the seed and on their messages alone, so that dialogues written later move no others.
    pub(crate) fn new(dialogues: Vec<Dialogue>, seed: u64) -> Self {
        let (validation, train) =
            dialogues.into_iter().partition(|dialogue| stable_hash(&dialogue.key(), seed).is_multiple_of(HELD_OUT_ONE_IN));
        Self { train, validation }
    }
}

/// FNV-1a with its bits mixed (as in SplitMix64): the same on every platform and in every version.
pub(crate) fn stable_hash(text: &str, seed: u64) -> u64 {
    let mut hash = text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"id":"sad-0001","tone":"sad","topic":"pets","input":"My dog died!!","flat":"A dog died.","mild":"I'm sorry.","strong":"Oh no...","other":{"friendly":"A hug.","neutral":"I see.","rude":"And?","excited":"Wow!"}}"#;

    fn loaded(lines: &[String]) -> Result<Vec<Dialogue>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("dialogues.jsonl");
        fs::write(&path, lines.join("\n"))?;
        load(&path)
    }

    #[test]
    fn lines_become_dialogues() {
        let dialogues = loaded(&[LINE.to_string()]).expect("readable");
        assert_eq!(dialogues[0].key(), "my dog died");
        assert_eq!(dialogues[0].strong_reply(Tone::Sad), Some("Oh no..."));
        assert_eq!(dialogues[0].strong_reply(Tone::Rude), Some("And?"));
        assert_eq!(dialogues[0].texts().len(), 8);
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (faulty, expected) in [
            (LINE.replace("sad-0001", "sad-0002"), "another dialogue has the message"),
            (LINE.replace("My dog", "My cat"), "is taken"),
            (LINE.replace("0001", "0003").replace("My dog", "My hen").replace("\"rude\":\"And?\",", ""), "the four other tones"),
            (LINE.replace("0001", "0004").replace("My dog", "My cow").replace("flat", "flatt"), "expected id, tone"),
        ] {
            let error = format!("{:#}", loaded(&[LINE.to_string(), faulty]).expect_err("a fault"));
            assert!(error.contains("line 2") && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn split_holds_out_a_tenth_and_the_same_messages_whatever_else_is_written() {
        let numbered = |count: usize| {
            (0..count)
                .map(|index| LINE.replace("0001", &format!("{index:04}")).replace("My dog", &format!("Dog {index}")))
                .collect::<Vec<_>>()
        };
        let small = Split::new(loaded(&numbered(1000)).expect("readable"), 42);
        let large = Split::new(loaded(&numbered(2000)).expect("readable"), 42);
        assert!((70..130).contains(&small.validation.len()), "{}", small.validation.len());
        let held_out: HashSet<String> = large.validation.iter().map(Dialogue::key).collect();
        assert!(small.validation.iter().all(|dialogue| held_out.contains(&dialogue.key())));
        assert!(large.train.iter().all(|dialogue| !held_out.contains(&dialogue.key())));
        let other = Split::new(loaded(&numbered(1000)).expect("readable"), 43);
        assert_ne!(
            small.validation.iter().map(Dialogue::key).collect::<Vec<_>>(),
            other.validation.iter().map(Dialogue::key).collect::<Vec<_>>()
        );
    }
}
