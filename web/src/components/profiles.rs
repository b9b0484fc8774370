//! The five training profiles, to be laid over the bars one by one or all together.

use hormone_t5::analysis::{HormoneLevels, Tone};
use leptos::prelude::*;

use crate::i18n::I18n;

/// A button for each profile, with its distance, and one for all.
#[component]
pub(super) fn Profiles(
    i18n: I18n,
    #[prop(into)] levels: Signal<Option<HormoneLevels>>,
    /// The profiles that are shown, in the paper's order.
    shown: RwSignal<Vec<Tone>>,
) -> impl IntoView {
    let all = move || shown.with(|shown| shown.len() == Tone::ALL.len());
    let toggle = move |tone: Tone| {
        shown.update(|shown| {
            let was_shown = shown.contains(&tone);
            *shown = Tone::ALL.into_iter().filter(|other| if *other == tone { !was_shown } else { shown.contains(other) }).collect();
        });
    };
    let distance = move |tone: Tone| {
        levels.get().map(|levels| i18n.format("hormones.distance", &[("distance", &i18n.number(tone.levels().distance(levels), 2))]))
    };
    view! {
        <div class="profiles" role="group" aria-label=move || i18n.text("hormones.profiles")>
            <span>{move || i18n.text("hormones.profiles")}</span>
            {Tone::ALL.map(|tone| view! {
                <button
                    data-testid=format!("profile-{}", tone.name())
                    aria-pressed=move || shown.with(|shown| shown.contains(&tone)).to_string()
                    class:nearest=move || levels.get().map(Tone::nearest) == Some(tone)
                    title=move || distance(tone)
                    on:click=move |_| toggle(tone)
                >
                    {move || i18n.text(&format!("tone.{}", tone.name()))}
                </button>
            })}
            <button data-testid="profile-all" aria-pressed=move || all().to_string() on:click=move |_| shown.set(if all() { Vec::new() } else { Tone::ALL.into() })>
                {move || i18n.text("hormones.all_profiles")}
            </button>
        </div>
    }
}
