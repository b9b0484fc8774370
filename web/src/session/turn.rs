//! One turn of the conversation: a message, what was read in it, and its replies.

use std::sync::Arc;

use hormone_t5::GenerationConfig;
use hormone_t5::analysis::{Analysis, HormoneLevels};
use hormone_t5::pipeline::{FinishReason, GeneratedToken};
use serde::{Deserialize, Serialize};

use crate::controls::Settings;
use crate::protocol::{Lane, LaneRequest, LaneTimings, Modulation, RequestId, WorkerResponse};

/// A message with its replies.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Turn {
    /// Unique in the session.
    #[serde(default)]
    pub id: u32,
    /// The message.
    pub text: String,
    /// What was read; `None` until the encoder is done.
    #[serde(with = "shared")]
    pub analysis: Option<Arc<Analysis>>,
    /// The tau that it was read at; `None`: the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention_temperature: Option<f64>,
    /// One for each lane, in the order of the lanes.
    pub replies: Vec<Reply>,
    /// Whether this comes from a file, not from the model at hand.
    #[serde(default)]
    pub recorded: bool,
    /// Id of the model that replied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A reply in one lane.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Reply {
    /// Its lane.
    pub lane: Lane,
    /// How it is made.
    pub config: GenerationConfig,
    /// Its tokens so far.
    pub tokens: Vec<GeneratedToken>,
    /// Its text so far.
    pub text: String,
    /// How far it is.
    pub state: ReplyState,
    /// What the hormones do to the hidden states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulation: Option<Arc<Modulation>>,
    /// The request that makes it.
    #[serde(skip)]
    request: Option<RequestId>,
}

/// How far a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ReplyState {
    /// Nothing came yet.
    Waiting,
    /// Beam search runs.
    Searching,
    /// Tokens come.
    Streaming,
    /// Complete.
    Finished {
        /// Why it ended.
        reason: FinishReason,
        /// How long it took.
        timings: LaneTimings,
    },
    /// Ended by the user.
    Stopped,
    /// Ended by an error or the worker's death.
    Failed,
}

impl Reply {
    /// A reply to come.
    fn awaited(request: Option<RequestId>, LaneRequest { lane, config }: LaneRequest) -> Self {
        Self { lane, config, tokens: Vec::new(), text: String::new(), state: ReplyState::Waiting, modulation: None, request }
    }

    /// Everything of it that stays the same while it grows.
    pub fn without_words(&self) -> Self {
        Self {
            modulation: self.modulation.clone(),
            ..Self::awaited(self.request, LaneRequest { lane: self.lane, config: self.config.clone() })
        }
    }

    /// A complete reply without its tokens, for tests.
    #[cfg(test)]
    pub(crate) fn finished(request: LaneRequest, text: &str) -> Self {
        let state = ReplyState::Finished { reason: FinishReason::EndToken, timings: LaneTimings::default() };
        Self { text: text.to_string(), state, ..Self::awaited(None, request) }
    }
}

impl ReplyState {
    /// Whether more will come.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Waiting | Self::Searching | Self::Streaming)
    }
}

impl Turn {
    /// A turn without running requests.
    pub fn new(id: u32, text: String, analysis: Option<Arc<Analysis>>, replies: Vec<Reply>) -> Self {
        Self { id, text, analysis, attention_temperature: None, replies, recorded: false, model: None }
    }

    /// The reply in a lane.
    pub fn reply(&self, lane: Lane) -> Option<&Reply> {
        self.replies.iter().find(|reply| reply.lane == lane)
    }

    /// Predicted levels, once read.
    pub fn levels(&self) -> Option<HormoneLevels> {
        self.analysis.as_ref().map(|analysis| analysis.levels)
    }

    /// Whether a reply is being made.
    pub fn is_running(&self) -> bool {
        self.replies.iter().any(|reply| reply.state.is_running())
    }

    /// Whether baseline and modulated reply are complete and equal.
    pub fn replies_are_equal(&self) -> bool {
        let finished = |lane| self.reply(lane).filter(|reply| matches!(reply.state, ReplyState::Finished { .. }));
        matches!((finished(Lane::Baseline), finished(Lane::Modulated)), (Some(a), Some(b)) if a.text == b.text)
    }

