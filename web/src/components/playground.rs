//! The page's whole state, and the one way in which it changes: an action goes to the session, its messages to the worker, answers back to the session.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::preferences;
use crate::controls::{Controls, Settings};
use crate::i18n::I18n;
use crate::inference::{Inference, WorkerEvent, models_url};
use crate::permalink::Permalink;
use crate::protocol::{WorkerRequest, WorkerResponse};
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
    /// The message that the user chose for the instruments; `None`: the newest.
    pub(super) inspected: RwSignal<Option<u32>>,
    /// The settings that were acted on, not those that a hand on a slider passes.
    pub(super) settled: RwSignal<Settings>,
    /// The language.
    pub(super) i18n: I18n,
    inference: StoredValue<Option<Inference>, LocalStorage>,
    /// The files that were chosen last, for another try.
    own_files: StoredValue<Vec<web_sys::File>, LocalStorage>,
}

impl Playground {
    /// The state of a fresh page: what its address says, and recorded examples where there are any.
    pub(super) fn new() -> Self {
        preferences::tell_leaving_from_crashing();
        let link = address().unwrap_or_default();
        let Recording { model, turns, .. } = Recording::examples();
        let session = Session::with_examples(model, turns);
        let controls = Controls::new(link.settings);
        Self {
            settled: RwSignal::new(controls.settings_now()),
            // Examples are read from the first, messages from the last.
            inspected: RwSignal::new(session.turns.first().map(|turn| turn.id)),
            session: RwSignal::new(session),
            controls,
            draft_text: RwSignal::new(link.text),
            i18n: I18n { locale: RwSignal::new(link.locale.unwrap_or_else(preferences::locale)) },
            inference: StoredValue::new_local(None),
            own_files: StoredValue::new_local(Vec::new()),
        }
    }

    /// From now on takes over every link put into the address of the open page: its settings, and its message and language where it has any.
    pub(super) fn follow_address(self) {
        // The page listens as long as it lives.
        window_event_listener(ev::hashchange, move |_| {
            let Some(Permalink { text, settings, locale }) = address() else { return };
            self.controls.set(settings);
            if let Some(locale) = locale {
                self.i18n.locale.set(locale);
            }
            if !text.is_empty() {
                self.write_draft(&text);
            }
        });
    }

    /// Takes an action.
    pub(super) fn act(self, action: Action) {
        let messages = self.session.try_update(|session| session.begin(action)).unwrap_or_default();
        let sent = self.inference.with_value(|inference| {
            let Some(inference) = inference else { return Ok(()) };
            self.own_files.with_value(|own_files| {
                messages.iter().try_for_each(|message| {
                    let needs_files = message.request == WorkerRequest::LoadOwnFiles;
                    inference.send(message, if needs_files { own_files } else { &[] })
                })
            })
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
            Ok(models_url) => self.load(Action::LoadModel { models_url, model }),
            Err(reason) => self.act(Action::WorkerDied { reason }),
        }
    }

    /// Loads a model of the user's own files.
    pub(super) fn load_own_files(self, files: Vec<web_sys::File>) {
        self.own_files.set_value(files);
        self.load(Action::LoadOwnFiles);
    }

    /// Loads the model that was asked for last once more.
    pub(super) fn retry_load(self) {
        self.load(Action::RetryLoad);
    }

    fn load(self, action: Action) {
        self.act(action);
        // A dead worker loads nothing: the next visit must not take that for a crash.
        if self.session.with_untracked(|session| matches!(session.load, LoadStatus::Loading(_))) {
            preferences::loading_begins();
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

    /// Sends the text in the composer, if there is a model to answer it.
    pub(super) fn send(self, text: String) {
        if self.has_model() && !text.trim().is_empty() {
            self.draft_text.set(String::new());
            self.act(Action::Send { text, settings: self.controls.settings_now() });
        }
    }

    /// Sends a message of the conversation once more, if there is a model to answer it; the text in the composer stays.
    pub(super) fn send_again(self, text: String) {
        if self.has_model() {
            self.act(Action::Send { text, settings: self.controls.settings_now() });
            self.read_draft();
        }
    }

    /// Renews what the changed settings concern: the replies of the turn that the instruments show, and the reading of the draft if tau is not that of `before`.
    pub(super) fn settings_changed(self, before: &Settings) {
        let settings = self.controls.settings_now();
        let tau_changed = before.attention_temperature != settings.attention_temperature;
        let inspected = self.inspected.get_untracked();
        if let Some(turn) = self.session.with_untracked(|session| session.turn_or_latest(inspected).map(|turn| turn.id)) {
            self.act(Action::Regenerate { turn, settings });
        }
        if tau_changed {
            self.read_draft();
        }
    }

    fn has_model(self) -> bool {
        self.session.with_untracked(|session| session.model().is_some())
    }

    fn take(self, event: WorkerEvent) {
        let message = match event {
            WorkerEvent::Message(message) => message,
            WorkerEvent::Died(reason) => return self.act(Action::WorkerDied { reason }),
        };
        let (is_ready, is_terminal) = (message.response == WorkerResponse::Ready, message.response.is_terminal());
        let had_model = self.has_model();
        self.session.update(|session| session.apply(message));
        if is_terminal && !self.session.with_untracked(|session| matches!(session.load, LoadStatus::Loading(_))) {
            preferences::loading_ended();
        }
        if is_ready && self.session.with_untracked(Session::owes_model) {
            self.retry_load();
        } else if is_ready && !preferences::loading_crashed() {
            // After a crash in the middle of loading only the user starts it again: a page that crashes would crash for ever.
            self.load_model(None);
        }
        // What was written while a model was on its way.
        if !had_model && self.has_model() {
            self.read_draft();
        }
    }
}

/// What the page's address says; `None` where it is no link of ours.
fn address() -> Option<Permalink> {
    Permalink::from_fragment(&window().location().hash().ok()?)
}
