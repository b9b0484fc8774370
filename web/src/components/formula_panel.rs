//! `H~ = H * (1 + alpha * e)` with the numbers of the shown turn's modulated reply, alpha as it stands now.

use std::sync::Arc;

use hormone_t5::analysis::HormoneLevels;
use leptos::prelude::*;

use super::data_flow::DataFlow;
use super::playground::Playground;
use crate::i18n::I18n;
use crate::protocol::{Lane, Modulation};
use crate::session::{Session, Turn};

/// The data flow, the formula, its numbers and a strip of `e`.
#[component]
pub(super) fn FormulaPanel(
    play: Playground,
    #[prop(into)] learned: Signal<Option<f32>>,
    /// The levels of the text at hand.
    #[prop(into)]
    predicted: Signal<Option<HormoneLevels>>,
) -> impl IntoView {
    let Playground { session, controls, inspected, i18n, .. } = play;
    let of_turn = move |session: &Session| session.turn_or_latest(inspected.get()).map(numbers).unwrap_or_default();
    let turn = Memo::new(move |_| session.with(of_turn));
    let modulation = Memo::new(move |_| turn.with(|(modulation, _)| modulation.clone()));
    // Where no model is loaded, the one that replied knew.
    let alpha = Signal::derive(move || controls.alpha.get().or(learned.get()).or(turn.with(|(_, learned)| *learned)));
    let acting = Signal::derive(move || predicted.get().map(|levels| levels.overridden(controls.pins.get())));
    view! {
        <details class="panel formula-panel" data-testid="formula" open>
            <summary><h2>{move || i18n.text("formula.title")}</h2></summary>
            <p class="formula"><i>"H′"</i>" = "<i>"H"</i>" · (1 + "<b>{move || alpha.get().map_or("α".to_string(), |alpha| i18n.number(alpha, 2))}</b>" · "<i>"e"</i>")"</p>
            <DataFlow play levels=acting alpha />
            {move || match modulation.get() {
                Some(modulation) => view! { <Numbers i18n modulation alpha=Signal::derive(move || alpha.get().unwrap_or_default()) /> }.into_any(),
                None => view! { <p class="aside">{i18n.text("formula.none")}</p> }.into_any(),
            }}
        </details>
    }
}

/// What the hormones do to the hidden states in the lane that levels set by hand act on, and the alpha that its model had learned.
fn numbers(turn: &Turn) -> (Option<Arc<Modulation>>, Option<f32>) {
    let reply = turn.reply(Lane::Own).or(turn.reply(Lane::Modulated));
    (reply.and_then(|reply| reply.modulation.clone()), turn.analysis.as_ref().map(|analysis| analysis.learned_alpha))
}

#[component]
fn Numbers(i18n: I18n, modulation: Arc<Modulation>, alpha: Signal<f32>) -> impl IntoView {
    let norm = modulation.embedding_norm();
    let change = modulation.relative_change;
    let most = modulation.embedding.iter().fold(f32::EPSILON, |most, feature| most.max(feature.abs()));
    let count = modulation.embedding.len().to_string();
    let count_spoken = count.clone();
    let cells = modulation.embedding.iter().map(|feature| {
        let class = if *feature >= 0.0 { "raise" } else { "lower" };
        view! { <i class=class style=format!("--share:{:.2}", feature.abs() / most)></i> }
    });
    let cells = cells.collect_view();
    let factors = move || {
        let (low, high) = modulation.factors(alpha.get());
        i18n.format("formula.range", &[("low", &i18n.number(low, 2)), ("high", &i18n.number(high, 2))])
    };
    view! {
        <dl>
            <dt>{move || i18n.text("formula.norm")}</dt><dd>{move || i18n.number(norm, 2)}</dd>
            <dt>{move || i18n.text("formula.change")}</dt><dd data-testid="formula-change">{move || i18n.number(change * alpha.get() * 100.0, 1)} " %"</dd>
            <dt>{move || i18n.text("formula.factors")}</dt><dd data-testid="formula-factors">{factors}</dd>
        </dl>
        <div class="strip" role="img" aria-label=move || i18n.format("formula.strip", &[("count", &count_spoken)])>{cells}</div>
        <p class="aside">{move || i18n.format("formula.strip", &[("count", &count)])}</p>
    }
}
