//! What the user sets: [`Settings`] is the plain whole, [`Controls`] one signal for each so that a view follows only what it shows.

use hormone_t5::generation::{Decoding, GenerationConfig};
use serde::{Deserialize, Serialize};

use crate::protocol::{Lane, LaneRequest};

/// Largest alpha that can be set.
pub const ALPHA_MAX: f32 = 1.0;
/// The range that training keeps alpha in.
pub const ALPHA_TRAINED: std::ops::RangeInclusive<f32> = 0.1..=0.5;
/// Largest seed: every number up to here is exact in JavaScript too.
pub const SEED_MAX: u64 = 999_999;

/// How tokens are chosen; the numbers of the kinds not in use stay set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecodingKind {
    /// Always the likeliest token.
    #[default]
    Greedy,
    /// At random, by probability.
    Sampling,
    /// Whole replies followed at once.
    Beams,
}

/// Everything a reply depends on beside the text.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Settings {
    /// `None` is the learned alpha.
    pub alpha: Option<f32>,
    /// The block's tau; `None` is the model's own.
    pub attention_temperature: Option<f64>,
    /// Levels set by hand.
    pub pins: [Option<f32>; 6],
    /// How tokens are chosen.
    pub decoding: DecodingKind,
    /// Of sampling.
    pub temperature: f64,
    /// Of sampling; 0 is off.
    pub top_k: usize,
    /// Of sampling; 1 is off.
    pub top_p: f64,
    /// Of beam search.
    pub num_beams: usize,
    /// 0 is off.
    pub no_repeat_ngram_size: usize,
    /// Longest reply.
    pub max_new_tokens: usize,
    /// Of sampling.
    pub seed: u64,
    /// Whether a third lane shows the levels set by hand, and the second keeps the predicted ones.
    pub own_lane: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            alpha: None,
            attention_temperature: None,
            pins: [None; 6],
            decoding: DecodingKind::Greedy,
            temperature: 0.8,
            top_k: 0,
            top_p: 0.92,
            num_beams: 4,
            no_repeat_ngram_size: 3,
            max_new_tokens: 60,
            seed: 42,
            own_lane: false,
        }
    }
}

impl Settings {
    /// The lanes that are shown.
    pub fn lanes(&self) -> Vec<Lane> {
        let own = self.own_lane.then_some(Lane::Own);
        [Lane::Baseline, Lane::Modulated].into_iter().chain(own).collect()
    }

    /// How a lane's reply is made. Both lanes get the same seed and rules, so that a difference is the hormones'.
    pub fn config(&self, lane: Lane) -> GenerationConfig {
        let pinned = match lane {
            Lane::Baseline => false,
            Lane::Modulated => !self.own_lane,
            Lane::Own => true,
        };
        GenerationConfig {
            decoding: self.decoding(),
            alpha: if lane == Lane::Baseline { Some(0.0) } else { self.alpha },
            levels: if pinned { self.pins } else { [None; 6] },
            no_repeat_ngram_size: self.no_repeat_ngram_size,
            max_new_tokens: self.max_new_tokens.max(1),
            seed: self.seed,
            cross_attention: true,
            ..GenerationConfig::default()
        }
    }

    /// A request for one lane.
    pub fn lane_request(&self, lane: Lane) -> LaneRequest {
        LaneRequest { lane, config: self.config(lane) }
    }

    fn decoding(&self) -> Decoding {
        match self.decoding {
            DecodingKind::Greedy => Decoding::Greedy,
            DecodingKind::Sampling => Decoding::Sampling {
                temperature: self.temperature.max(0.05),
                top_k: Some(self.top_k).filter(|top_k| *top_k > 0),
                top_p: Some(self.top_p).filter(|top_p| *top_p < 1.0),
            },
            DecodingKind::Beams => Decoding::Beams { num_beams: self.num_beams.clamp(1, GenerationConfig::MAX_BEAMS), length_penalty: 1.0 },
        }
    }
}

