//! Alpha: at 0 it changes nothing, above it changes what the model says, and the message is never read again for it.

use anyhow::{Result, ensure};
use helt_e2e::{Keys, LaneView, Page, TurnView, visit};

#[test]
fn at_alpha_zero_both_replies_are_equal_and_the_page_says_so() -> Result<()> {
    visit("/", |page| {
        let wording = page.look.wording()?;
        page.say("I GOT THE JOB!!!")?;
        page.press("alpha-slider", Keys::Home)?;
        let turn = wait_for_reply_at(page, "0.00")?;
        ensure!(turn.modulated_text() == turn.baseline_text(), "Expected: equal replies at alpha 0.\nThere was: {turn:#?}");
        ensure!(turn.says_equal, "Expected: the page says that they are equal.\nThere was: {turn:#?}");
        let remark = page.view()?.alpha.remark;
        ensure!(wording.is_in("alpha.zero", &remark)?, "Expected: the page says what alpha 0 means.\nIt says: {remark}");
        let change = page.text("formula-change")?;
        ensure!(change == format!("{} %", page.look.number("0.0")), "Expected: the formula's numbers at alpha 0.\nThere was: {change:?}");

        page.click("alpha-reset")?;
        page.wait_until("the learned alpha is back", |view| wording.is_in("alpha.learned", &view.alpha.remark).unwrap_or(false))?;
        Ok(())
    })
}

#[test]
fn a_new_alpha_renews_the_modulated_reply_alone_and_reads_nothing_again() -> Result<()> {
    visit("/", |page| {
        let before = page.say("my dog died yesterday")?;
        page.record()?;
        let answers_before = page.worker_answers()?.len();
        page.press("alpha-slider", Keys::End)?;
        let after = wait_for_reply_at(page, "1.00")?;

        let states = |lane: fn(&TurnView) -> &Option<LaneView>| -> Result<Vec<String>> {
            let turns = page.recorded()?.into_iter().flatten();
            Ok(turns.filter_map(|turn| lane(&turn).as_ref().map(|lane| lane.state.clone())).collect())
        };
        let modulated = states(|turn| &turn.modulated)?;
        ensure!(modulated.iter().any(|state| state == "streaming"), "Expected: the modulated reply is made anew.\nIt was: {modulated:?}");
        let baseline = states(|turn| &turn.baseline)?;
        ensure!(baseline.iter().all(|state| state == "finished"), "Expected: the baseline stays.\nIt was: {baseline:?}");
        ensure!(
            after.baseline == before.baseline,
            "Expected: the same baseline.\nThere was: {:?}, then {:?}",
            before.baseline,
            after.baseline
        );

        let answers = page.worker_answers()?.split_off(answers_before);
        let readings: Vec<_> =
            answers.into_iter().map(|mut answer| answer["response"].take()).filter(|answer| answer["type"] == "reading").collect();
        let encoder: Vec<_> = readings.iter().map(|reading| &reading["encoder_ms"]).collect();
        ensure!(
            !encoder.is_empty() && encoder.iter().all(|ms| ms.is_null()),
            "Expected: the encoder does not run again.\nIt took: {encoder:?} ms"
        );
        Ok(())
    })
}

#[test]
fn a_strong_alpha_changes_what_the_model_says() -> Result<()> {
    visit("/", |page| {
        let mut seen = Vec::new();
        for prompt in ["I GOT THE JOB!!!", "my dog died yesterday", "you are useless"] {
            page.say(prompt)?;
            page.set("alpha-slider", "0.5")?;
            seen.push(wait_for_reply_at(page, "0.50")?);
            page.press("alpha-slider", Keys::End)?;
            seen.push(wait_for_reply_at(page, "1.00")?);
        }
        let said = |turn: &TurnView| format!("{}: {:?} / {:?}", turn.message, turn.baseline_text(), turn.modulated_text());
        let texts: Vec<String> = seen.iter().map(said).collect();
        let changed = seen.iter().filter(|turn| turn.modulated_text() != turn.baseline_text()).count();
        ensure!(changed > 0, "Expected: some reply differs from its baseline.\nThere was: {texts:#?}");
        let honest = seen.iter().all(|turn| turn.says_equal == (turn.modulated_text() == turn.baseline_text()));
        ensure!(honest, "Expected: the page calls equal what is equal, and nothing else.\nThere was: {seen:#?}");
        Ok(())
    })
}

/// Waits until the latest turn's modulated reply is one that was made with this alpha.
fn wait_for_reply_at(page: &Page, alpha: &str) -> Result<TurnView> {
    let sign = format!("α = {}", page.look.number(alpha));
    let made_so = |turn: &TurnView| turn.modulated.as_ref().is_some_and(|lane| lane.header.contains(&sign));
    let view = page.wait_until(&format!("the modulated reply is complete and made with {sign}"), |view| {
        view.is_answered(view.turns.len()) && view.latest().is_some_and(made_so)
    })?;
    Ok(view.turns.into_iter().next_back().expect("an answered view has a turn"))
}
