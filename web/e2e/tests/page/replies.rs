//! Replies as they come, and how they are stopped.

use anyhow::{Context, Result, bail, ensure};
use helt_e2e::{Keys, LaneView, Page, TurnView, visit};

#[test]
fn both_replies_stream_side_by_side_and_end_with_their_timings() -> Result<()> {
    visit("/", |page| {
        page.record()?;
        let answered = page.say("I GOT THE JOB!!!")?;
        let recorded = page.recorded()?;
        let wording = page.look.wording()?;
        for (name, lane) in
            [("baseline", (|turn| &turn.baseline) as fn(&TurnView) -> &Option<LaneView>), ("modulated", |turn| &turn.modulated)]
        {
            let reply = lane(&answered).as_ref().with_context(|| format!("there is no {name} lane"))?;
            ensure!(!reply.text.trim().is_empty(), "Expected: a {name} reply.\nThere was: {reply:?}");
            let timed = wording.is_in("lane.timings", &reply.timings)? && reply.timings.chars().any(|mark| mark.is_ascii_digit());
            ensure!(timed, "Expected: how fast the {name} reply came.\nThere was: {:?}", reply.timings);

            let growing: Vec<&str> = texts_while_streaming(&recorded, lane);
            ensure!(growing.len() >= 2, "Expected: the {name} reply grows while it is made.\nSeen while streaming: {growing:?}");
            let grows = growing.first().map(|text| text.len()) < growing.last().map(|text| text.len());
            ensure!(grows, "Expected: the {name} reply grows.\nSeen while streaming: {growing:?}");
        }
        let together =
            recorded.iter().filter_map(|turns| turns.last()).any(|turn| is_speaking(&turn.baseline) && is_speaking(&turn.modulated));
        ensure!(together, "Expected: a moment at which both replies are growing.");
        Ok(())
    })
}

#[test]
fn stop_ends_both_replies_and_the_next_message_is_answered() -> Result<()> {
    visit("/", |page| {
        make_replies_long(page)?;
        let stopped = while_replying(page, Page::stop_at_first_word, |page, _| {
            let ended = page.wait_until("the replies have ended", |view| !view.can_stop)?;
            let turn = ended.latest().context("there is no turn")?;
            let states: Vec<&str> = [&turn.baseline, &turn.modulated].into_iter().flatten().map(|lane| lane.state.as_str()).collect();
            Ok((states == ["stopped", "stopped"]).then_some(ended))
        })?;
        let turn = stopped.latest().context("there is no turn")?;
        ensure!(!turn.baseline_text().is_empty(), "Expected: what was said before the stop stays.\nThere was: {turn:#?}");
        ensure!(turn.can_retry && stopped.notices.is_empty(), "Expected: a way to make them again, no error.\nThere was: {stopped:#?}");

        let cut_off = turn.clone();
        page.set("decoding-max_tokens", "12")?;
        let next = page.wait_until_answered(stopped.turns.len()).context("settings that change make the stopped replies anew")?;
        ensure!(next.message == cut_off.message && !next.can_retry, "Expected: the same turn, complete.\nThere was: {next:#?}");
        let answer = page.say("I GOT THE JOB!!!")?;
        ensure!(!answer.baseline_text().trim().is_empty(), "Expected: a reply after the stop.\nThere was: {answer:#?}");
        Ok(())
    })
}

#[test]
fn the_button_that_sends_and_stops_keeps_the_focus() -> Result<()> {
    visit("/", |page| {
        page.type_text("composer-input", "I GOT THE JOB!!!")?;
        page.press("send", Keys::Enter)?;
        page.wait_until_answered(1)?;
        let focused: String = page.evaluate("return document.activeElement?.dataset.testid ?? ''")?;
        ensure!(focused == "send", "Expected: the focus stays on the button.\nIt is on: {focused:?}");
        Ok(())
    })
}

#[test]
fn a_message_sent_while_replies_are_made_takes_their_place() -> Result<()> {
    const NEXT: &str = "I GOT THE JOB!!!";
    visit("/", |page| {
        make_replies_long(page)?;
        while_replying(
            page,
            |page| page.send_at_first_word(NEXT),
            |page, message| {
                let view = page.wait_until("the replies have ended", |view| !view.can_stop && view.is_answered(view.turns.len()))?;
                let [.., first, second] = view.turns.as_slice() else { return Ok(None) };
                let stopped = [&first.baseline, &first.modulated].into_iter().flatten().any(|lane| lane.state == "stopped");
                let took_their_place = first.message.contains(message) && second.message.contains(NEXT) && stopped;
                ensure!(!second.baseline_text().trim().is_empty(), "Expected: a reply to the second message.\nThere was: {second:#?}");
                Ok(took_their_place.then_some(()))
            },
        )
    })
}

