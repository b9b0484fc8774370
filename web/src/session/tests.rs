//! A session against a worker made of plain answers.

use hormone_t5::pipeline::{FinishReason, GeneratedToken};

use super::*;
use crate::controls::DecodingKind;
use crate::protocol::{LaneTimings, LoadProgress};
use crate::reading::tests::example;

fn loaded() -> Session {
    let mut session = Session::default();
    session.apply(ResponseMessage { request: None, response: WorkerResponse::Ready });
    load(&mut session, "tiny");
    session
}

fn load(session: &mut Session, id: &str) {
    let request = session.begin(load_model(id)).pop().expect("a request").id;
    say(session, request, WorkerResponse::LoadProgress { progress: progress(LoadStage::Build) });
    say(session, request, WorkerResponse::Loaded { model: model(id) });
    say(session, request, WorkerResponse::Done);
}

fn load_model(id: &str) -> Action {
    Action::LoadModel { models_url: "http://localhost/models/".into(), model: Some(id.into()) }
}

fn progress(stage: LoadStage) -> LoadProgress {
    LoadProgress { model: "tiny".into(), stage, file: "model.gguf".into(), received_bytes: 1, total_bytes: 2 }
}

fn model(id: &str) -> Box<LoadedModel> {
    Box::new(LoadedModel {
        entry: None,
        id: id.into(),
        learned_alpha: 0.25,
        attention_temperature: 0.5,
        d_model: 8,
        num_layers: 1,
        num_decoder_layers: 1,
        vocab_size: 10,
        stored: true,
        load_ms: 1.0,
    })
}

fn say(session: &mut Session, id: RequestId, response: WorkerResponse) {
    session.apply(ResponseMessage { request: Some(id), response });
}

fn send(session: &mut Session, text: &str) -> RequestId {
    session.begin(Action::Send { text: text.into(), settings: Settings::default() }).pop().expect("a request").id
}

fn token(session: &mut Session, id: RequestId, lane: Lane, text: &str) {
    let token = GeneratedToken { id: 5, piece: text.into(), probability: 0.5, alternatives: Vec::new(), cross_attention: None };
    say(session, id, WorkerResponse::Token { lane, token, text: text.into() });
}

fn finish(session: &mut Session, id: RequestId, lane: Lane) {
    say(session, id, WorkerResponse::LaneFinished { lane, reason: FinishReason::EndToken, timings: LaneTimings::default() });
}

fn complete(session: &mut Session, text: &str) -> u32 {
    let id = send(session, text);
    say(session, id, WorkerResponse::Reading { analysis: example(), encoder_ms: Some(3.0) });
    for lane in [Lane::Baseline, Lane::Modulated] {
        token(session, id, lane, "fine");
        finish(session, id, lane);
    }
    say(session, id, WorkerResponse::Done);
    session.latest().expect("a turn").id
}

#[test]
fn a_message_is_read_and_answered_in_both_lanes() {
    let mut session = loaded();
    complete(&mut session, "so good!");
    let turn = session.latest().expect("a turn");
    assert_eq!(turn.analysis.as_deref(), Some(&example()));
    assert!(turn.replies_are_equal() && !session.is_replying());
}

#[test]
fn another_alpha_asks_only_for_the_modulated_reply() {
    let mut session = loaded();
    let turn = complete(&mut session, "so good!");
    let messages = session.begin(Action::Regenerate { turn, settings: Settings { alpha: Some(0.9), ..Settings::default() } });
    let [RequestMessage { request: WorkerRequest::Generate { lanes, .. }, .. }] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(lanes.iter().map(|lane| lane.lane).collect::<Vec<_>>(), [Lane::Modulated]);
    assert_eq!(session.latest().and_then(|turn| turn.reply(Lane::Baseline)).map(|reply| reply.text.as_str()), Some("fine"));
}

