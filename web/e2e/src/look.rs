//! How a visitor looks at the page: language and screen. The whole suite is run once for each look; `HELT_LOOK` names it.

use std::env;

use anyhow::{Result, bail};
use xtask::LOOKS;

use crate::wording::Wording;

/// Language and screen of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Name in `HELT_LOOK`.
    pub name: &'static str,
    /// The browser's language.
    pub language: &'static str,
    /// Width and height of the window.
    pub size: (u32, u32),
}

impl Look {
    /// All looks; the first is the usual one.
    pub const ALL: [Self; 2] =
        [Self { name: LOOKS[0], language: "en", size: (1280, 900) }, Self { name: LOOKS[1], language: "nl", size: (390, 844) }];

    pub(crate) fn from_environment() -> Result<Self> {
        let Ok(wanted) = env::var("HELT_LOOK") else { return Ok(Self::ALL[0]) };
        match Self::ALL.into_iter().find(|look| look.name == wanted) {
            Some(look) => Ok(look),
            None => bail!("HELT_LOOK is \"{wanted}\", but the looks are {:?}.", Self::ALL.map(|look| look.name)),
        }
    }

    /// What the page says in this language.
    pub fn wording(&self) -> Result<Wording> {
        Wording::of(self.language)
    }

    /// A number that is written with a point, as this language writes it.
    pub fn number(&self, english: &str) -> String {
        if self.language == "nl" { english.replace('.', ",") } else { english.to_string() }
    }
}
