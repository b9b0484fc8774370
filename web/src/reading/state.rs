//! A label of the six levels by rule: the first rule whose conditions all hold. It names a pattern of numbers, not a feeling.
//!
//! High is 0.6 and more, low 0.4 and less. Each training profile has a rule of its own name; levels that fit none are even where all are near the
//! middle, else mixed.

use hormone_t5::analysis::Hormone::{self, Adrenaline, Cortisol, Dopamine, Endorphins, Oxytocin, Serotonin};
use hormone_t5::analysis::HormoneLevels;

use Side::{High, Low};

/// From here on a level is high.
const HIGH: f32 = 0.6;
/// Down from here a level is low.
const LOW: f32 = 0.4;
/// Levels within this are near the middle.
const MIDDLE: std::ops::RangeInclusive<f32> = 0.25..=0.65;

/// The side of the bar on which a level has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At [`HIGH`] or above.
    High,
    /// At [`LOW`] or below.
    Low,
}

/// One condition of a rule.
pub type Condition = (Hormone, Side);

/// A label with what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// As in translations: `state.<name>`.
    pub name: &'static str,
    /// The conditions that hold; none for the two that are left over.
    pub because: &'static [Condition],
}

const RULES: [State; 9] = [
    State { name: "elated", because: &[(Dopamine, High), (Adrenaline, High), (Cortisol, Low)] },
    State { name: "warm", because: &[(Serotonin, High), (Oxytocin, High), (Adrenaline, Low)] },
    State { name: "agitated", because: &[(Cortisol, High), (Adrenaline, High), (Oxytocin, Low)] },
    State { name: "alarmed", because: &[(Cortisol, High), (Adrenaline, High)] },
    State { name: "sorrowful", because: &[(Dopamine, Low), (Endorphins, Low), (Oxytocin, High)] },
    State { name: "tense", because: &[(Cortisol, High)] },
    State { name: "content", because: &[(Serotonin, High), (Cortisol, Low)] },
    State { name: "downcast", because: &[(Dopamine, Low), (Serotonin, Low), (Endorphins, Low)] },
    State { name: "lively", because: &[(Dopamine, High)] },
];

/// Every label there is.
pub const STATE_NAMES: [&str; 11] =
    ["elated", "warm", "agitated", "alarmed", "sorrowful", "tense", "content", "downcast", "lively", "even", "mixed"];

/// The label of these levels.
pub fn state(levels: HormoneLevels) -> State {
    let holds = |(hormone, side): &Condition| match side {
        High => levels.get(*hormone) >= HIGH,
        Low => levels.get(*hormone) <= LOW,
    };
    let even = levels.to_array().iter().all(|level| MIDDLE.contains(level));
    let left_over = State { name: if even { "even" } else { "mixed" }, because: &[] };
    RULES.into_iter().find(|rule| rule.because.iter().all(holds)).unwrap_or(left_over)
}

#[cfg(test)]
mod tests {
    use hormone_t5::analysis::Tone;

    use super::*;

    #[test]
    fn every_training_profile_has_its_own_label() {
        let labels = Tone::ALL.map(|tone| state(tone.levels()).name);
        assert_eq!(labels, ["warm", "even", "agitated", "sorrowful", "elated"]);
    }

    #[test]
    fn the_first_rule_that_holds_gives_the_label() {
        assert_eq!(state([0.9, 0.9, 0.1, 0.9, 0.9, 0.9].into()).name, "elated");
        assert_eq!(state([0.5, 0.5, 0.7, 0.5, 0.7, 0.5].into()).name, "alarmed");
        assert_eq!(state([0.5, 0.1, 0.5, 0.5, 0.5, 0.9].into()).name, "mixed");
    }

    #[test]
    fn every_label_is_in_the_list_of_names() {
        let labels: Vec<&str> = RULES.iter().map(|rule| rule.name).chain(["even", "mixed"]).collect();
        assert_eq!(labels, STATE_NAMES);
    }
}
