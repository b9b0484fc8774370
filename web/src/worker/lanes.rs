//! Several replies to one text from one pass of the encoder. They grow side by side: one pass of the decoder brings a token of each.

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

/// Makes all replies; between two passes of the decoder messages are let in, and `between_tokens` runs.
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
        if lane != Lane::Baseline {
            let modulation = modulation(model, encoded, config.levels).map_err(model_error)?;
            conversation.say(WorkerResponse::Modulation { lane, modulation });
        }
        let generation = model.generate(encoded, config).map_err(model_error)?;
        let timings = LaneTimings { total_ms: now_ms() - started_ms, ..LaneTimings::default() };
        lanes.push(RunningLane { lane, generation, timings, reason: None });
    }
    loop {
        conversation.pause().await?;
        between_tokens();
        let mut running: Vec<&mut RunningLane<'_>> = lanes.iter_mut().filter(|lane| lane.reason.is_none()).collect();
        if running.is_empty() {
            return Ok(());
        }
        let started_ms = now_ms();
        let mut generations: Vec<&mut Generation<'_>> = running.iter_mut().map(|lane| &mut lane.generation).collect();
        let progress = Generation::advance_all(&mut generations).map_err(model_error)?;
        let step_ms = now_ms() - started_ms;
        for (lane, progress) in running.into_iter().zip(progress) {
            conversation.say(lane.hear(progress, step_ms)?);
        }
    }
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
    /// What is to be told of a step. Its time, which all lanes waited for, counts for each.
    fn hear(&mut self, progress: Progress, step_ms: f64) -> Result<WorkerResponse, WorkerError> {
        let lane = self.lane;
        self.timings.total_ms += step_ms;
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
