//! The six levels of the text at hand, before any reply.

use std::sync::Arc;

use hormone_t5::analysis::{Analysis, Hormone, HormoneLevels, Tone};
use leptos::prelude::*;

use super::download::PictureButtons;
use super::hormone_bar::HormoneBar;
use super::level_table::LevelTable;
use super::profiles::Profiles;
use super::state_line::StateLine;
use crate::controls::Controls;
use crate::focus::Focus;
use crate::i18n::I18n;
use crate::picture;
use crate::reading::{level_word, profile_marks};

/// Whose levels the bars show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The text in the composer.
    Draft,
    /// The newest message.
    Latest,
    /// An older message that was chosen.
    Chosen,
}

/// Six bars, the label of their pattern, the nearest tone, and training profiles to compare with.
#[component]
pub(super) fn HormonePanel(
    i18n: I18n,
    controls: Controls,
    focus: RwSignal<Focus>,
    /// The text at hand.
    #[prop(into)]
    reading: Signal<Option<Arc<Analysis>>>,
    #[prop(into)] shown: Signal<Shown>,
) -> impl IntoView {
    let profiles = RwSignal::new(Vec::<Tone>::new());
    let levels = Memo::new(move |_| reading.with(|reading| reading.as_ref().map(|analysis| analysis.levels)));
    let any_pin = move || controls.pins.with(|pins| pins.iter().any(Option::is_some));
    let title = move || match (levels.get(), shown.get()) {
        (None, _) => i18n.text("hormones.none"),
        (Some(_), Shown::Draft) => i18n.text("hormones.typing"),
        (Some(_), Shown::Latest) => i18n.text("hormones.sent"),
        (Some(_), Shown::Chosen) => i18n.text("hormones.chosen"),
    };
    let draw = Callback::new(move |palette: picture::Palette| {
        let text = reading.with_untracked(|reading| reading.as_ref().map(|analysis| analysis.text.clone())).unwrap_or_default();
        let (predicted, pins) = (levels.get_untracked(), controls.pins.get_untracked());
        let data = picture::Bars { text, predicted, pins, profiles: profiles.get_untracked() };
        picture::bars(&palette, i18n.locale.get_untracked(), &data)
    });
    view! {
        <section class="panel hormones" aria-labelledby="hormones-title" data-testid="hormones">
            <header>
                <h2 id="hormones-title">{move || i18n.text("hormones.title")}</h2>
                <p class="aside">{title}</p>
                <button class="quiet" class:gone=move || !any_pin() data-testid="release-all" on:click=move |_| controls.pins.set([None; 6])>
                    {move || i18n.text("hormones.release_all")}
                </button>
                <PictureButtons i18n name="levels" draw />
            </header>
            <p class="sr" data-testid="hormones-summary">{move || levels.get().map(|levels| summary(i18n, levels))}</p>
            <StateLine i18n levels />
            <div class="bars">
                {Hormone::ALL.map(|hormone| view! {
                    <HormoneBar
                        i18n
                        hormone
                        focus
                        predicted=Signal::derive(move || levels.get().map(|levels| levels.get(hormone)))
                        pin=Signal::derive(move || controls.pins.with(|pins| pins[hormone.index()]))
                        profiles=Signal::derive(move || profiles.with(|profiles| profile_marks(profiles, hormone)))
                        on_pin=Callback::new(move |level| controls.pin(hormone.index(), level))
                    />
                })}
            </div>
            <Profiles i18n levels shown=profiles />
            <div class="twins">
                <LevelTable i18n levels pins=controls.pins />
                <Meanings i18n />
            </div>
        </section>
    }
}

/// What the hormones stand for, where the bars have no room for it.
#[component]
fn Meanings(i18n: I18n) -> impl IntoView {
    view! {
        <details class="twin meanings" data-testid="meanings">
            <summary>{move || i18n.text("hormones.meanings")}</summary>
            <table>
                <tbody>
                    {Hormone::ALL.map(|hormone| view! {
                        <tr>
                            <th scope="row">{move || i18n.text(&format!("hormone.{}", hormone.name()))}</th>
                            <td>{move || i18n.text(&format!("meaning.{}", hormone.name()))}</td>
                        </tr>
                    })}
                </tbody>
            </table>
        </details>
    }
}

fn summary(i18n: I18n, levels: HormoneLevels) -> String {
    let each = Hormone::ALL.map(|hormone| {
        let level = levels.get(hormone);
        format!("{} {} ({})", i18n.text(&format!("hormone.{}", hormone.name())), i18n.number(level, 2), i18n.text(level_word(level)))
    });
    let tone = i18n.text(&format!("tone.{}", Tone::nearest(levels).name()));
    i18n.format("hormones.summary", &[("tone", &tone), ("levels", &each.join(", "))])
}
