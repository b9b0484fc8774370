//! One test's visit to the page, from an empty browser to its end, with a report where it fails.

use std::panic::Location;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use xtask::static_server::StaticServer;

use crate::browser::Browser;
use crate::look::Look;
use crate::page::Page;
use crate::setup::Setup;

/// Opens the page under `prefix` (`/` or `/demo/`), waits for its model and runs `test`. Then it fails all the same if the console holds an error, if
/// the page or its worker asked another host for anything, or if the server lacked a file.
#[track_caller]
pub fn visit(prefix: &str, test: impl FnOnce(&Page) -> Result<()>) -> Result<()> {
    visit_unopened(prefix, |page| {
        page.open()?;
        page.wait_until_ready()?;
        test(page)
    })
}

/// The same, but `test` opens the page itself.
#[track_caller]
pub fn visit_unopened(prefix: &str, test: impl FnOnce(&Page) -> Result<()>) -> Result<()> {
    // One at a time: two browsers, each with a model, would make a small machine miss every deadline.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(setup) = Setup::from_environment()? else { return Ok(()) };
    let site = StaticServer::start(&setup.dist, prefix)?;
    let look = Look::from_environment()?;
    let browser = Browser::start(&setup, look, include_str!("probe.js"))?;
    let page = Page { site, look, dist: setup.dist, browser };
    let place = Location::caller();
    let outcome = page
        .resize(look.size.0, look.size.1)
        .and_then(|()| test(&page))
        .and_then(|()| logs_no_error(&page))
        .map_err(|error| error.context(report(&page, place)));
    let Page { site, browser, .. } = page;
    // Closed in any case, and before the network log is read.
    let asked = browser.close();
    outcome?;
    asks_one_host(&site, &asked?)
}

fn logs_no_error(page: &Page) -> Result<()> {
    let errors = page.console_errors()?;
    ensure!(errors.is_empty(), "Expected: no error in the console.\nThere was: {errors:#?}");
    Ok(())
}

fn asks_one_host(site: &StaticServer, asked: &[String]) -> Result<()> {
    let origin = site.url();
    let of_the_worker = format!("{origin}models/manifest.json");
    ensure!(asked.contains(&of_the_worker), "Expected: the browser's log knows of {of_the_worker}.\nIt knows of: {asked:#?}");
    // Pictures that are made in the page have addresses that lead nowhere.
    let of_the_page = |address: &str| [origin.as_str(), "data:", "blob:"].iter().any(|start| address.starts_with(start));
    let foreign: Vec<_> = asked.iter().filter(|address| !of_the_page(address)).collect();
    ensure!(foreign.is_empty(), "Expected: no request for anything outside {origin}.\nAsked for: {foreign:#?}");
    let missing: Vec<_> = site.requests().into_iter().filter(|request| request.status >= 400).collect();
    ensure!(missing.is_empty(), "Expected: the server has every file that is asked for.\nIt lacks: {missing:#?}");
    Ok(())
}

/// What a failed test tells beside its error.
fn report(page: &Page, place: &Location<'_>) -> String {
    let errors = page.console_errors().unwrap_or_else(|error| vec![error.to_string()]);
    let test = Path::new(place.file()).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let picture = std::env::temp_dir().join(format!("helt-e2e-{test}-{}.png", place.line()));
    let picture = match page.browser.screenshot(&picture) {
        Ok(()) => picture.display().to_string(),
        Err(error) => format!("none: {error}"),
    };
    format!("the visit at {place}; screenshot: {picture}; errors in the console: {errors:#?}")
}
