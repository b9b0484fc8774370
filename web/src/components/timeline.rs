//! The six levels message by message, and a mood memory that nobody trained: `h_t = lambda h_(t-1) + (1 - lambda) h^_t`.

use hormone_t5::analysis::{Hormone, HormoneLevels};
use leptos::prelude::*;

use super::download::PictureButtons;
use crate::controls::Controls;
use crate::i18n::I18n;
use crate::picture;
use crate::reading::remembered;
use crate::session::Session;

/// More messages than this are not shown: the bars would be too thin.
const MESSAGES: usize = 16;

/// Six small charts, from the second message on; the table under them says the same in numbers.
#[component]
pub(super) fn Timeline(i18n: I18n, controls: Controls, session: RwSignal<Session>) -> impl IntoView {
    let lambda = RwSignal::new(0.0_f32);
    let levels = Memo::new(move |_| {
        session.with(|session| {
            let levels: Vec<HormoneLevels> = session.turns.iter().filter_map(|turn| turn.levels()).collect();
            levels[levels.len().saturating_sub(MESSAGES)..].to_vec()
        })
    });
    let memory = Memo::new(move |_| if lambda.get() > 0.0 { remembered(levels.get(), lambda.get()) } else { Vec::new() });
    let lambda_text = move || if lambda.get() > 0.0 { i18n.number(lambda.get(), 2) } else { i18n.text("timeline.off") };
    let set = move |event| lambda.set(event_target_value(&event).parse().unwrap_or_default());
    let pin_memory = move |_| {
        if let Some(levels) = memory.with_untracked(|memory| memory.last().copied()) {
            controls.pins.set(levels.to_array().map(|level| Some((level * 100.0).round() / 100.0)));
        }
    };
    let draw = Callback::new(move |palette: picture::Palette| {
        levels.with_untracked(|levels| {
            memory.with_untracked(|memory| picture::timeline(&palette, i18n.locale.get_untracked(), levels, memory))
        })
    });
    view! {
        <section class="panel timeline" aria-labelledby="timeline-title" data-testid="timeline" hidden=move || levels.with(|levels| levels.len() < 2)>
            <header>
                <h2 id="timeline-title">{move || i18n.text("timeline.title")}</h2>
                <p class="aside">{move || i18n.text("timeline.caveat")}</p>
                <PictureButtons i18n name="timeline" draw />
            </header>
            <p class="sr" data-testid="timeline-summary">{move || summary(i18n, &levels.get())}</p>
            <div class="charts" aria-hidden="true">
                {Hormone::ALL.map(|hormone| view! {
                    <div class=format!("chart tint-{}", hormone.name())>
                        <span class="letter">{hormone.name().chars().next().map(|letter| letter.to_ascii_uppercase())}</span>
                        {move || levels.get().into_iter().enumerate().map(|(index, levels)| {
                            let height = format!("{:.1}%", levels.get(hormone) * 100.0);
                            let lagging = memory.with(|memory| memory.get(index).map(|memory| format!("{:.1}%", memory.get(hormone) * 100.0)));
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
                <Numbers i18n levels />
            </details>
            <label class="slide">
                <span>{move || i18n.format("timeline.memory", &[("lambda", &lambda_text())])}</span>
                <input type="range" min="0" max="0.95" step="0.05" data-testid="memory-slider" prop:value=move || lambda.get().to_string() on:input=set />
            </label>
            <div class="memory-note" hidden=move || memory.with(Vec::is_empty)>
                <p class="aside" data-testid="memory-note">{move || i18n.text("timeline.memory_mark")}</p>
                <button class="quiet" data-testid="pin-memory" on:click=pin_memory>{move || i18n.text("timeline.pin_memory")}</button>
            </div>
        </section>
    }
}

#[component]
fn Numbers(i18n: I18n, #[prop(into)] levels: Signal<Vec<HormoneLevels>>) -> impl IntoView {
    view! {
        <table>
            <thead><tr>
                <th scope="col">{move || i18n.text("timeline.turn")}</th>
                {Hormone::ALL.map(|hormone| view! { <th scope="col"><abbr title=move || i18n.text(&format!("hormone.{}", hormone.name()))>{hormone.name().chars().next().map(|letter| letter.to_ascii_uppercase())}</abbr></th> })}
            </tr></thead>
            <tbody>
                {move || levels.get().into_iter().enumerate().map(|(index, levels)| view! {
                    <tr>
                        <th scope="row">{index + 1}</th>
                        {levels.to_array().map(|level| view! { <td>{i18n.number(level, 2)}</td> })}
                    </tr>
                }).collect_view()}
            </tbody>
        </table>
    }
}

/// What rose and fell most from the last message but one to the last.
fn summary(i18n: I18n, levels: &[HormoneLevels]) -> String {
    let [.., before, last] = levels else { return String::new() };
    let change = |hormone: &Hormone| last.get(*hormone) - before.get(*hormone);
    let most = Hormone::ALL.into_iter().max_by(|a, b| change(a).abs().total_cmp(&change(b).abs())).unwrap_or(Hormone::Dopamine);
    let values = [
        ("count", levels.len().to_string()),
        ("hormone", i18n.text(&format!("hormone.{}", most.name()))),
        ("before", i18n.number(before.get(most), 2)),
        ("after", i18n.number(last.get(most), 2)),
    ];
    i18n.format("timeline.summary", &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}
