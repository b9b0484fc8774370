//! One turn: the message with its words tinted, and its replies side by side.

use leptos::prelude::*;

use super::lane::LaneView;
use super::message::Message;
use super::mood_stripe::MoodStripe;
use super::playground::Playground;
use super::state_line::nearest_tone;
use crate::focus::{Focus, ReplyWord};
use crate::protocol::Lane;
use crate::reading::word_cross_attention;
use crate::session::{Action, ReplyState, Turn};

/// A turn by its id.
#[component]
pub(super) fn TurnView(
    play: Playground,
    focus: RwSignal<Focus>,
    /// The reply word whose cross-attention is shown.
    chosen: RwSignal<Option<ReplyWord>>,
    id: u32,
) -> impl IntoView {
    let Playground { session, inspected, i18n, .. } = play;
    let of_turn = move |pick: fn(&Turn) -> bool| Memo::new(move |_| session.with(|session| session.turn(id).is_some_and(pick)));
    let analysis = Memo::new(move |_| session.with(|session| session.turn(id).and_then(|turn| turn.analysis.clone())));
    let text = session.with_untracked(|session| session.turn(id).map(|turn| turn.text.clone())).unwrap_or_default();
    let lanes = Memo::new(move |_| {
        session.with(|session| {
            session.turn(id).map(|turn| turn.replies.iter().map(|reply| reply.lane).collect::<Vec<_>>()).unwrap_or_default()
        })
    });
    let equal = of_turn(Turn::replies_are_equal);
    let broken =
        of_turn(|turn| !turn.recorded && turn.replies.iter().any(|reply| matches!(reply.state, ReplyState::Stopped | ReplyState::Failed)));
    let can_retry = Memo::new(move |_| broken.get() && session.with(|session| session.model().is_some()));
    let levels = Memo::new(move |_| analysis.with(|analysis| analysis.as_ref().map(|analysis| analysis.levels)));
    let cross = Memo::new(move |_| {
        let ReplyWord { lane, word, .. } = focus.get().reply.or(chosen.get()).filter(|reply| reply.turn == id)?;
        session.with(|session| word_cross_attention(&session.turn(id)?.reply(lane)?.tokens, word))
    });
    let edited = text.clone();
    let retry = move |_| play.act(Action::Regenerate { turn: id, settings: play.controls.settings_now() });
    let test_id = if session.with_untracked(|session| session.shows_examples) { "example-turn" } else { "turn" };
    let is_shown = move || inspected.get() == Some(id);
    view! {
        <article class="turn" class:inspected=is_shown data-testid=test_id>
            <header>
                <Message i18n focus turn=id text=text analysis cross />
                <div class="turn-line">
                    <MoodStripe levels />
                    <p class="tone" data-testid="turn-tone">{move || levels.get().map(|levels| nearest_tone(i18n, levels))}</p>
                    <button
                        class="quiet"
                        data-testid="inspect"
                        aria-pressed=move || is_shown().to_string()
                        disabled=move || analysis.with(Option::is_none)
                        on:click=move |_| inspected.set(if is_shown() { None } else { Some(id) })
                    >
                        {move || i18n.text("turn.inspect")}
                    </button>
                    <button class="quiet" data-testid="edit" on:click=move |_| play.write_draft(&edited)>
                        {move || i18n.text("turn.edit")}
                    </button>
                    {move || can_retry.get().then(|| view! {
                        <button class="quiet" data-testid="retry" on:click=retry>{move || i18n.text("turn.retry")}</button>
                    })}
                </div>
                {move || analysis.with(|analysis| analysis.as_ref().filter(|analysis| analysis.truncated || !analysis.unknown.is_empty()).map(|analysis| {
                    let unknown: Vec<String> = analysis.unknown.iter().map(|mark| mark.text.clone()).collect();
                    let truncated = analysis.truncated;
                    view! {
                        <p class="remark" data-testid="reading-remark">
                            {move || truncated.then(|| i18n.text("turn.truncated"))}
                            " "
                            {(!unknown.is_empty()).then(|| i18n.format("turn.unknown", &[("marks", &unknown.join(" "))]))}
                        </p>
                    }
                }))}
            </header>
            <div class="lanes" data-count=move || lanes.with(Vec::len).to_string()>
                <For each=move || lanes.get() key=|lane| *lane let(lane)>
                    <LaneView i18n session focus chosen turn=id lane />
                </For>
            </div>
            <p class="equal" data-testid="equal-note" hidden=move || !equal.get()>{move || i18n.text("turn.equal")}</p>
        </article>
    }
}

/// The lane a lane is compared with.
pub(super) fn compared_with(lane: Lane) -> Option<Lane> {
    match lane {
        Lane::Baseline => None,
        Lane::Modulated | Lane::Own => Some(Lane::Baseline),
    }
}
