//! The page's languages. Adding one is one file in `assets/locales/` and one line in [`Locale`].

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::protocol::{Damage, WorkerError};
use crate::reading::{Column, ColumnKind};

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Locale {
    /// English.
    #[default]
    En,
    /// Dutch.
    Nl,
}

impl Locale {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::En, Self::Nl];

    /// ISO 639 code, as in `lang`.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Nl => "nl",
        }
    }

    /// Its own name.
    pub fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Nl => "Nederlands",
        }
    }

    /// The first language of `wanted` (browser codes such as `nl-BE`) that the page has.
    pub fn best<'a>(wanted: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |code: &str| Self::ALL.into_iter().find(|locale| code.split('-').next() == Some(locale.code()));
        wanted.into_iter().find_map(known).unwrap_or_default()
    }

    /// The text of a key; `None` where the language lacks it.
    pub fn lookup(self, key: &str) -> Option<&'static str> {
        self.texts().get(key).map(String::as_str)
    }

    /// The text of a key; the key itself where it is missing, which a test rules out.
    pub fn text(self, key: &str) -> String {
        self.lookup(key).unwrap_or(key).to_string()
    }

    /// The text of a key with `{name}` replaced by each value.
    pub fn format(self, key: &str, values: &[(&str, &str)]) -> String {
        values.iter().fold(self.text(key), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    /// The first two letters of each of these tones' names: one would not tell "vriendelijk" from "verdrietig".
    pub fn initials(self, tones: &[hormone_t5::Tone]) -> String {
        let short = |tone: &hormone_t5::Tone| self.text(&format!("tone.{}", tone.name())).chars().take(2).collect::<String>();
        tones.iter().map(short).collect::<Vec<_>>().join(" ")
    }

    /// What heads a column of the heatmap.
    pub fn column_head(self, column: &Column) -> String {
        match column.kind {
            ColumnKind::Word => column.label.clone(),
            ColumnKind::Prompt => self.text("attention.prompt"),
            ColumnKind::End => self.text("attention.end_mark"),
        }
    }

    /// A number with so many decimals, in this language's writing.
    pub fn number(self, value: f64, decimals: usize) -> String {
        let text = format!("{value:.decimals$}");
        match self {
            Self::En => text,
            Self::Nl => text.replace('.', ","),
        }
    }

    /// Bytes as megabytes, kilobytes or what they are.
    pub fn bytes(self, bytes: u64) -> String {
        match bytes {
            0..1000 => format!("{bytes} B"),
            1000..1_000_000 => format!("{} kB", self.number(bytes as f64 / 1e3, 0)),
            _ => format!("{} MB", self.number(bytes as f64 / 1e6, 1)),
        }
    }

    /// Milliseconds, or seconds from one second on.
    pub fn duration(self, ms: f64) -> String {
        if ms < 1000.0 { format!("{} ms", self.number(ms, 0)) } else { format!("{} s", self.number(ms / 1000.0, 1)) }
    }

    /// An error in words that say what to do.
    pub fn error(self, error: &WorkerError) -> String {
        match error {
            WorkerError::NoModel => self.text("error.no_model"),
            WorkerError::EmptyText => self.text("error.empty_text"),
            WorkerError::Network { file, reason } => self.format("error.network", &[("file", file), ("reason", reason)]),
            WorkerError::Status { file, status } => self.format("error.status", &[("file", file), ("status", &status.to_string())]),
            WorkerError::Damaged { file, damage } => self.format("error.damaged", &[("file", file), ("damage", &self.damage(damage))]),
            WorkerError::Manifest { reason } => self.format("error.manifest", &[("reason", reason)]),
            WorkerError::OwnFiles { missing } => self.format("error.own_files", &[("missing", missing)]),
            WorkerError::Model { reason } => self.format("error.model", &[("reason", reason)]),
            WorkerError::NotRemoved { reason } => self.format("error.not_removed", &[("reason", reason)]),
        }
    }

    fn damage(self, damage: &Damage) -> String {
        match damage {
            Damage::Size { expected, found } => {
                self.format("damage.size", &[("expected", &expected.to_string()), ("found", &found.to_string())])
            }
            Damage::WebPage => self.text("damage.web_page"),
            Damage::LfsPointer => self.text("damage.lfs_pointer"),
            Damage::Magic { expected } => self.format("damage.magic", &[("expected", expected)]),
            Damage::Checksum { expected, found } => {
                let short = |hash: &str| hash.chars().take(12).collect::<String>();
                self.format("damage.checksum", &[("expected", &short(expected)), ("found", &short(found))])
            }
        }
    }

    fn texts(self) -> &'static BTreeMap<String, String> {
        static ENGLISH: OnceLock<BTreeMap<String, String>> = OnceLock::new();
        static DUTCH: OnceLock<BTreeMap<String, String>> = OnceLock::new();
        let (cell, json) = match self {
            Self::En => (&ENGLISH, include_str!("../../assets/locales/en.json")),
            Self::Nl => (&DUTCH, include_str!("../../assets/locales/nl.json")),
        };
        // A file that is not JSON gives keys in place of texts; a test rules it out.
        cell.get_or_init(|| serde_json::from_str(json).unwrap_or_default())
    }
}

