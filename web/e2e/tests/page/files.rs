//! What leaves and enters the page as files and links: nothing of it goes anywhere else.

use anyhow::{Context, Result, ensure};
use helt_e2e::{Keys, visit};
use serde_json::Value;

#[test]
fn the_session_is_saved_as_json_markdown_and_csv_and_opens_again_as_recorded() -> Result<()> {
    visit("/", |page| {
        let turn = page.say("I GOT THE JOB!!!")?;
        for id in ["save-session", "save-markdown", "save-csv"] {
            page.click(id)?;
        }
        let json = page.saved("helt-session.json")?;
        let session: Value = serde_json::from_str(&json)?;
        ensure!(
            session["schema"] == 1 && session["turns"][0]["text"] == "I GOT THE JOB!!!",
            "Expected: the session.\nThere was: {session:#?}"
        );
        let markdown = page.saved("helt-session.md")?;
        ensure!(markdown.contains(turn.baseline_text().trim()), "Expected: the baseline in Markdown.\nThere was: {markdown}");
        let csv = page.saved("helt-levels.csv")?;
        ensure!(csv.starts_with("message,text,model") && csv.lines().count() == 2, "Expected: one message.\nThere was: {csv}");

        let folder = tempfile::tempdir()?;
        let (good, bad) = (folder.path().join("good.json"), folder.path().join("bad.json"));
        std::fs::write(&good, &json)?;
        std::fs::write(&bad, "{}")?;
        page.choose_files("import-session", &[bad])?;
        page.wait_for_text("import-failed", "a file that is no session is refused in words", |text| !text.is_empty())?;
        page.choose_files("import-session", &[good])?;
        let wording = page.look.wording()?;
        let recorded = wording.text("lane.recorded")?;
        page.wait_for_text("recorded-tag", "the turn is marked as recorded", |text| text == recorded)?;
        let opened = page.view()?.latest().cloned().context("there is no turn")?;
        ensure!(opened.modulated_text() == turn.modulated_text(), "Expected: the same reply.\nThere was: {opened:#?}");
        page.say("thank you")?;
        let both = page.view()?.turns.len();
        ensure!(both == 2, "Expected: what was opened stays beside what is new.\nThere were {both} turns.");
        Ok(())
    })
}

#[test]
fn a_session_dropped_on_the_page_opens_and_any_other_file_is_refused_in_words() -> Result<()> {
    visit("/", |page| {
        page.say("I GOT THE JOB!!!")?;
        page.click("save-session")?;
        let session = page.saved("helt-session.json")?;
        page.click("clear")?;
        page.wait_until("the conversation is empty", |view| view.turns.is_empty())?;
        page.click("bring-back")?;
        page.wait_until("the conversation is back", |view| view.turns.len() == 1)?;
        page.click("clear")?;
        page.wait_until("the conversation is empty again", |view| view.turns.is_empty())?;
        ensure!(page.drop_file("helt-session.json", &session)?, "Expected: the page says what will happen while a file hovers.");
        page.wait_until("the session is open", |view| view.latest().is_some_and(|turn| turn.message.contains("I GOT THE JOB!!!")))?;
        page.drop_file("notes.json", "{}")?;
        page.wait_for_text("drop-failed", "a file that is no session is refused in words", |text| !text.is_empty())?;
        page.drop_file("holiday.jpg", "no model")?;
        let refused = page.wait_until("a file that is no model is refused in words", |view| !view.notices.is_empty())?;
        ensure!(refused.load.state == "ready", "Expected: the model before still answers.\nThere was: {:?}", refused.load);
        page.click("close-load-error")?;
        page.wait_until("the notice is closed", |view| view.notices.is_empty())?;
        page.say("thank you")?;
        Ok(())
    })
}

#[test]
fn every_chart_is_saved_as_svg_and_as_png() -> Result<()> {
    visit("/", |page| {
        page.say("my dog died yesterday")?;
        page.say("I GOT THE JOB!!!")?;
        page.open_model_card()?;
        page.wait_for_text("curves-summary", "the curve is drawn", |text| !text.is_empty())?;
        for name in ["levels", "attention", "timeline", "curve"] {
            page.click(&format!("svg-{name}"))?;
            let svg = page.saved(&format!("helt-{name}.svg"))?;
            let has_colours = !svg.contains("var(") && svg.contains("fill=\"#");
            ensure!(svg.starts_with("<svg") && svg.ends_with("</svg>") && has_colours, "Expected: {name} as SVG.\nThere was: {svg:.400}");
            page.click(&format!("png-{name}"))?;
            let png = page.saved(&format!("helt-{name}.png"))?;
            ensure!(png.starts_with("data:image/png;base64,") && png.len() > 4000, "Expected: {name} as PNG.\nThere was: {png:.100}");
        }
        Ok(())
    })
}

#[test]
fn own_files_make_a_model_that_wears_a_badge() -> Result<()> {
    visit("/", |page| {
        page.open_model_card()?;
        page.choose_files("own-files", &page.model_files()?)?;
        page.wait_for_text("model-badge", "the model is the visitor's own", |text| text.contains("model.gguf"))?;
        page.wait_until_ready()?;
        page.say("I GOT THE JOB!!!")?;
        let badge = page.text("weights-badge")?;
        ensure!(badge == page.look.wording()?.text("weights.own")?, "Expected: a badge on the lane.\nThere was: {badge:?}");
        Ok(())
    })
}

