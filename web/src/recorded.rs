//! Recorded turns that fill the page while the weights load, and the format of an exported session: one and the same.
//!
//! `assets/recorded/examples.json` is made by exporting a session of the page (the button "Save as JSON") after sending the presets. It may hold
//! no turn at all; nothing is ever invented.

use hormone_t5::analysis::{Analysis, Hormone, SourceToken};
use serde::{Deserialize, Serialize};

use crate::session::{ReplyState, Turn};

/// Version of the format.
pub const SCHEMA: u32 = 1;

/// A session in a file.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Recording {
    /// Version of this format: [`SCHEMA`].
    pub schema: u32,
    /// Id of the model that spoke; `None` in an empty recording.
    pub model: Option<String>,
    /// What was said.
    pub turns: Vec<Turn>,
}

/// Why a file is not a recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Not JSON, or not of this shape.
    #[error("{0}")]
    Format(#[from] serde_json::Error),
    /// Of another version.
    #[error("schema {0}, but this page knows {SCHEMA}")]
    Schema(u32),
    /// Well formed, but a turn contradicts itself.
    #[error("message {message}: {reason}")]
    Turn {
        /// Place of the turn, from 1.
        message: usize,
        /// In what.
        reason: &'static str,
    },
}

impl Recording {
    /// The finished part of a session.
    pub fn of(model: Option<&str>, turns: &[Turn]) -> Self {
        let mut turns = turns.to_vec();
        for turn in &mut turns {
            turn.replies.retain(|reply| matches!(reply.state, ReplyState::Finished { .. } | ReplyState::Stopped));
        }
        turns.retain(|turn| turn.analysis.is_some());
        Self { schema: SCHEMA, model: model.map(str::to_string), turns }
    }

    /// Reads a file; whatever the page draws of it has the shape that the model gives.
    pub fn from_json(json: &str) -> Result<Self, RecordingError> {
        let recording: Self = serde_json::from_str(json)?;
        if recording.schema != SCHEMA {
            return Err(RecordingError::Schema(recording.schema));
        }
        for (message, turn) in (1..).zip(&recording.turns) {
            check(turn).map_err(|reason| RecordingError::Turn { message, reason })?;
        }
        Ok(recording)
    }

    /// As a file.
    pub fn to_json(&self) -> Result<String, RecordingError> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// The examples that come with the page.
    pub fn examples() -> Self {
        Self::from_json(include_str!("../../assets/recorded/examples.json")).unwrap_or(Self {
            schema: SCHEMA,
            model: None,
            turns: Vec::new(),
        })
    }
}

/// What the model's own turns always keep; the error says what this one breaks.
fn check(turn: &Turn) -> Result<(), &'static str> {
    if let Some(analysis) = &turn.analysis {
        check_analysis(analysis)?;
    }
    for (place, reply) in turn.replies.iter().enumerate() {
        ensure(turn.replies[..place].iter().all(|before| before.lane != reply.lane), "two replies stand in one lane")?;
        ensure(!reply.state.is_running(), "a reply is not complete")?;
        let sources = turn.analysis.as_ref().map_or(0, |analysis| analysis.tokens.len());
        let fits = |weights: &Vec<f32>| weights.len() == sources;
        ensure(
            reply.tokens.iter().all(|token| token.cross_attention.as_ref().is_none_or(fits)),
            "the cross-attention of a reply does not fit the tokens of the message",
        )?;
    }
    Ok(())
}

fn check_analysis(Analysis { text, tokens, levels, attention, .. }: &Analysis) -> Result<(), &'static str> {
    let inside = |token: &SourceToken| token.start <= token.end && token.end <= text.len();
    let heads = attention.first().map_or(0, Vec::len);
    ensure(levels.to_array().iter().all(|level| (0.0..=1.0).contains(level)), "a level is not between 0 and 1")?;
    ensure(tokens.iter().all(inside), "a token lies outside the text")?;
    ensure(attention.len() == Hormone::ALL.len(), "there is not one attention for each hormone")?;
    ensure(heads > 0 && attention.iter().all(|rows| rows.len() == heads), "the hormones have different numbers of attention heads")?;
    ensure(attention.iter().flatten().all(|row| row.len() == tokens.len()), "the attention does not fit the tokens of the message")
}

fn ensure(holds: bool, reason: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(reason) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_examples_that_come_with_the_page_can_be_read() {
        let json = include_str!("../../assets/recorded/examples.json");
        let recording = Recording::from_json(json).expect("assets/recorded/examples.json is a recording");
        assert!(recording.turns.is_empty() || recording.model.is_some(), "a recording names its model");
        assert!(recording.turns.iter().all(|turn| turn.analysis.is_some() && turn.replies.len() >= 2));
    }

    #[test]
    fn another_schema_is_refused() {
        let refused = Recording::from_json("{\"schema\": 2, \"model\": null, \"turns\": []}");
        assert!(matches!(refused, Err(RecordingError::Schema(2))));
    }

    #[test]
    fn a_turn_that_contradicts_itself_is_refused_in_a_sentence_that_names_it() {
        let examples: Value = serde_json::from_str(include_str!("../../assets/recorded/examples.json")).expect("JSON");
        let broken: [(&str, Value, &str); 9] = [
            ("/analysis/attention", json!([[[]]]), "one attention for each hormone"),
            ("/analysis/attention", json!([[], [], [], [], [], []]), "attention heads"),
            ("/analysis/attention/3", json!([]), "attention heads"),
            ("/analysis/attention/5/0", json!([1.0]), "does not fit the tokens"),
            ("/analysis/tokens/0/end", json!(1_000_000), "outside the text"),
            ("/analysis/levels/cortisol", json!(1.5), "between 0 and 1"),
            ("/replies/1/lane", json!("baseline"), "in one lane"),
            ("/replies/0/state", json!({ "state": "streaming" }), "not complete"),
            ("/replies/1/tokens/0/cross_attention", json!([1.0]), "cross-attention"),
        ];
        for (place, value, reason) in broken {
            let mut recording = examples.clone();
            *recording.pointer_mut(&format!("/turns/1{place}")).expect(place) = value;
            let error = Recording::from_json(&recording.to_string()).expect_err(place).to_string();
            assert!(error.starts_with("message 2: ") && error.contains(reason), "{place}: {error}");
        }
    }

    #[test]
    fn a_recording_survives_its_file() {
        let turn = Turn::new(1, "so good!".into(), Some(crate::reading::tests::example().into()), Vec::new());
        let recording = Recording::of(Some("tiny"), &[turn]);
        let json = recording.to_json().expect("serialises");
        assert_eq!(Recording::from_json(&json).expect("reads"), recording);
    }
}
