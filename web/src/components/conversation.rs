//! The turns, oldest first, kept at their end while they grow.

use leptos::html::Div;
use leptos::prelude::*;

use super::page::Focus;
use super::playground::Playground;
use super::session_file::SessionTools;
use super::turn::TurnView;
use super::welcome::Welcome;

/// Every turn, or the welcome before the first.
#[component]
pub(super) fn Conversation(play: Playground, focus: RwSignal<Focus>) -> impl IntoView {
    let Playground { session, i18n, .. } = play;
    let turns = Memo::new(move |_| session.with(|session| session.turns.iter().map(|turn| turn.id).collect::<Vec<_>>()));
    let recorded = Memo::new(move |_| session.with(|session| session.turns.iter().any(|turn| turn.recorded)));
    let list = NodeRef::<Div>::new();
    Effect::new(move |_| {
        turns.track();
        let Some(list) = list.get() else { return };
        // After the new turn is laid out.
        request_animation_frame(move || list.set_scroll_top(list.scroll_height()));
    });
    view! {
        <div class="conversation" node_ref=list tabindex="0" role="region" aria-label=move || i18n.text("talk.turns")>
            {move || turns.with(Vec::is_empty).then(|| view! { <Welcome i18n /> })}
            {move || recorded.get().then(|| view! { <p class="recorded" data-testid="recorded-mark">{move || i18n.text("talk.recorded")}</p> })}
            <For each=move || turns.get() key=|id| *id let(id)>
                <TurnView play focus id />
            </For>
            {move || (!turns.with(Vec::is_empty)).then(|| view! { <SessionTools play /> })}
        </div>
    }
}
