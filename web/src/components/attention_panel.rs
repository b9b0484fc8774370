//! Where each hormone looks: the heatmap with its choices.

use std::sync::Arc;

use hormone_t5::analysis::Analysis;
use leptos::prelude::*;

use super::heatmap::Heatmap;
use super::page::Focus;
use crate::i18n::I18n;
use crate::reading::{ColumnKind, HeadChoice, columns};

/// Heatmap, choice of heads, words or pieces, end token, caveat.
#[component]
pub(super) fn AttentionPanel(i18n: I18n, focus: RwSignal<Focus>, #[prop(into)] reading: Signal<Option<Arc<Analysis>>>) -> impl IntoView {
    let heads = RwSignal::new(HeadChoice::Mean);
    let grouped = RwSignal::new(true);
    let with_end = RwSignal::new(true);
    let table = Memo::new(move |_| {
        reading.with(|reading| {
            let mut columns = reading.as_ref().map(|analysis| columns(analysis, heads.get(), grouped.get())).unwrap_or_default();
            columns.retain(|column| with_end.get() || column.kind == ColumnKind::Word);
            columns
        })
    });
    let head_button = move |choice: HeadChoice, label: String| {
        view! {
            <button aria-pressed=move || (heads.get() == choice).to_string() on:click=move |_| heads.set(choice)>{label}</button>
        }
    };
    view! {
        <section class="panel attention" aria-labelledby="attention-title">
            <header>
                <h2 id="attention-title">{move || i18n.text("attention.title")}</h2>
                <p class="aside">{move || i18n.text("attention.caveat")}</p>
            </header>
            <Heatmap i18n focus columns=table />
            <div class="choices">
                <div class="switch" role="group" aria-label=move || i18n.text("attention.heads")>
                    {move || head_button(HeadChoice::Mean, i18n.text("attention.mean"))}
                    {(0..4).map(|head| head_button(HeadChoice::One(head), (head + 1).to_string())).collect_view()}
                </div>
                <label><input type="checkbox" data-testid="raw-pieces" prop:checked=move || !grouped.get() on:change=move |event| grouped.set(!event_target_checked(&event)) />{move || i18n.text("attention.pieces")}</label>
                <label><input type="checkbox" data-testid="end-token" prop:checked=with_end on:change=move |event| with_end.set(event_target_checked(&event)) />{move || i18n.text("attention.end")}</label>
            </div>
        </section>
    }
}
