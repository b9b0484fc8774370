//! What has happened: the worker, the model, the conversation. A plain struct that changes in [`Session::begin`] and [`Session::apply`] only.

mod action;
mod status;
mod turn;

use std::collections::BTreeMap;
use std::sync::Arc;

use hormone_t5::analysis::Analysis;
use hormone_t5::manifest::Manifest;

use crate::controls::Settings;
use crate::protocol::{
    Lane, LoadStage, LoadedModel, RequestId, RequestMessage, ResponseMessage, WorkerError, WorkerRequest, WorkerResponse,
};
pub use action::Action;
pub use status::{LoadStatus, WorkerStatus};
pub use turn::{Reply, ReplyState, Turn};

/// All that has happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The worker's life.
    pub worker: WorkerStatus,
    /// The way of the model that was asked for last into it.
    pub load: LoadStatus,
    /// The models to choose from, once known.
    pub manifest: Option<Manifest>,
    /// The conversation, oldest first.
    pub turns: Vec<Turn>,
    /// What the block says of the text in the composer.
    pub draft: Option<Arc<Analysis>>,
    /// What went wrong last, until the user closes it.
    pub error: Option<WorkerError>,
    /// Every message sent or opened, oldest first; it outlives the conversation.
    pub history: Vec<String>,
    /// Whether the turns are the examples that came with the page.
    pub shows_examples: bool,
    /// What stood here before it was cleared or another conversation was opened, until the next message.
    pub forgotten: Option<Conversation>,
    /// Whether downloaded models were removed since a model was asked for last.
    pub downloads_removed: bool,
    /// The model in the worker.
    model: Option<Box<LoadedModel>>,
    /// The model that was asked for last; after a worker's death the one that answered.
    last_load: Option<RequestMessage>,
    /// What brought the model in the worker.
    loaded_by: Option<RequestMessage>,
    open: BTreeMap<RequestId, Purpose>,
    last_request: u64,
    last_turn: u32,
}

/// Turns that stood on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    turns: Vec<Turn>,
    shows_examples: bool,
}

/// What an open request is for.
#[derive(Clone, Debug, PartialEq)]
enum Purpose {
    Load,
    Draft,
    Turn(u32),
    DeleteDownloads,
    Cancel,
}

impl Session {
    /// A session that shows these turns as examples until the first message.
    pub fn with_examples(model: Option<String>, turns: Vec<Turn>) -> Self {
        let mut session = Self { shows_examples: !turns.is_empty(), ..Self::default() };
        session.show_recorded(model, turns);
        session
    }

    /// The newest turn.
    pub fn latest(&self) -> Option<&Turn> {
        self.turns.last()
    }

