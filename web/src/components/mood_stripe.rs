//! Six segments as wide as the six levels: a message's mood at a glance. The numbers stand elsewhere, so screen readers skip it.

use hormone_t5::analysis::{Hormone, HormoneLevels};
use leptos::prelude::*;

/// The stripe; grey before the text is read.
#[component]
pub(super) fn MoodStripe(#[prop(into)] levels: Signal<Option<HormoneLevels>>) -> impl IntoView {
    view! {
        <div class="stripe" aria-hidden="true">
            {Hormone::ALL.map(|hormone| view! {
                <span class=format!("bg-{}", hormone.name()) style:flex-grow=move || levels.get().map_or(0.0, |levels| levels.get(hormone)).to_string()></span>
            })}
        </div>
    }
}
