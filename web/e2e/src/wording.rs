//! What the page says in a language, by key: tests name the key and stay right when the sentence is polished.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

/// The texts of a language.
#[derive(Debug)]
pub struct Wording(BTreeMap<String, String>);

impl Wording {
    /// Reads `assets/locales/<code>.json`.
    pub fn of(code: &str) -> Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../assets/locales/{code}.json"));
        let json = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Self(serde_json::from_str(&json).with_context(|| path.display().to_string())?))
    }

    /// The text of a key.
    pub fn text(&self, key: &str) -> Result<&str> {
        self.0.get(key).map(String::as_str).with_context(|| format!("there is no text {key}"))
    }

    /// Every key with this text.
    pub fn keys_of<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(_, value)| *value == text).map(|(key, _)| key.as_str())
    }

    /// Whether `sentence` holds the text of a key, with anything in place of its `{values}`.
    pub fn is_in(&self, key: &str, sentence: &str) -> Result<bool> {
        Ok(holds(sentence, self.text(key)?))
    }
}

fn holds(sentence: &str, template: &str) -> bool {
    let mut rest = sentence;
    for part in template.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after)) {
        match rest.find(part.trim()) {
            Some(place) => rest = &rest[place + part.trim().len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_found_with_any_values() {
        let template = "{file} has {found} bytes.";
        assert!(holds("Sorry: model.gguf has 12 bytes. Again?", template));
        assert!(!holds("model.gguf has a web page in it.", template));
    }
}