#[test]
fn an_edited_message_is_sent_as_a_new_turn_and_the_old_one_stays() -> Result<()> {
    visit("/", |page| {
        page.say("my dog died")?;
        page.click("edit")?;
        page.wait_until("the message is in the composer again", |view| view.draft == "my dog died")?;
        // The focus comes with the next frame, once the text stands in the field.
        let has_focus: bool = page.evaluate(
            "return new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(() => tell(document.activeElement?.dataset.testid === 'composer-input'))))",
        )?;
        ensure!(has_focus, "Expected: the composer has the focus, so that typing goes on.");
        page.say(" yesterday")?;
        let view = page.view()?;
        let messages: Vec<&str> = view.turns.iter().map(|turn| turn.message.as_str()).collect();
        let as_expected = matches!(messages[..], [old, new] if old.ends_with("my dog died") && new.ends_with("my dog died yesterday"));
        ensure!(as_expected, "Expected: the old turn and the changed message.\nThere was: {messages:?}");
        Ok(())
    })
}

#[test]
fn a_reply_is_copied_as_it_stands_and_the_button_says_so() -> Result<()> {
    visit("/", |page| {
        // A headless browser has no clipboard to look into.
        page.evaluate::<Option<bool>>(
            "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; return null",
        )?;
        let wording = page.look.wording()?;
        let answered = page.say("I GOT THE JOB!!!")?;
        page.click("lane-modulated-copy")?;
        page.wait_for_text("lane-modulated-copy", "the button says that it copied", |text| {
            wording.is_in("lane.copied", text).unwrap_or(false)
        })?;
        let copied: String = page.evaluate("return window.copied ?? ''")?;
        ensure!(copied == answered.modulated_text(), "Expected: {:?}.\nIn the clipboard was: {copied:?}", answered.modulated_text());
        page.wait_for_text("lane-modulated-copy", "the button is as before", |text| !wording.is_in("lane.copied", text).unwrap_or(true))?;
        Ok(())
    })
}

#[test]
fn the_dice_throw_another_seed_and_the_same_seed_gives_the_same_reply() -> Result<()> {
    visit("/", |page| {
        page.click("decoding-sampling")?;
        page.wait_until("the settings of sampling are shown", |view| view.load.state == "ready")?;
        page.set("decoding-temperature", "2")?;
        page.set("decoding-seed", "7")?;
        let seed = || page.evaluate::<String>("return document.querySelector('[data-testid=decoding-seed]').value");
        let first = page.say("I GOT THE JOB!!!")?;
        page.click("dice")?;
        ensure!(seed()? != "7", "Expected: another seed.");
        let other = page.wait_until("another reply", |view| {
            view.is_answered(1) && view.latest().is_some_and(|turn| turn.modulated_text() != first.modulated_text())
        })?;
        page.set("decoding-seed", "7")?;
        page.wait_until("the first reply again", |view| {
            view.is_answered(1) && view.latest().is_some_and(|turn| turn.modulated_text() == first.modulated_text())
        })?;
        ensure!(other.notices.is_empty(), "Expected: no error.\nThere was: {:?}", other.notices);
        Ok(())
    })
}

/// Sends a message and does what is to be done while its replies are made. A sampled reply may end before, whatever its settings, so there are several
/// goes, each with another message: gives what `act` gives for the first that was in time, and `arm` comes before each.
fn while_replying<T>(page: &Page, arm: impl Fn(&Page) -> Result<()>, act: impl Fn(&Page, &str) -> Result<Option<T>>) -> Result<T> {
    const MESSAGES: [&str; 6] =
        ["tell me everything", "what is rain like?", "describe the sea", "trains and towns", "who was here?", "the long story, please"];
    for message in MESSAGES {
        arm(page)?;
        page.type_text("composer-input", message)?;
        page.click("send")?;
        if let Some(done) = act(page, message)? {
            return Ok(done);
        }
    }
    bail!("Expected: one of {} replies lasts until something is done meanwhile.", MESSAGES.len())
}

/// Replies by pure chance: the token that ends them is as unlikely as any other.
pub(crate) fn make_replies_long(page: &Page) -> Result<()> {
    page.click("decoding-sampling")?;
    page.wait_until("the settings of sampling are shown", |view| view.load.state == "ready")?;
    page.set("decoding-temperature", "2")?;
    page.set("decoding-top_p", "1")?;
    page.set("decoding-max_tokens", "200")
}

/// The different texts, none of them empty, that a lane showed before it was complete.
fn texts_while_streaming(recorded: &[Vec<TurnView>], lane: fn(&TurnView) -> &Option<LaneView>) -> Vec<&str> {
    let lanes = recorded.iter().filter_map(|turns| turns.last()).filter_map(|turn| lane(turn).as_ref());
    let mut texts: Vec<&str> = lanes.filter(|lane| lane.is_running() && !lane.text.is_empty()).map(|lane| lane.text.as_str()).collect();
    texts.dedup();
    texts
}

fn is_speaking(lane: &Option<LaneView>) -> bool {
    lane.as_ref().is_some_and(|lane| lane.state == "streaming")
}
