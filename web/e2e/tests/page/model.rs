//! The model's card and record: figures beside the paper's, curves, limits; and the mood memory that is none of it.

use anyhow::{Result, ensure};
use helt_e2e::{Wording, visit};

#[test]
fn the_model_panel_tells_how_good_the_model_is_and_what_it_is_not_for() -> Result<()> {
    visit("/", |page| {
        page.open_model_card()?;
        for language in ["nl", "en"] {
            page.click(&format!("language-{language}"))?;
            let wording = Wording::of(language)?;
            let limits = page
                .wait_for_text("limits", "the limits in this language", |text| text.contains(wording.text("limits.use").unwrap_or("?")))?;
            ensure!(limits.contains(wording.text("limits.abstraction")?), "Expected: that it has no feelings.\nThere was: {limits}");
            let table = page.text("results-table")?;
            let paper = if language == "nl" { "87,2 %" } else { "87.2 %" };
            ensure!(table.contains(paper), "Expected: the paper's figure beside ours.\nThere was: {table}");
            ensure!(page.text("ablation-table")?.contains(wording.text("ablation.detached")?), "Expected: the ablations.");
        }
        page.wait_for_text("curves-summary", "the loss curve in a sentence", |text| !text.is_empty())?;
        let lines: usize = page.evaluate("return document.querySelectorAll('.curve polyline').length")?;
        ensure!(lines == 3, "Expected: three lines.\nThere were {lines}.");
        let card = page.text("model-panel")?;
        ensure!(card.contains("SHA-256") && card.contains("MIT"), "Expected: checksum and licence.\nThere was: {card}");
        Ok(())
    })
}

#[test]
fn no_number_of_the_record_is_broken_over_lines() -> Result<()> {
    visit("/", |page| {
        page.open_model_card()?;
        for (width, height) in [(1440, 900), (1024, 768), (390, 844)] {
            page.resize(width, height)?;
            for language in ["nl", "en"] {
                page.click(&format!("language-{language}"))?;
                let broken: Vec<String> = page.evaluate(
                    "const lines = cell => cell.getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight);
                     return [...document.querySelectorAll('[data-testid=model-panel] dd')]
                        .filter(cell => /^[0-9.,]+$/.test(cell.textContent) && lines(cell) > 1.5 && cell.offsetWidth < 60)
                        .map(cell => cell.textContent)",
                )?;
                ensure!(broken.is_empty(), "Expected: whole numbers at {width} x {height} in {language}.\nBroken: {broken:?}");
            }
        }
        Ok(())
    })
}

#[test]
fn mood_memory_is_off_marked_as_a_simulation_and_acts_only_when_asked() -> Result<()> {
    visit("/", |page| {
        let wording = page.look.wording()?;
        let by_hand = wording.text("lane.pinned")?;
        page.say("my dog died yesterday")?;
        page.say("I GOT THE JOB!!!")?;
        let marks = || page.evaluate::<usize>("return document.querySelectorAll('.beat .memory').length");
        ensure!(marks()? == 0, "Expected: no memory before it is switched on.");
        page.set("memory-slider", "0.5")?;
        page.wait_for_text("memory-note", "what it is", |text| text.contains("simulati"))?;
        ensure!(marks()? == 12, "Expected: a mark for each level.\nThere were {}.", marks()?);
        page.click("pin-memory")?;
        page.wait_until("the bars stand at the memory, and the reply is made anew", |view| {
            view.is_answered(2)
                && view.latest().is_some_and(|turn| turn.modulated.as_ref().is_some_and(|lane| lane.header.contains(by_hand)))
        })?;
        Ok(())
    })
}

#[test]
fn removed_downloads_are_said_to_be_gone_and_the_model_still_answers() -> Result<()> {
    visit("/", |page| {
        let wording = page.look.wording()?;
        page.open_model_card()?;
        page.click("delete-downloads")?;
        let removed = wording.text("model.removed")?;
        page.wait_for_text("downloads-removed", "that they are gone", |text| text == removed)?;
        let state = page.view()?.load.text;
        ensure!(!wording.is_in("load.ready_stored", &state)?, "Expected: nothing is kept for the next visit.\nThere was: {state:?}");
        page.say("I GOT THE JOB!!!")?;
        Ok(())
    })
}

#[test]
fn the_data_flow_lights_up_with_the_part_at_work() -> Result<()> {
    visit("/", |page| {
        page.evaluate::<()>(
            "window.stages = []; new MutationObserver(() => stages.push(probe.at('data-flow').dataset.stage)).observe(probe.at('data-flow'), { attributes: true })",
        )?;
        page.say("I GOT THE JOB!!!")?;
        let stages: Vec<String> = page.evaluate("return stages")?;
        for stage in ["encoder", "decoder", "resting"] {
            ensure!(stages.iter().any(|seen| seen == stage), "Expected: the {stage} lights up.\nSeen: {stages:?}");
        }
        Ok(())
    })
}
