//! Text to ids and back, with what the page wants to know beside: places, words, unknown characters, truncation.
//!
//! A wrapper around Hugging Face's `tokenizers`, which reads T5's own `tokenizer.json` as well as ours.

use std::collections::HashMap;

use crate::analysis::{SourceToken, UnknownMark};
use crate::{Error, Result};

/// A vocabulary with its rules.
#[derive(Clone, Debug)]
pub struct TextTokenizer {
    inner: tokenizers::Tokenizer,
    eos: u32,
    unknown: Option<u32>,
    /// Tokens that stand for single bytes of characters without a token of their own.
    bytes: HashMap<u32, u8>,
}

/// A text as the model reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedText {
    /// Tokens, the end token last.
    pub tokens: Vec<SourceToken>,
    /// Characters the vocabulary does not know.
    pub unknown: Vec<UnknownMark>,
    /// Whether the end of the text was dropped to fit.
    pub truncated: bool,
}

impl EncodedText {
    /// Ids of all tokens.
    pub fn ids(&self) -> Vec<u32> {
        self.tokens.iter().map(|token| token.id).collect()
    }
}

impl TextTokenizer {
    /// Reads Hugging Face's `tokenizer.json`; `eos` ends every text.
    pub fn from_json(json: &[u8], eos: u32) -> Result<Self> {
        let mut inner = tokenizers::Tokenizer::from_bytes(json)?;
        // A user who types "</s>" means these four characters, not the end token.
        inner.set_encode_special_tokens(true);
        inner.with_truncation(None)?;
        inner.with_padding(None);
        let unknown = inner.token_to_id("<unk>");
        if inner.id_to_token(eos).is_none() {
            return Err(Error::Config {
                file: "tokenizer.json",
                reason: format!("it has no token {eos}, which the configuration names as end token."),
            });
        }
        let bytes = (0..=u8::MAX).filter_map(|byte| Some((inner.token_to_id(&format!("<0x{byte:02X}>"))?, byte))).collect();
        Ok(Self { inner, eos, unknown, bytes })
    }

    /// Number of tokens, added ones included.
    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    /// Encodes `prefix` and `text`, keeps at most `max_tokens` and ends with the end token. Places refer to `text`.
    pub fn encode(&self, prefix: &str, text: &str, max_tokens: usize) -> Result<EncodedText> {
        if text.trim().is_empty() {
            return Err(Error::EmptyText);
        }
        let encoding = self.inner.encode(format!("{prefix}{text}"), false)?;
        let room = max_tokens.saturating_sub(1);
        let truncated = encoding.len() > room;
        let mut tokens: Vec<SourceToken> = (0..encoding.len().min(room))
            .map(|index| {
                let (start, end) = encoding.get_offsets()[index];
                let (start, end) = trimmed(text, start.saturating_sub(prefix.len()), end.saturating_sub(prefix.len()));
                let word = (start < end).then(|| word_index(text, start));
                SourceToken { id: self.typed(encoding.get_ids()[index]), piece: encoding.get_tokens()[index].clone(), start, end, word }
            })
            .collect();
        let is_unknown = |token: &&SourceToken| Some(token.id) == self.unknown;
        let unknown = tokens
            .iter()
            .filter(is_unknown)
            .map(|token| UnknownMark { text: text[token.start..token.end].to_string(), start: token.start })
            .collect();
        tokens.push(SourceToken { id: self.eos, piece: self.piece(self.eos), start: text.len(), end: text.len(), word: None });
        Ok(EncodedText { tokens, unknown, truncated })
    }

    /// The same vocabulary as training uses it.
    pub fn for_training(&self) -> TrainingTokenizer {
        let mut inner = self.inner.clone();
        inner.set_encode_special_tokens(false);
        TrainingTokenizer { inner, eos: self.eos }
    }

    /// T5's own vocabulary knows the end mark as a piece: one that a user typed is not the end, but an unknown character.
    fn typed(&self, id: u32) -> u32 {
        if id == self.eos { self.unknown.unwrap_or(id) } else { id }
    }

    /// The piece of an id as the vocabulary writes it.
    pub fn piece(&self, id: u32) -> String {
        self.inner.id_to_token(id).unwrap_or_default()
    }

    /// The text of all ids so far; a character whose bytes have not all come yet is left out.
    /// What has been decoded once never changes as more ids come.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        Ok(self.inner.decode(&self.whole_characters(ids), true)?)
    }

    /// `ids` without the bytes that make no character: one of them would spoil all bytes beside it.
    fn whole_characters(&self, ids: &[u32]) -> Vec<u32> {
        let mut whole = Vec::with_capacity(ids.len());
        for run in ids.chunk_by(|a, b| self.bytes.contains_key(a) && self.bytes.contains_key(b)) {
            let bytes: Vec<u8> = run.iter().filter_map(|id| self.bytes.get(id).copied()).collect();
            if bytes.is_empty() {
                whole.extend(run);
                continue;
            }
            let mut place = 0;
            for chunk in bytes.utf8_chunks() {
                whole.extend(&run[place..place + chunk.valid().len()]);
                place += chunk.valid().len() + chunk.invalid().len();
            }
        }
        whole
    }
}

/// Texts to ids with special marks such as `<extra_id_0>` recognised: what training feeds.
#[derive(Clone, Debug)]
pub struct TrainingTokenizer {
    inner: tokenizers::Tokenizer,
    eos: u32,
}

impl TrainingTokenizer {
    /// At most `max_tokens` ids, the end token last.
    pub fn ids(&self, text: &str, max_tokens: usize) -> Result<Vec<u32>> {
        let mut ids = self.inner.encode(text, false)?.get_ids().to_vec();
        ids.truncate(max_tokens.saturating_sub(1));
        ids.push(self.eos);
        Ok(ids)
    }
}

/// `start..end` of `text` without the white space at its ends, moved to character borders.
fn trimmed(text: &str, start: usize, end: usize) -> (usize, usize) {
    let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
    let span = &text[start..end];
    let start = start + (span.len() - span.trim_start().len());
    (start, start + span.trim().len())
}

/// How many words of `text` begin at or before byte `at`, less one.
fn word_index(text: &str, at: usize) -> usize {
    let mut words = 0;
    let mut inside = false;
    for (_, character) in text.char_indices().take_while(|(place, _)| *place <= at) {
        words += usize::from(!inside && !character.is_whitespace());
        inside = !character.is_whitespace();
    }
    words.saturating_sub(1)
}
