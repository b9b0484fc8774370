//! The six levels message by message, and a mood memory that nobody trained: `h_t = lambda h_(t-1) + (1 - lambda) h^_t`.

use hormone_t5::analysis::Hormone;
use leptos::prelude::*;

use super::download::PictureButtons;
use crate::controls::Controls;
use crate::i18n::I18n;
use crate::picture;
use crate::reading::{Beat, beats};
use crate::session::{Session, Turn};

/// More messages than this are not shown: the bars would be too thin.
const MESSAGES: usize = 16;

/// Six small charts, from the second message on; the table under them says the same in numbers.
#[component]
pub(super) fn Timeline(i18n: I18n, controls: Controls, session: RwSignal<Session>) -> impl IntoView {
    let lambda = RwSignal::new(0.0_f32);
    let beats = Memo::new(move |_| session.with(|session| beats(session.turns.iter().map(Turn::levels), lambda.get(), MESSAGES)));
    let lambda_text = move || if lambda.get() > 0.0 { i18n.number(lambda.get(), 2) } else { i18n.text("timeline.off") };
    let set = move |event| lambda.set(event_target_value(&event).parse().unwrap_or_default());
    let pin_memory = move |_| {
        if let Some(levels) = beats.with_untracked(|beats| beats.last().and_then(|beat| beat.memory)) {
            controls.pins.set(levels.to_array().map(|level| Some((level * 100.0).round() / 100.0)));
        }
    };
    let draw = Callback::new(move |palette: picture::Palette| {
        beats.with_untracked(|beats| picture::timeline(&palette, i18n.locale.get_untracked(), beats))
    });
    view! {
        <section class="panel timeline" aria-labelledby="timeline-title" data-testid="timeline" hidden=move || beats.with(|beats| beats.len() < 2)>
            <header>
                <h2 id="timeline-title">{move || i18n.text("timeline.title")}</h2>
                <p class="aside">{move || i18n.text("timeline.caveat")}</p>
                <PictureButtons i18n name="timeline" draw />
            </header>
            <p class="sr" data-testid="timeline-summary">{move || beats.with(|beats| summary(i18n, beats))}</p>
            <div class="charts" aria-hidden="true">
                {Hormone::ALL.map(|hormone| view! {
                    <div class=format!("chart tint-{}", hormone.name())>
                        <span class="letter">{hormone.name().chars().next().map(|letter| letter.to_ascii_uppercase())}</span>
                        {move || beats.get().into_iter().map(|Beat { levels, memory, .. }| {
                            let height = format!("{:.1}%", levels.get(hormone) * 100.0);
                            let lagging = memory.map(|memory| format!("{:.1}%", memory.get(hormone) * 100.0));
                            view! {
                                <span class="beat">
                                    <span class="bar" style:height=height></span>
                                    {lagging.map(|bottom| view! { <span class="memory" style:bottom=bottom></span> })}
                                </span>
                            }
                        }).collect_view()}
                    </div>
                })}
            </div>
            <details class="twin" data-testid="timeline-table">
                <summary>{move || i18n.text("table.open")}</summary>
                <Numbers i18n beats />
            </details>
            <label class="slide">
                <span>{move || i18n.format("timeline.memory", &[("lambda", &lambda_text())])}</span>
                <input type="range" min="0" max="0.95" step="0.05" data-testid="memory-slider" prop:value=move || lambda.get().to_string() on:input=set />
            </label>
            <div class="memory-note" hidden=move || beats.with(|beats| beats.iter().all(|beat| beat.memory.is_none()))>
                <p class="aside" data-testid="memory-note">{move || i18n.text("timeline.memory_mark")}</p>
                <button class="quiet" data-testid="pin-memory" on:click=pin_memory>{move || i18n.text("timeline.pin_memory")}</button>
            </div>
        </section>
    }
}

#[component]
fn Numbers(i18n: I18n, #[prop(into)] beats: Signal<Vec<Beat>>) -> impl IntoView {
    view! {
        <table>
            <thead><tr>
                <th scope="col">{move || i18n.text("timeline.turn")}</th>
                {Hormone::ALL.map(|hormone| view! { <th scope="col"><abbr title=move || i18n.text(&format!("hormone.{}", hormone.name()))>{hormone.name().chars().next().map(|letter| letter.to_ascii_uppercase())}</abbr></th> })}
            </tr></thead>
            <tbody>
                {move || beats.get().into_iter().map(|Beat { number, levels, .. }| view! {
                    <tr>
                        <th scope="row">{number}</th>
                        {levels.to_array().map(|level| view! { <td>{i18n.number(level, 2)}</td> })}
                    </tr>
                }).collect_view()}
            </tbody>
        </table>
    }
}

/// What rose and fell most from the last message but one to the last.
fn summary(i18n: I18n, beats: &[Beat]) -> String {
    let [.., Beat { levels: before, .. }, Beat { number, levels: last, .. }] = beats else { return String::new() };
    let change = |hormone: &Hormone| last.get(*hormone) - before.get(*hormone);
    let most = Hormone::ALL.into_iter().max_by(|a, b| change(a).abs().total_cmp(&change(b).abs())).unwrap_or(Hormone::Dopamine);
    let values = [
        ("count", number.to_string()),
        ("hormone", i18n.text(&format!("hormone.{}", most.name()))),
        ("before", i18n.number(before.get(most), 2)),
        ("after", i18n.number(last.get(most), 2)),
    ];
    i18n.format("timeline.summary", &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}
