//! Our figures beside the paper's, with what has to be known to compare them.

use hormone_t5::analysis::Hormone;
use leptos::prelude::*;

use super::record::Record;
use crate::i18n::I18n;
use crate::paper::{LevelFigures, level_figures, mean_figures};
use crate::protocol::LoadedModel;

/// The table of the six levels, and the figures of the manifest.
#[component]
pub(super) fn Results(i18n: I18n, #[prop(into)] model: Signal<Option<LoadedModel>>, record: RwSignal<Record>) -> impl IntoView {
    let ours = move |hormone: Hormone| record.with(|record| record.levels.map(|levels| levels[hormone.index()]));
    let our_mean = move || record.with(|record| record.levels.map(|levels| mean_figures(|hormone| levels[hormone.index()])));
    let figures = move || {
        model.with(|model| model.as_ref().and_then(|model| model.entry.as_ref()).map(|entry| entry.results.clone()).unwrap_or_default())
    };
    let last = move || {
        record.with(|record| {
            let training = record.training.as_ref()?;
            let (_, tone) = training.first_and_last("held_out_tone_accuracy")?;
            let (_, mse) = training.first_and_last("held_out_level_mse")?;
            let values = [("tone", i18n.now().number(tone * 100.0, 1)), ("mse", i18n.now().number(mse, 3))];
            Some(i18n.format("results.last_step", &values.each_ref().map(|(name, value)| (*name, value.as_str()))))
        })
    };
    view! {
        <h3>{move || i18n.text("results.title")}</h3>
        <div class="wide" tabindex="0" role="region" aria-label=move || i18n.text("results.title")>
            <table class="figures" data-testid="results-table">
                <thead><tr>
                    <td></td>
                    <th scope="col">{move || i18n.text("results.mse")}</th>
                    <th scope="col">{move || i18n.text("results.mae")}</th>
                    <th scope="col">{move || i18n.text("results.accuracy")}</th>
                    <th scope="col">{move || i18n.text("results.range")}</th>
                </tr></thead>
                <tbody>
                    {Hormone::ALL.map(|hormone| view! {
                        <tr>
                            <th scope="row">{move || i18n.text(&format!("hormone.{}", hormone.name()))}</th>
                            {move || cells(i18n, ours(hormone), level_figures(hormone))}
                        </tr>
                    })}
                    <tr class="sum">
                        <th scope="row">{move || i18n.text("results.mean")}</th>
                        {move || cells(i18n, our_mean(), mean_figures(level_figures))}
                    </tr>
                </tbody>
            </table>
        </div>
        <p class="aside" data-testid="results-note">
            {move || i18n.text("results.note")} " "
            {move || record.with(|record| record.levels.is_none().then(|| i18n.text(record.why_missing("results.unmeasured"))))}
        </p>
        <p class="aside">{last}</p>
        <dl>
            {move || figures().into_iter().map(|(name, value)| view! { <dt>{figure_name(i18n, &name)}</dt><dd>{i18n.now().number(value, 3)}</dd> }).collect_view()}
        </dl>
    }
}

/// What a figure of the manifest is called; one that the page does not know keeps its own name.
fn figure_name(i18n: I18n, name: &str) -> String {
    i18n.now().lookup(&format!("figure.{name}")).map_or_else(|| name.replace('_', " "), str::to_string)
}

/// One of the figures.
type Pick = fn(LevelFigures) -> f64;

/// All of them.
fn cells(i18n: I18n, ours: Option<LevelFigures>, paper: LevelFigures) -> impl IntoView {
    let picks: [(Pick, usize, &str); 4] = [
        (|figures| figures.mse, 3, ""),
        (|figures| figures.mae, 3, ""),
        (|figures| figures.accuracy * 100.0, 1, " %"),
        (|figures| figures.range, 2, ""),
    ];
    picks.map(|(pick, decimals, unit)| cell(i18n, ours.map(pick), pick(paper), decimals, unit)).collect_view()
}

/// Ours over the paper's.
pub(super) fn cell(i18n: I18n, ours: Option<f64>, paper: f64, decimals: usize, unit: &str) -> impl IntoView + use<> {
    let text = |figure: f64| format!("{}{unit}", i18n.now().number(figure, decimals));
    let ours = ours.map_or("–".to_string(), text);
    view! { <td><b>{ours}</b><span class="paper">{i18n.format("results.paper", &[("value", &text(paper))])}</span></td> }
}
