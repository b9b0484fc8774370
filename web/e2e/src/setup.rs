//! What `cargo xtask test` hands over in the environment: the built page, the browser and its driver.

use std::env;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The built page (`HELT_DIST`).
    pub(crate) dist: PathBuf,
    /// The browser (`CHROME`); `None` lets chromedriver look for one.
    pub(crate) chrome: Option<PathBuf>,
    /// Its driver (`CHROMEDRIVER`).
    pub(crate) chromedriver: PathBuf,
}

impl Setup {
    /// `None` where there is no built page to test and nobody promised one.
    pub(crate) fn from_environment() -> Result<Option<Self>> {
        let Some(dist) = variable("HELT_DIST") else {
            if env::var("CI").is_ok_and(|value| value == "true") {
                bail!("HELT_DIST is not set, so there is no built page to test; in CI that is an error.");
            }
            // Not `eprintln`: what a passing test prints is never shown.
            let reason = "skipped: HELT_DIST is not set; `cargo xtask test --only e2e` builds the page and tests it.";
            // A closed standard error has no reader to tell.
            let _ = writeln!(std::io::stderr(), "{reason}");
            return Ok(None);
        };
        let dist = dist.canonicalize().with_context(|| format!("HELT_DIST is {}", dist.display()))?;
        ensure!(dist.join("index.html").is_file(), "HELT_DIST is {}, but there is no index.html in it.", dist.display());
        let chromedriver = variable("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        Ok(Some(Self { dist, chrome: variable("CHROME"), chromedriver }))
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
