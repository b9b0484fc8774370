//! The texts that were read last, so that another alpha, other levels or another tau never run the encoder again.

use hormone_t5::{Encoded, HormoneT5};

/// How many texts are kept.
const CAPACITY: usize = 8;

/// Recently read texts, newest last.
#[derive(Debug, Default)]
pub(super) struct RecentTexts {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    text: String,
    attention_temperature: f64,
    encoded: Encoded,
}

/// A text, read.
pub(super) struct Read {
    /// With the wanted tau.
    pub(super) encoded: Encoded,
    /// Whether the encoder ran for it.
    pub(super) encoder_ran: bool,
}

impl RecentTexts {
    /// Reads a text at a tau with as little work as possible.
    pub(super) fn read(&mut self, model: &HormoneT5, text: &str, attention_temperature: Option<f64>) -> hormone_t5::Result<Read> {
        let wanted = attention_temperature.unwrap_or(model.hormone_config().attention_temperature);
        let known = self.entries.iter().position(|entry| entry.text == text).map(|place| self.entries.remove(place));
        let encoder_ran = known.is_none();
        let mut entry = match known {
            Some(entry) => entry,
            None => Entry {
                text: text.to_string(),
                attention_temperature: model.hormone_config().attention_temperature,
                encoded: model.encode(text)?,
            },
        };
        if entry.attention_temperature != wanted {
            entry.encoded = model.attend(&entry.encoded, wanted)?;
            entry.attention_temperature = wanted;
        }
        let encoded = entry.encoded.clone();
        self.entries.push(entry);
        if self.entries.len() > CAPACITY {
            self.entries.remove(0);
        }
        Ok(Read { encoded, encoder_ran })
    }

    /// Forgets all: they belong to another model.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
