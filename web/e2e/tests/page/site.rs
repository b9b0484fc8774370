//! Where the page comes from and what it asks for.

use anyhow::{Result, ensure};
use helt_e2e::{Keys, LaneView, visit, visit_unopened};

#[test]
fn the_page_works_in_a_folder_of_its_host() -> Result<()> {
    visit("/demo/", |page| {
        page.say("I GOT THE JOB!!!")?;
        let requests = page.site.requests();
        let strays: Vec<_> = requests.iter().filter(|request| !request.path.starts_with("/demo/") || request.status >= 400).collect();
        ensure!(strays.is_empty(), "Expected: every request is for a file under /demo/.\nThere was: {strays:#?}");
        Ok(())
    })
}

#[test]
fn a_whole_visit_asks_no_other_host_and_leaves_no_error_in_the_console() -> Result<()> {
    visit("/", |page| {
        page.click("preset-sad")?;
        page.wait_until("an example is read", |view| view.has_reading())?;
        page.press("composer-input", Keys::Enter)?;
        page.wait_until_answered(1)?;
        for id in ["language-nl", "theme-toggle", "theme-toggle", "raw-pieces", "end-token", "profile-sad", "own-lane", "decoding-beams"] {
            page.click(id)?;
        }
        page.wait_until("a third reply is there", |view| {
            view.latest().is_some_and(|turn| turn.own.as_ref().is_some_and(LaneView::is_finished))
        })?;
        page.press("hormone-bar-dopamine", Keys::End)?;
        page.press("alpha-slider", Keys::End)?;
        page.wait_until_answered(1)?;
        page.click("reset")?;
        page.wait_until_answered(1)?;
        page.say("you are useless")?;
        page.click("clear")?;
        page.wait_until("the conversation is empty", |view| view.turns.is_empty())?;
        page.open()?;
        page.wait_until_ready()?;

        let errors = page.console_errors()?;
        ensure!(errors.is_empty(), "Expected: no error in the console.\nThere was: {errors:#?}");
        // Every visit ends with a look at what page and worker asked for; this one has made them do all they can.
        Ok(())
    })
}

#[test]
fn a_page_that_is_loaded_anew_while_its_model_loads_loads_it_all_the_same() -> Result<()> {
    visit_unopened("/", |page| {
        page.open()?;
        page.wait_until("the model is being loaded", |view| matches!(view.load.state.as_str(), "loading" | "ready"))?;
        page.open()?;
        page.wait_until_ready()?;
        Ok(())
    })
}

#[test]
fn the_second_visit_takes_the_weights_from_the_browser() -> Result<()> {
    visit("/", |page| {
        let weights = format!("/{}", page.weights()?.path);
        let fetched = || page.site.requests().iter().filter(|request| request.path == weights).count();
        ensure!(fetched() == 1, "Expected: the first visit fetches the weights once.\nIt was {} times.", fetched());
        page.site.clear_requests();
        page.open()?;
        page.wait_until_ready()?;
        ensure!(fetched() == 0, "Expected: the second visit fetches no weights.\nIt was {} times.", fetched());
        page.say("I GOT THE JOB!!!")?;
        Ok(())
    })
}
