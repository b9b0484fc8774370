//! Several replies to one text from one pass of the encoder, a token of each in turn, so that they grow side by side.

use candle_core::Tensor;
use hormone_t5::hormone_block::levels_tensor;
use hormone_t5::pipeline::{FinishReason, Generation, Progress};
use hormone_t5::{Encoded, HormoneT5};

use super::run::model_error;
use super::{Conversation, Interruption, now_ms};
use crate::protocol::{Lane, LaneRequest, LaneTimings, Modulation, WorkerError, WorkerResponse};

/// A reply in the making.
struct RunningLane<'a> {
    lane: Lane,
    generation: Generation<'a>,
    timings: LaneTimings,
    reason: Option<FinishReason>,
}

/// Makes all replies; between two decoder steps messages are let in, and `between_tokens` runs.
pub(super) async fn reply(
    conversation: &Conversation,
    model: &HormoneT5,
    encoded: &Encoded,
    requests: Vec<LaneRequest>,
    mut between_tokens: impl FnMut(),
) -> Result<(), Interruption> {
    let mut lanes = Vec::with_capacity(requests.len());
    for LaneRequest { lane, config } in requests {
        let started_ms = now_ms();
        if config.alpha != Some(0.0) {
            let modulation = modulation(model, encoded, config.levels).map_err(model_error)?;
            conversation.say(WorkerResponse::Modulation { lane, modulation });
        }
        let generation = model.generate(encoded, config).map_err(model_error)?;
        let timings = LaneTimings { total_ms: now_ms() - started_ms, ..LaneTimings::default() };
        lanes.push(RunningLane { lane, generation, timings, reason: None });
    }
    while lanes.iter().any(|lane| lane.reason.is_none()) {
        for lane in lanes.iter_mut().filter(|lane| lane.reason.is_none()) {
            conversation.pause().await?;
            between_tokens();
            conversation.say(lane.step()?);
        }
    }
    Ok(())
}

/// The embedding of a lane's levels, and how far it would move the hidden states.
fn modulation(model: &HormoneT5, encoded: &Encoded, overrides: [Option<f32>; 6]) -> hormone_t5::Result<Modulation> {
    let levels = encoded.analysis().levels.overridden(overrides);
    let e = model.block().embed(&levels_tensor(&[levels])?)?; // [1,D]
    let h = encoded.hidden_states(); // [1,S,D]
    let norm = |tensor: &Tensor| tensor.sqr()?.sum_all()?.to_scalar::<f32>().map(f32::sqrt);
    let change = h.broadcast_mul(&e.unsqueeze(1)?)?; // [1,S,D]
    Ok(Modulation { relative_change: norm(&change)? / norm(h)?.max(f32::EPSILON), embedding: e.flatten_all()?.to_vec1()? })
}

impl RunningLane<'_> {
    /// One decoder step and what is to be told of it. Only this lane's own time counts.
    fn step(&mut self) -> Result<WorkerResponse, WorkerError> {
        let lane = self.lane;
        let started_ms = now_ms();
        let progress = self.generation.advance().map_err(model_error)?;
        self.timings.total_ms += now_ms() - started_ms;
        Ok(match progress {
            Progress::Searching => WorkerResponse::Searching { lane },
            Progress::Token(token) => {
                self.timings.tokens += 1;
                if self.timings.tokens == 1 {
                    self.timings.first_token_ms = self.timings.total_ms;
                }
                WorkerResponse::Token { lane, token, text: self.generation.text().map_err(model_error)? }
            }
            Progress::Finished(reason) => {
                self.reason = Some(reason);
                WorkerResponse::LaneFinished { lane, reason, timings: self.timings }
            }
        })
    }
}
