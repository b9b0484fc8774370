//! Where hormones and decoder look: word, cell and bar light up together, by pointer and by keys.

use anyhow::{Result, ensure};
use helt_e2e::{Keys, LaneView, visit};

#[test]
fn arrow_keys_walk_through_the_heatmap_and_link_word_cell_and_bar() -> Result<()> {
    visit("/", |page| {
        let wording = page.look.wording()?;
        page.say("I GOT THE JOB!!!")?;
        for key in [Keys::Down, Keys::Down, Keys::Right] {
            page.press("heatmap", key)?;
        }
        let readout = page.wait_for_text("attention-readout", "the cell in a sentence", |text| text.contains("Serotonin"))?;
        ensure!(
            wording.is_in("attention.readout", &readout)? && readout.contains("GOT"),
            "Expected: serotonin and the second word.\nThere was: {readout}"
        );
        let lit: (usize, usize, String) = page.evaluate(
            "return [document.querySelectorAll('.heatmap td.chosen').length, document.querySelectorAll('.hormone.pointed').length, \
             document.querySelector('.message .word.pointed')?.textContent ?? '']",
        )?;
        ensure!(lit == (1, 1, "GOT".to_string()), "Expected: one cell, one bar, the word.\nThere was: {lit:?}");
        page.press("heatmap", Keys::Escape)?;
        page.wait_for_text("attention-readout", "nothing is pointed at", str::is_empty)?;
        let strongest = page.text("attention-strongest")?;
        ensure!(wording.is_in("attention.strongest", &strongest)?, "Expected: the strongest words.\nThere was: {strongest}");

        page.click("raw-pieces")?;
        page.click("end-token")?;
        let words = page.wait_until("the end mark is gone", |view| view.heatmap.columns == view.heatmap.words.len())?.heatmap.words;
        ensure!(words.iter().any(|word| word.contains('▁')), "Expected: raw pieces.\nThere was: {words:?}");
        page.click("caveat")?;
        Ok(())
    })
}

#[test]
fn a_chosen_reply_word_shows_where_the_decoder_looked_in_both_lanes() -> Result<()> {
    visit("/", |page| {
        let wording = page.look.wording()?;
        let (baseline, modulated) = (wording.text("lane.baseline")?.to_string(), wording.text("lane.modulated")?.to_string());
        page.say("I GOT THE JOB!!!")?;
        page.press("lane-modulated-text", Keys::Right)?;
        page.press("lane-modulated-text", Keys::Enter)?;
        page.wait_for_text("cross-attention", "a table of the decoder's attention", |text| {
            [&baseline, &modulated].iter().all(|lane| text.contains(lane.as_str()))
        })?;
        let rows: Vec<f64> = page.evaluate(
            "return [...document.querySelectorAll('.cross tbody tr')].map((row) => [...row.querySelectorAll('td')].reduce((sum, cell) => sum + Number(cell.textContent), 0))",
        )?;
        ensure!(rows.len() == 2 && rows.iter().all(|sum| (sum - 100.0).abs() < 6.0), "Expected: two rows of 100 %.\nThere was: {rows:?}");
        page.click("cross-close")?;
        page.wait_for_text("cross-attention", "the table is gone", str::is_empty)?;
        Ok(())
    })
}

#[test]
fn a_lower_tau_sharpens_attention_and_the_encoder_does_not_run_again() -> Result<()> {
    visit("/", |page| {
        page.say("I GOT THE JOB!!!")?;
        let strongest = || -> Result<f64> {
            page.evaluate(
                "return Math.max(...[...document.querySelectorAll('.heatmap td')].map((cell) => parseFloat(cell.textContent) || 0))",
            )
        };
        let answers_before = page.worker_answers()?.len();
        let before = strongest()?;
        page.set("tau-slider", "0.05")?;
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while strongest()? <= before {
            ensure!(std::time::Instant::now() < until, "Expected: more than {before} % at a low tau.\nThere was: {} %", strongest()?);
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let answers = page.worker_answers()?.split_off(answers_before);
        let encoder: Vec<_> = answers
            .iter()
            .filter(|answer| answer["response"]["type"] == "reading")
            .map(|answer| &answer["response"]["encoder_ms"])
            .collect();
        ensure!(
            !encoder.is_empty() && encoder.iter().all(|ms| ms.is_null()),
            "Expected: only the block runs.\nThe encoder took: {encoder:?} ms"
        );
        Ok(())
    })
}

#[test]
fn an_older_message_can_be_inspected() -> Result<()> {
    visit("/", |page| {
        page.say("my dog died yesterday")?;
        page.say("I GOT THE JOB!!!")?;
        page.click("inspect")?;
        let view =
            page.wait_until("the first message is in the instruments", |view| view.heatmap.words.concat() == "mydogdiedyesterday")?;
        ensure!(view.turns.len() == 2, "Expected: the conversation stays.\nThere was: {:#?}", view.turns);
        page.say("thank you")?;
        page.wait_until("a new message takes its place", |view| view.heatmap.words.concat() == "thankyou")?;
        Ok(())
    })
}

#[test]
fn a_setting_renews_the_message_that_is_inspected_and_no_other() -> Result<()> {
    visit("/", |page| {
        page.say("my dog died yesterday")?;
        let newest = page.say("I GOT THE JOB!!!")?;
        page.click("inspect")?;
        page.press("alpha-slider", Keys::End)?;
        let sign = format!("α = {}", page.look.number("1.00"));
        let anew = |lane: &LaneView| lane.is_finished() && lane.header.contains(&sign);
        let view = page.wait_until("the first message is answered anew", |view| {
            view.turns.first().is_some_and(|turn| turn.modulated.as_ref().is_some_and(anew))
        })?;
        let kept = view.latest().is_some_and(|turn| (&turn.baseline, &turn.modulated) == (&newest.baseline, &newest.modulated));
        ensure!(kept, "Expected: the other message keeps its replies.\nThere was: {:#?}", view.latest());
        page.click("inspect")?;
        page.wait_for_text("made-before-note", "the other replies are said to be made with other settings", |text| !text.is_empty())?;
        page.click("make-anew")?;
        page.wait_until("they are made anew", |view| view.latest().is_some_and(|turn| turn.modulated.as_ref().is_some_and(anew)))?;
        Ok(())
    })
}
