//! What a newcomer reads before the first message.

use leptos::prelude::*;

use crate::i18n::I18n;

/// A sentence that says what this is, and three that say what will happen.
#[component]
pub(super) fn Welcome(i18n: I18n) -> impl IntoView {
    view! {
        <div class="welcome" data-testid="welcome">
            <h2>{move || i18n.text("welcome.title")}</h2>
            <ol>
                <li>{move || i18n.text("welcome.read")}</li>
                <li>{move || i18n.text("welcome.feel")}</li>
                <li>{move || i18n.text("welcome.reply")}</li>
            </ol>
            <p>{move || i18n.text("welcome.start")}</p>
        </div>
    }
}

/// The same in two sentences, over the examples that fill the first visit.
#[component]
pub(super) fn BriefWelcome(i18n: I18n) -> impl IntoView {
    view! { <p class="brief" data-testid="welcome-brief">{move || i18n.text("welcome.brief")}</p> }
}
