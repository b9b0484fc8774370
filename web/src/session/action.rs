//! What can be asked of a session.

use super::Turn;
use crate::controls::Settings;

/// What the user, or the page for him, wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A model of the manifest; `None` is its default.
    LoadModel {
        /// Absolute address of the models' folder.
        models_url: String,
        /// Id in the manifest.
        model: Option<String>,
    },
    /// A model of the user's own files, which go beside the message.
    LoadOwnFiles,
    /// The model that was asked for last, once more.
    RetryLoad,
    /// The text in the composer changed.
    ReadDraft {
        /// Its text; blank clears the reading.
        text: String,
        /// See [`Settings::attention_temperature`].
        attention_temperature: Option<f64>,
    },
    /// A message, to be answered in all lanes.
    Send {
        /// The message.
        text: String,
        /// How to answer.
        settings: Settings,
    },
    /// New replies to a turn where its settings differ from these.
    Regenerate {
        /// Id of the turn.
        turn: u32,
        /// How to answer now.
        settings: Settings,
    },
    /// End what runs for a turn.
    Stop {
        /// Id of the turn.
        turn: u32,
    },
    /// Turns of a file in place of the conversation.
    Import {
        /// Id of the model that spoke.
        model: Option<String>,
        /// The turns.
        turns: Vec<Turn>,
    },
    /// Forget the conversation.
    Clear,
    /// The conversation before, in place of an empty or an opened one.
    BringBack,
    /// Close the error.
    CloseError,
    /// Close the error of the model that did not load.
    CloseLoadError,
    /// Remove downloaded models.
    DeleteDownloads,
    /// A new worker was started.
    WorkerRestarted,
    /// The worker died without a word of its own.
    WorkerDied {
        /// What the browser says.
        reason: String,
    },
}
