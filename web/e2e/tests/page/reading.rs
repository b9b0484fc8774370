//! What happens while a visitor writes, and what cannot be sent.

use anyhow::{Context, Result, ensure};
use helt_e2e::{Keys, View, visit};

#[test]
fn typing_moves_six_bars_and_the_heatmap_before_there_is_any_reply() -> Result<()> {
    visit("/", |page| {
        page.clear_examples()?;
        let empty = page.view()?;
        ensure!(empty.bars.len() == 6 && !empty.has_reading(), "Expected: six bars, nothing read.\nThere was: {empty:#?}");

        page.type_text("composer-input", "I GOT THE JOB!!!")?;
        let happy = page.wait_until("the whole text is read", |view| view.has_reading() && reads(view, "IGOTTHEJOB!!!"))?;
        ensure!(happy.turns.is_empty() && !happy.can_stop, "Expected: no reply yet.\nThere was: {:#?}", happy.turns);
        ensure!(happy.levels() != empty.levels(), "Expected: the bars move.\nThere was: {:?}", happy.bars);
        ensure!(happy.heatmap.percent.len() == 6, "Expected: six rows.\nThere was: {:?}", happy.heatmap);
        for row in &happy.heatmap.percent {
            let (cells, sum) = (row.len(), row.iter().sum::<f64>());
            // Each cell is rounded by up to a half.
            let sums_up = (sum - 100.0).abs() <= cells as f64 / 2.0;
            ensure!(cells == happy.heatmap.columns && sums_up, "Expected: attention that sums to 100 %.\nThere was: {row:?}");
        }

        page.set("composer-input", "")?;
        page.wait_until("an empty field is read as nothing", |view| !view.has_reading())?;
        page.type_text("composer-input", "my dog died yesterday")?;
        let sad = page.wait_until("the other text is read", |view| view.has_reading() && reads(view, "mydogdiedyesterday"))?;
        ensure!(sad.levels() != happy.levels(), "Expected: other levels for another text.\nThere was twice: {:?}", sad.levels());
        ensure!(sad.turns.is_empty(), "Expected: no reply yet.\nThere was: {:#?}", sad.turns);
        Ok(())
    })
}

#[test]
fn white_space_alone_cannot_be_sent() -> Result<()> {
    visit("/", |page| {
        page.clear_examples()?;
        let nothing_to_send = |view: &View| !view.can_send && !view.can_stop && view.turns.is_empty() && view.notices.is_empty();
        ensure!(nothing_to_send(&page.view()?), "Expected: an empty message cannot be sent.");
        page.type_text("composer-input", "   ")?;
        page.press("composer-input", Keys::Enter)?;
        let blank = page.wait_until("the field holds its spaces", |view| view.draft == "   ")?;
        ensure!(nothing_to_send(&blank) && !blank.has_reading(), "Expected: spaces are nothing to send.\nThere was: {blank:#?}");

        page.set("composer-input", " \n\t\n ")?;
        let lines = page.wait_until("the field holds its empty lines", |view| view.draft.contains('\n'))?;
        ensure!(nothing_to_send(&lines), "Expected: empty lines are nothing to send.\nThere was: {lines:#?}");

        page.type_text("composer-input", "hello")?;
        page.wait_until("a word can be sent", |view| view.can_send)?;
        Ok(())
    })
}

#[test]
fn a_message_of_a_thousand_words_is_answered_and_said_to_be_cut() -> Result<()> {
    visit("/", |page| {
        let words: Vec<String> = (0..1000).map(|number| format!("word{number}")).collect();
        page.set("composer-input", &words.join(" "))?;
        page.click("send")?;
        let turn = page.wait_until_answered(1)?;
        let cut = page.look.wording()?.is_in("turn.truncated", &turn.remark)?;
        ensure!(cut, "Expected: the page says that the message was cut.\nIt says: {:?}", turn.remark);
        ensure!(turn.message.contains("word999"), "Expected: the message is shown whole.");

        let short = page.say("I GOT THE JOB!!!").context("after the long message")?;
        ensure!(short.remark.is_empty(), "Expected: nothing to remark.\nThe page says: {:?}", short.remark);
        Ok(())
    })
}

/// Whether the heatmap's words are the text without its spaces.
fn reads(view: &View, text: &str) -> bool {
    view.heatmap.words.concat() == text
}
