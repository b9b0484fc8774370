//! The whole page: state, layout, and the two things that happen by themselves: settings renew replies, a new worker loads its model.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::about::About;
use super::alpha_panel::AlphaPanel;
use super::announcer::Announcer;
use super::attention_panel::AttentionPanel;
use super::composer::Composer;
use super::conversation::Conversation;
use super::decoding_panel::DecodingPanel;
use super::drop_zone::DropZone;
use super::formula_panel::FormulaPanel;
use super::header::Header;
use super::hormone_panel::{HormonePanel, Shown};
use super::model_panel::ModelPanel;
use super::notices::Notices;
use super::playground::Playground;
use super::settings_note::SettingsNote;
use super::timeline::Timeline;
use crate::focus::{Focus, ReplyWord};

/// How long a control has to rest before replies are made anew.
const SETTLE_MS: u32 = 160;

/// The page.
#[component]
pub(super) fn Page() -> impl IntoView {
    let play = Playground::new();
    let Playground { session, controls, i18n, draft_text, inspected, .. } = play;
    let focus = RwSignal::new(Focus::default());
    renew_replies_when_settings_change(play);
    play.follow_address();
    play.start_worker();

    let chosen = RwSignal::new(None::<ReplyWord>);
    // What the instruments show: the text being written, else the chosen message, else the newest.
    let shown = Memo::new(move |_| {
        let has_draft = session.with(|session| session.draft.is_some()) && !draft_text.with(|text| text.trim().is_empty());
        let is_there =
            inspected.get().is_some_and(|id| session.with(|session| session.turn(id).is_some_and(|turn| turn.analysis.is_some())));
        match (has_draft, is_there) {
            (true, _) => Shown::Draft,
            (false, true) => Shown::Chosen,
            (false, false) => Shown::Latest,
        }
    });
    let shown_turn = Memo::new(move |_| match shown.get() {
        Shown::Draft => None,
        Shown::Chosen => inspected.get(),
        Shown::Latest => session.with(|session| session.latest().map(|turn| turn.id)),
    });
    let reading = Memo::new(move |_| {
        session.with(|session| match shown_turn.get() {
            None => session.draft.clone(),
            Some(id) => session.turn(id).and_then(|turn| turn.analysis.clone()),
        })
    });
    let predicted = Memo::new(move |_| reading.with(|reading| reading.as_ref().map(|analysis| analysis.levels)));
    show_new_messages(session, inspected, chosen);
    let model = Memo::new(move |_| session.with(|session| session.model().cloned()));
    let learned_alpha = Memo::new(move |_| model.with(|model| model.as_ref().map(|model| model.learned_alpha)));
    let replying = Memo::new(move |_| session.with(|session| session.is_replying()));
    let ready = Memo::new(move |_| session.with(|session| session.model().is_some()));

    view! {
        <Header i18n model=model />
        <main class="stage">
            <section class="talk" aria-label=move || i18n.text("talk.label")>
                <Notices play />
                <Conversation play focus chosen />
                <Composer play ready=ready replying=replying />
            </section>
            <aside class="instruments" aria-label=move || i18n.text("instruments.label")>
                <HormonePanel i18n controls focus reading=reading shown=shown />
                <AlphaPanel i18n controls learned=learned_alpha>
                    <SettingsNote play turn=shown_turn />
                </AlphaPanel>
                <AttentionPanel i18n session focus chosen turn=shown_turn reading=reading />
                <Timeline i18n controls session />
                <FormulaPanel play learned=learned_alpha predicted=predicted />
                <DecodingPanel i18n controls model=model />
                <ModelPanel play model=model />
                <About i18n />
            </aside>
        </main>
        <Announcer i18n session />
        <DropZone play />
    }
}

/// A new message is what the instruments show, whatever was chosen before.
fn show_new_messages(session: RwSignal<crate::session::Session>, inspected: RwSignal<Option<u32>>, chosen: RwSignal<Option<ReplyWord>>) {
    let latest = Memo::new(move |_| session.with(|session| session.latest().map(|turn| turn.id)));
    Effect::new(move |before: Option<Option<u32>>| {
        let now = latest.get();
        if before.is_some_and(|before| before != now) {
            inspected.set(None);
            chosen.set(None);
        }
        now
    });
}

fn renew_replies_when_settings_change(play: Playground) {
    let settle = StoredValue::new_local(None::<Timeout>);
    Effect::new(move |_| {
        let settings = play.controls.settings();
        let changed = play.settled.with_untracked(|settled| *settled != settings);
        // Dropping the timer before cancels it.
        settle.set_value(changed.then(|| {
            Timeout::new(SETTLE_MS, move || {
                let before = play.settled.get_untracked();
                play.settled.set(settings);
                play.settings_changed(&before);
            })
        }));
    });
}
