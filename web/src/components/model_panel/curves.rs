//! How the model learned: loss on training and held-out text, and the tones it gets right, over the steps.

use leptos::prelude::*;

use super::record::Record;
use crate::components::download::PictureButtons;
use crate::i18n::{I18n, Locale};
use crate::picture::{LineChart, Palette, Series, line_chart};
use crate::runs::TrainingRun;

/// Two curves where there is a run; else a sentence.
#[component]
pub(super) fn Curves(i18n: I18n, record: RwSignal<Record>) -> impl IntoView {
    let training = Memo::new(move |_| record.with(|record| record.training.clone()));
    let draw = Callback::new(move |palette: Palette| {
        let locale = i18n.locale.get_untracked();
        training.with_untracked(|run| run.as_ref().map(|run| line_chart(&palette, locale, &losses(locale, run)))).unwrap_or_default()
    });
    let chart = move |chart: fn(Locale, &TrainingRun) -> LineChart| {
        training
            .with(|run| run.as_ref().map(|run| line_chart(&Palette::of_the_page(), i18n.now(), &chart(i18n.now(), run))))
            .unwrap_or_default()
    };
    let summary = move || {
        training.with(|run| {
            let (first, last) = run.as_ref()?.first_and_last("held_out_sequence")?;
            let values = [("first", i18n.now().number(first, 2)), ("last", i18n.now().number(last, 2))];
            Some(i18n.format("curves.summary", &values.each_ref().map(|(name, value)| (*name, value.as_str()))))
        })
    };
    view! {
        <div class="subhead"><h3>{move || i18n.text("curves.title")}</h3>{move || training.with(Option::is_some).then(|| view! { <PictureButtons i18n name="curve" draw /> })}</div>
        {move || match training.with(Option::is_some) {
            true => view! {
                <p class="aside" data-testid="curves-summary">{summary}</p>
                <div class="curve" data-testid="loss-curve" inner_html=move || chart(losses)></div>
                <div class="curve" inner_html=move || chart(tones)></div>
                {move || training.with(|run| run.as_ref().map(|run| numbers(i18n, run)))}
            }.into_any(),
            false => view! { <p class="aside">{move || i18n.text(record.with(|record| record.why_missing("curves.none")))}</p> }.into_any(),
        }}
    }
}

fn losses(locale: Locale, run: &TrainingRun) -> LineChart {
    let series = |key: &str, colour, dashed, column: &str| Series { name: locale.text(key), colour, dashed, points: run.points(column) };
    LineChart {
        title: locale.text("curves.losses"),
        x_label: locale.text("curves.steps"),
        series: vec![series("curves.training", 4, false, "sequence"), series("curves.held_out", 2, true, "held_out_sequence")],
        decimals: 1,
    }
}

fn tones(locale: Locale, run: &TrainingRun) -> LineChart {
    let percent = |column: &str| run.points(column).into_iter().map(|(step, share)| (step, share * 100.0)).collect();
    LineChart {
        title: locale.text("curves.tones"),
        x_label: locale.text("curves.steps"),
        series: vec![Series {
            name: locale.text("curves.tone_accuracy"),
            colour: 1,
            dashed: false,
            points: percent("held_out_tone_accuracy"),
        }],
        decimals: 0,
    }
}

/// The curves' twin: at most a dozen rows.
fn numbers(i18n: I18n, run: &TrainingRun) -> impl IntoView + use<> {
    let columns = ["sequence", "held_out_sequence", "held_out_tone_accuracy"].map(|name| run.points(name));
    let steps = columns[1].len();
    let shown = (0..steps).step_by(steps.div_ceil(12).max(1));
    let rows = shown.map(|row| {
        let cells = columns.iter().map(|points| points.get(row).map_or("–".to_string(), |point| i18n.now().number(point.1, 3)));
        view! { <tr><th scope="row">{i18n.now().number(columns[1][row].0, 0)}</th>{cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}</tr> }
    });
    let rows = rows.collect_view();
    view! {
        <details class="twin">
            <summary>{i18n.text("table.open")}</summary>
            <table>
                <thead><tr>
                    <th scope="col">{i18n.text("curves.steps")}</th>
                    <th scope="col">{i18n.text("curves.training")}</th>
                    <th scope="col">{i18n.text("curves.held_out")}</th>
                    <th scope="col">{i18n.text("curves.tone_accuracy")}</th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </details>
    }
}
