//! Hand-written frames for turned sentences, read from `frames.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use hormone_t5::Tone;
use rand::Rng;
use rand::seq::IndexedRandom;
use serde::Deserialize;

use super::{Reflection, Subject};

/// How much feeling a frame shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Strength {
    /// None: what the plain T5 says.
    Flat,
    /// Restrained.
    Mild,
    /// Full.
    Strong,
}

/// All frames.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Frames {
    flat: Vec<String>,
    listener: ListenerFrames,
    #[serde(flatten)]
    tones: BTreeMap<String, ToneFrames>,
}

/// Frames for what is said to the one who answers.
#[derive(Clone, Debug, Deserialize)]
struct ListenerFrames {
    flat: Vec<String>,
    #[serde(flatten)]
    tones: BTreeMap<String, ToneFrames>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToneFrames {
    mild: Vec<String>,
    strong: Vec<String>,
}

impl Frames {
    /// Reads and checks the project's own frames.
    pub(crate) fn load() -> Result<Self> {
        let frames: Self = toml::from_str(include_str!("frames.toml"))
            .context("frames.toml: expected flat, listener and a table for each tone with mild and strong")?;
        for tone in Tone::ALL {
            for tones in [&frames.tones, &frames.listener.tones] {
                ensure!(tones.contains_key(tone.name()), "frames.toml: the tone {} is missing", tone.name());
            }
        }
        let odd = frames.all().find(|frame| ["{c}", "{C}", "{t}", "{T}"].iter().filter(|place| frame.contains(**place)).count() != 1);
        ensure!(
            odd.is_none(),
            "frames.toml: expected one of {{c}}, {{C}}, {{t}}, {{T}} in each frame, not \"{}\"",
            odd.map_or("", String::as_str)
        );
        Ok(frames)
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        let toned = self.tones.values().chain(self.listener.tones.values()).flat_map(|tone| tone.mild.iter().chain(&tone.strong));
        self.flat.iter().chain(&self.listener.flat).chain(toned)
    }

    /// The frames for a subject, a tone and a strength.
    pub(crate) fn of(&self, subject: Subject, tone: Tone, strength: Strength) -> &[String] {
        let (flat, tones) = match subject {
            Subject::Listener => (&self.listener.flat, &self.listener.tones),
            Subject::Writer | Subject::Other => (&self.flat, &self.tones),
        };
        match (strength, tones.get(tone.name())) {
            (Strength::Mild, Some(frames)) => &frames.mild,
            (Strength::Strong, Some(frames)) => &frames.strong,
            _ => flat,
        }
    }

    /// A reply: the reflection in one of the fitting frames.
    pub(crate) fn reply(&self, reflection: &Reflection, tone: Tone, strength: Strength, rng: &mut impl Rng) -> String {
        let fitting: Vec<&String> = self
            .of(reflection.subject, tone, strength)
            .iter()
            .filter(|frame| reflection.topic.is_some() || !is_about_topic(frame))
            .collect();
        fitting.choose(rng).map_or_else(|| reflection.clause.clone(), |frame| fill(frame, reflection))
    }
}

fn is_about_topic(frame: &str) -> bool {
    frame.contains("{t}") || frame.contains("{T}")
}

fn fill(frame: &str, reflection: &Reflection) -> String {
    let topic = reflection.topic.as_deref().unwrap_or_default();
    let filled = frame.replace("{c}", &reflection.clause).replace("{C}", &capitalised(&reflection.clause));
    filled.replace("{t}", topic).replace("{T}", &capitalised(topic))
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::reflection::reflect;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn every_tone_has_forty_different_frames_of_each_strength() {
        let frames = Frames::load().expect("frames");
        let mut seen = HashSet::new();
        for tone in Tone::ALL {
            for strength in [Strength::Mild, Strength::Strong] {
                let list = frames.of(Subject::Writer, tone, strength);
                assert!(list.len() >= 40, "{}: {}", tone.name(), list.len());
                assert!(list.iter().all(|frame| seen.insert(frame)), "{} has a frame twice", tone.name());
                assert!(frames.of(Subject::Listener, tone, strength).len() >= 10);
            }
        }
        assert!(frames.of(Subject::Writer, Tone::Sad, Strength::Flat).len() >= 40);
    }

    #[test]
    fn flat_frames_show_no_feeling() {
        let frames = Frames::load().expect("frames");
        assert!(frames.of(Subject::Writer, Tone::Rude, Strength::Flat).iter().all(|frame| !frame.contains('!')));
    }

    #[test]
    fn places_are_filled() {
        let frames = Frames::load().expect("frames");
        let reflection = reflect("I failed my exam").expect("a reflection");
        assert_eq!(fill("{C}? And {c}!", &reflection), "You failed your exam? And you failed your exam!");
        assert_eq!(fill("{T}! Poor {t}.", &reflection), "Your exam! Poor your exam.");
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for tone in Tone::ALL {
            let reply = frames.reply(&reflection, tone, Strength::Strong, &mut rng);
            assert!(reply.contains("exam") && !reply.contains('{'), "{reply}");
        }
    }
}