#[test]
fn a_link_carries_language_message_and_settings() -> Result<()> {
    visit("/", |page| {
        page.click("language-nl")?;
        page.type_text("composer-input", "my dog died yesterday")?;
        page.press("alpha-slider", Keys::End)?;
        page.click("copy-link")?;
        let fragment: String = page.evaluate("return location.hash")?;
        ensure!(fragment.contains("l=nl") && fragment.contains("a=1"), "Expected: language and alpha in the link.\nThere was: {fragment}");
        page.evaluate::<()>("localStorage.clear()")?;
        page.open_link(fragment.trim_start_matches('#'))?;
        let view = page.wait_until("the link's state is there, and read", |view| {
            view.language == "nl" && view.draft == "my dog died yesterday" && view.heatmap.words.concat() == "mydogdiedyesterday"
        })?;
        ensure!(view.alpha.shown == "1,00", "Expected: the link's alpha.\nThere was: {:?}", view.alpha);
        page.open_link("v=1&a=nonsense&l=xx&zzz")?;
        page.wait_until("nonsense is left out", |view| view.load.state == "ready")?;
        Ok(())
    })
}

#[test]
fn a_link_put_into_the_address_of_an_open_page_is_followed_and_other_addresses_change_nothing() -> Result<()> {
    visit("/", |page| {
        page.evaluate::<()>("location.hash = 'v=1&l=nl&t=my+dog+died+yesterday&a=1'")?;
        let view = page.wait_until("the link's state is there, and read", |view| {
            view.language == "nl" && view.draft == "my dog died yesterday" && view.heatmap.words.concat() == "mydogdiedyesterday"
        })?;
        ensure!(view.alpha.shown == "1,00", "Expected: the link's alpha.\nThere was: {:?}", view.alpha);
        page.evaluate::<()>("location.hash = 'elsewhere'")?;
        page.settle()?;
        let after = page.view()?;
        ensure!(after.draft == view.draft && after.alpha == view.alpha, "Expected: all stays.\nThere was: {after:#?}");
        Ok(())
    })
}

#[test]
fn the_ways_to_the_model_and_to_the_text_field_leave_the_link_in_the_address() -> Result<()> {
    visit("/", |page| {
        page.click("copy-link")?;
        let fragment = || page.evaluate::<String>("return location.hash");
        let link = fragment()?;
        ensure!(link.starts_with("#v=1"), "Expected: a link in the address.\nThere was: {link:?}");
        page.open_model_card()?;
        let is_open: bool = page.evaluate("return probe.at('model-panel').open")?;
        page.evaluate::<()>("probe.at('skip').click()")?;
        let has_focus: bool = page.evaluate("return document.activeElement?.dataset.testid === 'composer-input'")?;
        ensure!(is_open && has_focus, "Expected: the card is open and the text field has the focus.\nThere was: {is_open}, {has_focus}");
        ensure!(fragment()? == link, "Expected: the same link.\nThere was: {:?}", fragment()?);
        Ok(())
    })
}

#[test]
fn the_link_button_says_what_became_of_the_link_and_goes_back() -> Result<()> {
    visit("/", |page| {
        let wording = page.look.wording()?;
        let offer = wording.text("session.link")?;
        for (clipboard, key) in
            [("Promise.resolve()", "session.link_done"), ("Promise.reject(new Error('closed'))", "session.link_in_address")]
        {
            page.evaluate::<()>(&format!("navigator.clipboard.writeText = () => {clipboard}"))?;
            page.click("copy-link")?;
            let said = wording.text(key)?;
            page.wait_for_text("copy-link", "what became of the link", |text| text == said)?;
            page.wait_for_text("copy-link", "the offer again", |text| text == offer)?;
        }
        Ok(())
    })
}

#[test]
fn recorded_replies_say_that_settings_do_not_change_them_and_can_be_made_here() -> Result<()> {
    visit("/", |page| {
        let message = "I GOT THE JOB!!!";
        page.say(message)?;
        page.click("save-session")?;
        let session = page.saved("helt-session.json")?;
        page.drop_file("helt-session.json", &session)?;
        page.wait_for_text("recorded-tag", "the turn is recorded", |text| !text.is_empty())?;
        let notes = || page.evaluate::<usize>("return document.querySelectorAll('[data-testid=recorded-note]').length");
        ensure!(notes()? == 0, "Expected: nothing to say while the settings are those of the recording.");
        page.press("alpha-slider", Keys::End)?;
        page.wait_for_text("recorded-note", "that recorded replies do not change", |text| !text.is_empty())?;
        page.click("run-recorded")?;
        let made = page.wait_until_answered(2)?;
        ensure!(made.message.ends_with(message), "Expected: the same message.\nThere was: {made:#?}");
        ensure!(notes()? == 0, "Expected: no remark on a reply that was made here.");
        Ok(())
    })
}

#[test]
fn arrow_up_walks_through_all_earlier_messages() -> Result<()> {
    visit("/", |page| {
        page.say("my dog died yesterday")?;
        page.say("I GOT THE JOB!!!")?;
        for expected in ["I GOT THE JOB!!!", "my dog died yesterday"] {
            page.press("composer-input", Keys::Up)?;
            page.wait_until("the message before", |view| view.draft == expected)?;
        }
        for expected in ["I GOT THE JOB!!!", ""] {
            page.press("composer-input", Keys::Down)?;
            page.wait_until("the message after", |view| view.draft == expected)?;
        }
        Ok(())
    })
}