/// Settings that each differ from the defaults in one thing that a reply depends on.
fn changed_settings() -> [Settings; 7] {
    let plain = Settings::default;
    [
        Settings { alpha: Some(0.9), ..plain() },
        Settings { pins: [Some(0.9), None, None, None, None, None], ..plain() },
        Settings { attention_temperature: Some(0.05), ..plain() },
        Settings { decoding: DecodingKind::Beams, ..plain() },
        Settings { decoding: DecodingKind::Sampling, ..plain() },
        Settings { no_repeat_ngram_size: 5, ..plain() },
        Settings { max_new_tokens: 5, ..plain() },
    ]
}

#[test]
fn every_setting_that_a_reply_depends_on_renews_it() {
    for settings in changed_settings() {
        let mut session = loaded();
        let turn = complete(&mut session, "so good!");
        let messages = session.begin(Action::Regenerate { turn, settings: settings.clone() });
        let Some(RequestMessage { id, request: WorkerRequest::Generate { lanes, attention_temperature, .. } }) = messages.last() else {
            panic!("{settings:?}: {messages:?}")
        };
        assert!(lanes.iter().any(|lane| lane.lane == Lane::Modulated), "{settings:?}");
        assert_eq!(*attention_temperature, settings.attention_temperature);
        for lane in lanes {
            finish(&mut session, *id, lane.lane);
        }
        say(&mut session, *id, WorkerResponse::Done);
        assert!(session.begin(Action::Regenerate { turn, settings: settings.clone() }).is_empty(), "{settings:?} again");
    }
}

#[test]
fn unchanged_settings_ask_for_nothing() {
    let mut session = loaded();
    let turn = complete(&mut session, "so good!");
    assert!(session.begin(Action::Regenerate { turn, settings: Settings::default() }).is_empty());
}

#[test]
fn another_model_renews_every_lane_and_signs_the_turn() {
    let mut session = loaded();
    let turn = complete(&mut session, "so good!");
    load(&mut session, "other");
    let messages = session.begin(Action::Regenerate { turn, settings: Settings::default() });
    let [RequestMessage { id, request: WorkerRequest::Generate { lanes, .. } }] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(lanes.iter().map(|lane| lane.lane).collect::<Vec<_>>(), [Lane::Baseline, Lane::Modulated]);
    assert_eq!(session.turn(turn).and_then(|turn| turn.model.as_deref()), Some("other"));
    for lane in [Lane::Baseline, Lane::Modulated] {
        finish(&mut session, *id, lane);
    }
    assert!(session.begin(Action::Regenerate { turn, settings: Settings::default() }).is_empty(), "again");
}

#[test]
fn another_alpha_while_replies_stream_keeps_what_is_finished_and_cancels_the_rest() {
    let mut session = loaded();
    let id = send(&mut session, "so good!");
    finish(&mut session, id, Lane::Baseline);
    token(&mut session, id, Lane::Modulated, "old");
    let turn = session.latest().expect("a turn").id;
    let messages = session.begin(Action::Regenerate { turn, settings: Settings { alpha: Some(0.9), ..Settings::default() } });
    assert_eq!(messages[0].request, WorkerRequest::Cancel { target: id });
    assert!(matches!(&messages[1].request, WorkerRequest::Generate { lanes, .. } if lanes.len() == 1));
    // Words of the cancelled request come late and must not end up in the new reply.
    token(&mut session, id, Lane::Modulated, "late");
    say(&mut session, id, WorkerResponse::Cancelled);
    let modulated = session.latest().and_then(|turn| turn.reply(Lane::Modulated)).expect("a reply");
    assert_eq!((modulated.text.as_str(), modulated.state), ("", ReplyState::Waiting));
}

#[test]
fn stop_keeps_what_has_come() {
    let mut session = loaded();
    let id = send(&mut session, "so good!");
    token(&mut session, id, Lane::Baseline, "half");
    let turn = session.latest().expect("a turn").id;
    assert_eq!(session.begin(Action::Stop { turn })[0].request, WorkerRequest::Cancel { target: id });
    say(&mut session, id, WorkerResponse::Cancelled);
    let reply = session.latest().and_then(|turn| turn.reply(Lane::Baseline)).expect("a reply");
    assert_eq!((reply.text.as_str(), reply.state), ("half", ReplyState::Stopped));
}

