//! What this browser remembers: language, theme, and whether loading a model ended well. Nothing of it leaves the device.

use gloo_storage::{LocalStorage, SessionStorage, Storage};
use leptos::prelude::window_event_listener_untyped;
use serde::{Deserialize, Serialize};

use crate::i18n::Locale;

const LOCALE: &str = "helt.locale";
const THEME: &str = "helt.theme";
const LOADING: &str = "helt.loading";

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// The next one of the toggle.
    pub(super) fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    /// Key of its name.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::System => "theme.system",
            Self::Light => "theme.light",
            Self::Dark => "theme.dark",
        }
    }

    /// Value of `data-theme` on the root.
    pub(super) fn attribute(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The language chosen before, else the browser's.
pub(super) fn locale() -> Locale {
    LocalStorage::get(LOCALE).unwrap_or_else(|_| {
        let languages = web_sys::window().map(|window| window.navigator().languages());
        let languages: Vec<String> = languages.into_iter().flatten().filter_map(|language| language.as_string()).collect();
        Locale::best(languages.iter().map(String::as_str))
    })
}

/// Remembers the language.
pub(super) fn remember_locale(locale: Locale) {
    // A browser that forbids storing forgets; nothing else is lost.
    let _ = LocalStorage::set(LOCALE, locale);
}

/// The theme chosen before.
pub(super) fn theme() -> Theme {
    LocalStorage::get(THEME).unwrap_or_default()
}

/// Remembers the theme.
pub(super) fn remember_theme(theme: Theme) {
    let _ = LocalStorage::set(THEME, theme);
}

/// A model is being loaded.
pub(super) fn loading_begins() {
    let _ = SessionStorage::set(LOADING, true);
}

/// Loading ended, well or with an error, but without a crash.
pub(super) fn loading_ended() {
    SessionStorage::delete(LOADING);
}

/// From now on a page that is left while its model loads, or loaded anew, has not crashed: browsers tell only pages that still run that they are left.
pub(super) fn tell_leaving_from_crashing() {
    // The page listens as long as it lives.
    window_event_listener_untyped("pagehide", |_| loading_ended());
}

/// Whether the page went away in the middle of loading.
pub(super) fn loading_crashed() -> bool {
    SessionStorage::get(LOADING).unwrap_or(false)
}
