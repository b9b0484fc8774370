//! What can go wrong in the worker, as data: the page finds the words.

use serde::{Deserialize, Serialize};

/// Why something could not be done; the page puts it into the visitor's language.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorkerError {
    /// A reply or reading was asked for before a model was loaded.
    #[error("No model is loaded yet.")]
    NoModel,
    /// There is no word in the text.
    #[error("There is no text to read.")]
    EmptyText,
    /// The server did not answer.
    #[error("{file} could not be fetched: {reason}")]
    Network {
        /// Which file.
        file: String,
        /// The browser's words.
        reason: String,
    },
    /// The server refused.
    #[error("The server answered {status} for {file}.")]
    Status {
        /// Which file.
        file: String,
        /// HTTP status.
        status: u16,
    },
    /// A file is not what the manifest says.
    #[error("{file}: {damage}")]
    Damaged {
        /// Which file.
        file: String,
        /// In what way.
        damage: Damage,
    },
    /// The manifest cannot be used.
    #[error("The list of models cannot be used: {reason}")]
    Manifest {
        /// Why.
        reason: String,
    },
    /// The user's own files are not complete.
    #[error("Among the files there is no {missing}.")]
    OwnFiles {
        /// What is not there.
        missing: String,
    },
    /// The files are sound, but make no model.
    #[error("{reason}")]
    Model {
        /// The model crate's words.
        reason: String,
    },
    /// This browser did not remove downloaded models.
    #[error("Downloaded models could not be removed: {reason}")]
    NotRemoved {
        /// The browser's words.
        reason: String,
    },
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Damage {
    /// Cut off or replaced.
    #[error("{found} bytes came where {expected} were expected.")]
    Size {
        /// By the manifest.
        expected: u64,
        /// As received.
        found: u64,
    },
    /// A web page came in its place: servers do this for missing files.
    #[error("A web page came in its place.")]
    WebPage,
    /// A Git-LFS pointer came in its place.
    #[error("A Git-LFS pointer came in its place.")]
    LfsPointer,
    /// It does not start as such a file does.
    #[error("It does not start as {expected} does.")]
    Magic {
        /// The format that was expected.
        expected: String,
    },
    /// Same size, other content.
    #[error("Its SHA-256 is {found}, not {expected}.")]
    Checksum {
        /// By the manifest.
        expected: String,
        /// As received.
        found: String,
    },
}
