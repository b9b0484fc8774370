//! The six levels message by message, and a mood memory that nobody trained: `h_t = lambda h_(t-1) + (1 - lambda) h^_t`.

use hormone_t5::analysis::{Hormone, HormoneLevels};
use leptos::prelude::*;

use crate::i18n::I18n;
use crate::reading::remembered;
use crate::session::Session;

/// More messages than this are not shown: the bars would be too thin.
const MESSAGES: usize = 16;

/// Six small charts, from the second message on; the table under them says the same in numbers.
#[component]
pub(super) fn Timeline(i18n: I18n, session: RwSignal<Session>) -> impl IntoView {
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
    view! {
        <section class="panel timeline" aria-labelledby="timeline-title" data-testid="timeline" hidden=move || levels.with(|levels| levels.len() < 2)>
            <header>
                <h2 id="timeline-title">{move || i18n.text("timeline.title")}</h2>
                <p class="aside">{move || i18n.text("timeline.caveat")}</p>
            </header>
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
            <table class="sr">
                <thead><tr>
                    <th scope="col">{move || i18n.text("timeline.turn")}</th>
                    {Hormone::ALL.map(|hormone| view! { <th scope="col">{move || i18n.text(&format!("hormone.{}", hormone.name()))}</th> })}
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
            <label class="slide">
                <span>{move || i18n.format("timeline.memory", &[("lambda", &lambda_text())])}</span>
                <input type="range" min="0" max="0.95" step="0.05" data-testid="memory-slider" prop:value=move || lambda.get().to_string() on:input=set />
            </label>
        </section>
    }
}
