//! What each part of the block is worth: the paper's ablations, and ours where they were made.

use leptos::prelude::*;

use super::record::Record;
use super::results::cell;
use crate::i18n::I18n;
use crate::paper::ABLATIONS;

/// The table.
#[component]
pub(super) fn AblationTable(i18n: I18n, record: RwSignal<Record>) -> impl IntoView {
    let ours = move |name: &str| record.with(|record| record.ablations.iter().find(|ablation| ablation.name == name).cloned());
    view! {
        <h3>{move || i18n.text("ablations.title")}</h3>
        <div class="wide" tabindex="0" role="region" aria-label=move || i18n.text("ablations.title")>
            <table class="figures" data-testid="ablation-table">
                <thead><tr>
                    <td></td>
                    <th scope="col">{move || i18n.text("results.mse")}</th>
                    <th scope="col">{move || i18n.text("results.accuracy")}</th>
                    <th scope="col">{move || i18n.text("results.range")}</th>
                </tr></thead>
                <tbody>
                    {ABLATIONS.map(|paper| view! {
                        <tr>
                            <th scope="row">{move || i18n.text(&format!("ablation.{}", paper.name))}</th>
                            {move || {
                                let ours = ours(paper.name);
                                (
                                    cell(i18n, ours.as_ref().map(|own| own.mse), paper.mse, 3, ""),
                                    cell(i18n, ours.as_ref().map(|own| own.accuracy * 100.0), paper.accuracy * 100.0, 1, " %"),
                                    cell(i18n, ours.as_ref().map(|own| own.range), paper.range, 2, ""),
                                )
                            }}
                        </tr>
                    })}
                </tbody>
            </table>
        </div>
        <p class="aside">{move || record.with(|record| record.ablations.is_empty().then(|| i18n.text(record.why_missing("ablations.none"))))}</p>
    }
}