#[test]
fn a_dead_worker_leaves_the_conversation() {
    let mut session = loaded();
    complete(&mut session, "first");
    send(&mut session, "second");
    session.apply(ResponseMessage { request: None, response: WorkerResponse::Crashed { reason: "out of memory".into() } });
    assert_eq!(session.worker, WorkerStatus::Dead { reason: "out of memory".into() });
    assert_eq!(session.turns.len(), 2);
    assert_eq!(session.turns[1].replies[0].state, ReplyState::Failed);
    session.begin(Action::WorkerRestarted);
    assert_eq!((&session.worker, &session.load), (&WorkerStatus::Starting, &LoadStatus::Idle));
}

#[test]
fn without_a_model_that_answers_nothing_is_asked_and_every_reply_stays() {
    let die = |session: &mut Session| drop(session.begin(Action::WorkerDied { reason: "gone".into() }));
    let restart = |session: &mut Session| {
        session.begin(Action::WorkerDied { reason: "gone".into() });
        session.begin(Action::WorkerRestarted);
    };
    let load_another = |session: &mut Session| drop(session.begin(load_model("other")));
    for lose_the_model in [&die as &dyn Fn(&mut Session), &restart, &load_another] {
        let mut session = loaded();
        let turn = complete(&mut session, "first");
        lose_the_model(&mut session);
        let before = session.clone();
        for settings in changed_settings() {
            assert!(session.begin(Action::Regenerate { turn, settings }).is_empty());
        }
        assert!(session.begin(Action::ReadDraft { text: "next".into(), attention_temperature: None }).is_empty());
        assert_eq!(session, before);
    }
}

#[test]
fn a_dead_worker_is_asked_for_no_model_and_no_removal() {
    let mut session = loaded();
    session.begin(Action::WorkerDied { reason: "gone".into() });
    let before = session.clone();
    for action in [load_model("other"), Action::LoadOwnFiles, Action::RetryLoad, Action::DeleteDownloads] {
        assert!(session.begin(action.clone()).is_empty(), "{action:?}");
    }
    assert_eq!(session, before);
}

#[test]
fn a_restarted_worker_leaves_no_turn_waiting() {
    let mut session = loaded();
    let id = send(&mut session, "so good!");
    token(&mut session, id, Lane::Baseline, "half");
    session.begin(Action::ReadDraft { text: "next".into(), attention_temperature: None });
    session.begin(Action::WorkerRestarted);
    assert!(!session.is_replying() && !session.is_reading() && session.model().is_none());
    let reply = session.latest().and_then(|turn| turn.reply(Lane::Baseline)).expect("a reply");
    assert_eq!((reply.text.as_str(), reply.state), ("half", ReplyState::Failed));
}

#[test]
fn a_load_that_ends_before_it_builds_leaves_the_model_before() {
    let ends = [
        WorkerResponse::Failed { error: WorkerError::OwnFiles { missing: "config.json".into() } },
        WorkerResponse::Failed { error: WorkerError::Status { file: "model.gguf".into(), status: 404 } },
        WorkerResponse::Cancelled,
    ];
    for end in ends {
        let mut session = loaded();
        let id = session.begin(Action::LoadOwnFiles)[0].id;
        say(&mut session, id, WorkerResponse::LoadProgress { progress: progress(LoadStage::OwnFile) });
        assert!(session.model().is_none(), "what is asked now waits behind the load");
        say(&mut session, id, end.clone());
        assert_eq!(session.model().map(|model| model.id.as_str()), Some("tiny"), "{end:?}");
        session.begin(Action::CloseLoadError);
        assert_eq!(session.load, LoadStatus::Idle);
        assert!(!session.begin(Action::ReadDraft { text: "still".into(), attention_temperature: None }).is_empty());
    }
}

