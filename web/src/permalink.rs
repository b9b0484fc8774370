//! The page's state in the part of its address after `#`: short, versioned, tolerant of nonsense.
//!
//! `#v=1&l=nl&t=I+GOT+THE+JOB&a=0.3&p=,,0.9,,,&d=sampling&s=7`: only what differs from the defaults is written; what cannot be read is left out, and of an
//! unknown version everything.

use crate::controls::{ALPHA_MAX, DecodingKind, SEED_MAX, Settings};
use crate::i18n::Locale;

const VERSION: &str = "1";

/// What an address can say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Permalink {
    /// The message.
    pub text: String,
    /// How to answer it.
    pub settings: Settings,
    /// The language of the page; `None` is the visitor's own.
    pub locale: Option<Locale>,
}

impl Permalink {
    /// The fragment, without `#`.
    pub fn to_fragment(&self) -> String {
        let Self { text, settings, locale } = self;
        let default = Settings::default();
        let mut fragment = form_urlencoded::Serializer::new(String::new());
        fragment.append_pair("v", VERSION);
        let mut add = |key: &str, value: String, is_default: bool| {
            if !is_default {
                fragment.append_pair(key, &value);
            }
        };
        add("l", locale.map(|locale| locale.code().to_string()).unwrap_or_default(), locale.is_none());
        add("t", text.clone(), text.is_empty());
        add("a", settings.alpha.map(|alpha| alpha.to_string()).unwrap_or_default(), settings.alpha.is_none());
        let pins = settings.pins.map(|pin| pin.map(|pin| pin.to_string()).unwrap_or_default());
        add("p", pins.join(","), settings.pins == default.pins);
        add("tau", settings.attention_temperature.unwrap_or_default().to_string(), settings.attention_temperature.is_none());
        add("d", decoding_name(settings.decoding).to_string(), settings.decoding == default.decoding);
        add("temp", settings.temperature.to_string(), settings.temperature == default.temperature);
        add("k", settings.top_k.to_string(), settings.top_k == default.top_k);
        add("tp", settings.top_p.to_string(), settings.top_p == default.top_p);
        add("b", settings.num_beams.to_string(), settings.num_beams == default.num_beams);
        add("n", settings.no_repeat_ngram_size.to_string(), settings.no_repeat_ngram_size == default.no_repeat_ngram_size);
        add("m", settings.max_new_tokens.to_string(), settings.max_new_tokens == default.max_new_tokens);
        add("s", settings.seed.to_string(), settings.seed == default.seed);
        add("own", "1".to_string(), !settings.own_lane);
        fragment.finish()
    }

    /// Reads a fragment, with or without `#`; `None` where it is not one of ours.
    pub fn from_fragment(fragment: &str) -> Option<Self> {
        let fragment = fragment.trim_start_matches('#');
        let pairs: Vec<(String, String)> = form_urlencoded::parse(fragment.as_bytes()).into_owned().collect();
        let version = pairs.iter().find(|(key, _)| key == "v").map(|(_, value)| value.as_str());
        if version != Some(VERSION) {
            return None;
        }
        let mut link = Self::default();
        for (key, value) in &pairs {
            link.read(key, value);
        }
        Some(link)
    }

    fn read(&mut self, key: &str, value: &str) {
        let settings = &mut self.settings;
        match key {
            "l" => self.locale = Locale::ALL.into_iter().find(|locale| locale.code() == value),
            "t" => self.text = value.chars().take(4000).collect(),
            "a" => settings.alpha = within(value, 0.0, f64::from(ALPHA_MAX)).map(|alpha| alpha as f32),
            "p" => {
                for (pin, level) in settings.pins.iter_mut().zip(value.split(',')) {
                    *pin = within(level, 0.0, 1.0).map(|level| level as f32);
                }
            }
            "tau" => settings.attention_temperature = within(value, 0.05, 2.0),
            "d" => settings.decoding = decoding_of(value).unwrap_or_default(),
            "temp" => set(&mut settings.temperature, within(value, 0.05, 2.0)),
            "k" => set(&mut settings.top_k, within(value, 0.0, 1000.0).map(|top_k| top_k as usize)),
            "tp" => set(&mut settings.top_p, within(value, 0.01, 1.0)),
            "b" => set(&mut settings.num_beams, within(value, 1.0, 8.0).map(|beams| beams as usize)),
            "n" => set(&mut settings.no_repeat_ngram_size, within(value, 0.0, 6.0).map(|size| size as usize)),
            "m" => set(&mut settings.max_new_tokens, within(value, 1.0, 200.0).map(|tokens| tokens as usize)),
            "s" => set(&mut settings.seed, within(value, 0.0, SEED_MAX as f64).map(|seed| seed as u64)),
            "own" => settings.own_lane = value == "1",
            _ => {}
        }
    }
}

fn within(text: &str, low: f64, high: f64) -> Option<f64> {
    text.parse().ok().filter(|number| (low..=high).contains(number))
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn decoding_name(decoding: DecodingKind) -> &'static str {
    match decoding {
        DecodingKind::Greedy => "greedy",
        DecodingKind::Sampling => "sampling",
        DecodingKind::Beams => "beams",
    }
}

fn decoding_of(name: &str) -> Option<DecodingKind> {
    [DecodingKind::Greedy, DecodingKind::Sampling, DecodingKind::Beams].into_iter().find(|kind| decoding_name(*kind) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_make_a_short_fragment() {
        assert_eq!(Permalink::default().to_fragment(), "v=1");
        let link = Permalink { text: "I GOT THE JOB!!!".into(), ..Permalink::default() };
        assert_eq!(link.to_fragment(), "v=1&t=I+GOT+THE+JOB%21%21%21");
    }

    #[test]
    fn everything_survives_the_address() {
        let settings = Settings {
            alpha: Some(0.35),
            attention_temperature: Some(0.8),
            pins: [None, Some(0.25), None, Some(1.0), Some(0.0), None],
            decoding: DecodingKind::Sampling,
            temperature: 1.1,
            top_k: 40,
            top_p: 0.5,
            num_beams: 2,
            no_repeat_ngram_size: 0,
            max_new_tokens: 12,
            seed: 999_999,
            own_lane: true,
        };
        let link = Permalink { text: "ünï & = # % + 👍🏽\nnew line".into(), settings, locale: Some(Locale::Nl) };
        assert_eq!(Permalink::from_fragment(&format!("#{}", link.to_fragment())), Some(link));
    }

    #[test]
    fn nonsense_is_left_out() {
        let link = Permalink::from_fragment("#v=1&l=xx&a=7&s=-3&p=x,0.5&d=magic&temp=NaN&q=1&%%%&t=hi").expect("ours");
        let mut expected = Permalink { text: "hi".into(), ..Permalink::default() };
        expected.settings.pins[1] = Some(0.5);
        assert_eq!(link, expected);
    }

    #[test]
    fn other_addresses_are_not_ours() {
        assert_eq!(Permalink::from_fragment("#model"), None);
        assert_eq!(Permalink::from_fragment("#v=2&t=later"), None);
        assert_eq!(Permalink::from_fragment(""), None);
    }
}
