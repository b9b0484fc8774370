//! The weights' card: what they are, how big, from what, under which licence.

use hormone_t5::manifest::{ModelEntry, ModelFiles};
use leptos::prelude::*;

use crate::components::playground::Playground;
use crate::protocol::LoadedModel;

/// What the weights are.
#[component]
pub(super) fn Card(play: Playground, model: LoadedModel) -> impl IntoView {
    let i18n = play.i18n;
    let (learned, tau) = (model.learned_alpha, model.attention_temperature);
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
            <dt>{move || i18n.text("model.learned")}</dt><dd>{move || i18n.format("model.learned_values", &[("alpha", &i18n.number(learned, 3)), ("tau", &i18n.now().number(tau, 2))])}</dd>
            {model.entry.clone().map(|entry| view! { <Entry play entry /> })}
        </dl>
    }
}

#[component]
fn Entry(play: Playground, entry: ModelEntry) -> impl IntoView {
    let i18n = play.i18n;
    let ModelFiles { config, hormone, tokenizer, weights } = entry.files.clone();
    let bytes = config.bytes + hormone.bytes + tokenizer.bytes + weights.bytes;
    let name = |file: &hormone_t5::manifest::FileEntry| file.path.rsplit('/').next().unwrap_or_default().to_string();
    let files = [&weights, &tokenizer, &config, &hormone].map(|file| (name(file), file.bytes));
    let parameters = entry.parameters as f64 / 1e6;
    let hash: String = weights.sha256.chars().take(12).collect();
    view! {
        <dt>{move || i18n.text("model.parameters")}</dt><dd>{move || i18n.format("model.millions", &[("millions", &i18n.now().number(parameters, 1))])}</dd>
        <dt>{move || i18n.text("model.size")}</dt><dd>{move || i18n.now().bytes(bytes)} " · " {entry.quantization.clone()}</dd>
        <dt>"SHA-256"</dt><dd><code>{hash}</code></dd>
        <dt>{move || i18n.text("model.files")}</dt><dd>{move || files.iter().map(|(name, bytes)| format!("{name} {}", i18n.now().bytes(*bytes))).collect::<Vec<_>>().join(" · ")}</dd>
        <dt>{move || i18n.text("model.licence")}</dt><dd>{entry.licence.clone()}</dd>
        <dt>{move || i18n.text("model.trained_on")}</dt><dd>{entry.trained_on.join(", ")}</dd>
    }
}

fn description(entry: &ModelEntry, code: &str) -> String {
    entry.description.get(code).or_else(|| entry.description.get("en")).cloned().unwrap_or_default()
}
