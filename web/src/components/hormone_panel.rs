//! The six levels of the text at hand, before any reply.

use std::sync::Arc;

use hormone_t5::analysis::{Analysis, Hormone, Tone};
use leptos::prelude::*;

use super::hormone_bar::HormoneBar;
use super::page::Focus;
use crate::controls::Controls;
use crate::i18n::I18n;
use crate::reading::level_word;

/// Six bars, the tone they are nearest to, and a training profile to compare with.
#[component]
pub(super) fn HormonePanel(
    i18n: I18n,
    controls: Controls,
    focus: RwSignal<Focus>,
    /// The text at hand.
    #[prop(into)]
    reading: Signal<Option<Arc<Analysis>>>,
    /// Whether that text is still being written.
    #[prop(into)]
    typing: Signal<bool>,
) -> impl IntoView {
    let profile = RwSignal::new(None::<Tone>);
    let levels = Memo::new(move |_| reading.with(|reading| reading.as_ref().map(|analysis| analysis.levels)));
    let any_pin = move || controls.pins.with(|pins| pins.iter().any(Option::is_some));
    let title = move || match (levels.get(), typing.get()) {
        (None, _) => i18n.text("hormones.none"),
        (Some(_), true) => i18n.text("hormones.typing"),
        (Some(_), false) => i18n.text("hormones.sent"),
    };
    let summary = move || {
        let Some(levels) = levels.get() else { return String::new() };
        let each = Hormone::ALL.map(|hormone| {
            let level = levels.get(hormone);
            format!("{} {} ({})", i18n.text(&format!("hormone.{}", hormone.name())), i18n.number(level, 2), i18n.text(level_word(level)))
        });
        i18n.format(
            "hormones.summary",
            &[("tone", &i18n.text(&format!("tone.{}", Tone::nearest(levels).name()))), ("levels", &each.join(", "))],
        )
    };
    view! {
        <section class="panel hormones" aria-labelledby="hormones-title" data-testid="hormones">
            <header>
                <h2 id="hormones-title">{move || i18n.text("hormones.title")}</h2>
                <p class="aside">{title}</p>
                <button class="quiet" class:gone=move || !any_pin() data-testid="release-all" on:click=move |_| controls.pins.set([None; 6])>
                    {move || i18n.text("hormones.release_all")}
                </button>
            </header>
            <p class="sr" data-testid="hormones-summary">{summary}</p>
            <div class="bars">
                {Hormone::ALL.map(|hormone| view! {
                    <HormoneBar
                        i18n
                        hormone
                        focus
                        predicted=Signal::derive(move || levels.get().map(|levels| levels.get(hormone)))
                        pin=Signal::derive(move || controls.pins.with(|pins| pins[hormone.index()]))
                        profile=Signal::derive(move || profile.get().map(|tone| tone.levels().get(hormone)))
                        on_pin=Callback::new(move |level| controls.pin(hormone.index(), level))
                    />
                })}
            </div>
            <div class="profiles" role="group" aria-label=move || i18n.text("hormones.profiles")>
                <span>{move || i18n.text("hormones.profiles")}</span>
                {Tone::ALL.map(|tone| view! {
                    <button
                        data-testid=format!("profile-{}", tone.name())
                        aria-pressed=move || (profile.get() == Some(tone)).to_string()
                        class:nearest=move || levels.get().map(Tone::nearest) == Some(tone)
                        title=move || levels.get().map(|levels| i18n.format("hormones.distance", &[("distance", &i18n.number(tone.levels().distance(levels), 2))]))
                        on:click=move |_| profile.update(|shown| *shown = if *shown == Some(tone) { None } else { Some(tone) })
                    >
                        {move || i18n.text(&format!("tone.{}", tone.name()))}
                    </button>
                })}
            </div>
        </section>
    }
}
