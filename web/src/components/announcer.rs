//! Tells screen readers of replies once they are complete: token by token would drown everything else.

use leptos::prelude::*;

use crate::i18n::I18n;
use crate::protocol::Lane;
use crate::session::Session;

/// A polite live region.
#[component]
pub(super) fn Announcer(i18n: I18n, session: RwSignal<Session>) -> impl IntoView {
    let running = Memo::new(move |_| session.with(|session| session.turns.iter().find(|turn| turn.is_running()).map(|turn| turn.id)));
    // The turn whose replies were completed last.
    let completed = RwSignal::new(None::<u32>);
    Effect::new(move |before: Option<Option<u32>>| {
        let now = running.get();
        if let Some(turn) = before.flatten().filter(|before| now != Some(*before)) {
            completed.set(Some(turn));
        }
        now
    });
    let replies = Memo::new(move |_| {
        session.with(|session| {
            let turn = session.turn(completed.get()?).filter(|turn| !turn.is_running() && !turn.recorded)?;
            Some((turn.replies_are_equal(), turn.replies.iter().map(|reply| (reply.lane, reply.text.clone())).collect::<Vec<_>>()))
        })
    });
    let sentence = move |(lane, text): (Lane, String)| {
        view! { {i18n.text(&format!("lane.{}", lane.name()))} ": " <span lang="en">{text}</span> ". " }
    };
    view! {
        <div class="sr" role="status" aria-live="polite" data-testid="announcer">
            {move || replies.get().map(|(equal, replies)| {
                (replies.into_iter().map(sentence).collect_view(), equal.then(|| i18n.text("turn.equal")))
            })}
        </div>
    }
}
