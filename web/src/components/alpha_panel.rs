//! How strongly the hormones act on what the decoder sees.

use leptos::prelude::*;

use crate::controls::{ALPHA_MAX, ALPHA_TRAINED, Controls};
use crate::i18n::I18n;

/// A slider from 0 to 1: the range of training is shaded, the learned value marked. What is to be said of it stands below.
#[component]
pub(super) fn AlphaPanel(
    i18n: I18n,
    controls: Controls,
    /// The alpha that training arrived at.
    #[prop(into)]
    learned: Signal<Option<f32>>,
    children: Children,
) -> impl IntoView {
    let alpha = move || controls.alpha.get().or(learned.get());
    let set = move |event| {
        if let Ok(value) = event_target_value(&event).parse::<f32>() {
            controls.alpha.set(Some(value.clamp(0.0, ALPHA_MAX)));
        }
    };
    let remark = move || match (alpha(), controls.alpha.get()) {
        (None, _) => i18n.text("alpha.unknown"),
        (Some(_), None) => i18n.text("alpha.learned"),
        (Some(0.0), _) => i18n.text("alpha.zero"),
        (Some(alpha), _) if ALPHA_TRAINED.contains(&alpha) => i18n.text("alpha.trained"),
        (Some(_), _) => i18n.text("alpha.untrained"),
    };
    let percent = |value: f32| format!("{:.2}%", value / ALPHA_MAX * 100.0);
    view! {
        <section class="panel strength" aria-labelledby="alpha-title">
            <header>
                <h2 id="alpha-title">{move || i18n.text("alpha.title")}</h2>
                <p class="aside" id="alpha-remark" data-testid="alpha-remark">{remark}</p>
                <button class="quiet" hidden=move || controls.alpha.get().is_none() data-testid="alpha-reset" on:click=move |_| controls.alpha.set(None)>
                    {move || i18n.text("alpha.reset")}
                </button>
                <output class="big" for="alpha" data-testid="alpha-value">{move || alpha().map_or("–".to_string(), |alpha| i18n.number(alpha, 2))}</output>
            </header>
            <div class="alpha-track">
                <span class="trained" style:left=percent(*ALPHA_TRAINED.start()) style:right=percent(ALPHA_MAX - *ALPHA_TRAINED.end())></span>
                {move || learned.get().map(|learned| view! { <span class="learned" style:left=percent(learned)></span> })}
                <input
                    id="alpha"
                    type="range"
                    min="0"
                    max=ALPHA_MAX.to_string()
                    step="0.01"
                    data-testid="alpha-slider"
                    aria-labelledby="alpha-title"
                    aria-describedby="alpha-remark"
                    aria-valuetext=move || alpha().map(|alpha| i18n.number(alpha, 2))
                    prop:value=move || alpha().unwrap_or(0.2).to_string()
                    on:input=set
                />
            </div>
            <div class="scale" aria-hidden="true">
                <span>{move || i18n.text("alpha.off")}</span>
                <span class="trained-label">{move || i18n.text("alpha.trained_range")}</span>
                <span>{move || i18n.number(ALPHA_MAX, 0)}</span>
            </div>
            {children()}
        </section>
    }
}
