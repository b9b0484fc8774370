//! `cargo xtask test`: every check, the quick ones first; stops at the first failure and says which stage it was.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::browser::Browser;
use crate::bundle;
use crate::command::{cargo, run};
use crate::public_url::PublicUrl;
use crate::tools::{axe_core, ensure_wasm_target, ensure_wasm_test_runner, path_with};

const WASM: &str = "wasm32-unknown-unknown";

/// One kind of check; the order here is the order of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// The code is formatted as `cargo fmt` does it
    Fmt,
    /// clippy has nothing to say, natively and for wasm
    Lint,
    /// Tests on this machine: model, protocol, these tools
    Native,
    /// Tests compiled to WebAssembly, in a browser without a window
    Wasm,
    /// dist/ builds and is complete
    Build,
    /// The page in dist/, driven in a real browser
    E2e,
}

/// A stage that went well.
struct Finished {
    stage: Stage,
    took: Duration,
}

/// Runs `only` one stage or all; `filter` picks tests by name.
pub(crate) fn test(only: Option<Stage>, filter: Option<&str>) -> Result<()> {
    let stages = only.map_or_else(|| Stage::value_variants().to_vec(), |stage| vec![stage]);
    let mut finished = Vec::new();
    for (index, &stage) in stages.iter().enumerate() {
        println!("\n== {}/{} {}: {}", index + 1, stages.len(), stage.name(), stage.headline());
        let started = Instant::now();
        let result = stage.run(filter);
        let took = started.elapsed();
        if result.is_err() {
            println!("{}FAILED  {} after {}", summary(&finished), stage.name(), in_words(took));
        }
        result.with_context(|| format!("Stage `{0}` failed. `cargo xtask test --only {0}` runs it alone.", stage.name()))?;
        finished.push(Finished { stage, took });
    }
    println!("{}All is well.", summary(&finished));
    Ok(())
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Lint => "lint",
            Self::Native => "native",
            Self::Wasm => "wasm",
            Self::Build => "build",
            Self::E2e => "e2e",
        }
    }

    fn headline(self) -> &'static str {
        match self {
            Self::Fmt => "format (seconds)",
            Self::Lint => "clippy, natively and for wasm (the first time about 5 minutes on two cores)",
            Self::Native => "tests on this machine (the first time about 5 minutes)",
            Self::Wasm => "tests in WebAssembly (the first time about 5 minutes)",
            Self::Build => "the finished page (the first time about 8 minutes)",
            Self::E2e => "the finished page in a real browser (some minutes)",
        }
    }

    fn run(self, filter: Option<&str>) -> Result<()> {
        match self {
            Self::Fmt => run(cargo().args(["fmt", "--all", "--check"])),
            Self::Lint => lint(),
            Self::Native => native(filter),
            Self::Wasm => wasm(filter),
            Self::Build => bundle::build(&PublicUrl::default()).map(|_| ()),
            Self::E2e => e2e(filter),
        }
    }
}

fn lint() -> Result<()> {
    ensure_wasm_target()?;
    let deny = ["--", "--deny", "warnings"];
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--features", "hormone-t5/train"]).args(deny))?;
    // Each wasm file is built with its own feature alone, so each is checked alone.
    for feature in ["app", "worker"] {
        let page = ["clippy", "--package", "helt-web", "--target", WASM, "--all-targets", "--features", feature];
        run(cargo().args(page).args(deny))?;
    }
    let model = ["clippy", "--package", "hormone-t5", "--target", WASM, "--lib", "--test", "wasm"];
    run(cargo().args(model).args(deny))
}

fn native(filter: Option<&str>) -> Result<()> {
    let all = ["test", "--workspace", "--exclude", "helt-e2e", "--features", "hormone-t5/train"];
    run(cargo().args(all).args(filter))
}

fn wasm(filter: Option<&str>) -> Result<()> {
    let runner = ensure_wasm_test_runner()?;
    let browser = Browser::ensure()?;
    let mut command = cargo();
    command.args(["test", "--target", WASM, "--package", "hormone-t5", "--test", "wasm"]).args(filter);
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &runner);
    // The runner's own limit of 20 s is too short for a model on a busy machine.
    command.env("WASM_BINDGEN_TEST_TIMEOUT", "300");
    run(with_browser(&mut command, &browser)?)
}

fn e2e(filter: Option<&str>) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--package", "helt-e2e"]).args(filter);
    // Several browsers at once, each with a model, make a small machine miss every deadline.
    command.env("RUST_TEST_THREADS", "1");
    match axe_core() {
        Ok(script) => {
            command.env("HELT_AXE", script);
        }
        // A check more than the page needs to be built: a machine that cannot fetch it runs all others.
        Err(error) => println!("Skipped, as axe-core could not be had: the search for barriers. {error:#}"),
    }
    on_the_built_page(&mut command)?;
    for look in xtask::LOOKS {
        println!("-- as a visitor with {look}");
        run(command.env("HELT_LOOK", look))?;
    }
    Ok(())
}

/// Builds the page where something changed and tells a command where it and its browser are.
pub(crate) fn on_the_built_page(command: &mut Command) -> Result<&mut Command> {
    let browser = Browser::ensure()?;
    let dist = bundle::build(&PublicUrl::default())?;
    command.env("CHROME", &browser.chrome).env("HELT_DIST", dist);
    with_browser(command, &browser)
}

/// Tells a test where its driver is, and the driver, by PATH, where its browser is.
fn with_browser<'a>(command: &'a mut Command, browser: &Browser) -> Result<&'a mut Command> {
    let folder = browser.chrome.parent().unwrap_or(Path::new("."));
    Ok(command.env("CHROMEDRIVER", &browser.driver).env("PATH", path_with(&[folder])?))
}

fn summary(finished: &[Finished]) -> String {
    let lines = finished.iter().map(|f| format!("    ok  {:<7} {}\n", f.stage.name(), in_words(f.took)));
    format!("\n== Summary\n{}", lines.collect::<String>())
}

fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 { format!("{:.1} s", duration.as_secs_f32()) } else { format!("{} min {:02} s", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn the_command_line_knows_each_stage_by_the_name_in_the_summary() {
        for stage in Stage::value_variants() {
            assert_eq!(Stage::from_str(stage.name(), false), Ok(*stage));
        }
    }

    #[test]
    fn the_summary_names_each_stage_with_its_time() {
        let finished = [Finished { stage: Stage::Fmt, took: Duration::from_millis(1500) }];
        assert!(summary(&finished).contains("ok  fmt     1.5 s"));
    }

    #[test]
    fn long_times_are_told_in_minutes() {
        assert_eq!(in_words(Duration::from_secs(125)), "2 min 05 s");
    }
}
