//! What the model cannot do and what must not be done with it, in plain words.

use leptos::prelude::*;

use crate::i18n::I18n;

/// Limits, ethics, and where real help is.
#[component]
pub(super) fn Limits(i18n: I18n) -> impl IntoView {
    let keys = ["limits.english", "limits.small", "limits.sarcasm", "limits.memory", "limits.abstraction", "limits.use", "limits.help"];
    view! {
        <h3>{move || i18n.text("limits.title")}</h3>
        <ul class="limits" data-testid="limits">{keys.map(|key| view! { <li>{move || i18n.text(key)}</li> })}</ul>
    }
}
