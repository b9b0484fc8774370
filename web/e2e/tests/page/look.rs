//! Languages, themes and small screens.

use anyhow::{Result, ensure};
use helt_e2e::{LaneView, Page, Wording, visit};

/// Width and height of a common phone.
const PHONE: (u32, u32) = (390, 844);

#[test]
fn dutch_changes_every_heading_and_the_pages_language() -> Result<()> {
    visit("/", |page| {
        let (english, dutch) = (Wording::of("en")?, Wording::of("nl")?);
        page.click("language-en")?;
        let before = page.wait_until("the page is English", |view| view.language == "en")?;
        ensure!(before.language == "en" && before.title == english.text("page.title")?, "Expected: English.\nThere was: {before:#?}");

        page.click("language-nl")?;
        let after = page.wait_until("the page is Dutch", |view| view.language == "nl" && view.headings != before.headings)?;
        ensure!(after.title == dutch.text("page.title")?, "Expected: a Dutch title.\nThere was: {:?}", after.title);
        ensure!(after.headings.len() == before.headings.len(), "Expected: as many headings.\nThere was: {:?}", after.headings);
        for (heading, counterpart) in before.headings.iter().zip(&after.headings) {
            let translated = english.keys_of(heading).any(|key| dutch.text(key).is_ok_and(|text| text == counterpart));
            ensure!(translated, "Expected: {heading:?} in Dutch.\nThere was: {counterpart:?}");
        }

        page.type_text("composer-input", "I GOT THE JOB!!!")?;
        let read = page.wait_until("the text is read", |view| view.has_reading())?;
        ensure!(read.bars.iter().all(|bar| bar.shown.contains(',')), "Expected: numbers with a comma.\nThere was: {:?}", read.bars);

        page.open()?;
        page.wait_until("the language is remembered", |view| view.language == "nl" && view.headings == after.headings)?;
        Ok(())
    })
}

#[test]
fn nothing_is_wider_than_a_phone_in_either_language_and_any_theme() -> Result<()> {
    visit("/", |page| {
        page.resize(PHONE.0, PHONE.1)?;
        fits_in_every_look(page, "before the first message")?;
        page.say("My grandfather died last night and the house is so quiet, incomprehensibilitiesincomprehensibilities.")?;
        page.click("own-lane")?;
        page.wait_until("the third reply is there", |view| {
            view.latest().is_some_and(|turn| turn.own.as_ref().is_some_and(LaneView::is_finished))
        })?;
        fits_in_every_look(page, "with replies")
    })
}

#[test]
fn on_a_phone_a_new_message_comes_into_view_with_its_reply() -> Result<()> {
    visit("/", |page| {
        page.resize(PHONE.0, PHONE.1)?;
        for message in ["my dog died yesterday", "I GOT THE JOB!!!"] {
            page.say(message)?;
            page.settle()?;
            let edges: Vec<f64> = page.evaluate(
                "const box = (element) => element.getBoundingClientRect();
                 const turn = [...document.querySelectorAll('[data-testid=turn]')].at(-1);
                 return [box(document.querySelector('.top')).bottom, box(probe.at('message', turn)).top,
                    box(probe.at('lane-baseline-text', turn)).bottom, box(document.querySelector('.composer')).top]",
            )?;
            ensure!(edges.is_sorted(), "Expected: message and reply between header and composer.\nTheir edges are at: {edges:?}");
        }
        Ok(())
    })
}

fn fits_in_every_look(page: &Page, moment: &str) -> Result<()> {
    for language in ["nl", "en"] {
        page.click(&format!("language-{language}"))?;
        for theme in ["one", "two", "three"] {
            page.click("theme-toggle")?;
            page.wait_until("the language is in use", |view| view.language == language)?;
            let overflow = page.overflow()?;
            let fits = overflow.window == PHONE.0 && overflow.content <= overflow.window && overflow.too_wide.is_empty();
            ensure!(fits, "Expected: nothing over the edge {moment} in {language}, theme {theme} of three.\nThere was: {overflow:#?}");
        }
    }
    Ok(())
}
