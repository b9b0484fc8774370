//! The page for everyone: no barrier that axe-core knows, headings in order, a page that answers and stays in place while replies come.

use anyhow::{Context, Result, ensure};
use helt_e2e::{Feel, Page, visit};

#[test]
fn axe_finds_no_barrier_in_either_theme_on_desktop_and_phone() -> Result<()> {
    visit("/", |page| {
        page.say("my dog died yesterday")?;
        page.say("I GOT THE JOB!!!")?;
        page.press("lane-modulated-text", helt_e2e::Keys::Right)?;
        page.press("lane-modulated-text", helt_e2e::Keys::Enter)?;
        page.evaluate::<()>("document.querySelectorAll('details').forEach((details) => (details.open = true))")?;
        page.wait_for_text("curves-summary", "the model's record", |text| !text.is_empty())?;
        page.click("decoding-sampling")?;
        page.wait_until_answered(2)?;
        for (width, height, language) in [(1280, 900, "en"), (390, 844, "nl")] {
            page.resize(width, height)?;
            page.click(&format!("language-{language}"))?;
            for _ in ["light", "dark"] {
                page.click("theme-toggle")?;
                page.settle()?;
                find_no_barrier(page, width)?;
            }
        }
        Ok(())
    })
}

fn find_no_barrier(page: &Page, width: u32) -> Result<()> {
    let theme: String = page.evaluate("return document.documentElement.dataset.theme")?;
    let Some(barriers) = page.barriers()? else { return Ok(()) };
    let grave: Vec<_> = barriers
        .iter()
        .filter(|barrier| matches!(barrier.impact.as_deref(), Some("serious" | "critical")) || barrier.id == "heading-order")
        .collect();
    ensure!(grave.is_empty(), "Expected: no serious barrier at width {width}, theme {theme}.\nThere was: {grave:#?}");
    Ok(())
}

#[test]
fn headings_skip_no_level() -> Result<()> {
    visit("/", |page| {
        page.say("I GOT THE JOB!!!")?;
        let levels: Vec<u8> =
            page.evaluate("return [...document.querySelectorAll('h1, h2, h3, h4')].map((heading) => Number(heading.tagName[1]))")?;
        let first = *levels.first().context("there is no heading")?;
        ensure!(
            first == 1 && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "Expected: no level is skipped.\nThere was: {levels:?}"
        );
        Ok(())
    })
}

#[test]
fn no_task_of_the_page_takes_50_ms_and_nothing_jumps_while_a_reply_streams() -> Result<()> {
    visit("/", |page| {
        // The first reply compiles and lays out what every later one uses.
        page.say("hello")?;
        let mut seen: Vec<Feel> = Vec::new();
        // Other programs on the same machine can stop any task for a while. One undisturbed reply is proof; where there is none, the thread's own
        // time has to be short: half a second for a whole reply of some forty steps.
        for message in ["my dog died yesterday", "tell me everything", "I GOT THE JOB!!!", "you are useless", "thank you", "good morning"] {
            let feel = page.feel_of_a_reply(message)?;
            let moved: f64 = feel.shifts.iter().map(|shift| shift.value).sum();
            if feel.long_tasks.is_empty() && moved < 0.02 {
                return Ok(());
            }
            seen.push(feel);
        }
        if seen.iter().any(|feel| feel.is_disturbed() && feel.own_ms < 500.0)
            && seen.iter().all(|feel| feel.shifts.iter().all(|shift| shift.value < 0.02))
        {
            return Ok(());
        }
        anyhow::bail!("Expected: no task over 50 ms and nothing that moves by itself.\nThere was: {seen:#?}")
    })
}
