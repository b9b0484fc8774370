//! Where the visitor writes. The bars follow while typing; Enter sends, Shift+Enter breaks the line, arrow up and down walk through what was sent.

use gloo_timers::callback::Timeout;
use leptos::ev::KeyboardEvent;
use leptos::html::Textarea;
use leptos::prelude::*;

use super::load_status::LoadStatusLine;
use super::playground::{COMPOSER, Playground};
use crate::history::HistoryWalk;
use crate::presets::PRESETS;
use crate::session::Action;

/// How long typing has to rest before the text is read.
const DEBOUNCE_MS: u32 = 150;

/// Text field, a button that sends and stops, presets, and the state of the model.
#[component]
pub(super) fn Composer(
    play: Playground,
    /// Whether a model can answer.
    #[prop(into)]
    ready: Signal<bool>,
    /// Whether replies are being made.
    #[prop(into)]
    replying: Signal<bool>,
) -> impl IntoView {
    let Playground { session, i18n, draft_text, .. } = play;
    let field = NodeRef::<Textarea>::new();
    let debounce = StoredValue::new_local(None::<Timeout>);
    let read_soon = move || debounce.set_value(Some(Timeout::new(DEBOUNCE_MS, move || play.read_draft())));
    let walk = StoredValue::new(HistoryWalk::default());
    let empty = move || draft_text.with(|text| text.trim().is_empty());
    let can_send = move || ready.get() && !empty();
    let send = move || {
        if untrack(can_send) {
            debounce.set_value(None);
            walk.update_value(HistoryWalk::end);
            play.send(draft_text.get_untracked());
        }
    };
    let walk_to = move |event: &KeyboardEvent, text: Option<String>| {
        if let Some(text) = text {
            event.prevent_default();
            draft_text.set(text);
            read_soon();
        }
    };
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" if !event.shift_key() && !event.is_composing() => {
            event.prevent_default();
            send();
        }
        // Inside a text of several lines the arrows move between them.
        "ArrowUp" if walk.with_value(HistoryWalk::is_walking) || caret_is_at_start(field) => {
            let shown = draft_text.get_untracked();
            let older = session.with_untracked(|session| walk.try_update_value(|walk| walk.older(&session.history, &shown)));
            walk_to(&event, older.flatten());
        }
        "ArrowDown" if walk.with_value(HistoryWalk::is_walking) => {
            let newer = session.with_untracked(|session| walk.try_update_value(|walk| walk.newer(&session.history)));
            walk_to(&event, newer.flatten());
        }
        _ => {}
    };
    let stop = move || {
        for turn in
            session.with_untracked(|session| session.turns.iter().filter(|turn| turn.is_running()).map(|turn| turn.id).collect::<Vec<_>>())
        {
            play.act(Action::Stop { turn });
        }
    };
    let take_preset = move |text: &'static str| {
        walk.update_value(HistoryWalk::end);
        play.write_draft(text);
    };
    // One button that sends and stops, and never `disabled`: it would lose the focus of whoever presses it by keyboard.
    view! {
        <div class="composer">
            <div class="presets" role="group" aria-label=move || i18n.text("preset.label")>
                {PRESETS.map(|preset| view! {
                    <button title=preset.text data-testid=preset.name.replace('.', "-") on:click=move |_| take_preset(preset.text)>
                        {move || i18n.text(preset.name)}
                    </button>
                })}
            </div>
            <div class="field">
                <textarea
                    id=COMPOSER
                    rows="2"
                    lang="en"
                    data-testid="composer-input"
                    aria-label=move || i18n.text("composer.label")
                    aria-describedby="composer-hint"
                    placeholder=move || i18n.text("composer.placeholder")
                    spellcheck="false"
                    node_ref=field
                    prop:value=draft_text
                    on:input=move |event| { walk.update_value(HistoryWalk::end); draft_text.set(event_target_value(&event)); read_soon() }
                    on:keydown=on_key
                ></textarea>
                <button
                    class="solid"
                    data-testid=move || if replying.get() { "stop" } else { "send" }
                    aria-disabled=move || (!replying.get() && !can_send()).to_string()
                    on:click=move |_| if replying.get_untracked() { stop() } else { send() }
                >
                    {move || i18n.text(if replying.get() { "composer.stop" } else { "composer.send" })}
                </button>
            </div>
            <div class="under">
                <LoadStatusLine i18n session />
                <p class="hint" id="composer-hint">{move || i18n.text(if ready.get() { "composer.hint" } else { "composer.not_ready" })}</p>
            </div>
        </div>
    }
}

fn caret_is_at_start(field: NodeRef<Textarea>) -> bool {
    field.get_untracked().is_some_and(|field| field.selection_end().ok().flatten().unwrap_or_default() == 0)
}
