//! Replies that were not made with the settings at hand say so beside them, with the way to replies that are.

use leptos::prelude::*;

use super::playground::Playground;
use crate::session::{Action, Turn};

/// Why the replies shown are not those of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Differs {
    /// They were recorded, and stay as they are.
    Recorded,
    /// They were made before, while another message was shown.
    MadeBefore,
}

/// Nothing while the settings are those of the replies shown.
#[component]
pub(super) fn SettingsNote(
    play: Playground,
    /// The turn that the instruments show; `None` is the text in the composer.
    #[prop(into)]
    turn: Signal<Option<u32>>,
) -> impl IntoView {
    let Playground { session, controls, settled, i18n, .. } = play;
    let differs = Memo::new(move |_| {
        let (now, settled) = (controls.settings(), settled.get());
        let why = |turn: &Turn| match turn.recorded {
            true => (!turn.is_made_with(&now)).then_some(Differs::Recorded),
            // What a slider has just left is about to be made.
            false => (!turn.is_running() && !turn.is_made_with(&settled)).then_some(Differs::MadeBefore),
        };
        session.with(|session| turn.get().and_then(|id| session.turn(id)).and_then(why))
    });
    let has_model = Memo::new(move |_| session.with(|session| session.model().is_some()));
    let shown = move || session.with_untracked(|session| turn.get_untracked().and_then(|id| session.turn(id)).cloned());
    let make = move |_| match shown() {
        Some(turn) if turn.recorded => play.send_again(turn.text),
        Some(turn) => play.act(Action::Regenerate { turn: turn.id, settings: controls.settings_now() }),
        None => {}
    };
    let note = move |differs| {
        let (id, text, button_id, button) = match differs {
            Differs::Recorded => ("recorded-note", "recorded.unchanged", "run-recorded", "recorded.run"),
            Differs::MadeBefore => ("made-before-note", "made_before.other_settings", "make-anew", "made_before.renew"),
        };
        view! {
            <p class="aside" data-testid=id>
                {move || i18n.text(text)}
                " "
                <button class="quiet" data-testid=button_id disabled=move || !has_model.get() on:click=make>{move || i18n.text(button)}</button>
            </p>
        }
    };
    view! { <div role="status">{move || differs.get().map(note)}</div> }
}
