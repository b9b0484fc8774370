//! What this is and is not.

use leptos::prelude::*;

use crate::i18n::I18n;

/// Privacy, abstraction, attention: the three sentences nobody should miss.
#[component]
pub(super) fn About(i18n: I18n) -> impl IntoView {
    view! {
        <section class="about" aria-label=move || i18n.text("about.label")>
            <p data-testid="privacy">{move || i18n.text("about.privacy")}</p>
            <p data-testid="abstraction">{move || i18n.text("about.abstraction")}</p>
            <p data-testid="attention-caveat">{move || i18n.text("about.attention")}</p>
            <p>{move || i18n.text("about.source")}</p>
        </section>
    }
}
