//! What each part of the block is worth: the paper's ablations, and ours where they were made.

use leptos::prelude::*;

use super::record::Record;
use crate::i18n::I18n;
use crate::paper::ABLATIONS;

/// The table.
#[component]
pub(super) fn AblationTable(i18n: I18n, record: RwSignal<Record>) -> impl IntoView {
    let number = move |value: f64, decimals: usize| i18n.now().number(value, decimals);
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
                                let cell = |own: Option<f64>, theirs: f64, factor: f64, decimals: usize| {
                                    let unit = if factor > 1.0 { " %" } else { "" };
                                    let text = |value: f64| format!("{}{unit}", number(value * factor, decimals));
                                    let own = own.map_or("–".to_string(), text);
                                    let theirs = i18n.format("results.paper", &[("value", &text(theirs))]);
                                    view! { <td><b>{own}</b><span class="paper">{theirs}</span></td> }
                                };
                                (
                                    cell(ours.as_ref().map(|own| own.mse), paper.mse, 1.0, 3),
                                    cell(ours.as_ref().map(|own| own.accuracy), paper.accuracy, 100.0, 1),
                                    cell(ours.as_ref().map(|own| own.range), paper.range, 1.0, 2),
                                )
                            }}
                        </tr>
                    })}
                </tbody>
            </table>
        </div>
        <p class="aside">{move || record.with(|record| record.ablations.is_empty()).then(|| i18n.text("ablations.none"))}</p>
    }
}