    /// The turn with this id.
    pub fn turn(&self, id: u32) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.id == id)
    }

    /// The model that answers; `None` while another is on its way, since whatever is asked then waits behind it.
    pub fn model(&self) -> Option<&LoadedModel> {
        self.model.as_deref().filter(|_| !matches!(self.load, LoadStatus::Loading(_)))
    }

    /// Whether a worker that has just started owes a model: one that was asked for before it could hear, or the one that the worker before it had.
    pub fn owes_model(&self) -> bool {
        self.model.is_none() && self.last_load.is_some()
    }

    /// The turn with this id, else the newest.
    pub fn turn_or_latest(&self, id: Option<u32>) -> Option<&Turn> {
        id.and_then(|id| self.turn(id)).or(self.latest())
    }

    /// Whether replies are being made.
    pub fn is_replying(&self) -> bool {
        self.turns.iter().any(Turn::is_running)
    }

    /// Whether the text in the composer is being read.
    pub fn is_reading(&self) -> bool {
        self.open.values().any(|purpose| *purpose == Purpose::Draft)
    }

    /// Takes an action; the messages go to the worker in this order.
    pub fn begin(&mut self, action: Action) -> Vec<RequestMessage> {
        match action {
            Action::LoadModel { models_url, model } => self.load(WorkerRequest::LoadModel { models_url, model }),
            Action::LoadOwnFiles => self.load(WorkerRequest::LoadOwnFiles),
            Action::RetryLoad => self.last_load.clone().map(|last| self.load(last.request)).unwrap_or_default(),
            Action::ReadDraft { text, attention_temperature } => self.read_draft(text, attention_temperature),
            Action::Send { text, settings } => self.send(text, &settings),
            Action::Regenerate { turn, settings } => self.regenerate(turn, &settings),
            Action::Stop { turn } => self.cancel(&Purpose::Turn(turn)),
            Action::Import { model, turns } => {
                let messages = self.forget();
                turns.iter().for_each(|turn| self.remember(&turn.text));
                self.show_recorded(model, turns);
                messages
            }
            Action::Clear => self.forget(),
            Action::BringBack => {
                let Some(Conversation { turns, shows_examples }) = self.forgotten.take() else { return Vec::new() };
                let messages = self.cancel_turns();
                (self.turns, self.shows_examples) = (turns, shows_examples);
                messages
            }
            Action::CloseError => {
                self.error = None;
                Vec::new()
            }
            Action::CloseLoadError => {
                if matches!(self.load, LoadStatus::Failed(_)) {
                    self.load = LoadStatus::Idle;
                }
                Vec::new()
            }
            Action::DeleteDownloads if self.worker != WorkerStatus::Ready => Vec::new(),
            Action::DeleteDownloads => vec![self.request(Purpose::DeleteDownloads, WorkerRequest::DeleteDownloads)],
            Action::WorkerRestarted => {
                self.lose_worker();
                (self.worker, self.error) = (WorkerStatus::Starting, None);
                Vec::new()
            }
            Action::WorkerDied { reason } => {
                self.bury(reason);
                Vec::new()
            }
        }
    }

    /// Takes what the worker said.
    pub fn apply(&mut self, message: ResponseMessage) {
        let ResponseMessage { request, response } = message;
        match (request, response) {
            (_, WorkerResponse::Ready) => self.worker = WorkerStatus::Ready,
            (_, WorkerResponse::Crashed { reason }) => self.bury(reason),
            (_, WorkerResponse::Models { manifest }) => self.manifest = Some(manifest),
            (Some(id), response) => {
                // Late words of a request that is closed change nothing.
                let Some(purpose) = self.open.get(&id).cloned() else { return };
                if response.is_terminal() {
                    self.open.remove(&id);
                }
                self.apply_to(&purpose, id, response);
            }
            (None, _) => {}
        }
    }

    fn apply_to(&mut self, purpose: &Purpose, id: RequestId, response: WorkerResponse) {
        match (purpose, response) {
            (Purpose::Load, response) => self.apply_to_load(id, response),
            (Purpose::Draft, WorkerResponse::Reading { analysis, .. }) => self.draft = Some(Arc::new(analysis)),
            // A draft may be anything; only a message that was sent complains.
            (Purpose::Draft, WorkerResponse::Failed { .. }) => self.draft = None,
            (Purpose::Turn(turn), response) => {
                if let WorkerResponse::Failed { error } = &response {
                    self.error = Some(error.clone());
                }
                if let Some(turn) = self.turns.iter_mut().find(|candidate| candidate.id == *turn) {
                    turn.apply(id, response);
                }
            }
            (Purpose::DeleteDownloads, WorkerResponse::Done) => {
                self.downloads_removed = true;
                if let Some(model) = &mut self.model {
                    model.stored = false;
                }
            }
            (Purpose::DeleteDownloads, WorkerResponse::Failed { error }) => self.error = Some(error),
            _ => {}
        }
    }

    /// What any load says of the model in the worker holds; how far a load is counts only of the one asked for last.
    fn apply_to_load(&mut self, id: RequestId, response: WorkerResponse) {
        match &response {
            WorkerResponse::LoadProgress { progress } if progress.stage == LoadStage::Build => self.model = None,
            WorkerResponse::Loaded { model } => {
                self.model = Some(model.clone());
                self.loaded_by = self.last_load.clone().filter(|last| last.id == id);
            }
            _ => {}
        }
        if self.last_load.as_ref().is_none_or(|last| last.id != id) {
            return;
        }
        self.load = match response {
            WorkerResponse::LoadProgress { progress } => LoadStatus::Loading(Some(progress)),
            WorkerResponse::Loaded { .. } | WorkerResponse::Cancelled => LoadStatus::Idle,
            WorkerResponse::Failed { error } => LoadStatus::Failed(error),
            _ => return,
        };
    }

    fn load(&mut self, request: WorkerRequest) -> Vec<RequestMessage> {
        if self.is_dead() {
            return Vec::new();
        }
        (self.load, self.downloads_removed) = (LoadStatus::Loading(None), false);
        let mut messages = self.cancel(&Purpose::Load);
        let message = self.request(Purpose::Load, request);
        self.last_load = Some(message.clone());
        messages.push(message);
        messages
    }

    fn read_draft(&mut self, text: String, attention_temperature: Option<f64>) -> Vec<RequestMessage> {
        let mut messages = self.cancel(&Purpose::Draft);
        let has_model = self.model().is_some();
        if text.trim().is_empty() || (!has_model && self.draft.as_ref().is_some_and(|draft| draft.text != text)) {
            self.draft = None;
        } else if has_model {
            messages.push(self.request(Purpose::Draft, WorkerRequest::Analyze { text, attention_temperature }));
        }
        messages
    }

    fn send(&mut self, text: String, settings: &Settings) -> Vec<RequestMessage> {
        let mut messages = self.cancel(&Purpose::Draft);
        messages.extend(self.cancel_turns());
        if std::mem::take(&mut self.shows_examples) {
            self.turns.clear();
        }
        self.remember(&text);
        self.last_turn += 1;
        let known = self.draft.take().filter(|draft| draft.text == text);
        let mut turn = Turn::new(self.last_turn, text, known, Vec::new());
        messages.push(self.ask(&mut turn, settings, settings.lanes()));
        self.turns.push(turn);
        (self.error, self.forgotten) = (None, None);
        messages
    }

    /// Asks again for the lanes whose settings changed, that another model made or that never finished; for nothing where no model answers.
    fn regenerate(&mut self, id: u32, settings: &Settings) -> Vec<RequestMessage> {
        let Some(model) = self.model() else { return Vec::new() };
        let Some(place) = self.turns.iter().position(|turn| turn.id == id && !turn.recorded) else { return Vec::new() };
        let lanes = self.turns[place].lanes_to_renew(settings, &model.id);
        let mut turn = self.turns[place].clone();
        turn.replies.retain(|reply| settings.lanes().contains(&reply.lane));
        let mut messages = Vec::new();
        if !lanes.is_empty() {
            messages = self.cancel(&Purpose::Turn(id));
            messages.push(self.ask(&mut turn, settings, lanes));
        }
        self.turns[place] = turn;
        messages
    }

    fn ask(&mut self, turn: &mut Turn, settings: &Settings, lanes: Vec<Lane>) -> RequestMessage {
        let lanes: Vec<_> = lanes.into_iter().map(|lane| settings.lane_request(lane)).collect();
        let request = WorkerRequest::Generate {
            text: turn.text.clone(),
            attention_temperature: settings.attention_temperature,
            lanes: lanes.clone(),
        };
        let message = self.request(Purpose::Turn(turn.id), request);
        turn.model = self.model().map(|model| model.id.clone());
        turn.await_replies(message.id, settings, lanes);
        message
    }

    fn request(&mut self, purpose: Purpose, request: WorkerRequest) -> RequestMessage {
        self.last_request += 1;
        let id = RequestId(self.last_request);
        self.open.insert(id, purpose);
        RequestMessage { id, request }
    }

    fn cancel(&mut self, purpose: &Purpose) -> Vec<RequestMessage> {
        let targets: Vec<RequestId> = self.open.iter().filter(|(_, open)| *open == purpose).map(|(id, _)| *id).collect();
        targets.into_iter().map(|target| self.request(Purpose::Cancel, WorkerRequest::Cancel { target })).collect()
    }

    fn cancel_turns(&mut self) -> Vec<RequestMessage> {
        let running: Vec<u32> = self.turns.iter().filter(|turn| turn.is_running()).map(|turn| turn.id).collect();
        running.into_iter().flat_map(|turn| self.cancel(&Purpose::Turn(turn))).collect()
    }

    /// Empties the conversation; it can be brought back until the next message.
    fn forget(&mut self) -> Vec<RequestMessage> {
        let messages = self.cancel_turns();
        let mut turns = std::mem::take(&mut self.turns);
        turns.iter_mut().for_each(Turn::stop);
        let shows_examples = std::mem::take(&mut self.shows_examples);
        // What was only opened stands in a file: it takes no talk's place.
        let is_talk = |turns: &[Turn]| turns.iter().any(|turn| !turn.recorded);
        let keeps_talk = self.forgotten.as_ref().is_some_and(|forgotten| is_talk(&forgotten.turns)) && !is_talk(&turns);
        if !turns.is_empty() && !keeps_talk {
            self.forgotten = Some(Conversation { turns, shows_examples });
        }
        messages
    }

    fn show_recorded(&mut self, model: Option<String>, turns: Vec<Turn>) {
        self.turns = turns;
        for turn in &mut self.turns {
            self.last_turn += 1;
            (turn.id, turn.recorded) = (self.last_turn, true);
            turn.model = turn.model.take().or_else(|| model.clone());
        }
    }

    fn remember(&mut self, text: &str) {
        if self.history.last().is_none_or(|last| last != text) {
            self.history.push(text.to_string());
        }
    }

    fn bury(&mut self, reason: String) {
        if self.is_dead() {
            return;
        }
        // A death while a model was loading is no reason to load that one again.
        self.last_load = self.loaded_by.take().filter(|_| self.model.is_some());
        self.lose_worker();
        self.worker = WorkerStatus::Dead { reason };
    }

    /// Nothing that is open will be answered, and the model is gone.
    fn lose_worker(&mut self) {
        self.turns.iter_mut().for_each(Turn::interrupt);
        self.open.clear();
        (self.model, self.load) = (None, LoadStatus::Idle);
    }

    fn is_dead(&self) -> bool {
        matches!(self.worker, WorkerStatus::Dead { .. })
    }
}

#[cfg(test)]
mod tests;
