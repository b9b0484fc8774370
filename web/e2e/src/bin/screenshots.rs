//! `cargo xtask screenshots`: the pictures of `docs/screenshots/`, taken from the running page.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use helt_e2e::{Page, visit_unopened};

/// A look at the page.
struct Shot {
    name: &'static str,
    size: (u32, u32),
    language: &'static str,
    theme: &'static str,
    messages: &'static [&'static str],
    /// What is done before the picture is taken.
    prepare: fn(&Page) -> Result<()>,
}

const TALK: [&str; 2] = ["My grandfather died last night and the house is so quiet.", "I GOT THE JOB!!!"];

const SHOTS: [Shot; 7] = [
    Shot { name: "opening", size: (1440, 900), language: "en", theme: "light", messages: &[], prepare: |_| Ok(()) },
    Shot { name: "desktop", size: (1440, 900), language: "en", theme: "light", messages: &TALK, prepare: |_| Ok(()) },
    Shot { name: "desktop-dark-dutch", size: (1440, 900), language: "nl", theme: "dark", messages: &TALK, prepare: compare_profiles },
    Shot {
        name: "formula",
        size: (1440, 900),
        language: "en",
        theme: "dark",
        messages: &TALK,
        prepare: |page| scroll_to(page, "timeline"),
    },
    Shot { name: "model", size: (1024, 768), language: "en", theme: "light", messages: &TALK, prepare: open_model },
    Shot {
        name: "phone-dutch",
        size: (390, 844),
        language: "nl",
        theme: "light",
        messages: &TALK,
        prepare: |page| scroll_to(page, "hormones"),
    },
    Shot {
        name: "phone-dark",
        size: (390, 844),
        language: "en",
        theme: "dark",
        messages: &TALK,
        prepare: |page| scroll_to(page, "lane-modulated"),
    },
];

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().context("usage: screenshots FOLDER [NAME]")?);
    let wanted = arguments.next().map(|name| name.to_string_lossy().into_owned());
    std::fs::create_dir_all(&folder)?;
    for shot in SHOTS.iter().filter(|shot| wanted.as_deref().is_none_or(|wanted| shot.name.contains(wanted))) {
        visit_unopened("/", |page| take(page, shot, &folder))?;
    }
    Ok(())
}

fn take(page: &Page, shot: &Shot, folder: &Path) -> Result<()> {
    page.resize(shot.size.0, shot.size.1)?;
    page.open()?;
    page.evaluate::<()>(&format!("localStorage.setItem('helt.theme', '\"{}\"')", shot.theme))?;
    page.open_link(&format!("v=1&l={}", shot.language))?;
    page.wait_until_ready()?;
    for message in shot.messages {
        page.say(message)?;
    }
    (shot.prepare)(page)?;
    page.settle()?;
    let path = folder.join(format!("{}.png", shot.name));
    page.screenshot(&path)?;
    println!("{} ({} kB)", path.display(), std::fs::metadata(&path)?.len() / 1000);
    Ok(())
}

fn compare_profiles(page: &Page) -> Result<()> {
    page.click("profile-all")
}

fn open_model(page: &Page) -> Result<()> {
    page.open_model_card()?;
    page.wait_for_text("curves-summary", "the curve is drawn", |text| !text.is_empty())?;
    scroll_to(page, "results-table")
}

fn scroll_to(page: &Page, id: &str) -> Result<()> {
    page.evaluate(&format!("[...document.querySelectorAll('[data-testid=\"{id}\"]')].at(-1).scrollIntoView({{ block: 'start' }})"))
}
