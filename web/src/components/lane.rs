//! One reply: what it is, its text as it comes, how it was made and how fast it came.

use std::time::Duration;

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::clipboard;
use super::turn::compared_with;
use super::weights_badge::WeightsBadge;
use crate::diff::{DiffWord, mark_differences};
use crate::export;
use crate::focus::{Focus, ReplyWord};
use crate::i18n::I18n;
use crate::protocol::{Lane, WeightsKind};
use crate::reading::{HeadChoice, columns, cross_shares, word_cross_attention};
use crate::session::{Reply, ReplyState, Session};

/// How long a lane says that it was copied.
const COPIED: Duration = Duration::from_secs(2);

/// What a lane shows; compared so that a token of one lane redraws only this lane.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    text: String,
    state: ReplyState,
    /// The complete reply it is compared with.
    other: Option<String>,
}

/// How a reply is made; it does not change while the reply grows.
#[derive(Clone, Debug, PartialEq)]
struct Making {
    /// Without its tokens.
    reply: Reply,
    learned_alpha: Option<f32>,
    /// Id of the model, where this comes from a file.
    recorded_by: Option<String>,
    kind: Option<WeightsKind>,
}

/// A reply in its lane.
#[component]
pub(super) fn LaneView(
    i18n: I18n,
    session: RwSignal<Session>,
    focus: RwSignal<Focus>,
    /// The reply word whose cross-attention is shown.
    chosen: RwSignal<Option<ReplyWord>>,
    turn: u32,
    lane: Lane,
) -> impl IntoView {
    let shown = Memo::new(move |_| session.with(|session| shown(session, turn, lane)));
    let making = Memo::new(move |_| session.with(|session| making(session, turn, lane)));
    let running = move || shown.with(|shown| shown.as_ref().is_some_and(|shown| shown.state.is_running()));
    let strength = move || {
        let alpha = making.with(|making| making.as_ref().and_then(|making| making.reply.config.alpha.or(making.learned_alpha)));
        match lane {
            Lane::Baseline => Some(i18n.text("lane.baseline_alpha")),
            Lane::Modulated | Lane::Own => alpha.map(|alpha| i18n.format("lane.alpha", &[("alpha", &i18n.number(alpha, 2))])),
        }
    };
    let pinned = move || making.with(|making| making.as_ref().is_some_and(|making| making.reply.config.levels.iter().any(Option::is_some)));
    let recorded_by = move || making.with(|making| making.as_ref().and_then(|making| making.recorded_by.clone()));
    let kind = Signal::derive(move || making.with(|making| making.as_ref().and_then(|making| making.kind)));
    let decoding = move || making.with(|making| making.as_ref().map(|making| export::decoding(i18n.now(), &making.reply)));
    let first = ReplyWord { turn, lane, word: 0 };
    let point = move |word: Option<usize>| focus.update(|focus| focus.reply = word.map(|word| ReplyWord { turn, lane, word }));
    let pointed = Memo::new(move |_| {
        let word = focus.get().reply.filter(|reply| reply.turn == turn && reply.lane == lane)?;
        session.with(|session| looked_at(i18n, session, word))
    });
    let on_key = move |event: KeyboardEvent| {
        let count = shown.with_untracked(|shown| shown.as_ref().map_or(0, |shown| shown.text.split_whitespace().count()));
        let at = focus.get_untracked().reply.filter(|reply| reply.turn == turn && reply.lane == lane).map(|reply| reply.word);
        match event.key().as_str() {
            "ArrowRight" if count > 0 => point(Some(at.map_or(0, |word| (word + 1).min(count - 1)))),
            "ArrowLeft" if count > 0 => point(Some(at.map_or(count - 1, |word| word.saturating_sub(1)))),
            "Enter" | " " if at.is_some() => chosen.set(at.map(|word| ReplyWord { word, ..first })),
            "Escape" => {
                point(None);
                chosen.set(None);
            }
            _ => return,
        }
        event.prevent_default();
    };
    let copied = RwSignal::new(false);
    let copy = move |_| {
        let Some(text) = shown.with_untracked(|shown| shown.as_ref().map(|shown| shown.text.clone())) else { return };
        spawn_local(async move {
            // A browser that refuses leaves the button as it was.
            if clipboard::copy(&text).await {
                copied.set(true);
                let back = move || {
                    copied.try_set(false);
                };
                set_timeout(back, COPIED);
            }
        });
    };
    let can_copy = clipboard::is_open();
    view! {
        <section class=format!("lane {}", lane.name()) data-testid=format!("lane-{}", lane.name()) aria-label=move || i18n.text(&format!("lane.{}", lane.name()))>
            <header title=move || i18n.text(&format!("lane_help.{}", lane.name()))>
                <h3>{move || i18n.text(&format!("lane.{}", lane.name()))}</h3>
                <span class="alpha">{strength}</span>
                {move || pinned().then(|| view! { <span class="tag">{move || i18n.text("lane.pinned")}</span> })}
                {move || recorded_by().map(|model| view! { <span class="tag" title=model data-testid="recorded-tag">{move || i18n.text("lane.recorded")}</span> })}
                <WeightsBadge i18n kind />
            </header>
            <p
                class="reply"
                class:running=running
                tabindex="0"
                role="group"
                aria-label=move || i18n.text("lane.words")
                title=move || i18n.text("lane.cross_help")
                on:keydown=on_key
                on:pointerleave=move |_| point(None)
                on:blur=move |_| point(None)
                data-testid=format!("lane-{}-text", lane.name())
                data-state=move || shown.with(|shown| shown.as_ref().map_or("none", |shown| state_name(shown.state)))
            >
                <span lang="en">{move || shown.with(|shown| shown.as_ref().map(|shown| words(i18n, focus, chosen, first, shown)))}</span>
            </p>
            <p class="sr" role="status">{move || pointed.get()}</p>
            <footer>
                <span data-testid=format!("lane-{}-timings", lane.name())>{decoding} " · " {move || shown.with(|shown| shown.as_ref().map(|shown| describe(i18n, shown.state)))}</span>
                {can_copy.then(|| view! {
                    <button class="quiet" data-testid=format!("lane-{}-copy", lane.name()) on:click=copy>
                        {move || i18n.text(if copied.get() { "lane.copied" } else { "lane.copy" })}
                    </button>
                })}
            </footer>
        </section>
    }
}

