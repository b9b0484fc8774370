//! Hormones by words, as a table: what eyes see as colour, screen readers hear as numbers.

use hormone_t5::analysis::Hormone;
use leptos::prelude::*;

use super::page::Focus;
use crate::i18n::I18n;
use crate::reading::{Column, ColumnKind, strongest_word};

/// So many characters fit above the columns side by side, two counted for each gap; beyond that the words stand upright.
const LYING_CHARACTERS: usize = 66;

/// The table. Pointing at a cell points at its word in the message and at its hormone's bar.
#[component]
pub(super) fn Heatmap(i18n: I18n, focus: RwSignal<Focus>, #[prop(into)] columns: Signal<Vec<Column>>) -> impl IntoView {
    let summary = move || {
        columns.with(|columns| {
            let each = Hormone::ALL.map(|hormone| {
                let name = i18n.text(&format!("hormone.{}", hormone.name()));
                strongest_word(columns, hormone).map(|(word, share)| format!("{name}: {word} ({}%)", i18n.number(share * 100.0, 0)))
            });
            each.into_iter().flatten().collect::<Vec<_>>().join(", ")
        })
    };
    view! {
        <div class="heatmap" data-testid="heatmap" data-columns=move || columns.with(Vec::len).to_string() tabindex="0" role="region" aria-labelledby="attention-title">
            <table class:upright=move || columns.with(|columns| columns.iter().map(|column| column.label.chars().count() + 2).sum::<usize>() > LYING_CHARACTERS)>
                <caption class="sr">{move || i18n.format("attention.summary", &[("words", &summary())])}</caption>
                <thead>
                    <tr>
                        <td></td>
                        {move || columns.with(|columns| columns.iter().enumerate().map(|(index, column)| head(i18n, focus, index, column)).collect_view())}
                    </tr>
                </thead>
                <tbody>
                    {Hormone::ALL.map(|hormone| view! {
                        <tr class=format!("tint-{}", hormone.name()) class:pointed=move || focus.get().hormone == Some(hormone.index())>
                            <th scope="row" title=move || i18n.text(&format!("hormone.{}", hormone.name()))>
                                <span class="letter" aria-hidden="true">{hormone.name().chars().next().map(|letter| letter.to_ascii_uppercase())}</span>
                                <span class="sr">{move || i18n.text(&format!("hormone.{}", hormone.name()))}</span>
                            </th>
                            {move || columns.with(|columns| {
                                let strongest = columns.iter().flat_map(|column| column.attention).fold(f32::EPSILON, f32::max);
                                columns.iter().enumerate().map(|(index, column)| cell(i18n, focus, hormone, index, column, strongest)).collect_view()
                            })}
                        </tr>
                    })}
                </tbody>
            </table>
            <p class="empty" hidden=move || columns.with(|columns| !columns.is_empty())>{move || i18n.text("attention.none")}</p>
        </div>
    }
}

fn head(i18n: I18n, focus: RwSignal<Focus>, index: usize, column: &Column) -> impl IntoView + use<> {
    let label = match column.kind {
        ColumnKind::Word => column.label.clone(),
        ColumnKind::Prompt => i18n.text("attention.prompt"),
        ColumnKind::End => i18n.text("attention.end_mark"),
    };
    view! {
        <th scope="col" class:special=column.kind != ColumnKind::Word class:pointed=move || focus.get().column == Some(index)>
            <span>{label}</span>
        </th>
    }
}

fn cell(i18n: I18n, focus: RwSignal<Focus>, hormone: Hormone, index: usize, column: &Column, strongest: f32) -> impl IntoView + use<> {
    let share = column.attention[hormone.index()];
    view! {
        <td
            style=format!("--share:{:.3}", share / strongest)
            class:pointed=move || focus.get().column == Some(index)
            on:pointerenter=move |_| focus.set(Focus { hormone: Some(hormone.index()), column: Some(index), reply: None })
            on:pointerleave=move |_| focus.set(Focus::default())
        >
            {i18n.number(share * 100.0, 0)}
        </td>
    }
}
