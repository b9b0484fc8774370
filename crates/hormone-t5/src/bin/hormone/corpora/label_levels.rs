//! `assets/data/levels.toml`: the target levels of GoEmotions' labels, and the tone that some of them belong to.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use hormone_t5::{HormoneLevels, Tone};
use serde::Deserialize;

const TABLE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/data/levels.toml"));

/// What the table says of one label.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    tone: Option<Tone>,
    levels: [f32; 6],
    reason: String,
}

/// The table, by label.
#[derive(Clone, Debug)]
pub(crate) struct LabelLevels(BTreeMap<String, Label>);

impl LabelLevels {
    pub(crate) fn load() -> Result<Self> {
        let labels: BTreeMap<String, Label> = toml::from_str(TABLE).context("levels.toml: expected labels with `levels` and `reason`")?;
        for (name, label) in &labels {
            ensure!(!label.reason.is_empty(), "levels.toml: {name} has no reason");
            ensure!(label.levels.iter().all(|level| (0.0..=1.0).contains(level)), "levels.toml: {name} has a level outside 0 to 1");
        }
        Ok(Self(labels))
    }

    fn label(&self, name: &str) -> Result<&Label> {
        self.0.get(name).with_context(|| format!("levels.toml: no levels for the label \"{name}\""))
    }

    /// The one tone that all `labels` belong to, if there is one.
    pub(crate) fn tone(&self, labels: &[String]) -> Result<Option<Tone>> {
        let tones = labels.iter().map(|name| Ok(self.label(name)?.tone)).collect::<Result<Vec<_>>>()?;
        Ok(tones.first().copied().flatten().filter(|first| tones.iter().all(|tone| *tone == Some(*first))))
    }

    /// The mean of the labels' levels.
    pub(crate) fn mean(&self, labels: &[String]) -> Result<HormoneLevels> {
        let mut sum = [0.0; 6];
        for name in labels {
            sum.iter_mut().zip(self.label(name)?.levels).for_each(|(sum, level)| *sum += level);
        }
        Ok(sum.map(|sum| sum / labels.len().max(1) as f32).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_of_the_28_labels_has_levels_nearest_to_its_own_tone() {
        let table = LabelLevels::load().expect("a readable table");
        assert_eq!(table.0.len(), 28);
        for (name, label) in &table.0 {
            let nearest = Tone::nearest(label.levels.into());
            assert!(label.tone.is_none_or(|tone| tone == nearest), "{name} is nearest to {nearest:?}");
        }
    }

    #[test]
    fn labels_of_one_tone_stay_within_the_papers_tolerance_of_its_vector() {
        for (name, label) in LabelLevels::load().expect("a readable table").0 {
            let Some(tone) = label.tone else { continue };
            let farthest = label.levels.iter().zip(tone.levels().to_array()).fold(0.0f32, |far, (a, b)| far.max((a - b).abs()));
            assert!(farthest <= 0.1501, "{name} is {farthest} from {tone:?}");
        }
    }

    #[test]
    fn several_labels_give_their_mean_and_a_tone_only_where_all_agree() {
        let table = LabelLevels::load().expect("a readable table");
        let labels = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mean = table.mean(&labels(&["anger", "neutral"])).expect("known labels").to_array();
        assert!((mean[0] - 0.275).abs() < 1e-6 && (mean[2] - 0.625).abs() < 1e-6, "{mean:?}");
        assert_eq!(table.tone(&labels(&["anger", "annoyance"])).expect("known labels"), Some(Tone::Rude));
        assert_eq!(table.tone(&labels(&["anger", "joy"])).expect("known labels"), None);
        assert_eq!(table.tone(&labels(&["joy", "surprise"])).expect("known labels"), None);
        assert!(table.mean(&labels(&["boredom"])).is_err());
    }
}
