//! The very bytes that cross.

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
            lanes: vec![LaneRequest { lane: Lane::Baseline, config: GenerationConfig::default() }, LaneRequest { lane: Lane::Own, config }],
        },
        WorkerRequest::Cancel { target: RequestId(3) },
        WorkerRequest::DeleteDownloads,
    ] {
        round_trip(&RequestMessage { id: RequestId(7), request });
    }
}

#[test]
fn answers_survive_the_wire() {
    let token =
        GeneratedToken {
            id: 5, piece: "▁yes".into(), probability: 0.25, alternatives: Vec::new(), cross_attention: Some(vec![0.5, 0.5])
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
