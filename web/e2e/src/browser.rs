//! A browser with an empty profile, as plain calls that wait for their answer.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::common::config::WebDriverConfig;
use thirtyfour::extensions::cdp::ChromeDevTools;
use thirtyfour::support::block_on;
use thirtyfour::{By, Capabilities, RequestData, SessionId, WebDriver, WebElement};

use crate::chromedriver::Chromedriver;
use crate::look::Look;
use crate::network_log::NetworkLog;
use crate::setup::Setup;

/// The arguments that the WebAssembly tests give their browser too.
const ARGUMENTS: &str = include_str!("../../webdriver.json");
/// How long one command may take on a busy machine.
const COMMAND_LIMIT: Duration = Duration::from_secs(180);

/// A browser; dropping it closes it.
#[derive(Debug)]
pub(crate) struct Browser {
    // Before the chromedriver: fields are dropped in this order.
    driver: WebDriver,
    _chromedriver: Chromedriver,
    network_log: NetworkLog,
}

/// Keys without a character, as WebDriver writes them.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    /// Enter.
    Enter,
    /// Home.
    Home,
    /// End.
    End,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow right.
    Right,
    /// Escape.
    Escape,
}

impl Keys {
    fn code(self) -> &'static str {
        match self {
            Self::Enter => "\u{E007}",
            Self::Home => "\u{E011}",
            Self::End => "\u{E010}",
            Self::Up => "\u{E013}",
            Self::Down => "\u{E015}",
            Self::Right => "\u{E014}",
            Self::Escape => "\u{E00C}",
        }
    }
}

impl Browser {
    /// Starts a driver and its browser. `on_new_document` runs in every page before the page's own scripts.
    pub(crate) fn start(setup: &Setup, look: Look, on_new_document: &str) -> Result<Self> {
        let chromedriver = Chromedriver::start(&setup.chromedriver)?;
        let config = WebDriverConfig::builder().reqwest_timeout(COMMAND_LIMIT).build()?;
        let network_log = NetworkLog::new()?;
        let driver = block_on(WebDriver::new_with_config(chromedriver.url(), capabilities(setup, look, &network_log)?, config));
        let driver = driver.context("the browser did not start")?;
        let browser = Self { driver, _chromedriver: chromedriver, network_log };
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": on_new_document }))?;
        Ok(browser)
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) fn open(&self, url: &str) -> Result<()> {
        block_on(self.driver.goto(url)).with_context(|| format!("opening {url}"))
    }

    /// Runs a script's body in the page and takes what it returns.
    pub(crate) fn run<T: DeserializeOwned>(&self, script: &str, arguments: Vec<Value>) -> Result<T> {
        let answer = block_on(self.driver.execute(script, arguments)).with_context(|| format!("running {script}"))?;
        serde_json::from_value(answer.json().clone()).with_context(|| format!("the answer to {script} was {}", answer.json()))
    }

    /// Clicks where the mouse would, in the middle of the window: at its edges bars that stay in place may lie over the page.
    pub(crate) fn click(&self, css: &str) -> Result<()> {
        self.run::<()>("document.querySelector(arguments[0])?.scrollIntoView({ block: 'center' })", vec![css.into()])?;
        Ok(block_on(self.find(css)?.click())?)
    }

    /// Types characters as the keyboard does.
    pub(crate) fn type_text(&self, css: &str, text: &str) -> Result<()> {
        Ok(block_on(self.find(css)?.send_keys(text))?)
    }

    /// Presses a key.
    pub(crate) fn press(&self, css: &str, key: Keys) -> Result<()> {
        self.type_text(css, key.code())
    }

    /// What the console got since the last call.
    pub(crate) fn console(&self) -> Result<Vec<Value>> {
        block_on(self.driver.cmd(ReadConsole)).and_then(|answer| answer.value()).context("reading the console")
    }

    /// A command of <https://chromedevtools.github.io/devtools-protocol>.
    pub(crate) fn devtools(&self, command: &str, parameters: Value) -> Result<Value> {
        let tools = ChromeDevTools::new(self.driver.handle.clone());
        block_on(tools.execute_cdp_with_params(command, parameters)).with_context(|| command.to_string())
    }

    /// Writes what is to be seen as PNG.
    pub(crate) fn screenshot(&self, path: &Path) -> Result<()> {
        Ok(block_on(self.driver.screenshot(path))?)
    }

    /// Closes the browser and tells what its pages and workers asked for.
    pub(crate) fn close(self) -> Result<Vec<String>> {
        block_on(self.driver.quit()).context("closing the browser")?;
        self.network_log.asked_by_pages()
    }

    fn find(&self, css: &str) -> Result<WebElement> {
        Ok(block_on(self.driver.find(By::Css(css)))?)
    }
}

fn capabilities(setup: &Setup, look: Look, network_log: &NetworkLog) -> Result<Capabilities> {
    let mut capabilities: Capabilities = serde_json::from_str(ARGUMENTS).context("web/webdriver.json")?;
    let options = &mut capabilities["goog:chromeOptions"];
    if let Some(arguments) = options["args"].as_array_mut() {
        arguments.push(format!("--window-size={},{}", look.size.0, look.size.1).into());
        // The page asks for the browser's languages.
        arguments.push(format!("--accept-lang={}", look.language).into());
        arguments.push(network_log.argument().into());
    }
    if let Some(chrome) = &setup.chrome {
        options["binary"] = chrome.to_string_lossy().into();
    }
    capabilities.insert("goog:loggingPrefs".into(), json!({ "browser": "ALL" }));
    Ok(capabilities)
}

/// Chromedriver's own command for the console.
#[derive(Debug)]
struct ReadConsole;

impl FormatRequestData for ReadConsole {
    fn format_request(&self, session: &SessionId) -> RequestData {
        RequestData::new(Method::POST, format!("session/{session}/se/log")).add_body(json!({ "type": "browser" }))
    }
}