    /// Whether the replies of all lanes of `settings` are made with them.
    pub fn is_made_with(&self, settings: &Settings) -> bool {
        settings.lanes().into_iter().all(|lane| self.reply_made_with(lane, settings).is_some())
    }

    /// The lanes of `settings` that have no complete reply made with them by this model.
    pub(super) fn lanes_to_renew(&self, settings: &Settings, model: &str) -> Vec<Lane> {
        let same_model = self.model.as_deref() == Some(model);
        let finished = |lane| self.reply_made_with(lane, settings).is_some_and(|reply| matches!(reply.state, ReplyState::Finished { .. }));
        settings.lanes().into_iter().filter(|lane| !(same_model && finished(*lane))).collect()
    }

    fn reply_made_with(&self, lane: Lane, settings: &Settings) -> Option<&Reply> {
        // Another tau reads other levels, which the baseline does not hear of.
        let heard = lane == Lane::Baseline || self.attention_temperature == settings.attention_temperature;
        self.reply(lane).filter(|reply| heard && reply.config == settings.config(lane))
    }

    /// Puts empty replies in place of those that are asked for anew.
    pub(super) fn await_replies(&mut self, request: RequestId, settings: &Settings, lanes: Vec<LaneRequest>) {
        self.attention_temperature = settings.attention_temperature;
        for wanted in lanes {
            let lane = wanted.lane;
            let reply = Reply::awaited(Some(request), wanted);
            match self.replies.iter_mut().find(|reply| reply.lane == lane) {
                Some(place) => *place = reply,
                None => self.replies.push(reply),
            }
        }
        self.replies.retain(|reply| settings.lanes().contains(&reply.lane));
        self.replies.sort_by_key(|reply| reply.lane);
    }

    /// Takes what the worker says of one of this turn's requests.
    pub(super) fn apply(&mut self, request: RequestId, response: WorkerResponse) {
        match response {
            WorkerResponse::Reading { analysis, .. } => self.analysis = Some(Arc::new(analysis)),
            WorkerResponse::Modulation { lane, modulation } => {
                self.change(request, lane, |reply| reply.modulation = Some(Arc::new(modulation)))
            }
            WorkerResponse::Searching { lane } => self.change(request, lane, |reply| reply.state = ReplyState::Searching),
            WorkerResponse::Token { lane, token, text } => self.change(request, lane, |reply| {
                reply.state = ReplyState::Streaming;
                reply.text = text;
                reply.tokens.push(token);
            }),
            WorkerResponse::LaneFinished { lane, reason, timings } => {
                self.change(request, lane, |reply| reply.state = ReplyState::Finished { reason, timings });
            }
            WorkerResponse::Cancelled => self.end(Some(request), ReplyState::Stopped),
            WorkerResponse::Failed { .. } => self.end(Some(request), ReplyState::Failed),
            _ => {}
        }
    }

    /// The worker is gone.
    pub(super) fn interrupt(&mut self) {
        self.end(None, ReplyState::Failed);
    }

    /// Nothing more will come.
    pub(super) fn stop(&mut self) {
        self.end(None, ReplyState::Stopped);
    }

    fn end(&mut self, request: Option<RequestId>, state: ReplyState) {
        let concerned = |reply: &&mut Reply| reply.state.is_running() && (request.is_none() || reply.request == request);
        self.replies.iter_mut().filter(concerned).for_each(|reply| reply.state = state);
    }

    /// Changes a lane's reply if it is still this request that makes it.
    fn change(&mut self, request: RequestId, lane: Lane, change: impl FnOnce(&mut Reply)) {
        if let Some(reply) = self.replies.iter_mut().find(|reply| reply.lane == lane && reply.request == Some(request)) {
            change(reply);
        }
    }
}

/// `Arc<Analysis>` as a plain `Analysis`.
mod shared {
    use super::{Analysis, Arc};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(analysis: &Option<Arc<Analysis>>, serializer: S) -> Result<S::Ok, S::Error> {
        analysis.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<Analysis>>, D::Error> {
        Ok(Option::<Analysis>::deserialize(deserializer)?.map(Arc::new))
    }
}
