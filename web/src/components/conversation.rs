//! The turns, oldest first, kept at their end while they grow.

use leptos::html::Div;
use leptos::prelude::*;
use web_sys::HtmlDivElement;

use super::playground::Playground;
use super::session_file::SessionTools;
use super::turn::TurnView;
use super::welcome::{BriefWelcome, Welcome};
use crate::focus::{Focus, ReplyWord};

/// Nearer to the end than this, in pixels, the conversation follows its replies.
const NEAR_THE_END: i32 = 80;

/// Every turn, or the welcome before the first; a brief one over the examples.
#[component]
pub(super) fn Conversation(
    play: Playground,
    focus: RwSignal<Focus>,
    /// The reply word whose cross-attention is shown.
    chosen: RwSignal<Option<ReplyWord>>,
) -> impl IntoView {
    let Playground { session, i18n, .. } = play;
    let turns = Memo::new(move |_| session.with(|session| session.turns.iter().map(|turn| turn.id).collect::<Vec<_>>()));
    let examples = Memo::new(move |_| session.with(|session| session.shows_examples));
    let recorded_by = Memo::new(move |_| {
        session.with(|session| session.turns.iter().find(|turn| turn.recorded).map(|turn| turn.model.clone().unwrap_or_default()))
    });
    // How long the newest replies are, and whether more will come: a remark follows their end.
    let grown = Memo::new(move |_| {
        session.with(|session| {
            session.latest().map(|turn| (turn.is_running(), turn.replies.iter().map(|reply| reply.text.len()).sum::<usize>()))
        })
    });
    let is_first = move |id: u32| turns.with_untracked(|turns| turns.first() == Some(&id));
    let list = NodeRef::<Div>::new();
    let follows = StoredValue::new(true);
    // Asked for at each scroll and never while a reply grows: the answer costs a layout.
    let on_scroll = move |_| {
        if let Some(list) = list.get_untracked() {
            follows.set_value(list.scroll_height() - list.scroll_top() - list.client_height() < NEAR_THE_END);
        }
    };
    Effect::new(move |before: Option<Option<u32>>| {
        let newest = turns.with(|turns| turns.last().copied());
        grown.track();
        let is_new = before != Some(newest);
        if is_new {
            // Examples are read from their beginning.
            follows.set_value(!examples.get_untracked());
        }
        if let Some(list) = list.get().filter(|_| follows.get_value()) {
            // After what is new is laid out; the browser stops at the end.
            request_animation_frame(move || {
                list.set_scroll_top(i32::MAX);
                // On a phone the whole page scrolls, not the list: it goes to a new message, and its replies grow below.
                if is_new && list.scroll_top() == 0 {
                    show_newest(&list);
                }
            });
        }
        newest
    });
    view! {
        <SessionTools play />
        <div class="conversation" node_ref=list tabindex="0" role="region" aria-label=move || i18n.text("talk.turns") on:scroll=on_scroll>
            {move || turns.with(Vec::is_empty).then(|| view! { <Welcome i18n /> })}
            {move || examples.get().then(|| view! { <BriefWelcome i18n /> })}
            {move || recorded_by.get().map(|model| {
                let key = if examples.get() { "talk.recorded" } else { "talk.imported" };
                view! { <p class="recorded" data-testid="recorded-mark">{i18n.format(key, &[("model", &model)])}</p> }
            })}
            <For each=move || turns.get() key=|id| *id let(id)>
                <TurnView play focus chosen id />
                {is_first(id).then(|| view! { <p class="legend">{move || i18n.text("lane.legend")}</p> })}
            </For>
        </div>
    }
}

fn show_newest(list: &HtmlDivElement) {
    if let Some(turn) = list.query_selector("article:last-of-type").ok().flatten() {
        turn.scroll_into_view();
    }
}
