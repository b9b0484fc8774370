//! Chromium's own log of the network (`--log-net-log`): the only one that knows what a worker asks for, and that tells it from what the browser
//! asks for by itself (updates, the time of day): each request has the origin that caused it.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

/// The initiator of what the browser asks for by itself, and of the address that is opened.
const THE_BROWSER: &str = "not an origin";

/// A log that is being written; complete once its browser is closed.
#[derive(Debug)]
pub(crate) struct NetworkLog {
    folder: TempDir,
}

impl NetworkLog {
    /// A log in a fresh folder.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { folder: tempfile::tempdir()? })
    }

    /// Has the browser write it.
    pub(crate) fn argument(&self) -> String {
        format!("--log-net-log={}", self.path().display())
    }

    /// Every address that a page or a worker asked for.
    pub(crate) fn asked_by_pages(&self) -> Result<Vec<String>> {
        let log = fs::read_to_string(self.path()).context("the browser wrote no log of its requests")?;
        Ok(asked_by_pages(&log))
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("network.json")
    }
}

/// One event stands on each line; a log of a browser that ended badly lacks its end, and its last line may be torn.
fn asked_by_pages(log: &str) -> Vec<String> {
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line.trim_end_matches(',')).ok());
    let requests = events.filter_map(|mut event| {
        let Value::Object(parameters) = event["params"].take() else { return None };
        let initiator = parameters.get("initiator")?.as_str()?;
        let of_a_page = initiator != THE_BROWSER && !initiator.starts_with("chrome");
        of_a_page.then(|| parameters.get("url")?.as_str().map(str::to_string)).flatten()
    });
    requests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_browser_asks_for_by_itself_is_left_out() {
        let log = r#"{"constants":{},
"events": [
{"params":{"initiator":"not an origin","url":"https://update.example/"},"type":2},
{"params":{"initiator":"http://127.0.0.1:8080","url":"http://127.0.0.1:8080/app.js"},"type":2},
{"phase":1,"type":3},
{"params":{"initiator":"http://127.0.0.1:8080","url":"https://fonts.example/a.css"},"type":2},
{"params":{"initia"#;
        assert_eq!(asked_by_pages(log), ["http://127.0.0.1:8080/app.js", "https://fonts.example/a.css"]);
    }
}
