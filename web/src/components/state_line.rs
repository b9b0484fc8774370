//! The pattern of the six levels by rule, and the training profile they are nearest to. It keeps its height while nothing is read.

use hormone_t5::analysis::{HormoneLevels, Tone};
use leptos::prelude::*;

use crate::i18n::I18n;
use crate::reading::{Side, State, state};

/// One line; the rule stands behind the label, one click away.
#[component]
pub(super) fn StateLine(i18n: I18n, #[prop(into)] levels: Signal<Option<HormoneLevels>>) -> impl IntoView {
    let label = Memo::new(move |_| levels.get().map(state));
    view! {
        <div class="state-line">
            {move || label.get().map(|label| view! {
                <details class="state">
                    <summary data-testid="state-label">{i18n.text("state.label")} " " <b>{i18n.text(&format!("state.{}", label.name))}</b></summary>
                    <p data-testid="state-rule">{because(i18n, label)}</p>
                </details>
            })}
            <p class="aside" data-testid="nearest-profile">{move || levels.get().map(|levels| nearest_tone(i18n, levels))}</p>
        </div>
    }
}

/// The training profile nearest to these levels, and its distance.
pub(super) fn nearest_tone(i18n: I18n, levels: HormoneLevels) -> String {
    let tone = Tone::nearest(levels);
    let distance = i18n.number(tone.levels().distance(levels), 2);
    i18n.format("turn.nearest", &[("tone", &i18n.text(&format!("tone.{}", tone.name()))), ("distance", &distance)])
}

/// The conditions of the rule, in words.
fn because(i18n: I18n, label: State) -> String {
    if label.because.is_empty() {
        return i18n.text(if label.name == "even" { "state.rule_even" } else { "state.rule_mixed" });
    }
    let conditions = label.because.iter().map(|(hormone, side)| {
        let key = match side {
            Side::High => "state.high",
            Side::Low => "state.low",
        };
        i18n.format(key, &[("hormone", &i18n.text(&format!("hormone.{}", hormone.name())))])
    });
    i18n.format("state.rule", &[("conditions", &conditions.collect::<Vec<_>>().join(", "))])
}
