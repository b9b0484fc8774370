//! Exchanges, `assets/data/exchanges.jsonl`, one JSON line each: a message with its tone, and any number of replies, each in a
//! voice that may be any, whatever the message's tone.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use hormone_t5::{HormoneLevels, Tone};
use serde::Deserialize;

use super::{message_key, stable_hash};

/// One exchange in so many is held out.
const HELD_OUT_ONE_IN: u64 = 20;

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    /// The tone of the message.
    pub(crate) tone: Tone,
    /// Where it comes up.
    pub(crate) topic: String,
    /// What the person says.
    pub(crate) input: String,
    /// How it is answered in which voice; none where only the message was written.
    pub(crate) replies: BTreeMap<Voice, String>,
}

impl Exchange {
    /// The message and its replies.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.input).chain(self.replies.values()).map(String::as_str)
    }
}

/// A tone and how much of it shows: "flat", "mild sad", "sad".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Voice {
    Flat,
    Mild(Tone),
    Strong(Tone),
}

impl Voice {
    /// `None`: flat.
    pub(crate) fn tone(self) -> Option<Tone> {
        match self {
            Self::Flat => None,
            Self::Mild(tone) | Self::Strong(tone) => Some(tone),
        }
    }

    /// What a reply in this voice shows: a mild one stands half-way between neutral and its tone.
    pub(crate) fn levels(self) -> HormoneLevels {
        let neutral = Tone::Neutral.levels();
        match self {
            Self::Flat => neutral,
            Self::Mild(tone) => {
                let (ends, neutral) = (tone.levels().to_array(), neutral.to_array());
                HormoneLevels::from(std::array::from_fn(|place| 0.5 * (ends[place] + neutral[place])))
            }
            Self::Strong(tone) => tone.levels(),
        }
    }
}

impl TryFrom<String> for Voice {
    type Error = anyhow::Error;

    fn try_from(name: String) -> Result<Self> {
        let tone = |name: &str| Tone::ALL.into_iter().find(|tone| tone.name() == name);
        let voice = match name.strip_prefix("mild ") {
            _ if name == "flat" => Some(Self::Flat),
            Some(rest) => tone(rest).map(Self::Mild),
            None => tone(&name).map(Self::Strong),
        };
        voice.ok_or_else(|| anyhow!("the voice \"{name}\" is none of flat, a tone, or mild and a tone"))
    }
}

/// The exchanges, parted by their messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchanges {
    /// To train on.
    pub(crate) train: Vec<Exchange>,
    /// Never to be trained on.
    pub(crate) validation: Vec<Exchange>,
}

impl Exchanges {
    /// Reads, checks and parts the file; two exchanges with the same message are an error.
    pub(crate) fn load(path: &Path, seed: u64) -> Result<Self> {
        let (validation, train) =
            load(path)?.into_iter().partition(|exchange| stable_hash(&message_key(&exchange.input), seed).is_multiple_of(HELD_OUT_ONE_IN));
        Ok(Self { train, validation })
    }

    /// All texts of the part to train on.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.train.iter().flat_map(Exchange::texts)
    }
}

fn load(path: &Path) -> Result<Vec<Exchange>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("{} cannot be read; expected one exchange a line as JSON", path.display()))?;
    let mut seen = HashSet::new();
    let mut exchanges = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}, line {}", path.display(), index + 1);
        let exchange: Exchange =
            serde_json::from_str(line).with_context(|| format!("{}: expected tone, topic, input and replies", place()))?;
        ensure!(exchange.texts().all(|text| !text.trim().is_empty()), "{}: a text is empty", place());
        if !seen.insert(exchange.input.to_lowercase()) {
            bail!("{}: another exchange has the message \"{}\"", place(), exchange.input);
        }
        exchanges.push(exchange);
    }
    ensure!(!exchanges.is_empty(), "{} holds no exchange", path.display());
    Ok(exchanges)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"{"tone":"sad","topic":"pets","input":"My hen died!!","replies":{"mild rude":"Hens do that.","flat":"One hen less."}}"#;

    fn loaded(lines: &[String]) -> Result<Vec<Exchange>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("exchanges.jsonl");
        fs::write(&path, lines.join("\n"))?;
        load(&path)
    }

    #[test]
    fn lines_become_exchanges_in_every_voice() {
        for (name, voice) in [("mild sad", Voice::Mild(Tone::Sad)), ("excited", Voice::Strong(Tone::Excited))] {
            assert_eq!(loaded(&[LINE.replace("mild rude", name)]).expect("readable")[0].replies[&voice], "Hens do that.");
        }
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (faulty, expected) in [
            (LINE.replace("mild rude", "loud"), "none of flat, a tone"),
            (LINE.replace("My hen", "MY HEN"), "another exchange has the message"),
            (LINE.replace("Hens do that.", " ").replace("hen", "cow"), "a text is empty"),
            (LINE.replace("replies", "answers"), "expected tone, topic, input and replies"),
        ] {
            let error = format!("{:#}", loaded(&[LINE.to_string(), faulty]).expect_err("a fault"));
            assert!(error.contains("line 2") && error.contains(expected), "{error}");
        }
    }
}
