//! Recorded replies stay as they were recorded, whatever is set: said beside the controls, with the way to a reply of one's own.

use leptos::prelude::*;

use super::playground::Playground;

/// Nothing while the settings are those of the recording.
#[component]
pub(super) fn RecordedNote(
    play: Playground,
    /// The turn that the instruments show; `None` is the text in the composer.
    #[prop(into)]
    turn: Signal<Option<u32>>,
) -> impl IntoView {
    let Playground { session, controls, i18n, .. } = play;
    let differs = Memo::new(move |_| {
        let settings = controls.settings();
        session.with(|session| {
            let turn = turn.get().and_then(|id| session.turn(id));
            turn.is_some_and(|turn| turn.recorded && !turn.is_made_with(&settings))
        })
    });
    let has_model = Memo::new(move |_| session.with(|session| session.model().is_some()));
    let run = move |_| {
        let text = session.with_untracked(|session| turn.get_untracked().and_then(|id| session.turn(id)).map(|turn| turn.text.clone()));
        if let Some(text) = text {
            play.send_again(text);
        }
    };
    view! {
        <div role="status">
            {move || differs.get().then(|| view! {
                <p class="aside" data-testid="recorded-note">
                    {move || i18n.text("recorded.unchanged")}
                    " "
                    <button class="quiet" data-testid="run-recorded" disabled=move || !has_model.get() on:click=run>{move || i18n.text("recorded.run")}</button>
                </p>
            })}
        </div>
    }
}