/// The language as a signal.
#[cfg(feature = "app")]
#[derive(Clone, Copy, Debug)]
pub struct I18n {
    /// The language now.
    pub locale: leptos::prelude::RwSignal<Locale>,
}

#[cfg(feature = "app")]
impl I18n {
    /// The language now; followed.
    pub fn now(self) -> Locale {
        leptos::prelude::Get::get(&self.locale)
    }

    /// [`Locale::text`], followed.
    pub fn text(self, key: &str) -> String {
        self.now().text(key)
    }

    /// [`Locale::format`], followed.
    pub fn format(self, key: &str, values: &[(&str, &str)]) -> String {
        self.now().format(key, values)
    }

    /// [`Locale::number`], followed.
    pub fn number(self, value: f32, decimals: usize) -> String {
        self.now().number(f64::from(value), decimals)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn keys(locale: Locale) -> BTreeSet<&'static str> {
        locale.texts().keys().map(String::as_str).collect()
    }

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name)).collect()
    }

    /// Every string literal of the sources that looks like a key.
    fn keys_in_sources(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                keys_in_sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = std::fs::read_to_string(&path).expect("text");
                let prefixes: BTreeSet<&str> =
                    Locale::En.texts().keys().filter_map(|key| key.split_once('.').map(|(prefix, _)| prefix)).collect();
                let is_key = |literal: &&str| {
                    let plain = literal.chars().all(|mark| mark.is_ascii_lowercase() || mark.is_ascii_digit() || "._".contains(mark));
                    let is_file = [".json", ".csv", ".gguf", ".safetensors"].iter().any(|end| literal.ends_with(end));
                    plain
                        && !is_file
                        && !literal.ends_with('.')
                        && literal.split_once('.').is_some_and(|(prefix, _)| prefixes.contains(prefix))
                };
                found.extend(source.split('"').filter(is_key).map(str::to_string));
            }
        }
    }

    #[test]
    fn every_language_has_every_key() {
        for locale in Locale::ALL {
            assert!(!keys(locale).is_empty(), "{}.json is not a map of texts", locale.code());
            let missing: Vec<_> = keys(Locale::En).symmetric_difference(&keys(locale)).copied().collect();
            assert!(missing.is_empty(), "{}: {missing:?}", locale.code());
        }
    }

    #[test]
    fn every_language_keeps_the_placeholders() {
        for (key, english) in Locale::En.texts() {
            for locale in Locale::ALL {
                assert_eq!(placeholders(english), placeholders(&locale.text(key)), "{key} in {}", locale.code());
            }
        }
    }

    #[test]
    fn every_key_in_the_sources_exists_and_no_text_is_left_over() {
        let mut used = BTreeSet::new();
        keys_in_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut used);
        for name in ["dopamine", "serotonin", "cortisol", "oxytocin", "adrenaline", "endorphins"] {
            used.extend(["hormone", "meaning"].map(|prefix| format!("{prefix}.{name}")));
        }
        used.extend(["friendly", "neutral", "rude", "sad", "excited"].map(|name| format!("tone.{name}")));
        used.extend(["baseline", "modulated", "own"].map(|name| format!("lane.{name}")));
        used.extend(["baseline", "modulated", "own"].map(|name| format!("lane_help.{name}")));
        used.extend(["random", "toy", "own"].into_iter().flat_map(|name| [format!("weights.{name}"), format!("weights_help.{name}")]));
        used.extend(crate::reading::STATE_NAMES.map(|name| format!("state.{name}")));
        used.extend(crate::paper::ABLATIONS.map(|ablation| format!("ablation.{}", ablation.name)));
        let manifest = hormone_t5::manifest::Manifest::from_json(include_bytes!("../../assets/models/manifest.json")).expect("readable");
        used.extend(manifest.models.iter().flat_map(|model| model.results.keys()).map(|figure| format!("figure.{figure}")));
        let known: BTreeSet<String> = keys(Locale::En).into_iter().map(str::to_string).collect();
        assert_eq!(used.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "keys without text");
        assert_eq!(known.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new(), "texts without use");
    }

    #[test]
    fn the_browsers_wishes_are_followed_in_their_order() {
        assert_eq!(Locale::best(["fr-FR", "nl-BE", "en"]), Locale::Nl);
        assert_eq!(Locale::best(["fr"]), Locale::En);
    }

    #[test]
    fn the_short_names_of_tones_are_told_apart_in_every_language() {
        for locale in Locale::ALL {
            let short: BTreeSet<String> = hormone_t5::Tone::ALL.iter().map(|tone| locale.initials(&[*tone])).collect();
            assert_eq!(short.len(), hormone_t5::Tone::ALL.len(), "{short:?}");
        }
    }

    #[test]
    fn numbers_are_written_as_the_language_does() {
        assert_eq!(Locale::En.number(0.256, 2), "0.26");
        assert_eq!(Locale::Nl.number(0.256, 2), "0,26");
        assert_eq!(Locale::Nl.bytes(11_540_000), "11,5 MB");
        assert_eq!(Locale::Nl.bytes(406), "406 B");
        assert_eq!(Locale::Nl.initials(&[hormone_t5::Tone::Rude, hormone_t5::Tone::Sad]), "gr ve");
        assert_eq!(Locale::En.duration(1500.0), "1.5 s");
    }
}
