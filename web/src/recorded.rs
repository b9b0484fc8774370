//! Recorded turns that fill the page while the weights load, and the format of an exported session: one and the same.
//!
//! `assets/recorded/examples.json` is made by exporting a session of the page (the button "Save as JSON") after sending the presets. It may hold
//! no turn at all; nothing is ever invented.

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

    /// Reads a file.
    pub fn from_json(json: &str) -> Result<Self, RecordingError> {
        let recording: Self = serde_json::from_str(json)?;
        if recording.schema == SCHEMA { Ok(recording) } else { Err(RecordingError::Schema(recording.schema)) }
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

#[cfg(test)]
mod tests {
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
    fn a_recording_survives_its_file() {
        let turn = Turn::new(1, "so good!".into(), Some(crate::reading::tests::example().into()), Vec::new());
        let recording = Recording::of(Some("tiny"), &[turn]);
        let json = recording.to_json().expect("serialises");
        assert_eq!(Recording::from_json(&json).expect("reads"), recording);
    }
}
