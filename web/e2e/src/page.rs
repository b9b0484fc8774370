//! The page as its visitor handles it: by what the elements are for (`data-testid`, listed in README.md), never by how they are built.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask::static_server::StaticServer;

use crate::browser::{Browser, Keys};
use crate::view::{Overflow, TurnView, View};

/// How long anything may take on a slow machine with two busy cores.
const LIMIT: Duration = Duration::from_secs(120);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(40);

/// The page in its browser, and the server that it comes from.
#[derive(Debug)]
pub struct Page {
    /// Serves the built page.
    pub site: StaticServer,
    pub(crate) dist: PathBuf,
    pub(crate) browser: Browser,
}

/// The default model's weights as they lie in the built page.
#[derive(Debug)]
pub struct Weights {
    /// Path on the site, as `models/tiny/model.gguf`.
    pub path: String,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Page {
    /// Opens the page, or opens it anew.
    pub fn open(&self) -> Result<()> {
        self.browser.open(&self.site.url())
    }

    /// The weights of the model that the page loads.
    pub fn weights(&self) -> Result<Weights> {
        let manifest = std::fs::read(self.dist.join("models/manifest.json")).context("models/manifest.json")?;
        let manifest: Value = serde_json::from_slice(&manifest).context("models/manifest.json")?;
        let models = manifest["models"].as_array().context("the manifest lists no models")?;
        let default = models.iter().find(|model| model["id"] == manifest["default"]).context("the manifest lacks its default")?;
        let path = default["files"]["weights"]["path"].as_str().context("the manifest names no weights")?;
        let path = format!("models/{path}");
        Ok(Weights { bytes: std::fs::read(self.dist.join(&path)).with_context(|| path.clone())?, path })
    }

    /// What is to be seen.
    pub fn view(&self) -> Result<View> {
        self.browser.run("return probe.view()", Vec::new())
    }

    /// Looks until the view is as expected; the error tells what was expected and what is there.
    pub fn wait_until(&self, expected: &str, as_expected: impl Fn(&View) -> bool) -> Result<View> {
        let until = Instant::now() + LIMIT;
        loop {
            let view = self.view()?;
            if as_expected(&view) {
                return Ok(view);
            }
            if Instant::now() > until {
                bail!("Expected within {LIMIT:?}: {expected}.\nThere was: {view:#?}");
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits for the model; an error notice ends the waiting at once.
    pub fn wait_until_ready(&self) -> Result<View> {
        let view = self.wait_until("the model is ready", |view| view.load.state == "ready" || !view.notices.is_empty())?;
        if !view.notices.is_empty() {
            bail!("Expected: the model is ready.\nThe page says: {:?}", view.notices);
        }
        Ok(view)
    }

    /// Waits until the newest of `count` turns has both replies.
    pub fn wait_until_answered(&self, count: usize) -> Result<TurnView> {
        let view = self.wait_until(&format!("turn {count} has two complete replies"), |view| view.is_answered(count))?;
        view.latest().cloned().context("there is no turn")
    }

    /// Types a message, sends it with Enter and waits for both replies.
    pub fn say(&self, message: &str) -> Result<TurnView> {
        let count = self.view()?.turns.len() + 1;
        self.type_text("composer-input", message)?;
        self.press("composer-input", Keys::Enter)?;
        self.wait_until_answered(count)
    }

    /// Clicks, once it can be clicked.
    pub fn click(&self, id: &str) -> Result<()> {
        let until = Instant::now() + LIMIT;
        // An element that is drawn anew between finding and clicking is no fault of the page.
        while let Err(error) = self.browser.click(&css(id)) {
            if Instant::now() > until {
                return Err(error.context(format!("{id} could not be clicked")));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Types as the keyboard does.
    pub fn type_text(&self, id: &str, text: &str) -> Result<()> {
        self.browser.type_text(&css(id), text).with_context(|| format!("typing into {id}"))
    }

    /// Presses a key.
    pub fn press(&self, id: &str, key: Keys) -> Result<()> {
        self.browser.press(&css(id), key).with_context(|| format!("pressing {key:?} on {id}"))
    }

    /// Sets a field to a value, with the events that a visitor's hand causes.
    pub fn set(&self, id: &str, value: &str) -> Result<()> {
        self.browser.run("probe.set(arguments[0], arguments[1])", vec![json!(id), json!(value)])
    }

    /// From now on keeps every state of the conversation.
    pub fn record(&self) -> Result<()> {
        self.browser.run("probe.record()", Vec::new())
    }

    /// Every state of the conversation since [`Page::record`], each once.
    pub fn recorded(&self) -> Result<Vec<Vec<TurnView>>> {
        self.browser.run("return probe.states()", Vec::new())
    }

    /// Presses stop as soon as a word of the latest reply is there.
    pub fn stop_at_first_word(&self) -> Result<()> {
        self.browser.run("probe.stop_at_first_word()", Vec::new())
    }

    /// All that the worker has said, as it came.
    pub fn worker_answers(&self) -> Result<Vec<Value>> {
        let answers: Vec<String> = self.browser.run("return probe.answers()", Vec::new())?;
        answers.iter().map(|answer| Ok(serde_json::from_str(answer)?)).collect()
    }

    /// Gives the window the size of a screen.
    pub fn resize(&self, width: u32, height: u32) -> Result<()> {
        // Not `mobile`: there a window grows with its content, and nothing would ever overflow.
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.browser.devtools("Emulation.setDeviceMetricsOverride", screen).map(|_| ())
    }

    /// Whether everything fits the window.
    pub fn overflow(&self) -> Result<Overflow> {
        self.browser.run("return probe.overflow()", Vec::new())
    }

    /// The console's errors since the last call.
    pub fn console_errors(&self) -> Result<Vec<String>> {
        let entries = self.browser.console()?;
        Ok(entries.iter().filter(|entry| entry["level"] == "SEVERE").map(|entry| entry["message"].to_string()).collect())
    }
}

fn css(id: &str) -> String {
    format!("[data-testid=\"{id}\"]")
}
