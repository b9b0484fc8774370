//! Hormones by words, as a table: what eyes see as colour, screen readers hear as numbers. Arrow keys and pointer light up word, cell and bar alike.

use hormone_t5::analysis::Hormone;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::focus::{Focus, Span};
use crate::i18n::I18n;
use crate::reading::{Column, ColumnKind, strongest_word};

/// So many characters fit above the columns side by side, two counted for each gap; beyond that the words stand upright.
const LYING_CHARACTERS: usize = 66;

/// The table. Pointing at a cell points at its word in the message and at its hormone's bar.
#[component]
pub(super) fn Heatmap(
    i18n: I18n,
    focus: RwSignal<Focus>,
    /// Whose words these are; `None` is the text in the composer.
    #[prop(into)]
    turn: Signal<Option<u32>>,
    #[prop(into)] columns: Signal<Vec<Column>>,
) -> impl IntoView {
    let on_key = move |event: KeyboardEvent| {
        let next = columns.with_untracked(|columns| focus.get_untracked().step(&event.key(), turn.get_untracked(), columns));
        if let Some(next) = next {
            event.prevent_default();
            focus.set(next);
        }
    };
    let upright =
        move || columns.with(|columns| columns.iter().map(|column| column.label.chars().count() + 2).sum::<usize>() > LYING_CHARACTERS);
    let pointed = Memo::new(move |_| pointed_at(i18n, focus.get(), turn.get(), columns));
    let strongest = move || {
        columns
            .with(|columns| !columns.is_empty())
            .then(|| i18n.format("attention.strongest", &[("words", &strongest_words(i18n, columns))]))
    };
    view! {
        <div
            class="heatmap"
            data-testid="heatmap"
            data-columns=move || columns.with(Vec::len).to_string()
            tabindex="0"
            role="region"
            aria-labelledby="attention-title"
            aria-describedby="attention-keys"
            on:keydown=on_key
            on:blur=move |_| focus.set(Focus::default())
        >
            <table class:upright=upright>
                <caption class="sr">{move || i18n.format("attention.summary", &[("words", &strongest_words(i18n, columns))])}</caption>
                <thead>
                    <tr>
                        <td></td>
                        {move || columns.with(|columns| columns.iter().map(|column| head(i18n, focus, turn.get(), column)).collect_view())}
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
                                columns.iter().map(|column| cell(i18n, focus, turn.get(), hormone, column, strongest)).collect_view()
                            })}
                        </tr>
                    })}
                </tbody>
            </table>
            <p class="empty" hidden=move || columns.with(|columns| !columns.is_empty())>{move || i18n.text("attention.none")}</p>
        </div>
        <div class="readout">
            <p role="status" data-testid="attention-readout">{move || pointed.get()}</p>
            <p hidden=move || pointed.with(Option::is_some) data-testid="attention-strongest">{strongest}</p>
        </div>
        <p class="sr" id="attention-keys">{move || i18n.text("attention.keys")}</p>
    }
}

/// Each hormone's strongest word, in one line.
fn strongest_words(i18n: I18n, columns: Signal<Vec<Column>>) -> String {
    columns.with(|columns| {
        let each = Hormone::ALL.map(|hormone| {
            let name = i18n.text(&format!("hormone.{}", hormone.name()));
            strongest_word(columns, hormone).map(|(word, share)| format!("{name}: {word} ({} %)", i18n.number(share * 100.0, 0)))
        });
        each.into_iter().flatten().collect::<Vec<_>>().join(", ")
    })
}

/// What is pointed at, in a sentence.
fn pointed_at(i18n: I18n, focus: Focus, turn: Option<u32>, columns: Signal<Vec<Column>>) -> Option<String> {
    let hormone = focus.hormone?;
    let column = columns.with(|columns| columns.iter().find(|column| focus.is_at(Span::of(turn, column))).cloned())?;
    let name = i18n.text(&format!("hormone.{}", Hormone::ALL[hormone].name()));
    let share = i18n.number(column.attention[hormone] * 100.0, 1);
    Some(i18n.format("attention.readout", &[("hormone", &name), ("share", &share), ("word", &i18n.now().column_head(&column))]))
}

fn head(i18n: I18n, focus: RwSignal<Focus>, turn: Option<u32>, column: &Column) -> impl IntoView + use<> {
    let span = Span::of(turn, column);
    let lang = (column.kind == ColumnKind::Word).then_some("en");
    view! {
        <th scope="col" class:special=column.kind != ColumnKind::Word class:pointed=move || focus.get().is_at(span)>
            <span lang=lang>{i18n.now().column_head(column)}</span>
        </th>
    }
}

fn cell(i18n: I18n, focus: RwSignal<Focus>, turn: Option<u32>, hormone: Hormone, column: &Column, strongest: f32) -> impl IntoView + use<> {
    let share = column.attention[hormone.index()];
    let span = Span::of(turn, column);
    let chosen = move || focus.get().is_at(span) && focus.get().hormone == Some(hormone.index());
    view! {
        <td
            style=format!("--share:{:.3}", share / strongest)
            class:pointed=move || focus.get().is_at(span)
            class:chosen=chosen
            on:pointerenter=move |_| focus.set(Focus { hormone: Some(hormone.index()), span: Some(span), reply: None })
            on:pointerleave=move |_| focus.set(Focus::default())
        >
            {i18n.number(share * 100.0, 0)}
        </td>
    }
}
