//! Which weights answer: what they are, how good they are, where they come from, and the way to others.

mod ablations;
mod card;
mod curves;
mod limits;
mod record;
mod results;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::playground::Playground;
use crate::protocol::LoadedModel;
use crate::session::Action;
use ablations::AblationTable;
use card::Card;
use curves::Curves;
use limits::Limits;
use record::Record;
use results::Results;

/// The model's card and record, the choice of another, own files, and removal from this browser.
#[component]
pub(super) fn ModelPanel(play: Playground, #[prop(into)] model: Signal<Option<LoadedModel>>) -> impl IntoView {
    let i18n = play.i18n;
    let open = RwSignal::new(false);
    let id = Memo::new(move |_| model.with(|model| model.as_ref().map(|model| model.id.clone())));
    // Fetched only when somebody looks.
    let record = Record::follow(Signal::derive(move || id.get().filter(|_| open.get())));
    let on_toggle = move |event: web_sys::Event| {
        if let Some(panel) = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) {
            open.set(panel.has_attribute("open"));
        }
    };
    view! {
        <details class="panel model" id="model" data-testid="model-panel" on:toggle=on_toggle>
            <summary data-testid="model-heading"><h2>{move || i18n.text("model.title")}</h2></summary>
            {move || model.get().map(|model| view! { <Card play model /> })}
            <Results i18n model record />
            <Curves i18n record />
            <AblationTable i18n record />
            <Limits i18n />
            <Choices play current=id />
        </details>
    }
}

/// Other models: of this site, or the visitor's own.
#[component]
fn Choices(play: Playground, #[prop(into)] current: Signal<Option<String>>) -> impl IntoView {
    let Playground { session, i18n, .. } = play;
    let models =
        Memo::new(move |_| session.with(|session| session.manifest.as_ref().map(|manifest| manifest.models.clone()).unwrap_or_default()));
    let removed = Memo::new(move |_| session.with(|session| session.downloads_removed));
    let take_files = move |event: web_sys::Event| {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok()) else { return };
        let Some(list) = input.files() else { return };
        let files: Vec<_> = (0..list.length()).filter_map(|index| list.get(index)).collect();
        if !files.is_empty() {
            play.load_own_files(files);
        }
        // The same files can be chosen again.
        input.set_value("");
    };
    view! {
        <h3>{move || i18n.text("model.others")}</h3>
        <div class="choices">
            {move || (models.with(Vec::len) > 1 || current.get().is_some_and(|id| models.with(|models| models.iter().all(|entry| entry.id != id)))).then(|| view! {
                <label class="number"><span>{move || i18n.text("model.choose")}</span>
                    <select data-testid="model-select" on:change=move |event| play.load_model(Some(event_target_value(&event)).filter(|id| !id.is_empty()))>
                        {move || models.get().into_iter().map(|entry| {
                            let selected = current.get().as_deref() == Some(entry.id.as_str());
                            view! { <option value=entry.id.clone() selected=selected>{entry.id.clone()}</option> }
                        }).collect_view()}
                        {move || current.get().filter(|id| models.with(|models| models.iter().all(|entry| entry.id != *id))).map(|id| view! { <option value="" selected=true>{id}</option> })}
                    </select>
                </label>
            })}
            <label class="file">
                <span>{move || i18n.text("model.own_files")}</span>
                <input type="file" multiple data-testid="own-files" accept=".json,.gguf,.safetensors" on:change=take_files />
                <span>{move || i18n.text("model.own_files_help")}</span>
            </label>
            <button class="quiet" data-testid="delete-downloads" on:click=move |_| play.act(Action::DeleteDownloads)>{move || i18n.text("model.delete")}</button>
            <span role="status" data-testid="downloads-removed">{move || removed.get().then(|| i18n.text("model.removed"))}</span>
        </div>
    }
}
