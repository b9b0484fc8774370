//! The visitor's message; each word is tinted by how much the hormone that is pointed at looks at it.

use std::sync::Arc;

use hormone_t5::analysis::{Analysis, Hormone};
use leptos::prelude::*;

use crate::focus::{Focus, Span};
use crate::i18n::I18n;
use crate::reading::{HeadChoice, columns, cross_shares, text_parts};

/// A message; plain until it is read.
#[component]
pub(super) fn Message(
    i18n: I18n,
    focus: RwSignal<Focus>,
    /// Id of its turn.
    turn: u32,
    text: String,
    #[prop(into)] analysis: Signal<Option<Arc<Analysis>>>,
    /// Where the decoder looked for the reply word that is pointed at: one number for each source token.
    #[prop(into)]
    cross: Signal<Option<Vec<f32>>>,
) -> impl IntoView {
    let whole = text.clone();
    let shares = Memo::new(move |_| {
        let (Some(analysis), Some(weights)) = (analysis.get(), cross.get()) else { return Vec::new() };
        cross_shares(&columns(&analysis, HeadChoice::Mean, true), &weights)
    });
    let words = move || {
        let Some(analysis) = analysis.get() else { return text.clone().into_any() };
        let columns = columns(&analysis, HeadChoice::Mean, true);
        let parts: Vec<_> = text_parts(&text, &columns)
            .into_iter()
            .map(|(part, column)| {
                (part.to_string(), column.map(|column| (column, Span::of(Some(turn), &columns[column]), columns[column].attention)))
            })
            .collect();
        parts
            .into_iter()
            .map(|(part, word)| match word {
                Some((column, span, attention)) => view! { <Word focus part column span attention shares /> }.into_any(),
                None => part.into_any(),
            })
            .collect_view()
            .into_any()
    };
    view! {
        <p class="message" data-testid="message">
            <span class="sr">{move || i18n.text("turn.you")} " " <span lang="en">{whole}</span></span>
            <span aria-hidden="true" lang="en">{words}</span>
        </p>
    }
}

#[component]
fn Word(focus: RwSignal<Focus>, part: String, column: usize, span: Span, attention: [f32; 6], shares: Memo<Vec<f32>>) -> impl IntoView {
    let cross = move || shares.with(|shares| shares.get(column).copied());
    let class = move || match (cross(), focus.get().hormone) {
        (Some(_), _) => "word tint-cross".to_string(),
        (None, Some(hormone)) => format!("word tint-{}", Hormone::ALL[hormone].name()),
        (None, None) => "word".to_string(),
    };
    let share = move || cross().or(focus.get().hormone.map(|hormone| attention[hormone])).unwrap_or_default();
    let point = move |span| focus.update(|focus| focus.span = span);
    view! {
        <span
            class=class
            class:pointed=move || focus.get().is_at(span)
            style=move || format!("--share:{:.3}", share())
            on:pointerenter=move |_| point(Some(span))
            on:pointerleave=move |_| point(None)
        >
            {part}
        </span>
    }
}
