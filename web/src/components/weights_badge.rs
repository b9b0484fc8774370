//! A mark on every lane whose words come from weights that are not to be trusted: random, a toy, or the visitor's own.

use leptos::prelude::*;

use crate::i18n::I18n;
use crate::protocol::WeightsKind;

/// Nothing for a trained model.
#[component]
pub(super) fn WeightsBadge(i18n: I18n, #[prop(into)] kind: Signal<Option<WeightsKind>>) -> impl IntoView {
    view! {
        {move || kind.get().filter(|kind| *kind != WeightsKind::Trained).map(|kind| view! {
            <span class="tag warn" data-testid="weights-badge" title=i18n.text(&format!("weights_help.{}", kind.name()))>
                {i18n.text(&format!("weights.{}", kind.name()))}
            </span>
        })}
    }
}
