//! What the page and the worker say to each other, as JSON text: the tests on the host check the very bytes that cross.
//!
//! Rules: the worker speaks first ([`WorkerResponse::Ready`]); every request has an id and is answered by any number of progress messages and
//! then exactly one terminal answer ([`WorkerResponse::is_terminal`]); first in, first out, but [`WorkerRequest::Cancel`] overtakes all, and
//! [`WorkerRequest::Analyze`] overtakes replies: it is served between two tokens. Weights never cross: the worker fetches them, or gets `File` handles beside the JSON.

mod error;
mod model;
mod reply;

use hormone_t5::GenerationConfig;
use hormone_t5::analysis::Analysis;
use hormone_t5::manifest::Manifest;
use hormone_t5::pipeline::{FinishReason, GeneratedToken};
use serde::{Deserialize, Serialize};

pub use error::{Damage, WorkerError};
pub use model::{LoadProgress, LoadStage, LoadedModel, WeightsKind};
pub use reply::{LaneTimings, Modulation};

/// Names one request; counts up from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// A request on its way.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct RequestMessage {
    /// Its id.
    pub id: RequestId,
    /// What is asked.
    pub request: WorkerRequest,
}

/// An answer on its way.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ResponseMessage {
    /// Whose answer it is; `None` for what the worker says of its own accord.
    pub request: Option<RequestId>,
    /// What is said.
    pub response: WorkerResponse,
}

/// What the page can ask.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WorkerRequest {
    /// Fetch, check and build a model of the manifest.
    LoadModel {
        /// Absolute address of the folder with `manifest.json`, with its final `/`.
        models_url: String,
        /// Id in the manifest; `None` is its default.
        model: Option<String>,
    },
    /// Build a model from the user's own files, whose handles come beside this message.
    LoadOwnFiles,
    /// Read a text: encoder and block only.
    Analyze {
        /// The text.
        text: String,
        /// The block's tau; `None` is the model's own.
        attention_temperature: Option<f64>,
    },
    /// Read a text once and reply to it in several lanes, token by token in turn.
    Generate {
        /// The text.
        text: String,
        /// The block's tau; `None` is the model's own.
        attention_temperature: Option<f64>,
        /// The replies wanted.
        lanes: Vec<LaneRequest>,
    },
    /// End another request within one token.
    Cancel {
        /// Which.
        target: RequestId,
    },
    /// Remove every downloaded model from this browser.
    DeleteDownloads,
}

/// One reply that is wanted.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LaneRequest {
    /// Where it is shown.
    pub lane: Lane,
    /// How it is made.
    pub config: GenerationConfig,
}

/// The places beside each other in which replies to one message are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Same weights, alpha 0.
    Baseline,
    /// The page's alpha.
    Modulated,
    /// The page's alpha and the levels set by hand.
    Own,
}

impl Lane {
    /// As in JSON, test ids and translations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Modulated => "modulated",
            Self::Own => "own",
        }
    }
}

/// What the worker can say.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WorkerResponse {
    /// The worker listens; its arithmetic passed the self test.
    Ready,
    /// The worker cannot go on; only a new one helps.
    Crashed {
        /// What it could still say.
        reason: String,
    },
    /// The models that can be loaded.
    Models {
        /// The manifest as read.
        manifest: Manifest,
    },
    /// A model is on its way.
    LoadProgress {
        /// How far.
        progress: LoadProgress,
    },
    /// A model stands ready. `Done` follows.
    Loaded {
        /// Which.
        model: Box<LoadedModel>,
    },
    /// A text was read.
    Reading {
        /// Levels and attention.
        analysis: Analysis,
        /// How long the encoder took; `None` where it did not run again. The browser tests look at it.
        encoder_ms: Option<f64>,
    },
    /// What the hormones do to the hidden states of a lane, before its first token; of every lane but the baseline, at alpha 0 too.
    Modulation {
        /// Whose.
        lane: Lane,
        /// The numbers of the formula.
        modulation: Modulation,
    },
    /// Beam search goes on without a token to show.
    Searching {
        /// Whose.
        lane: Lane,
    },
    /// A reply grew.
    Token {
        /// Whose.
        lane: Lane,
        /// By what.
        token: GeneratedToken,
        /// The whole reply so far: decoded from the whole list of ids, since a later token can change an earlier character.
        text: String,
    },
    /// A reply is complete. The other lanes may go on.
    LaneFinished {
        /// Whose.
        lane: Lane,
        /// Why it ended.
        reason: FinishReason,
        /// How long it took.
        timings: LaneTimings,
    },
    /// Terminal: all that was asked is done.
    Done,
    /// Terminal: ended by [`WorkerRequest::Cancel`].
    Cancelled,
    /// Terminal: it could not be done.
    Failed {
        /// Why.
        error: WorkerError,
    },
}

impl WorkerResponse {
    /// Whether the request is answered with this.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Failed { .. })
    }
}

#[cfg(test)]
mod tests;
