//! The texts a model is trained on, read in place from a data folder (`../shared/data`; its README names every source and licence).
//!
//! Each reader is a small function that names its file's format and licence; what they give are plain sentences, turn pairs and labelled
//! texts. [`Corpora::load`] reads them all.

mod cleaning;
mod conversations;
mod goemotions;
mod label_levels;
mod sentences;
mod small_talk;
mod taught;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hormone_t5::{HormoneLevels, Tone};

pub(crate) use cleaning::{is_coarse, is_emoji, share_a_word, tidy, word_count};
pub(crate) use taught::TaughtText;

/// A message and what the other person said next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TurnPair {
    /// What was said.
    pub(crate) message: String,
    /// What was said next.
    pub(crate) reply: String,
    /// The voice of the reply, where the source names one.
    pub(crate) tone: Option<Tone>,
}

/// A text with the feelings that readers saw in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelledText {
    /// The text.
    pub(crate) text: String,
    /// The one tone that all its labels fall in, if there is one.
    pub(crate) tone: Option<Tone>,
    /// The mean of its labels' levels.
    pub(crate) levels: HormoneLevels,
}

/// GoEmotions' three parts; no text of `train` is in one of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct GoEmotions {
    /// To train on.
    pub(crate) train: Vec<LabelledText>,
    /// To watch training with.
    pub(crate) dev: Vec<LabelledText>,
    /// To evaluate once, at the end.
    pub(crate) test: Vec<LabelledText>,
}

/// TinyStories' sentences; the last tenth of the stories is never trained on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stories {
    /// To train on.
    pub(crate) train: Vec<String>,
    /// For perplexity.
    pub(crate) held_out: Vec<String>,
}

/// Every text of the data folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Corpora {
    /// Reddit comments with feelings.
    pub(crate) goemotions: GoEmotions,
    /// Friendly small talk between two invented persons.
    pub(crate) persona_chat: Vec<TurnPair>,
    /// What these persons are, in the first person.
    pub(crate) persona_facts: Vec<String>,
    /// Short turns of talk about the news.
    pub(crate) topical_chat: Vec<TurnPair>,
    /// A bot's small talk in three voices.
    pub(crate) personality_chat: Vec<TurnPair>,
    /// Many phrasings of 90 remarks to a bot, answered in three voices.
    pub(crate) qna_chitchat: Vec<TurnPair>,
    /// Small talk by hand.
    pub(crate) chatterbot: Vec<TurnPair>,
    /// Sentences of simple stories.
    pub(crate) tinystories: Stories,
    /// Sentences to be read aloud.
    pub(crate) common_voice: Vec<String>,
    /// Sentences to be translated.
    pub(crate) tatoeba: Vec<String>,
    /// Sentences of children's books.
    pub(crate) storybooks: Vec<String>,
    /// Texts that a teacher has read; none unless they were asked for.
    pub(crate) taught: Vec<TaughtText>,
}

impl Corpora {
    /// Reads GoEmotions alone.
    pub(crate) fn goemotions(data: &Path) -> Result<GoEmotions> {
        goemotions::goemotions(&data.join("goemotions"))
    }

    /// Reads every folder under `data`.
    pub(crate) fn load(data: &Path) -> Result<Self> {
        let persona = conversations::synthetic_persona_chat(&data.join("synthetic-persona-chat"))?;
        Ok(Self {
            goemotions: Self::goemotions(data)?,
            persona_chat: persona.turns,
            persona_facts: persona.facts,
            topical_chat: conversations::topical_chat(&data.join("topical-chat"))?,
            personality_chat: small_talk::personality_chat(&data.join("personality-chat"))?,
            qna_chitchat: small_talk::qna_chitchat(&data.join("qna-chitchat"))?,
            chatterbot: small_talk::chatterbot(&data.join("chatterbot-corpus"))?,
            tinystories: sentences::tinystories(&data.join("tinystories"))?,
            common_voice: sentences::common_voice(&data.join("common-voice-en"))?,
            tatoeba: sentences::tatoeba(&data.join("tatoeba"))?,
            storybooks: sentences::storybooks(&data.join("storybooks"))?,
            taught: Vec::new(),
        })
    }

    /// All turn pairs, with their weight left to the caller.
    pub(crate) fn turn_pairs(&self) -> impl Iterator<Item = &TurnPair> {
        [&self.persona_chat, &self.topical_chat, &self.personality_chat, &self.qna_chitchat, &self.chatterbot].into_iter().flatten()
    }

