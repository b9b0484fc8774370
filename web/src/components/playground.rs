//! The page's whole state, and the one way in which it changes: an action goes to the session, its messages to the worker, answers back to the session.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::preferences;
use crate::controls::Controls;
use crate::i18n::I18n;
use crate::inference::{Inference, WorkerEvent, models_url};
use crate::permalink::Permalink;
use crate::protocol::WorkerResponse;
use crate::recorded::Recording;
use crate::session::{Action, LoadStatus, Session};

/// Id of the field that messages are written in.
pub(super) const COMPOSER: &str = "composer";

/// The page's whole state; a handful of handles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Playground {
    /// What has happened.
    pub(super) session: RwSignal<Session>,
    /// What the user set.
    pub(super) controls: Controls,
    /// The text in the composer.
    pub(super) draft_text: RwSignal<String>,
    /// The language.
    pub(super) i18n: I18n,
    inference: StoredValue<Option<Inference>, LocalStorage>,
}

impl Playground {
    /// The state of a fresh page: what its address says, and recorded examples where there are any.
    pub(super) fn new() -> Self {
        preferences::tell_leaving_from_crashing();
        let link = Permalink::from_fragment(&window().location().hash().unwrap_or_default()).unwrap_or_default();
        let Recording { model, turns, .. } = Recording::examples();
        Self {
            session: RwSignal::new(Session::with_examples(model, turns)),
            controls: Controls::new(link.settings),
            draft_text: RwSignal::new(link.text),
            i18n: I18n { locale: RwSignal::new(link.locale.unwrap_or_else(preferences::locale)) },
            inference: StoredValue::new_local(None),
        }
    }

    /// Takes an action.
    pub(super) fn act(self, action: Action) {
        self.act_with_files(action, &[]);
    }

    /// Takes an action that needs the user's files.
    pub(super) fn act_with_files(self, action: Action, files: &[web_sys::File]) {
        let messages = self.session.try_update(|session| session.begin(action)).unwrap_or_default();
        let sent = self.inference.with_value(|inference| {
            let Some(inference) = inference else { return Ok(()) };
            messages.iter().try_for_each(|message| inference.send(message, files))
        });
        if let Err(reason) = sent {
            self.session.update(|session| drop(session.begin(Action::WorkerDied { reason })));
        }
    }

    /// Starts the worker, or a new one in place of a dead one. Its model is loaded when it speaks.
    pub(super) fn start_worker(self) {
        self.inference.set_value(None);
        self.act(Action::WorkerRestarted);
        match Inference::start(move |event| self.take(event)) {
            Ok(inference) => self.inference.set_value(Some(inference)),
            Err(reason) => self.act(Action::WorkerDied { reason }),
        }
    }

    /// Loads a model of the manifest; `None` is its default.
    pub(super) fn load_model(self, model: Option<String>) {
        match models_url() {
            Ok(models_url) => {
                preferences::loading_begins();
                self.act(Action::LoadModel { models_url, model });
            }
            Err(reason) => self.act(Action::WorkerDied { reason }),
        }
    }

    /// Reads the text in the composer.
    pub(super) fn read_draft(self) {
        let text = self.draft_text.get_untracked();
        self.act(Action::ReadDraft { text, attention_temperature: self.controls.settings_now().attention_temperature });
    }

    /// Puts a text into the composer, ready to be changed.
    pub(super) fn write_draft(self, text: &str) {
        self.draft_text.set(text.to_string());
        self.read_draft();
        let field = document().get_element_by_id(COMPOSER).and_then(|field| field.dyn_into::<web_sys::HtmlTextAreaElement>().ok());
        // Once the text stands in the field.
        request_animation_frame(move || {
            if let Some(field) = field {
                let end = field.text_length();
                // Only fail where there is no page.
                let _ = field.focus().and_then(|()| field.set_selection_range(end, end));
            }
        });
    }

    /// Sends a message, if there is a model to answer it.
    pub(super) fn send(self, text: String) {
        let ready = self.session.with_untracked(|session| session.model().is_some());
        if ready && !text.trim().is_empty() {
            self.draft_text.set(String::new());
            self.act(Action::Send { text, settings: self.controls.settings_now() });
        }
    }

    /// Renews what the changed settings concern: the latest turn's replies, and the reading if tau changed.
    pub(super) fn settings_changed(self) {
        let settings = self.controls.settings_now();
        if let Some(turn) = self.session.with_untracked(|session| session.latest().map(|turn| turn.id)) {
            self.act(Action::Regenerate { turn, settings });
        }
    }

    fn take(self, event: WorkerEvent) {
        let message = match event {
            WorkerEvent::Message(message) => message,
            WorkerEvent::Died(reason) => return self.act(Action::WorkerDied { reason }),
        };
        let (is_ready, is_terminal) = (message.response == WorkerResponse::Ready, message.response.is_terminal());
        let is_loaded = matches!(message.response, WorkerResponse::Loaded { .. });
        self.session.update(|session| session.apply(message));
        if is_terminal && !self.session.with_untracked(|session| matches!(session.load, LoadStatus::Loading(_))) {
            preferences::loading_ended();
        }
        // After a crash in the middle of loading only the user starts it again: a page that crashes would crash for ever.
        if is_ready && !preferences::loading_crashed() {
            self.load_model(None);
        }
        if is_loaded {
            self.read_draft();
        }
    }
}
