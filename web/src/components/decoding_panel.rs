//! How tokens are chosen, the block's tau, and the third lane.

use leptos::prelude::*;

use crate::controls::{Controls, DecodingKind, SEED_MAX, Settings};
use crate::i18n::I18n;
use crate::protocol::LoadedModel;

/// All settings but alpha and the levels.
#[component]
pub(super) fn DecodingPanel(i18n: I18n, controls: Controls, #[prop(into)] model: Signal<Option<LoadedModel>>) -> impl IntoView {
    let rest = controls.rest;
    let kind = Memo::new(move |_| rest.with(|rest| rest.decoding));
    let choose = move |chosen: DecodingKind| rest.update(|rest| rest.decoding = chosen);
    let kinds =
        [(DecodingKind::Greedy, "decoding.greedy"), (DecodingKind::Sampling, "decoding.sampling"), (DecodingKind::Beams, "decoding.beams")];
    let remark = move || match kind.get() {
        DecodingKind::Greedy => i18n.text("decoding.greedy_help"),
        DecodingKind::Sampling => i18n.text("decoding.sampling_help"),
        DecodingKind::Beams => i18n.text("decoding.beams_help"),
    };
    let tau = move || {
        rest.with(|rest| rest.attention_temperature)
            .or(model.with(|model| model.as_ref().map(|model| model.attention_temperature)))
            .unwrap_or(0.5)
    };
    let roll = move |_| rest.update(|rest| rest.seed = (js_sys::Math::random() * SEED_MAX as f64) as u64);
    let set_tau = move |event| {
        if let Ok(value) = event_target_value(&event).parse::<f64>() {
            rest.update(|rest| rest.attention_temperature = Some(value));
        }
    };
    view! {
        <details class="panel decoding" open>
            <summary><h2>{move || i18n.text("decoding.title")}</h2></summary>
            <div class="switch" role="group" aria-label=move || i18n.text("decoding.title")>
                {kinds.map(|(this, key)| view! {
                    <button data-testid=key.replace('.', "-") aria-pressed=move || (kind.get() == this).to_string() on:click=move |_| choose(this)>
                        {move || i18n.text(key)}
                    </button>
                })}
            </div>
            <p class="aside">{remark}</p>
            <div class="numbers">
                {move || (kind.get() == DecodingKind::Sampling).then(|| view! {
                    <Number i18n rest key="decoding.temperature" min=0.1 max=2.0 step=0.05 get=|rest| rest.temperature set=|rest, value| rest.temperature = value />
                    <Number i18n rest key="decoding.top_k" min=0.0 max=200.0 step=1.0 get=|rest| rest.top_k as f64 set=|rest, value| rest.top_k = value as usize />
                    <Number i18n rest key="decoding.top_p" min=0.05 max=1.0 step=0.01 get=|rest| rest.top_p set=|rest, value| rest.top_p = value />
                    <Number i18n rest key="decoding.seed" min=0.0 max=SEED_MAX as f64 step=1.0 get=|rest| rest.seed as f64 set=|rest, value| rest.seed = value as u64 />
                    <button class="quiet" data-testid="dice" on:click=roll>{move || i18n.text("decoding.dice")}</button>
                })}
                {move || (kind.get() == DecodingKind::Beams).then(|| view! {
                    <Number i18n rest key="decoding.num_beams" min=1.0 max=8.0 step=1.0 get=|rest| rest.num_beams as f64 set=|rest, value| rest.num_beams = value as usize />
                })}
                <Number i18n rest key="decoding.no_repeat" min=0.0 max=6.0 step=1.0 get=|rest| rest.no_repeat_ngram_size as f64 set=|rest, value| rest.no_repeat_ngram_size = value as usize />
                <Number i18n rest key="decoding.max_tokens" min=1.0 max=200.0 step=1.0 get=|rest| rest.max_new_tokens as f64 set=|rest, value| rest.max_new_tokens = value as usize />
            </div>
            <label class="slide">
                <span>{move || i18n.text("decoding.tau")} " " <b>{move || i18n.now().number(tau(), 2)}</b></span>
                <input
                    type="range" min="0.05" max="2" step="0.05" data-testid="tau-slider"
                    prop:value=move || tau().to_string()
                    on:input=set_tau
                />
            </label>
            <label><input type="checkbox" data-testid="own-lane" prop:checked=move || rest.with(|rest| rest.own_lane) on:change=move |event| rest.update(|rest| rest.own_lane = event_target_checked(&event)) />{move || i18n.text("decoding.own_lane")}</label>
            <button class="quiet" data-testid="reset" on:click=move |_| controls.set(Settings::default())>{move || i18n.text("decoding.reset")}</button>
        </details>
    }
}

/// A labelled number of the settings.
#[component]
fn Number(
    i18n: I18n,
    rest: RwSignal<Settings>,
    key: &'static str,
    min: f64,
    max: f64,
    step: f64,
    get: fn(&Settings) -> f64,
    set: fn(&mut Settings, f64),
) -> impl IntoView {
    let change = move |event| {
        if let Ok(value) = event_target_value(&event).parse::<f64>() {
            rest.update(|rest| set(rest, value.clamp(min, max)));
        }
    };
    view! {
        <label class="number">
            <span>{move || i18n.text(key)}</span>
            <input type="number" min=min.to_string() max=max.to_string() step=step.to_string() data-testid=key.replace('.', "-") prop:value=move || rest.with(get).to_string() on:change=change />
        </label>
    }
}