    /// All plain sentences that may be trained on.
    pub(crate) fn plain_sentences(&self) -> impl Iterator<Item = &String> {
        [&self.common_voice, &self.tatoeba, &self.tinystories.train, &self.storybooks, &self.persona_facts].into_iter().flatten()
    }

    /// All unlabelled sentences among which people speak of themselves.
    pub(crate) fn possible_first_person(&self) -> impl Iterator<Item = &str> {
        let plain = [&self.persona_facts, &self.common_voice, &self.tatoeba].into_iter().flatten().map(String::as_str);
        let turns = self.persona_chat.iter().map(|pair| pair.message.as_str());
        let questions = self.qna_chitchat.iter().map(|pair| pair.message.as_str());
        plain.chain(turns).chain(questions)
    }

    /// Everything that may be trained on, once each: what the tokenizer learns from.
    pub(crate) fn training_texts(&self) -> impl Iterator<Item = &str> {
        let labelled = self.goemotions.train.iter().map(|row| row.text.as_str());
        let turns = self.turn_pairs().flat_map(|pair| [pair.message.as_str(), pair.reply.as_str()]);
        labelled.chain(turns).chain(self.plain_sentences().map(String::as_str))
    }
}

impl fmt::Display for Corpora {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let single = |rows: &[LabelledText]| rows.iter().filter(|row| row.tone.is_some()).count();
        let parts = &self.goemotions;
        writeln!(
            f,
            "goemotions        train {} ({} of one tone), dev {} ({}), test {} ({})",
            parts.train.len(),
            single(&parts.train),
            parts.dev.len(),
            single(&parts.dev),
            parts.test.len(),
            single(&parts.test)
        )?;
        writeln!(f, "persona chat      {} pairs, {} facts", self.persona_chat.len(), self.persona_facts.len())?;
        writeln!(f, "topical chat      {} pairs", self.topical_chat.len())?;
        writeln!(f, "personality chat  {} pairs", self.personality_chat.len())?;
        writeln!(f, "qna chitchat      {} pairs", self.qna_chitchat.len())?;
        writeln!(f, "chatterbot        {} pairs", self.chatterbot.len())?;
        writeln!(f, "tinystories       {} sentences, {} held out", self.tinystories.train.len(), self.tinystories.held_out.len())?;
        writeln!(f, "common voice      {} sentences", self.common_voice.len())?;
        writeln!(f, "tatoeba           {} sentences", self.tatoeba.len())?;
        write!(f, "storybooks        {} sentences", self.storybooks.len())
    }
}

/// The file's text; bytes that are no UTF-8 become `�`, which cleaning drops.
fn read_text(path: &Path, expected: &str) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read; expected {expected}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::path::PathBuf;

    /// The data folder, or `None` (said aloud) on a machine without it.
    pub(crate) fn shared_data() -> Option<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        if !folder.join("goemotions/train.tsv").exists() {
            println!("skipped: there is no {}", folder.display());
            return None;
        }
        Some(folder)
    }

    #[test]
    fn every_corpus_of_the_data_folder_gives_texts() {
        let Some(folder) = shared_data() else { return };
        let corpora = Corpora::load(&folder).expect("readable corpora");
        println!("{corpora}");
        assert!(corpora.goemotions.train.len() > 43_000);
        assert_eq!(corpora.goemotions.test.len(), 5_427);
        assert!(corpora.persona_chat.len() > 15_000);
        assert!(corpora.common_voice.len() > 30_000);
        assert!(corpora.tatoeba.len() > 20_000);
        assert!(corpora.chatterbot.len() > 200);
        let odd = corpora.training_texts().find(|text| text.contains('\u{fffd}') || text.contains('\n'));
        assert_eq!(odd, None);
    }

    #[test]
    fn tones_of_goemotions_are_as_many_as_the_readme_counts() {
        let Some(folder) = shared_data() else { return };
        let test = Corpora::load(&folder).expect("readable corpora").goemotions.test;
        let count = |tone: Tone| test.iter().filter(|row| row.tone == Some(tone)).count();
        assert_eq!(Tone::ALL.map(count), [1_193, 1_606, 445, 257, 166]);
    }

    #[test]
    fn missing_folder_is_named_in_the_error() {
        let error = Corpora::load(Path::new("/nowhere")).expect_err("no such folder");
        assert!(format!("{error:#}").contains("/nowhere/synthetic-persona-chat"), "{error:#}");
    }
}
