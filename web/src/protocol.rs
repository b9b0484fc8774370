//! What the page and the worker say to each other, as JSON text: the tests on the host check the very bytes that cross.
//!
//! Rules: the worker speaks first ([`WorkerResponse::Ready`]); every request has an id and is answered by any number of progress messages and
//! then exactly one terminal answer ([`WorkerResponse::is_terminal`]); first in, first out, but [`WorkerRequest::Cancel`] overtakes. Weights
//! never cross: the worker fetches them, or gets `File` handles beside the JSON.

use hormone_t5::GenerationConfig;
use hormone_t5::analysis::Analysis;
use hormone_t5::manifest::{Manifest, ModelEntry};
use hormone_t5::pipeline::{FinishReason, GeneratedToken};
use serde::{Deserialize, Serialize};

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
        /// How long the encoder took; `None` where it did not run again.
        encoder_ms: Option<f64>,
    },
    /// What the hormones do to the hidden states of a lane, before its first token.
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

/// How far a model has come.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LoadProgress {
    /// Id of the model.
    pub model: String,
    /// What happens now.
    pub stage: LoadStage,
    /// The file at hand; empty when building.
    pub file: String,
    /// Bytes of all files that are here.
    pub received_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

/// The steps of loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadStage {
    /// From the server.
    Download,
    /// From this browser's store.
    Cache,
    /// From the user's own file.
    OwnFile,
    /// Comparing the SHA-256.
    Check,
    /// Making tensors of bytes.
    Build,
}

/// The model that answers.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct LoadedModel {
    /// Its entry in the manifest; `None` for the user's own files.
    pub entry: Option<ModelEntry>,
    /// Id in the manifest, or the weights' file name.
    pub id: String,
    /// The alpha that training arrived at.
    pub learned_alpha: f32,
    /// The block's tau.
    pub attention_temperature: f64,
    /// Width of its hidden states.
    pub d_model: usize,
    /// Encoder layers.
    pub num_layers: usize,
    /// Decoder layers.
    pub num_decoder_layers: usize,
    /// Tokens in its vocabulary.
    pub vocab_size: usize,
    /// Whether the next visit finds it in this browser's store.
    pub stored: bool,
    /// How long it took, download included.
    pub load_ms: f64,
}

/// How long a reply took: the steps that it had a part in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct LaneTimings {
    /// From the lane's start to its first token.
    pub first_token_ms: f64,
    /// All its steps.
    pub total_ms: f64,
    /// Tokens made, the end token not counted.
    pub tokens: usize,
}

impl LaneTimings {
    /// Tokens a second; 0 where nothing was made.
    pub fn tokens_per_second(self) -> f64 {
        if self.total_ms > 0.0 { self.tokens as f64 * 1000.0 / self.total_ms } else { 0.0 }
    }
}

/// The numbers of `H~ = H * (1 + alpha * e)` that do not depend on alpha.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Modulation {
    /// The emotion embedding `e`, one number for each of the `D` hidden features.
    pub embedding: Vec<f32>,
    /// `|H * e| / |H|`: how much `H` would change at alpha 1; at another alpha, alpha times as much.
    pub relative_change: f32,
}

impl Modulation {
    /// Euclidean length of `e`.
    pub fn embedding_norm(&self) -> f32 {
        self.embedding.iter().map(|feature| feature * feature).sum::<f32>().sqrt()
    }

    /// Smallest and largest factor `1 + alpha * e` at an alpha.
    pub fn factors(&self, alpha: f32) -> (f32, f32) {
        let factors = || self.embedding.iter().map(|feature| 1.0 + alpha * feature);
        (factors().fold(f32::INFINITY, f32::min), factors().fold(f32::NEG_INFINITY, f32::max))
    }
}

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
    /// The worker died while it was asked.
    #[error("The model worker stopped: {reason}")]
    WorkerDied {
        /// What is known.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Serialize + for<'a> Deserialize<'a> + PartialEq + std::fmt::Debug>(value: &T) {
        let json = serde_json::to_string(value).expect("serialises");
        assert_eq!(&serde_json::from_str::<T>(&json).expect("deserialises"), value, "{json}");
    }

    #[test]
    fn requests_survive_the_wire() {
        let config =
            GenerationConfig { alpha: Some(0.3), levels: [None, Some(0.1), None, None, None, None], seed: u64::MAX, ..Default::default() };
        for request in [
            WorkerRequest::LoadModel { models_url: "http://localhost/demo/models/".into(), model: None },
            WorkerRequest::LoadOwnFiles,
            WorkerRequest::Analyze { text: "é \"quoted\"\n👍🏽".into(), attention_temperature: Some(0.5) },
            WorkerRequest::Generate {
                text: "hi".into(),
                attention_temperature: None,
                lanes: vec![
                    LaneRequest { lane: Lane::Baseline, config: GenerationConfig::default() },
                    LaneRequest { lane: Lane::Own, config },
                ],
            },
            WorkerRequest::Cancel { target: RequestId(3) },
            WorkerRequest::DeleteDownloads,
        ] {
            round_trip(&RequestMessage { id: RequestId(7), request });
        }
    }

    #[test]
    fn answers_survive_the_wire() {
        let token = GeneratedToken {
            id: 5,
            piece: "▁yes".into(),
            probability: 0.25,
            alternatives: Vec::new(),
            cross_attention: Some(vec![0.5, 0.5]),
        };
        for response in [
            WorkerResponse::Ready,
            WorkerResponse::Crashed { reason: "unreachable".into() },
            WorkerResponse::Token { lane: Lane::Modulated, token, text: "yes".into() },
            WorkerResponse::LaneFinished {
                lane: Lane::Own,
                reason: FinishReason::EndToken,
                timings: LaneTimings { first_token_ms: 1.5, total_ms: 9.0, tokens: 3 },
            },
            WorkerResponse::Failed {
                error: WorkerError::Damaged { file: "model.gguf".into(), damage: Damage::Size { expected: 9, found: 1 } },
            },
            WorkerResponse::Cancelled,
        ] {
            round_trip(&ResponseMessage { request: Some(RequestId(1)), response });
        }
    }

    #[test]
    fn only_done_cancelled_and_failed_are_terminal() {
        let terminal = |response: WorkerResponse| response.is_terminal();
        assert!(
            terminal(WorkerResponse::Done)
                && terminal(WorkerResponse::Cancelled)
                && terminal(WorkerResponse::Failed { error: WorkerError::NoModel })
        );
        assert!(!terminal(WorkerResponse::Ready) && !terminal(WorkerResponse::Searching { lane: Lane::Baseline }));
    }

    #[test]
    fn factors_are_one_where_the_modulation_is_off() {
        let modulation = Modulation { embedding: vec![-0.5, 1.0], relative_change: 0.7 };
        assert_eq!(modulation.factors(0.0), (1.0, 1.0));
        assert_eq!(modulation.factors(0.5), (0.75, 1.5));
        assert!((modulation.embedding_norm() - 1.25_f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn tokens_a_second_of_an_empty_reply_is_zero() {
        assert_eq!(LaneTimings::default().tokens_per_second(), 0.0);
        assert_eq!(LaneTimings { first_token_ms: 10.0, total_ms: 500.0, tokens: 20 }.tokens_per_second(), 40.0);
    }
}
