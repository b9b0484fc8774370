//! How a message becomes a reply: words -> encoder -> H -> times (1 + alpha e) -> decoder, with the block beside. The part at work lights up.

use hormone_t5::analysis::{Hormone, HormoneLevels};
use leptos::prelude::*;

use super::playground::Playground;
use crate::session::{ReplyState, Session};

/// Which part of the model is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Resting,
    Encoder,
    Block,
    Decoder,
}

/// The picture; its bars are the levels that act, and the way from the block is as strong as alpha.
#[component]
pub(super) fn DataFlow(
    play: Playground,
    #[prop(into)] levels: Signal<Option<HormoneLevels>>,
    /// `None` where none is known.
    #[prop(into)]
    alpha: Signal<Option<f32>>,
) -> impl IntoView {
    let Playground { session, i18n, .. } = play;
    let stage = Memo::new(move |_| session.with(stage));
    let is_at = move |this: Stage| stage.get() == this;
    let level = move |hormone: Hormone| levels.get().map_or(0.0, |levels| levels.get(hormone));
    let stage_text = move || match stage.get() {
        Stage::Resting => i18n.text("stage.resting"),
        Stage::Encoder => i18n.text("stage.encoder_works"),
        Stage::Block => i18n.text("stage.block_works"),
        Stage::Decoder => i18n.text("stage.decoder_works"),
    };
    let bars = Hormone::ALL.map(|hormone| {
        let height = move || format!("{:.1}", 2.0 + level(hormone) * 26.0);
        let top = move || format!("{:.1}", 150.0 - level(hormone) * 26.0);
        let x = (248 + hormone.index() * 11).to_string();
        view! { <rect class=format!("fill-{}", hormone.name()) x=x y=top width="8" height=height rx="2" /> }
    });
    view! {
        <figure class="flow" data-testid="data-flow" data-stage=move || format!("{:?}", stage.get()).to_lowercase()>
            <svg viewBox="0 0 560 176" role="img" aria-label=move || i18n.text("stage.picture")>
                <g class="wires">
                    <path d="M70 46 H112" /><path d="M210 46 H298" /><path d="M322 46 H372" /><path d="M470 46 H500" />
                    <path d="M232 46 V138 H240" />
                    <path class="dose" style:stroke-width=move || format!("{:.2}", 1.0 + alpha.get().unwrap_or_default() * 6.0) d="M318 138 H340 Q350 138 350 128 V92 Q350 82 340 82 H320 Q310 82 310 72 V58" />
                </g>
                <text x="36" y="51" class="end">{move || i18n.text("stage.words")}</text>
                <g class="part" class:active=move || is_at(Stage::Encoder)><rect x="112" y="22" width="98" height="48" rx="10" /><text x="161" y="51">{move || i18n.text("stage.encoder")}</text></g>
                <text x="254" y="38" class="symbol">"H"</text>
                <g class="part knot" class:active=move || is_at(Stage::Decoder)><circle cx="310" cy="46" r="12" /><text x="310" y="51">"×"</text></g>
                <text x="346" y="38" class="symbol">"H′"</text>
                <g class="part" class:active=move || is_at(Stage::Decoder)><rect x="372" y="22" width="98" height="48" rx="10" /><text x="421" y="51">{move || i18n.text("stage.decoder")}</text></g>
                <text x="530" y="51" class="end">{move || i18n.text("stage.reply")}</text>
                <g class="part block" class:active=move || is_at(Stage::Block)><rect x="240" y="112" width="78" height="50" rx="10" /></g>
                {bars}
                <text x="232" y="166" class="caption">{move || i18n.text("stage.block")}</text>
                <text x="362" y="116" class="factor">{move || format!("1 + {} · e", alpha.get().map_or("α".to_string(), |alpha| i18n.number(alpha, 2)))}</text>
            </svg>
            <figcaption class="aside">{stage_text}</figcaption>
        </figure>
    }
}

fn stage(session: &Session) -> Stage {
    let Some(turn) = session.turns.iter().find(|turn| turn.is_running()) else {
        return if session.is_reading() { Stage::Encoder } else { Stage::Resting };
    };
    let waits = turn.replies.iter().all(|reply| reply.state == ReplyState::Waiting);
    match (waits, turn.analysis.is_some()) {
        (true, false) => Stage::Encoder,
        (true, true) => Stage::Block,
        (false, _) => Stage::Decoder,
    }
}
