//! The browser that runs the tests, and its driver: named by the environment, found, or installed where that is safe.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::command::{command, on_path, output_of, run};

/// A Chrome or Chromium with the driver of its version.
pub(crate) struct Browser {
    pub(crate) chrome: PathBuf,
    pub(crate) driver: PathBuf,
}

impl Browser {
    /// Finds both; installs Debian's where this runs as root on Debian.
    pub(crate) fn ensure() -> Result<Self> {
        let found = (find_chrome()?, find_driver()?);
        let (chrome, driver) = match found {
            (Some(chrome), Some(driver)) => (Some(chrome), Some(driver)),
            (chrome, driver) if can_install_debian_packages() => {
                install_debian_packages()?;
                (chrome.or(find_chrome()?), driver.or(find_driver()?))
            }
            others => others,
        };
        Ok(Self {
            chrome: chrome.context(
                "The browser tests need Chrome or Chromium, and none was found: install one (Debian: `sudo apt-get install \
                 chromium chromium-driver`; others: https://www.google.com/chrome), or set CHROME to its program.",
            )?,
            driver: driver.context(
                "The browser tests need chromedriver, and it is not on PATH: install the version of your Chrome (Debian: `sudo \
                 apt-get install chromium-driver`; macOS: `brew install chromedriver`; others: \
                 https://googlechromelabs.github.io/chrome-for-testing), or set CHROMEDRIVER to its program.",
            )?,
        })
    }
}

fn find_chrome() -> Result<Option<PathBuf>> {
    const NAMES: [&str; 5] = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome"];
    if let Some(program) = from_environment("CHROME")? {
        return Ok(Some(program));
    }
    Ok(NAMES.into_iter().find_map(on_path).or_else(|| usual_places().into_iter().find(|place| place.is_file())))
}

fn find_driver() -> Result<Option<PathBuf>> {
    Ok(from_environment("CHROMEDRIVER")?.or_else(|| on_path("chromedriver")))
}

/// A variable that names a missing program is an error: it was set on purpose.
fn from_environment(variable: &str) -> Result<Option<PathBuf>> {
    let Some(value) = env::var_os(variable) else {
        return Ok(None);
    };
    let program = PathBuf::from(value);
    if !program.is_file() {
        bail!("{variable} is set to `{}`, but there is no such file: correct it or unset it.", program.display());
    }
    Ok(Some(program))
}

/// macOS and Windows do not put browsers on PATH.
fn usual_places() -> Vec<PathBuf> {
    if cfg!(target_os = "macos") {
        return ["Google Chrome", "Chromium"].map(|name| PathBuf::from(format!("/Applications/{name}.app/Contents/MacOS/{name}"))).into();
    }
    let folders = ["ProgramFiles", "ProgramFiles(x86)", "LocalAppData"].into_iter().filter_map(env::var_os);
    folders.map(|folder| PathBuf::from(folder).join("Google/Chrome/Application/chrome.exe")).collect()
}

fn can_install_debian_packages() -> bool {
    let is_root = output_of(command("id").arg("-u")).is_some_and(|user| user == "0");
    is_root && on_path("apt-get").is_some()
}

fn install_debian_packages() -> Result<()> {
    println!("Installing Chromium and its driver (1 to 3 minutes, once):");
    run(command("apt-get").arg("update"))?;
    run(command("apt-get")
        .args(["install", "--yes", "--no-install-recommends", "chromium", "chromium-driver"])
        .env("DEBIAN_FRONTEND", "noninteractive"))
}
