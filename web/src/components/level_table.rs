//! The bars' twin: the same numbers as a table, with the nearest training profile beside them.

use hormone_t5::analysis::{Hormone, HormoneLevels, Tone};
use leptos::prelude::*;

use crate::i18n::I18n;

/// A table that opens on demand.
#[component]
pub(super) fn LevelTable(
    i18n: I18n,
    #[prop(into)] levels: Signal<Option<HormoneLevels>>,
    #[prop(into)] pins: Signal<[Option<f32>; 6]>,
) -> impl IntoView {
    let number = move |level: Option<f32>| level.map_or("–".to_string(), |level| i18n.number(level, 2));
    view! {
        <details class="twin" data-testid="levels-table">
            <summary>{move || i18n.text("table.open")}</summary>
            <table>
                <caption class="sr">{move || i18n.text("hormones.title")}</caption>
                <thead><tr>
                    <th scope="col">{move || i18n.text("table.hormone")}</th>
                    <th scope="col">{move || i18n.text("table.predicted")}</th>
                    <th scope="col">{move || i18n.text("table.by_hand")}</th>
                    {move || levels.get().map(|levels| {
                        let tone = i18n.text(&format!("tone.{}", Tone::nearest(levels).name()));
                        view! { <th scope="col">{i18n.format("table.profile", &[("tone", &tone)])}</th> }
                    })}
                </tr></thead>
                <tbody>
                    {Hormone::ALL.map(|hormone| view! {
                        <tr>
                            <th scope="row">{move || i18n.text(&format!("hormone.{}", hormone.name()))}</th>
                            <td>{move || number(levels.get().map(|levels| levels.get(hormone)))}</td>
                            <td>{move || number(pins.get()[hormone.index()])}</td>
                            {move || levels.get().map(|levels| view! { <td>{number(Some(Tone::nearest(levels).levels().get(hormone)))}</td> })}
                        </tr>
                    })}
                </tbody>
            </table>
        </details>
    }
}