/// Where a slider's arrow, page and home keys lead from `value`; `None` for other keys.
pub fn slider_key(key: &str, value: f32, max: f32) -> Option<f32> {
    let next = match key {
        "ArrowRight" | "ArrowUp" => value + 0.01,
        "ArrowLeft" | "ArrowDown" => value - 0.01,
        "PageUp" => value + 0.1,
        "PageDown" => value - 0.1,
        "Home" => 0.0,
        "End" => max,
        _ => return None,
    };
    Some((next.clamp(0.0, max) * 100.0).round() / 100.0)
}

/// The settings as signals.
#[cfg(feature = "app")]
#[derive(Clone, Copy, Debug)]
pub struct Controls {
    /// See [`Settings::alpha`].
    pub alpha: leptos::prelude::RwSignal<Option<f32>>,
    /// See [`Settings::pins`].
    pub pins: leptos::prelude::RwSignal<[Option<f32>; 6]>,
    /// All others, which seldom change.
    pub rest: leptos::prelude::RwSignal<Settings>,
}

#[cfg(feature = "app")]
mod signals {
    use leptos::prelude::*;

    use super::{Controls, Settings};

    impl Controls {
        /// Signals that start at `settings`.
        pub fn new(settings: Settings) -> Self {
            Self { alpha: RwSignal::new(settings.alpha), pins: RwSignal::new(settings.pins), rest: RwSignal::new(settings) }
        }

        /// All as one; follows every signal.
        pub fn settings(self) -> Settings {
            Settings { alpha: self.alpha.get(), pins: self.pins.get(), ..self.rest.get() }
        }

        /// All as one, without following.
        pub fn settings_now(self) -> Settings {
            untrack(|| self.settings())
        }

        /// Sets all.
        pub fn set(self, settings: Settings) {
            self.alpha.set(settings.alpha);
            self.pins.set(settings.pins);
            self.rest.set(settings);
        }

        /// Pins one level, or releases it.
        pub fn pin(self, hormone: usize, level: Option<f32>) {
            self.pins.update(|pins| pins[hormone] = level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_differ_in_nothing_but_alpha_and_levels() {
        let settings =
            Settings { decoding: DecodingKind::Sampling, seed: 7, alpha: Some(0.4), pins: [Some(1.0); 6], ..Settings::default() };
        let (baseline, modulated) = (settings.config(Lane::Baseline), settings.config(Lane::Modulated));
        assert_eq!(baseline.alpha, Some(0.0));
        assert_eq!(modulated.alpha, Some(0.4));
        assert_eq!(GenerationConfig { alpha: modulated.alpha, levels: modulated.levels, ..baseline }, modulated);
    }

    #[test]
    fn pins_move_to_the_third_lane_when_it_is_shown() {
        let mut settings = Settings { pins: [Some(0.2); 6], ..Settings::default() };
        assert_eq!(settings.config(Lane::Modulated).levels, [Some(0.2); 6]);
        settings.own_lane = true;
        assert_eq!(settings.config(Lane::Modulated).levels, [None; 6]);
        assert_eq!(settings.config(Lane::Own).levels, [Some(0.2); 6]);
        assert_eq!(settings.lanes(), [Lane::Baseline, Lane::Modulated, Lane::Own]);
    }

    #[test]
    fn every_decoding_kind_passes_the_models_checks() {
        for decoding in [DecodingKind::Greedy, DecodingKind::Sampling, DecodingKind::Beams] {
            for (top_k, top_p) in [(0, 1.0), (40, 0.5)] {
                let settings = Settings { decoding, top_k, top_p, ..Settings::default() };
                settings.config(Lane::Modulated).check().expect("valid");
            }
        }
    }

    #[test]
    fn slider_keys_stay_in_range() {
        assert_eq!(slider_key("ArrowRight", 0.5, 1.0), Some(0.51));
        assert_eq!(slider_key("PageDown", 0.05, 1.0), Some(0.0));
        assert_eq!(slider_key("End", 0.5, 1.0), Some(1.0));
        assert_eq!(slider_key("a", 0.5, 1.0), None);
    }
}
