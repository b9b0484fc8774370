//! Runs other programs: shows the command first, and turns a failure into a sentence.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A command that starts in the repository's root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(crate::project::root());
    command
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Shows the command, runs it with its output on the terminal, and fails where it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = display(command);
    println!("  $ {line}");
    let status = command.status().with_context(|| format!("`{line}` could not be started: is it installed and on PATH?"))?;
    if !status.success() {
        bail!("`{line}` failed ({status}): its messages stand above.");
    }
    Ok(())
}

/// What a successful program printed, without the white space around it; `None` where it is missing or failed.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A program on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    which::which(name).ok()
}

/// The command as a person would type it; only the program's name, not its folder.
fn display(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_stem().unwrap_or(program.as_os_str()).to_owned();
    let words = std::iter::once(name.as_os_str()).chain(command.get_args()).map(OsStr::to_string_lossy);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_without_its_folder() {
        assert_eq!(display(Command::new("/usr/bin/cargo").args(["fmt", "--check"])), "cargo fmt --check");
    }

    #[test]
    fn a_missing_program_has_no_output() {
        assert_eq!(output_of(&mut Command::new("no-such-program-anywhere")), None);
    }

    #[test]
    fn a_program_that_cannot_start_says_what_to_do() {
        let error = run(&mut Command::new("no-such-program-anywhere")).expect_err("it is missing");
        assert!(error.to_string().contains("is it installed"), "{error}");
    }
}
