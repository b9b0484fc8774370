//! Saving the conversation to a file and taking it back, a link to what is set, and forgetting all.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use super::playground::Playground;
use crate::permalink::Permalink;
use crate::recorded::Recording;
use crate::session::Action;

/// The buttons under the conversation.
#[component]
pub(super) fn SessionTools(play: Playground) -> impl IntoView {
    let i18n = play.i18n;
    let copied = RwSignal::new(false);
    let failure = RwSignal::new(None::<String>);
    let save = move |_| {
        let recording =
            play.session.with_untracked(|session| Recording::of(session.model().map(|model| model.id.as_str()), &session.turns));
        // Plain data always serialises; a browser that refuses a download says so itself.
        if let Ok(json) = recording.to_json() {
            let _ = download("helt-session.json", "application/json", &json);
        }
    };
    let link = move |_| copied.set(copy_link(play).is_ok());
    let open = move |event: web_sys::Event| {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok()) else { return };
        let Some(file) = input.files().and_then(|files| files.get(0)) else { return };
        input.set_value("");
        let text = file.text();
        leptos::task::spawn_local(async move {
            let json = wasm_bindgen_futures::JsFuture::from(text).await.ok().and_then(|text| text.as_string()).unwrap_or_default();
            match Recording::from_json(&json) {
                Ok(recording) => play.act(Action::Import(recording.turns)),
                Err(error) => failure.set(Some(error.to_string())),
            }
        });
    };
    view! {
        <div class="session-tools">
            <button class="quiet" data-testid="copy-link" on:click=link>
                {move || i18n.text(if copied.get() { "session.link_done" } else { "session.link" })}
            </button>
            <button class="quiet" data-testid="save-session" on:click=save>{move || i18n.text("session.save")}</button>
            <label class="quiet">
                {move || i18n.text("session.import")}
                <input class="sr" type="file" accept=".json" data-testid="import-session" on:change=open />
            </label>
            <button class="quiet" data-testid="clear" on:click=move |_| play.act(Action::Clear)>{move || i18n.text("session.clear")}</button>
        </div>
        {move || failure.get().map(|reason| view! { <p class="remark" role="alert">{i18n.format("session.import_failed", &[("reason", &reason)])}</p> })}
    }
}

/// Puts the latest message and all settings into the page's address, and that address on the clipboard.
fn copy_link(play: Playground) -> Result<(), JsValue> {
    let draft = play.draft_text.get_untracked();
    let latest = play.session.with_untracked(|session| session.latest().map(|turn| turn.text.clone()));
    let text = if draft.trim().is_empty() { latest.unwrap_or_default() } else { draft };
    let fragment = format!("#{}", Permalink { text, settings: play.controls.settings_now() }.to_fragment());
    window().history()?.replace_state_with_url(&JsValue::NULL, "", Some(&fragment))?;
    let href = window().location().href()?;
    // Where the clipboard is closed (plain http) the address bar still has the link.
    if window().is_secure_context() {
        let _ = window().navigator().clipboard().write_text(&href);
    }
    Ok(())
}

/// Hands the visitor a file made here.
fn download(name: &str, mime: &str, content: &str) -> Result<(), JsValue> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(mime);
    let blob = web_sys::Blob::new_with_str_sequence_and_options(&js_sys::Array::of1(&content.into()), &options)?;
    let url = web_sys::Url::create_object_url_with_blob(&blob)?;
    let link: web_sys::HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(name);
    link.click();
    web_sys::Url::revoke_object_url(&url)
}