#[test]
fn a_load_that_fails_while_it_builds_leaves_no_model() {
    let mut session = loaded();
    let id = session.begin(Action::LoadOwnFiles)[0].id;
    say(&mut session, id, WorkerResponse::LoadProgress { progress: progress(LoadStage::Build) });
    let error = WorkerError::Model { reason: "no such tensor".into() };
    say(&mut session, id, WorkerResponse::Failed { error: error.clone() });
    assert_eq!((session.model(), &session.load), (None, &LoadStatus::Failed(error)));
}

#[test]
fn another_try_repeats_the_load_that_failed() {
    for action in [load_model("other"), Action::LoadOwnFiles] {
        let mut session = loaded();
        let asked = session.begin(action).pop().expect("a request");
        say(&mut session, asked.id, WorkerResponse::Failed { error: WorkerError::NoModel });
        let again = session.begin(Action::RetryLoad);
        assert_eq!(again.iter().map(|message| &message.request).collect::<Vec<_>>(), [&asked.request]);
        assert_eq!(session.load, LoadStatus::Loading(None));
    }
}

#[test]
fn words_of_a_superseded_load_say_nothing_of_the_current_one() {
    let words = [
        WorkerResponse::LoadProgress { progress: progress(LoadStage::Download) },
        WorkerResponse::Loaded { model: model("superseded") },
        WorkerResponse::Cancelled,
        WorkerResponse::Failed { error: WorkerError::NoModel },
        WorkerResponse::Done,
    ];
    for word in words {
        let mut session = Session::default();
        let first = session.begin(load_model("superseded"))[0].id;
        let second = session.begin(Action::LoadOwnFiles);
        assert_eq!(second[0].request, WorkerRequest::Cancel { target: first });
        say(&mut session, first, word.clone());
        assert_eq!((session.model(), &session.load), (None, &LoadStatus::Loading(None)), "{word:?}");
        say(&mut session, second[1].id, WorkerResponse::Loaded { model: model("own") });
        assert_eq!(session.model().map(|model| model.id.as_str()), Some("own"), "{word:?}");
    }
}

#[test]
fn a_superseded_model_that_was_built_all_the_same_answers_where_the_next_one_fails() {
    let mut session = loaded();
    let first = session.begin(load_model("superseded"))[0].id;
    let second = session.begin(Action::LoadOwnFiles)[1].id;
    say(&mut session, first, WorkerResponse::Loaded { model: model("superseded") });
    say(&mut session, first, WorkerResponse::Done);
    say(&mut session, second, WorkerResponse::Failed { error: WorkerError::NoModel });
    assert_eq!(session.model().map(|model| model.id.as_str()), Some("superseded"));
}

#[test]
fn removed_downloads_are_said_to_be_gone_until_a_model_is_loaded_again() {
    let mut session = loaded();
    let failing = session.begin(Action::DeleteDownloads)[0].id;
    let error = WorkerError::NotRemoved { reason: "locked".into() };
    say(&mut session, failing, WorkerResponse::Failed { error: error.clone() });
    assert_eq!(session.error, Some(error));
    assert!(!session.downloads_removed && session.model().is_some_and(|model| model.stored));
    let id = session.begin(Action::DeleteDownloads)[0].id;
    say(&mut session, id, WorkerResponse::Done);
    assert!(session.downloads_removed && session.model().is_some_and(|model| !model.stored));
    load(&mut session, "tiny");
    assert!(!session.downloads_removed && session.model().is_some_and(|model| model.stored));
}

