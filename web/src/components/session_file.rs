//! Saving the conversation (JSON, Markdown, levels as CSV) and taking it back, a link to what is set, and forgetting all.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::clipboard;
use super::download::text_file;
use super::playground::Playground;
use crate::export::{levels_csv, to_markdown};
use crate::permalink::Permalink;
use crate::recorded::Recording;
use crate::session::{Action, Turn};

/// How long a button says what became of the link.
const LINK_SAID: Duration = Duration::from_secs(2);

/// The buttons over the conversation.
#[component]
pub(super) fn SessionTools(play: Playground) -> impl IntoView {
    let Playground { session, i18n, .. } = play;
    // What the button says.
    let link_key = RwSignal::new("session.link");
    let failure = RwSignal::new(None::<String>);
    let empty = Memo::new(move |_| session.with(|session| session.turns.is_empty()));
    let forgotten = Memo::new(move |_| session.with(|session| session.forgotten.is_some()));
    let turns = move || session.with_untracked(|session| session.turns.clone());
    // A browser that refuses a download says so itself.
    let save = move |name: &str, mime: &str, content: String| drop(text_file(name, mime, &content));
    let save_json = move |_| {
        let recording = session.with_untracked(|session| Recording::of(session.model().map(|model| model.id.as_str()), &session.turns));
        // Plain data always serialises.
        save("helt-session.json", "application/json", recording.to_json().unwrap_or_default());
    };
    let save_markdown = move |_| save("helt-session.md", "text/markdown", to_markdown(i18n.locale.get_untracked(), &turns()));
    let save_csv = move |_| save("helt-levels.csv", "text/csv", levels_csv(&turns()));
    let link = move |_| {
        let address = link_in_address(play);
        spawn_local(async move {
            link_key.set(match address {
                Ok(address) if clipboard::copy(&address).await => "session.link_done",
                // The clipboard is closed, as on plain http.
                Ok(_) => "session.link_in_address",
                Err(_) => "session.link_failed",
            });
            let back = move || {
                link_key.try_set("session.link");
            };
            set_timeout(back, LINK_SAID);
        });
    };
    let open = move |event: web_sys::Event| {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok()) else { return };
        let Some(file) = input.files().and_then(|files| files.get(0)) else { return };
        // The same file can be chosen again.
        input.set_value("");
        open_session(play, &file, failure);
    };
    view! {
        <div class="talk-bar">
            <h2>{move || i18n.text("talk.label")}</h2>
            <div class="session-tools" role="group" aria-label=move || i18n.text("session.label")>
                <button class="quiet" data-testid="copy-link" on:click=link>
                    {move || i18n.text(link_key.get())}
                </button>
                <span class="save">
                    <span aria-hidden="true">{move || i18n.text("session.save")}</span>
                    <button class="quiet" data-testid="save-session" disabled=empty title=move || i18n.text("session.save_json") aria-label=move || i18n.text("session.save_json") on:click=save_json>"JSON"</button>
                    <button class="quiet" data-testid="save-markdown" disabled=empty title=move || i18n.text("session.save_markdown") aria-label=move || i18n.text("session.save_markdown") on:click=save_markdown>"MD"</button>
                    <button class="quiet" data-testid="save-csv" disabled=empty title=move || i18n.text("session.save_csv") aria-label=move || i18n.text("session.save_csv") on:click=save_csv>"CSV"</button>
                </span>
                <label class="quiet">
                    {move || i18n.text("session.import")}
                    <input class="sr" type="file" accept=".json" data-testid="import-session" on:change=open />
                </label>
                <button class="quiet" data-testid="clear" disabled=empty on:click=move |_| play.act(Action::Clear)>{move || i18n.text("session.clear")}</button>
            </div>
        </div>
        <div class="session-notices">
            <div role="status">
                {move || forgotten.get().then(|| view! {
                    <div class="notice calm" data-testid="forgotten">
                        <p>{move || i18n.text("session.forgotten")}</p>
                        <button class="quiet" data-testid="bring-back" on:click=move |_| play.act(Action::BringBack)>{move || i18n.text("session.bring_back")}</button>
                    </div>
                })}
            </div>
            <div role="alert">
                {move || failure.get().map(|reason| view! {
                    <div class="notice" data-testid="import-failed">
                        <p>{move || i18n.format("session.import_failed", &[("reason", &reason)])}</p>
                        <button class="quiet" on:click=move |_| failure.set(None)>{move || i18n.text("error.close")}</button>
                    </div>
                })}
            </div>
        </div>
    }
}

/// Shows the turns of a saved session, or says why it is none.
pub(super) fn open_session(play: Playground, file: &web_sys::File, failure: RwSignal<Option<String>>) {
    let text = file.text();
    spawn_local(async move {
        let json = JsFuture::from(text).await.ok().and_then(|text| text.as_string()).unwrap_or_default();
        match Recording::from_json(&json) {
            Ok(Recording { model, turns, .. }) => {
                failure.set(None);
                play.act(Action::Import { model, turns });
            }
            Err(error) => failure.set(Some(error.to_string())),
        }
    });
}

/// Puts the draft or the message that the instruments show, all settings and the language into the page's address, and returns that address.
fn link_in_address(play: Playground) -> Result<String, JsValue> {
    let draft = play.draft_text.get_untracked();
    let inspected = play.inspected.get_untracked();
    let shown = play
        .session
        .with_untracked(|session| session.turn_or_latest(inspected).filter(|turn| !is_example(play, turn)).map(|turn| turn.text.clone()));
    let text = if draft.trim().is_empty() { shown.unwrap_or_default() } else { draft };
    let link = Permalink { text, settings: play.controls.settings_now(), locale: Some(play.i18n.locale.get_untracked()) };
    window().history()?.replace_state_with_url(&JsValue::NULL, "", Some(&format!("#{}", link.to_fragment())))?;
    window().location().href()
}

/// Examples are the page's words, not the visitor's.
fn is_example(play: Playground, turn: &Turn) -> bool {
    turn.recorded && play.session.with_untracked(|session| session.shows_examples)
}
