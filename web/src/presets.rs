//! Texts to start from: one for each tone, and the cases the model's authors found hard. They are English, as the model is.

/// A text with the key of its name in the locales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Key of its name.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

/// All presets, the five tones first.
pub const PRESETS: [Preset; 9] = [
    Preset { name: "preset.excited", text: "I GOT THE JOB!!!" },
    Preset { name: "preset.friendly", text: "Thank you so much for helping me move, you are the best." },
    Preset { name: "preset.sad", text: "My grandfather died last night and the house is so quiet." },
    Preset { name: "preset.rude", text: "You are useless, stop wasting my time!" },
    Preset { name: "preset.neutral", text: "The library opens at nine on weekdays." },
    Preset { name: "preset.sarcasm", text: "Oh great, another Monday. Just what I needed." },
    Preset { name: "preset.capitals", text: "HAPPY BIRTHDAY TO MY LITTLE BROTHER, I LOVE HIM SO MUCH" },
    Preset { name: "preset.mixed", text: "I passed the exam, but my best friend failed." },
    Preset { name: "preset.negation", text: "I am not angry with you, not at all." },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_has_a_name_in_every_language() {
        for preset in PRESETS {
            for locale in crate::i18n::Locale::ALL {
                assert!(locale.lookup(preset.name).is_some(), "{} lacks {}", locale.code(), preset.name);
            }
        }
    }
}
