//! Weights that are not what the manifest says: told in words, harmless, and mended by another try.

use anyhow::{Result, ensure};
use helt_e2e::{Page, Weights, Wording, visit_unopened};

#[test]
fn weights_with_flipped_bytes_are_refused_by_their_checksum() -> Result<()> {
    visit_unopened("/", |page| {
        let Weights { path, mut bytes } = page.weights()?;
        let middle = bytes.len() / 2;
        bytes[middle..middle + 16].iter_mut().for_each(|byte| *byte ^= 0xFF);
        refuses_then_recovers(page, &path, bytes, "damage.checksum")
    })
}

#[test]
fn a_web_page_in_place_of_the_weights_is_told_as_such() -> Result<()> {
    visit_unopened("/", |page| {
        let path = page.weights()?.path;
        refuses_then_recovers(page, &path, b"<!doctype html><title>Not found</title>".to_vec(), "damage.web_page")
    })
}

#[test]
fn weights_that_are_cut_off_are_told_with_their_size() -> Result<()> {
    visit_unopened("/", |page| {
        let Weights { path, mut bytes } = page.weights()?;
        bytes.truncate(bytes.len() / 3);
        refuses_then_recovers(page, &path, bytes, "damage.size")
    })
}

/// Serves `damaged` weights, wants the words of `key` and a page that lives, then the true weights and a reply.
fn refuses_then_recovers(page: &Page, path: &str, damaged: Vec<u8>, key: &str) -> Result<()> {
    let wording = page.look.wording()?;
    page.site.replace(path, damaged);
    page.open()?;
    let refused = page.wait_until("a notice about the weights", |view| !view.notices.is_empty())?;
    let notice = &refused.notices[0];
    let file = path.rsplit('/').next().unwrap_or(path);
    let told = wording.is_in("error.damaged", notice)? && wording.is_in(key, notice)? && notice.contains(file);
    ensure!(told, "Expected: a notice that says {:?} of {file}.\nThe page says: {notice}", wording.text(key)?);
    ensure!(refused.load.state == "failed", "Expected: the model has failed to load.\nThere was: {:?}", refused.load);

    for language in ["nl", "en"] {
        page.click(&format!("language-{language}"))?;
        let notices = page.wait_until("the page still obeys", |view| view.language == language && view.notices.len() == 1)?.notices;
        ensure!(Wording::of(language)?.is_in(key, &notices[0])?, "Expected: the notice in {language}.\nThe page says: {}", notices[0]);
    }
    page.type_text("composer-input", "hello")?;
    let waiting = page.wait_until("the page still takes text", |view| view.draft == "hello")?;
    ensure!(!waiting.can_send, "Expected: nothing can be sent without a model.");

    let fetched = || page.site.requests().iter().filter(|request| request.path.ends_with(path)).count();
    let fetched_before = fetched();
    page.click("retry-load")?;
    page.wait_until("weights that are still damaged are fetched and refused again", |view| {
        view.load.state == "failed" && view.notices.len() == 1 && fetched() > fetched_before
    })?;
    page.site.restore(path);
    page.click("retry-load")?;
    page.wait_until("the true weights make the model ready", |view| view.load.state == "ready" && view.notices.is_empty())?;
    page.set("composer-input", "")?;
    page.say("I GOT THE JOB!!!")?;
    Ok(())
}

#[test]
fn a_worker_that_cannot_start_is_started_again_and_what_a_dead_one_was_asked_for_is_no_crash() -> Result<()> {
    visit_unopened("/", |page| {
        page.site.replace("worker_loader.js", "throw new Error('no room');");
        page.open()?;
        page.wait_until("the worker is dead", |view| view.load.state == "dead")?;
        page.drop_file("model.gguf", "no model")?;
        page.site.restore("worker_loader.js");
        page.click("restart")?;
        page.wait_until("the model is loaded", |view| view.load.state == "ready")?;
        let errors = page.console_errors()?;
        ensure!(errors.iter().all(|error| error.contains("no room")), "Expected: the worker's own error alone.\nThere was: {errors:#?}");
        Ok(())
    })
}
