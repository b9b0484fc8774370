//! The page as its visitor handles it: by what the elements are for (`data-testid`, listed in README.md), never by how they are built.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use xtask::static_server::StaticServer;

use crate::browser::{Browser, Keys};
use crate::look::Look;
use crate::view::{Barrier, Feel, Overflow, TurnView, View};

/// How long anything may take on a slow machine with two busy cores.
const LIMIT: Duration = Duration::from_secs(120);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(40);

/// The page in its browser, and the server that it comes from.
#[derive(Debug)]
pub struct Page {
    /// Serves the built page.
    pub site: StaticServer,
    /// The visitor's language and screen.
    pub look: Look,
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

    /// Opens the page with what follows `#` in its address.
    pub fn open_link(&self, fragment: &str) -> Result<()> {
        // Another fragment alone would not load the page again.
        self.browser.open("about:blank")?;
        self.browser.open(&format!("{}#{fragment}", self.site.url()))
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

    /// Clears the recorded examples, where there are any.
    pub fn clear_examples(&self) -> Result<()> {
        if self.view()?.examples > 0 {
            self.click("clear")?;
            self.wait_until("the examples are gone", |view| view.examples == 0)?;
        }
        Ok(())
    }

    /// Waits until every transition is over.
    pub fn settle(&self) -> Result<()> {
        self.browser.run("return Promise.allSettled(document.getAnimations().filter((motion) => motion instanceof CSSTransition).map((motion) => motion.finished)).then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))))", Vec::new())
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

    /// Opens the model's card: by its badge, or where there is no room for that, as on a phone, by its heading.
    pub fn open_model_card(&self) -> Result<()> {
        let has_badge: bool = self.browser.run("return probe.at('model-badge')?.checkVisibility() ?? false", Vec::new())?;
        self.click(if has_badge { "model-badge" } else { "model-heading" })
    }

    /// Puts a finger on the middle of an element, moves it by so many pixels and lifts it.
    pub fn swipe(&self, id: &str, right: f64, down: f64) -> Result<()> {
        const STEPS: u32 = 10;
        let (x, y): (f64, f64) = self.browser.run(
            "const { x, y, width, height } = probe.at(arguments[0]).getBoundingClientRect(); return [x + width / 2, y + height / 2]",
            vec![json!(id)],
        )?;
        let touch =
            |kind: &str, points: Value| self.browser.devtools("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
        touch("touchStart", json!([{ "x": x, "y": y }]))?;
        for step in 1..=STEPS {
            let share = f64::from(step) / f64::from(STEPS);
            touch("touchMove", json!([{ "x": x + right * share, "y": y + down * share }]))?;
        }
        touch("touchEnd", json!([])).map(|_| ())
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

    /// Sends `text` as soon as a word of the latest reply is there.
    pub fn send_at_first_word(&self, text: &str) -> Result<()> {
        self.browser.run("probe.send_at_first_word(arguments[0])", vec![json!(text)])
    }

    /// All that the worker has said, as it came.
    pub fn worker_answers(&self) -> Result<Vec<Value>> {
        let answers: Vec<String> = self.browser.run("return probe.answers()", Vec::new())?;
        answers.iter().map(|answer| Ok(serde_json::from_str(answer)?)).collect()
    }

    /// What a script finds in the page.
    pub fn evaluate<T: DeserializeOwned>(&self, script: &str) -> Result<T> {
        self.browser.run(script, Vec::new())
    }

    /// The visible text of an element.
    pub fn text(&self, id: &str) -> Result<String> {
        self.browser.run("return probe.words(probe.at(arguments[0]))", vec![json!(id)])
    }

    /// Looks at an element's text until it is as expected.
    pub fn wait_for_text(&self, id: &str, expected: &str, as_expected: impl Fn(&str) -> bool) -> Result<String> {
        let until = Instant::now() + LIMIT;
        loop {
            let text = self.text(id)?;
            if as_expected(&text) {
                return Ok(text);
            }
            if Instant::now() > until {
                bail!("Expected within {LIMIT:?}: {expected}.\n{id} says: {text:?}");
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The file of this name that the page hands over: its text, or its `data:` address.
    pub fn saved(&self, name: &str) -> Result<String> {
        let file: Option<String> = self.browser.run("return probe.saved(arguments[0])", vec![json!(name)])?;
        file.with_context(|| format!("the page saved no {name}"))
    }

    /// Chooses files of this machine in a file field.
    pub fn choose_files(&self, id: &str, paths: &[PathBuf]) -> Result<()> {
        let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        self.browser.type_text(&css(id), &paths.join("\n"))
    }

    /// Drops a file with this text on the page; tells whether the page said, while the file hovered, what would happen.
    pub fn drop_file(&self, name: &str, text: &str) -> Result<bool> {
        self.browser.run("return probe.drop(arguments[0], arguments[1])", vec![json!(name), json!(text)])
    }

    /// Files of the model that the page loads, as they lie in the built page.
    pub fn model_files(&self) -> Result<Vec<PathBuf>> {
        let weights = self.dist.join(self.weights()?.path);
        let folder = weights.parent().context("the weights lie in a folder")?;
        Ok(std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect())
    }

    /// Sends a message and tells how the page felt meanwhile.
    pub fn feel_of_a_reply(&self, message: &str) -> Result<Feel> {
        self.browser.devtools("Performance.enable", json!({ "timeDomain": "threadTicks" }))?;
        let before = self.main_thread_ms()?;
        let feel: Feel = self.browser.run("return probe.measure_reply(arguments[0])", vec![json!(message)])?;
        Ok(Feel { own_ms: self.main_thread_ms()? - before, ..feel })
    }

    fn main_thread_ms(&self) -> Result<f64> {
        let answer = self.browser.devtools("Performance.getMetrics", json!({}))?;
        let metrics = answer["metrics"].as_array().context("the browser tells no metrics")?;
        let seconds = metrics.iter().find(|metric| metric["name"] == "TaskDuration").and_then(|metric| metric["value"].as_f64());
        Ok(seconds.context("the browser does not tell how long its tasks ran")? * 1000.0)
    }

    /// What axe-core finds; `None` where it is not at hand (`HELT_AXE` names its file).
    pub fn barriers(&self) -> Result<Option<Vec<Barrier>>> {
        let Some(file) = std::env::var_os("HELT_AXE") else { return Ok(None) };
        let source = std::fs::read_to_string(&file).with_context(|| format!("HELT_AXE: {}", file.display()))?;
        self.browser.run::<Value>(&source, Vec::new())?;
        let found = self.browser.run(
            "return axe.run(document, { resultTypes: ['violations'] }).then((report) => report.violations.map(({ id, impact, help, nodes }) => \
             ({ id, impact, help, nodes: nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`) })))",
            Vec::new(),
        )?;
        Ok(Some(found))
    }

    /// Writes what is to be seen as PNG.
    pub fn screenshot(&self, path: &std::path::Path) -> Result<()> {
        self.browser.screenshot(path)
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