#[test]
fn a_draft_is_read_once_and_an_older_reading_is_cancelled() {
    let mut session = loaded();
    let read = |session: &mut Session, text: &str| session.begin(Action::ReadDraft { text: text.into(), attention_temperature: None });
    let first = read(&mut session, "so")[0].id;
    let second = read(&mut session, "so good!");
    assert_eq!(second[0].request, WorkerRequest::Cancel { target: first });
    say(&mut session, first, WorkerResponse::Cancelled);
    say(&mut session, second[1].id, WorkerResponse::Reading { analysis: example(), encoder_ms: Some(1.0) });
    say(&mut session, second[1].id, WorkerResponse::Done);
    assert!(session.draft.is_some());
    assert!(read(&mut session, "  ").is_empty() && session.draft.is_none());
}

#[test]
fn a_sent_draft_brings_its_reading_along() {
    let mut session = loaded();
    session.draft = Some(Arc::new(example()));
    send(&mut session, "so good!");
    assert!(session.latest().expect("a turn").analysis.is_some());
}

#[test]
fn examples_go_when_the_first_real_message_comes() {
    let mut session = Session::with_examples(None, vec![Turn::new(0, "so good!".into(), Some(Arc::new(example())), Vec::new())]);
    assert!(session.latest().expect("a turn").recorded);
    send(&mut session, "hello");
    assert_eq!(session.turns.len(), 1);
    assert!(!session.turns[0].recorded);
}

#[test]
fn a_failed_reply_shows_its_error_and_a_failed_draft_does_not() {
    let mut session = loaded();
    let draft = session.begin(Action::ReadDraft { text: "x".into(), attention_temperature: None })[0].id;
    say(&mut session, draft, WorkerResponse::Failed { error: WorkerError::EmptyText });
    assert_eq!(session.error, None);
    let id = send(&mut session, "x");
    say(&mut session, id, WorkerResponse::Failed { error: WorkerError::NoModel });
    assert_eq!(session.error, Some(WorkerError::NoModel));
    assert_eq!(session.turns[0].replies[0].state, ReplyState::Failed);
}

#[test]
fn imported_turns_stay_recorded_and_new_messages_follow_them() {
    let mut session = loaded();
    let turn = Turn::new(9, "so good!".into(), Some(Arc::new(example())), Vec::new());
    session.begin(Action::Import { model: Some("elsewhere".into()), turns: vec![turn] });
    complete(&mut session, "hello");
    let seen: Vec<_> = session.turns.iter().map(|turn| (turn.recorded, turn.model.as_deref())).collect();
    assert_eq!(seen, [(true, Some("elsewhere")), (false, Some("tiny"))]);
    let recorded = session.turns[0].id;
    assert!(session.begin(Action::Regenerate { turn: recorded, settings: Settings::default() }).is_empty());
}

#[test]
fn a_recorded_turn_tells_the_settings_that_it_was_not_made_with() {
    let mut session = loaded();
    complete(&mut session, "so good!");
    let turns = session.turns.clone();
    session.begin(Action::Import { model: None, turns });
    let recorded = session.latest().expect("a turn");
    assert!(recorded.is_made_with(&Settings::default()));
    for settings in changed_settings() {
        assert!(!recorded.is_made_with(&settings), "{settings:?}");
    }
}

#[test]
fn every_message_is_remembered_once_and_outlives_the_conversation() {
    let mut session = loaded();
    for text in ["one", "one", "two"] {
        complete(&mut session, text);
    }
    session.begin(Action::Clear);
    assert_eq!(session.history, ["one", "two"]);
}

#[test]
fn what_was_cleared_or_replaced_comes_back_as_it_was_until_the_next_message() {
    let opened = || Action::Import { model: None, turns: vec![Turn::new(0, "elsewhere".into(), None, Vec::new())] };
    for forget in [Action::Clear, opened()] {
        let mut session = loaded();
        complete(&mut session, "one");
        let request = send(&mut session, "two");
        token(&mut session, request, Lane::Baseline, "half");
        session.begin(forget.clone());
        say(&mut session, request, WorkerResponse::Cancelled);
        session.begin(Action::BringBack);
        let texts: Vec<&str> = session.turns.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!(texts, ["one", "two"]);
        let half = session.latest().and_then(|turn| turn.reply(Lane::Baseline)).expect("a reply");
        assert_eq!((half.text.as_str(), half.state), ("half", ReplyState::Stopped));
        assert!(!session.is_replying() && session.forgotten.is_none());

        session.begin(forget);
        complete(&mut session, "three");
        assert!(session.forgotten.is_none() && session.begin(Action::BringBack).is_empty());
        assert_eq!(session.latest().map(|turn| turn.text.as_str()), Some("three"));
    }
}

