//! `cargo xtask screenshots` and `record`: what the repository keeps of the running page, made by driving it in a real browser.

use std::path::Path;

use anyhow::Result;

use crate::command::{cargo, run};
use crate::tests::on_the_built_page;

/// Takes the pictures, or those whose name holds `name`.
pub(crate) fn screenshots(folder: &Path, name: Option<&str>) -> Result<()> {
    let mut command = cargo();
    command.args(["run", "--package", "helt-e2e", "--bin", "screenshots", "--"]).arg(folder).args(name);
    run(on_the_built_page(&mut command)?)
}

/// Makes `assets/recorded/examples.json` anew. It is part of the page, so the next build compiles it in.
pub(crate) fn record() -> Result<()> {
    let mut command = cargo();
    command.args(["run", "--package", "helt-e2e", "--bin", "record", "--", "assets/recorded/examples.json"]);
    run(on_the_built_page(&mut command)?)
}
