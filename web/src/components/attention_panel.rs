//! Where each hormone looks: the heatmap with its choices, and where the decoder looked for a word of the replies.

use std::sync::Arc;

use hormone_t5::analysis::Analysis;
use leptos::prelude::*;

use super::cross_table::CrossTable;
use super::download::PictureButtons;
use super::heatmap::Heatmap;
use crate::focus::{Focus, ReplyWord};
use crate::i18n::I18n;
use crate::picture;
use crate::reading::{ColumnKind, HeadChoice, columns};
use crate::session::Session;

/// Heatmap, choice of heads, words or pieces, end token, caveat.
#[component]
pub(super) fn AttentionPanel(
    i18n: I18n,
    session: RwSignal<Session>,
    focus: RwSignal<Focus>,
    /// The reply word whose cross-attention is shown.
    chosen: RwSignal<Option<ReplyWord>>,
    /// Whose reading this is; `None` is the text in the composer.
    #[prop(into)]
    turn: Signal<Option<u32>>,
    #[prop(into)] reading: Signal<Option<Arc<Analysis>>>,
) -> impl IntoView {
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
    let head_button = move |choice: HeadChoice, label: String, spoken: String| {
        view! {
            <button aria-label=spoken aria-pressed=move || (heads.get() == choice).to_string() on:click=move |_| heads.set(choice)>{label}</button>
        }
    };
    let draw = Callback::new(move |palette: picture::Palette| {
        table.with_untracked(|table| picture::heatmap(&palette, i18n.locale.get_untracked(), table))
    });
    view! {
        <section class="panel attention" aria-labelledby="attention-title">
            <header>
                <h2 id="attention-title">{move || i18n.text("attention.title")}</h2>
                <details class="caveat">
                    <summary data-testid="caveat">{move || i18n.text("attention.caveat")}</summary>
                    <p>{move || i18n.text("attention.caveat_long")}</p>
                </details>
                <PictureButtons i18n name="attention" draw />
            </header>
            <Heatmap i18n focus turn columns=table />
            <div class="choices">
                <div class="switch" role="group" aria-label=move || i18n.text("attention.heads")>
                    {move || head_button(HeadChoice::Mean, i18n.text("attention.mean"), i18n.text("attention.mean_spoken"))}
                    {move || (0..4).map(|head| {
                        let number = (head + 1).to_string();
                        head_button(HeadChoice::One(head), number.clone(), i18n.format("attention.head", &[("number", &number)]))
                    }).collect_view()}
                </div>
                <label><input type="checkbox" data-testid="raw-pieces" prop:checked=move || !grouped.get() on:change=move |event| grouped.set(!event_target_checked(&event)) />{move || i18n.text("attention.pieces")}</label>
                <label><input type="checkbox" data-testid="end-token" prop:checked=with_end on:change=move |event| with_end.set(event_target_checked(&event)) />{move || i18n.text("attention.end")}</label>
            </div>
            <CrossTable i18n session chosen />
        </section>
    }
}