#[test]
fn a_talk_stays_put_away_while_what_was_only_opened_is_cleared() {
    let mut session = loaded();
    complete(&mut session, "mine");
    session.begin(Action::Import { model: None, turns: vec![Turn::new(0, "elsewhere".into(), None, Vec::new())] });
    session.begin(Action::Clear);
    session.begin(Action::BringBack);
    assert_eq!(session.turns.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn a_new_worker_owes_what_was_asked_for_before_it_could_hear_or_what_the_one_before_had() {
    let died = || Action::WorkerDied { reason: "trap".into() };
    let asked = |session: &mut Session| session.begin(Action::RetryLoad).pop().map(|message| message.request);
    // The files were chosen while the worker was starting.
    let mut session = Session::default();
    session.begin(Action::LoadOwnFiles);
    assert!(session.owes_model());
    assert_eq!(asked(&mut session), Some(WorkerRequest::LoadOwnFiles));
    // A model answered; another one that was asked for later did not load.
    let mut session = loaded();
    let failed = session.begin(load_model("other")).pop().expect("a request").id;
    say(&mut session, failed, WorkerResponse::Failed { error: WorkerError::NoModel });
    session.begin(died());
    session.begin(Action::WorkerRestarted);
    assert!(session.owes_model());
    assert!(matches!(asked(&mut session), Some(WorkerRequest::LoadModel { model: Some(id), .. }) if id == "tiny"));
    // It died of loading: that is not tried again by itself.
    let mut session = loaded();
    let building = session.begin(load_model("huge")).pop().expect("a request").id;
    say(&mut session, building, WorkerResponse::LoadProgress { progress: progress(LoadStage::Build) });
    session.begin(died());
    session.begin(Action::WorkerRestarted);
    assert!(!session.owes_model());
}

#[test]
fn without_a_model_no_reading_of_another_text_stands_beside_the_draft() {
    let mut session = loaded();
    let read = session.begin(Action::ReadDraft { text: example().text, attention_temperature: None })[0].id;
    say(&mut session, read, WorkerResponse::Reading { analysis: example(), encoder_ms: Some(1.0) });
    session.begin(load_model("other"));
    session.begin(Action::ReadDraft { text: example().text, attention_temperature: None });
    assert!(session.draft.is_some());
    session.begin(Action::ReadDraft { text: "something else".into(), attention_temperature: None });
    assert_eq!(session.draft, None);
}

#[test]
fn examples_that_were_cleared_come_back_as_examples() {
    let mut session = Session::with_examples(None, vec![Turn::new(1, "so good!".into(), Some(Arc::new(example())), Vec::new())]);
    session.begin(Action::Clear);
    assert!(session.turns.is_empty() && !session.shows_examples);
    session.begin(Action::BringBack);
    assert!(session.shows_examples && session.turns.len() == 1);
}

#[test]
fn a_draft_can_be_read_while_replies_stream() {
    let mut session = loaded();
    let reply = send(&mut session, "so good!");
    let draft = session.begin(Action::ReadDraft { text: "next".into(), attention_temperature: None })[0].id;
    say(&mut session, draft, WorkerResponse::Reading { analysis: example(), encoder_ms: Some(1.0) });
    say(&mut session, draft, WorkerResponse::Done);
    assert!(session.draft.is_some() && session.is_replying());
    token(&mut session, reply, Lane::Baseline, "still");
    assert_eq!(session.latest().and_then(|turn| turn.reply(Lane::Baseline)).map(|reply| reply.text.as_str()), Some("still"));
}
