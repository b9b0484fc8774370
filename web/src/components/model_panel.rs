//! Which weights answer: what they are, where they come from, and the way to others.

use hormone_t5::manifest::{ModelEntry, ModelFiles};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::playground::Playground;
use crate::protocol::LoadedModel;
use crate::session::Action;

/// The model's card, the choice of another, own files, and removal from this browser.
#[component]
pub(super) fn ModelPanel(play: Playground, #[prop(into)] model: Signal<Option<LoadedModel>>) -> impl IntoView {
    let Playground { session, i18n, .. } = play;
    let models =
        Memo::new(move |_| session.with(|session| session.manifest.as_ref().map(|manifest| manifest.models.clone()).unwrap_or_default()));
    let current = move || model.with(|model| model.as_ref().map(|model| model.id.clone()));
    let take_files = move |event: web_sys::Event| {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok()) else { return };
        let Some(list) = input.files() else { return };
        let files: Vec<_> = (0..list.length()).filter_map(|index| list.get(index)).collect();
        if !files.is_empty() {
            play.act_with_files(Action::LoadOwnFiles, &files);
        }
        // The same files can be chosen again.
        input.set_value("");
    };
    view! {
        <details class="panel model" id="model">
            <summary><h2>{move || i18n.text("model.title")}</h2></summary>
            {move || model.get().map(|model| view! { <Card play model /> })}
            <div class="choices">
                {move || (models.with(Vec::len) > 1).then(|| view! {
                    <label class="number"><span>{move || i18n.text("model.choose")}</span>
                        <select data-testid="model-select" on:change=move |event| play.load_model(Some(event_target_value(&event)))>
                            {move || models.get().into_iter().map(|entry| {
                                let selected = current().as_deref() == Some(entry.id.as_str());
                                view! { <option value=entry.id.clone() selected=selected>{entry.id.clone()}</option> }
                            }).collect_view()}
                        </select>
                    </label>
                })}
                <label class="file">
                    <span>{move || i18n.text("model.own_files")}</span>
                    <input type="file" multiple data-testid="own-files" accept=".json,.gguf,.safetensors" on:change=take_files />
                </label>
                <button class="quiet" data-testid="delete-downloads" on:click=move |_| play.act(Action::DeleteDownloads)>{move || i18n.text("model.delete")}</button>
            </div>
        </details>
    }
}

#[component]
fn Card(play: Playground, model: LoadedModel) -> impl IntoView {
    let i18n = play.i18n;
    let shape = {
        let LoadedModel { d_model, num_layers, num_decoder_layers, vocab_size, .. } = model;
        move || {
            let values = [
                ("width", d_model.to_string()),
                ("encoder", num_layers.to_string()),
                ("decoder", num_decoder_layers.to_string()),
                ("tokens", vocab_size.to_string()),
            ];
            i18n.format("model.shape", &values.each_ref().map(|(name, value)| (*name, value.as_str())))
        }
    };
    view! {
        <p>{let entry = model.entry.clone(); move || entry.as_ref().map(|entry| description(entry, i18n.now().code()))}</p>
        <dl>
            <dt>{move || i18n.text("model.name")}</dt><dd>{model.id.clone()}</dd>
            <dt>{move || i18n.text("model.shape_label")}</dt><dd>{shape}</dd>
            {model.entry.clone().map(|entry| view! { <Entry play entry /> })}
        </dl>
    }
}

#[component]
fn Entry(play: Playground, entry: ModelEntry) -> impl IntoView {
    let i18n = play.i18n;
    let ModelFiles { config, hormone, tokenizer, weights } = entry.files.clone();
    let bytes = config.bytes + hormone.bytes + tokenizer.bytes + weights.bytes;
    let parameters = entry.parameters as f64 / 1e6;
    let hash: String = weights.sha256.chars().take(12).collect();
    view! {
        <dt>{move || i18n.text("model.parameters")}</dt><dd>{move || i18n.format("model.millions", &[("millions", &i18n.now().number(parameters, 1))])}</dd>
        <dt>{move || i18n.text("model.size")}</dt><dd>{move || i18n.now().bytes(bytes)} " · " {entry.quantization.clone()}</dd>
        <dt>"SHA-256"</dt><dd><code>{hash}</code></dd>
        <dt>{move || i18n.text("model.licence")}</dt><dd>{entry.licence.clone()}</dd>
        <dt>{move || i18n.text("model.trained_on")}</dt><dd>{entry.trained_on.join(", ")}</dd>
        {entry.results.clone().into_iter().map(|(name, value)| view! { <dt>{name}</dt><dd>{move || i18n.now().number(value, 3)}</dd> }).collect_view()}
    }
}

fn description(entry: &ModelEntry, code: &str) -> String {
    entry.description.get(code).or_else(|| entry.description.get("en")).cloned().unwrap_or_default()
}
