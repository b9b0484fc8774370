//! The six levels: while typing and while replies stream, set by hand, named by rule, beside the training profiles.

use anyhow::{Result, ensure};
use helt_e2e::{Keys, TurnView, Wording, visit};

#[test]
fn the_pattern_and_the_nearest_profile_are_named_in_both_languages() -> Result<()> {
    visit("/", |page| {
        page.type_text("composer-input", "I GOT THE JOB!!!")?;
        page.wait_until("the text is read", |view| view.heatmap.words.concat() == "IGOTTHEJOB!!!")?;
        for language in ["nl", "en"] {
            page.click(&format!("language-{language}"))?;
            page.wait_until("the language is in use", |view| view.language == language)?;
            let wording = Wording::of(language)?;
            let label = page.text("state-label")?;
            let name = label.strip_prefix(wording.text("state.label")?).unwrap_or_default().trim().to_string();
            ensure!(
                wording.keys_of(&name).any(|key| key.starts_with("state.")),
                "Expected: a pattern in {language}.\nThere was: {label:?}"
            );
            page.click("state-label")?;
            let rule = page.wait_for_text("state-rule", "the rule behind the label", |text| !text.is_empty())?;
            ensure!(rule.contains(['0', '.']), "Expected: the rule in words.\nThere was: {rule:?}");
            page.click("state-label")?;
            let nearest = page.text("nearest-profile")?;
            ensure!(wording.is_in("turn.nearest", &nearest)?, "Expected: the nearest profile with its distance.\nThere was: {nearest:?}");
        }
        // Profiles that stand at the same place share a mark.
        let marked = || {
            page.evaluate::<usize>(
                "return [...document.querySelectorAll('.track .profile')].flatMap((mark) => mark.textContent.split(' ')).length",
            )
        };
        page.click("profile-sad")?;
        ensure!(marked()? == 6, "Expected: one profile on six bars.\nThere were: {}", marked()?);
        page.click("profile-all")?;
        ensure!(marked()? == 30, "Expected: five profiles on six bars.\nThere were: {}", marked()?);
        page.click("levels-table")?;
        let table = page.text("levels-table")?;
        ensure!(table.contains("Adrenaline"), "Expected: the levels as a table.\nThere was: {table:?}");
        Ok(())
    })
}

#[test]
fn a_level_set_by_hand_leaves_the_predicted_one_as_a_mark_and_changes_only_the_modulated_reply() -> Result<()> {
    visit("/", |page| {
        let wording = page.look.wording()?;
        let by_hand = wording.text("lane.pinned")?;
        let before = page.say("my dog died yesterday")?;
        page.press("hormone-bar-dopamine", Keys::End)?;
        let turn = page.wait_until("the reply is made anew with the level", |view| {
            view.is_answered(1)
                && view.latest().is_some_and(|turn| turn.modulated.as_ref().is_some_and(|lane| lane.header.contains(by_hand)))
        })?;
        let baseline = |turn: Option<&TurnView>| turn.map(|turn| turn.baseline_text().to_string());
        ensure!(baseline(turn.latest()) == baseline(Some(&before)), "Expected: the same baseline.\nThere was: {:#?}", turn.latest());
        ensure!(turn.bars[0].level == Some(1.0), "Expected: the level that was set.\nThere was: {:?}", turn.bars[0]);
        page.text("hormone-ghost-dopamine")?;
        let ghosts: usize = page.evaluate("return document.querySelectorAll('.ghost').length")?;
        ensure!(ghosts == 1, "Expected: the predicted level as a mark.\nThere were {ghosts}.");
        page.press("hormone-bar-dopamine", Keys::Escape)?;
        page.wait_until("the model has its own level back", |view| view.is_answered(1) && view.bars[0].level != Some(1.0))?;
        Ok(())
    })
}

#[test]
fn a_finger_sets_a_level_along_the_bar_and_none_when_it_scrolls_the_page() -> Result<()> {
    visit("/", |page| {
        page.resize(390, 844)?;
        let pinned = || page.evaluate::<usize>("return document.querySelectorAll('.hormone.pinned').length");
        for (right, what) in [(0.0, "a tap"), (40.0, "a drag along the bar")] {
            page.swipe("hormone-bar-cortisol", right, 0.0)?;
            page.settle()?;
            ensure!(pinned()? == 1, "Expected: {what} sets the level.\nThere were {} set by hand.", pinned()?);
            page.press("hormone-bar-cortisol", Keys::Escape)?;
        }
        page.swipe("hormone-bar-cortisol", 0.0, -200.0)?;
        page.settle()?;
        let scrolled: f64 = page.evaluate("return scrollY")?;
        ensure!(scrolled > 0.0 && pinned()? == 0, "Expected: the page scrolls.\nIt went {scrolled} px; {} set by hand.", pinned()?);
        Ok(())
    })
}

#[test]
fn bars_follow_what_is_typed_while_replies_stream() -> Result<()> {
    visit("/", |page| {
        super::replies::make_replies_long(page)?;
        // A third lane makes replies longer still. On a fast machine they may end before typing rests all the same, so there are several goes.
        page.click("own-lane")?;
        let mut seen = serde_json::Value::Null;
        for seed in 1..=8 {
            page.set("decoding-seed", &seed.to_string())?;
            // No driver is fast enough to be sure of this.
            seen = page.evaluate("return probe.write_while_replying('tell me everything', 'my dog died yesterday')")?;
            if seen["running"] == true && seen["words"] == "my dog died yesterday" {
                break;
            }
        }
        let in_time = seen["running"] == true && seen["words"] == "my dog died yesterday";
        ensure!(in_time, "Expected: the draft is read before the replies end.\nThere was: {seen}");
        if page.view()?.can_stop {
            page.evaluate::<()>("probe.at('stop')?.click()")?;
        }
        page.wait_until("the replies have stopped", |view| !view.can_stop)?;
        Ok(())
    })
}
