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
use super::formula_panel::FormulaPanel;
use super::header::Header;
use super::hormone_panel::HormonePanel;
use super::model_panel::ModelPanel;
use super::notices::Notices;
use super::playground::Playground;
use super::timeline::Timeline;
use crate::protocol::Lane;
use crate::session::LoadStatus;

/// How long a control has to rest before replies are made anew.
const SETTLE_MS: u32 = 160;

/// What is pointed at, shared by message, heatmap and bars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Focus {
    /// A hormone, by its index.
    pub(super) hormone: Option<usize>,
    /// A column of the heatmap.
    pub(super) column: Option<usize>,
    /// A word of a reply.
    pub(super) reply: Option<ReplyWord>,
}

/// A word of a reply, counted by white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplyWord {
    /// Id of the turn.
    pub(super) turn: u32,
    /// The reply.
    pub(super) lane: Lane,
    /// Place among its words.
    pub(super) word: usize,
}

/// The page.
#[component]
pub(super) fn Page() -> impl IntoView {
    let play = Playground::new();
    let Playground { session, controls, i18n, draft_text, .. } = play;
    let focus = RwSignal::new(Focus::default());
    renew_replies_when_settings_change(play);
    play.start_worker();

    let typing = Memo::new(move |_| session.with(|session| session.draft.is_some()) && !draft_text.with(|text| text.trim().is_empty()));
    let reading = Memo::new(move |_| {
        session.with(|session| {
            let draft = session.draft.clone().filter(|_| typing.get());
            draft.or_else(|| session.latest().and_then(|turn| turn.analysis.clone()))
        })
    });
    let model = Memo::new(move |_| session.with(|session| session.model().cloned()));
    let learned_alpha = Memo::new(move |_| model.with(|model| model.as_ref().map(|model| model.learned_alpha)));
    let replying = Memo::new(move |_| session.with(|session| session.is_replying()));
    let ready = Memo::new(move |_| session.with(|session| matches!(session.load, LoadStatus::Loaded(_))));

    view! {
        <Header i18n model=model />
        <main class="stage">
            <section class="talk" aria-label=move || i18n.text("talk.label")>
                <Notices play />
                <Conversation play focus />
                <Composer play ready=ready replying=replying />
            </section>
            <aside class="instruments" aria-label=move || i18n.text("instruments.label")>
                <HormonePanel i18n controls focus reading=reading typing=typing />
                <AlphaPanel i18n controls learned=learned_alpha />
                <AttentionPanel i18n focus reading=reading />
                <Timeline i18n session />
                <DecodingPanel i18n controls model=model />
                <FormulaPanel i18n controls session learned=learned_alpha />
                <ModelPanel play model=model />
                <About i18n />
            </aside>
        </main>
        <Announcer i18n session />
    }
}

fn renew_replies_when_settings_change(play: Playground) {
    let settle = StoredValue::new_local(None::<Timeout>);
    Effect::new(move |before: Option<crate::controls::Settings>| {
        let settings = play.controls.settings();
        let tau_changed = before.as_ref().is_some_and(|before| before.attention_temperature != settings.attention_temperature);
        if before.is_some_and(|before| before != settings) {
            let renew = Timeout::new(SETTLE_MS, move || {
                play.settings_changed();
                if tau_changed {
                    play.read_draft();
                }
            });
            // Dropping the timer before cancels it.
            settle.set_value(Some(renew));
        }
        settings
    });
}
