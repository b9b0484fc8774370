//! How well levels are read: per hormone and as nearest tones.

use anyhow::Result;
use hormone_t5::{Hormone, HormoneLevels, HormoneT5, Tone};
use serde::Serialize;

use super::statistics::Estimate;
use crate::evaluate::{hormone_report, macro_f1, on_all_cores};

/// Predicted and target levels of a message.
pub(crate) type Row = (HormoneLevels, HormoneLevels);

/// Figures of one hormone.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HormoneFigures {
    pub(crate) hormone: Hormone,
    pub(crate) mse: Estimate,
    pub(crate) mae: Estimate,
    /// Share within 0.15 of the target.
    pub(crate) accuracy: Estimate,
    /// Largest less smallest mean prediction over the tones.
    pub(crate) range: Estimate,
}

/// Figures of a set of messages.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LevelFigures {
    pub(crate) messages: usize,
    pub(crate) hormones: Vec<HormoneFigures>,
    /// Mean of the hormones' accuracies.
    pub(crate) accuracy: Estimate,
    /// Nearest tone of the prediction is that of the target.
    pub(crate) tone_accuracy: Estimate,
    pub(crate) tone_macro_f1: Estimate,
}

impl LevelFigures {
    /// Reads every message; `messages` come with their target levels.
    pub(crate) fn measure(model: &HormoneT5, messages: &[(String, HormoneLevels)]) -> Result<Self> {
        Ok(Self::of(&on_all_cores(messages, |(text, target)| Ok((model.analyze(text)?.levels, *target)))?))
    }

    fn of(rows: &[Row]) -> Self {
        let hormones = Hormone::ALL.into_iter().map(|hormone| HormoneFigures {
            hormone,
            mse: Estimate::of(rows, |rows| hormone_report(rows, hormone).mse),
            mae: Estimate::of(rows, |rows| hormone_report(rows, hormone).mae),
            accuracy: Estimate::of(rows, |rows| hormone_report(rows, hormone).accuracy),
            range: Estimate::of(rows, |rows| hormone_report(rows, hormone).range),
        });
        let mean_accuracy = |rows: &[Row]| {
            Hormone::ALL.iter().map(|hormone| hormone_report(rows, *hormone).accuracy).sum::<f64>() / Hormone::ALL.len() as f64
        };
        let tones: Vec<(Tone, Tone)> = rows.iter().map(|(predicted, target)| (Tone::nearest(*predicted), Tone::nearest(*target))).collect();
        let right: Vec<bool> = tones.iter().map(|(predicted, target)| predicted == target).collect();
        Self {
            messages: rows.len(),
            hormones: hormones.collect(),
            accuracy: Estimate::of(rows, mean_accuracy),
            tone_accuracy: Estimate::share(&right),
            tone_macro_f1: Estimate::of(&tones, macro_f1),
        }
    }

    /// The smallest range of a hormone.
    pub(crate) fn smallest_range(&self) -> f64 {
        self.hormones.iter().map(|figures| figures.range.value).fold(f64::INFINITY, f64::min)
    }
}

/// How far capitals alone move each level, on average: `messages` as sentences and in capitals.
pub(crate) fn capitals_shift(model: &HormoneT5, messages: &[String]) -> Result<Vec<(Hormone, f64)>> {
    let shifts = on_all_cores(messages, |message| {
        let plain = model.analyze(&as_sentence(message))?.levels;
        let capitals = model.analyze(&message.to_uppercase())?.levels;
        Ok(Hormone::ALL.map(|hormone| f64::from((plain.get(hormone) - capitals.get(hormone)).abs())))
    })?;
    let mean = |place: usize| shifts.iter().map(|shift| shift[place]).sum::<f64>() / shifts.len().max(1) as f64;
    Ok(Hormone::ALL.into_iter().enumerate().map(|(place, hormone)| (hormone, mean(place))).collect())
}

/// Small letters, the first one and "I" large.
fn as_sentence(message: &str) -> String {
    let words = message.to_lowercase();
    let words: Vec<String> = words
        .split(' ')
        .map(|word| if word == "i" || word.starts_with("i'") { word.replacen('i', "I", 1) } else { word.to_string() })
        .collect();
    let joined = words.join(" ");
    let mut letters = joined.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_keeps_its_words_and_loses_its_capitals() {
        assert_eq!(as_sentence("MY DOG AND I GOT LOST, I'M SAD"), "My dog and I got lost, I'm sad");
    }

    #[test]
    fn perfect_reading_has_full_marks_with_narrow_intervals() {
        let rows: Vec<Row> = Tone::ALL.into_iter().cycle().take(100).map(|tone| (tone.levels(), tone.levels())).collect();
        let figures = LevelFigures::of(&rows);
        assert_eq!((figures.accuracy.value, figures.tone_accuracy.low, figures.tone_macro_f1.value), (1.0, 1.0, 1.0));
        assert!((figures.smallest_range() - 0.8).abs() < 1e-6 || figures.smallest_range() > 0.8);
    }
}
