//! Levels in words, beside the training profiles, and over time.

use hormone_t5::analysis::{Hormone, HormoneLevels, Tone};

/// A level in one word of five; the key of its translation.
pub fn level_word(level: f32) -> &'static str {
    match level {
        level if level < 0.2 => "level.very_low",
        level if level < 0.4 => "level.low",
        level if level < 0.6 => "level.medium",
        level if level < 0.8 => "level.high",
        _ => "level.very_high",
    }
}

/// Mood memory, a simulation outside the trained model: `h_t = lambda h_(t-1) + (1 - lambda) h^_t`.
fn remembered(levels: impl IntoIterator<Item = HormoneLevels>, lambda: f32) -> Vec<HormoneLevels> {
    let mut memory: Option<HormoneLevels> = None;
    levels
        .into_iter()
        .map(|predicted| {
            let next = match memory {
                Some(before) => blend(before, predicted, lambda),
                None => predicted,
            };
            memory = Some(next);
            next
        })
        .collect()
}

fn blend(before: HormoneLevels, predicted: HormoneLevels, lambda: f32) -> HormoneLevels {
    let (before, predicted) = (before.to_array(), predicted.to_array());
    let mut levels = [0.0; 6];
    for (index, level) in levels.iter_mut().enumerate() {
        *level = lambda * before[index] + (1.0 - lambda) * predicted[index];
    }
    levels.into()
}

/// A message on the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beat {
    /// Its place in the conversation, from 1.
    pub number: usize,
    /// Its levels.
    pub levels: HormoneLevels,
    /// The mood memory after it; `None` where the memory is off.
    pub memory: Option<HormoneLevels>,
}

/// The last `count` messages that were read. `levels` are those of the whole conversation, `None` for a message that was not read: numbers
/// count every message, and the memory at `lambda` (0 is off) goes back to the first.
pub fn beats(levels: impl IntoIterator<Item = Option<HormoneLevels>>, lambda: f32, count: usize) -> Vec<Beat> {
    let read: Vec<(usize, HormoneLevels)> = (1..).zip(levels).filter_map(|(number, levels)| Some((number, levels?))).collect();
    let memory = remembered(read.iter().map(|(_, levels)| *levels), lambda);
    let all = read.iter().zip(memory);
    let last = all.skip(read.len().saturating_sub(count));
    last.map(|((number, levels), memory)| Beat { number: *number, levels: *levels, memory: (lambda > 0.0).then_some(memory) }).collect()
}

/// Where training profiles stand on a hormone's bar: one mark for all that would hide each other.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileMark {
    /// The profiles.
    pub tones: Vec<Tone>,
    /// The mean of their levels of this hormone.
    pub level: f32,
}

/// The marks of the shown profiles on one bar, by rising level.
pub fn profile_marks(shown: &[Tone], hormone: Hormone) -> Vec<ProfileMark> {
    const TOO_NEAR: f32 = 0.055;
    let mut by_level = shown.to_vec();
    by_level.sort_by(|a, b| a.levels().get(hormone).total_cmp(&b.levels().get(hormone)));
    let mut marks: Vec<ProfileMark> = Vec::new();
    for tone in by_level {
        let level = tone.levels().get(hormone);
        match marks.last_mut().filter(|mark| level - mark.level < TOO_NEAR) {
            Some(mark) => {
                let count = mark.tones.len() as f32;
                mark.level = (mark.level * count + level) / (count + 1.0);
                mark.tones.push(tone);
            }
            None => marks.push(ProfileMark { tones: vec![tone], level }),
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_five_words() {
        let words: Vec<&str> = [0.0, 0.2, 0.5, 0.79, 1.0].into_iter().map(level_word).collect();
        assert_eq!(words, ["level.very_low", "level.low", "level.medium", "level.high", "level.very_high"]);
    }

    #[test]
    fn memory_starts_at_the_first_prediction_and_then_lags() {
        let memory = remembered([[1.0; 6].into(), [0.0; 6].into()], 0.6);
        assert_eq!(memory[0].dopamine, 1.0);
        assert!((memory[1].dopamine - 0.6).abs() < 1e-6);
    }

    #[test]
    fn what_the_timeline_leaves_out_still_counts_and_is_remembered() {
        // Message 3 was not read.
        let levels: Vec<Option<HormoneLevels>> = (0..20).map(|index| (index != 2).then(|| [index as f32 / 20.0; 6].into())).collect();
        let (all, last) = (beats(levels.clone(), 0.5, 20), beats(levels.clone(), 0.5, 16));
        assert_eq!(last, all[3..], "the window only cuts");
        let numbers: Vec<usize> = all.iter().map(|beat| beat.number).collect();
        assert_eq!(numbers, (1..=20).filter(|number| *number != 3).collect::<Vec<_>>());
        assert!(beats(levels, 0.0, 16).iter().all(|beat| beat.memory.is_none()));
    }

    #[test]
    fn profiles_at_the_same_place_share_a_mark() {
        let marks = profile_marks(&Tone::ALL, Hormone::Dopamine);
        let tones: Vec<&[Tone]> = marks.iter().map(|mark| mark.tones.as_slice()).collect();
        assert_eq!(tones, [&[Tone::Rude, Tone::Sad][..], &[Tone::Neutral], &[Tone::Friendly, Tone::Excited]]);
        assert!((marks[0].level - 0.075).abs() < 1e-6);
        assert!(profile_marks(&[], Hormone::Dopamine).is_empty());
    }
}