fn shown(session: &Session, turn: u32, lane: Lane) -> Option<Shown> {
    let turn = session.turn(turn)?;
    let reply = turn.reply(lane)?;
    let complete = |lane| turn.reply(lane).filter(|reply| !reply.state.is_running()).map(|reply| reply.text.clone());
    let other = if reply.state.is_running() { None } else { compared_with(lane).and_then(complete) };
    Some(Shown { text: reply.text.clone(), state: reply.state, other })
}

/// A word of the reply and what the decoder looked at most for it, in a sentence.
fn looked_at(i18n: I18n, session: &Session, at: ReplyWord) -> Option<String> {
    let turn = session.turn(at.turn)?;
    let reply = turn.reply(at.lane)?;
    let word = reply.text.split_whitespace().nth(at.word)?;
    let columns = columns(turn.analysis.as_deref()?, HeadChoice::Mean, true);
    let shares = cross_shares(&columns, &word_cross_attention(&reply.tokens, at.word)?);
    let (column, share) = columns.iter().zip(shares).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let values = [("word", word), ("source", &i18n.now().column_head(column)), ("share", &i18n.number(share * 100.0, 0))];
    Some(i18n.format("lane.looked", &values))
}

fn making(session: &Session, turn: u32, lane: Lane) -> Option<Making> {
    let turn = session.turn(turn)?;
    let of_this_model = session.model().filter(|model| !turn.recorded && turn.model.as_deref() == Some(&model.id));
    Some(Making {
        reply: turn.reply(lane)?.without_words(),
        learned_alpha: turn.analysis.as_ref().map(|analysis| analysis.learned_alpha),
        recorded_by: turn.recorded.then(|| turn.model.clone().unwrap_or_default()),
        kind: of_this_model.map(|model| model.kind()),
    })
}

/// The text; words that the other reply lacks are marked once both are complete, and each word can be pointed at.
fn words(i18n: I18n, focus: RwSignal<Focus>, chosen: RwSignal<Option<ReplyWord>>, first: ReplyWord, shown: &Shown) -> AnyView {
    if shown.state.is_running() {
        return shown.text.clone().into_any();
    }
    if shown.text.is_empty() {
        return view! { <em class="silence" lang=i18n.now().code()>{i18n.text("lane.silence")}</em> }.into_any();
    }
    let other = shown.other.as_deref().unwrap_or(&shown.text);
    let marked = mark_differences(&shown.text, other).into_iter().enumerate();
    let views = marked.map(|(word, DiffWord { text, differs })| {
        let this = ReplyWord { word, ..first };
        let pointed = move || focus.get().reply == Some(this);
        let is_chosen = move || chosen.get() == Some(this);
        let point = move |_| focus.update(|focus| focus.reply = Some(this));
        // A second click lets go.
        let choose = move |_| chosen.update(|chosen| *chosen = if *chosen == Some(this) { None } else { Some(this) });
        if differs {
            let (marked, space) = text.split_at(text.trim_end().len());
            view! { <mark class:pointed=pointed class:chosen=is_chosen on:pointerenter=point on:click=choose>{marked.to_string()}</mark>{space.to_string()} }.into_any()
        } else {
            view! { <span class:pointed=pointed class:chosen=is_chosen on:pointerenter=point on:click=choose>{text}</span> }.into_any()
        }
    });
    views.collect_view().into_any()
}

fn state_name(state: ReplyState) -> &'static str {
    match state {
        ReplyState::Waiting => "waiting",
        ReplyState::Searching => "searching",
        ReplyState::Streaming => "streaming",
        ReplyState::Finished { .. } => "finished",
        ReplyState::Stopped => "stopped",
        ReplyState::Failed => "failed",
    }
}

fn describe(i18n: I18n, state: ReplyState) -> String {
    match state {
        ReplyState::Waiting => i18n.text("lane.waiting"),
        ReplyState::Searching => i18n.text("lane.searching"),
        ReplyState::Streaming => i18n.text("lane.streaming"),
        ReplyState::Stopped => i18n.text("lane.stopped"),
        ReplyState::Failed => i18n.text("lane.failed"),
        ReplyState::Finished { timings, .. } => {
            let locale = i18n.now();
            let speed = locale.number(timings.tokens_per_second(), 0);
            let values = [("first", locale.duration(timings.first_token_ms)), ("speed", speed), ("tokens", timings.tokens.to_string())];
            i18n.format("lane.timings", &values.each_ref().map(|(name, value)| (*name, value.as_str())))
        }
    }
}
