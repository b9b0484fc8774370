//! Tells whether dist/ is what a build would make again: a digest of everything that goes into it.
//!
//! The stamp lies in dist/ itself, as build.json. Trunk empties dist/ when it builds, so a stamp never outlives its files.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::command::{command, output_of};
use crate::public_url::PublicUrl;
use crate::tools::{BINARYEN_VERSION, TRUNK_VERSION};

/// Files and folders that decide what is in dist/.
const INPUTS: [&str; 10] = [
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "Trunk.toml",
    "assets",
    "crates/hormone-t5/Cargo.toml",
    "crates/hormone-t5/src",
    "index.html",
    "web/Cargo.toml",
    "web/src",
];
/// The native binary is not part of the page.
const EXCLUDED: &str = "crates/hormone-t5/src/bin";

/// What a dist/ was made of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    inputs_sha256: String,
    public_url: String,
    rustc: String,
    trunk: String,
    binaryen: String,
}

impl Stamp {
    /// Of the repository as it is now.
    pub(crate) fn of(root: &Path, public_url: &PublicUrl) -> Result<Self> {
        let rustc = output_of(command("rustc").arg("--version"))
            .context("`rustc` gave no answer: install Rust from https://rustup.rs and try again.")?;
        Ok(Self {
            inputs_sha256: digest_of_inputs(root)?,
            public_url: public_url.to_string(),
            rustc,
            trunk: TRUNK_VERSION.to_owned(),
            binaryen: BINARYEN_VERSION.to_owned(),
        })
    }

    /// The stamp in `dist`; `None` where there is none or another version of this program wrote it.
    pub(crate) fn read(dist: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(dist.join("build.json")).ok()?).ok()
    }

    pub(crate) fn write(&self, dist: &Path) -> Result<()> {
        let path = dist.join("build.json");
        let text = serde_json::to_string_pretty(self).context("The build's stamp could not be written as JSON.")?;
        fs::write(&path, text + "\n").with_context(|| format!("{} could not be written.", path.display()))
    }
}

/// SHA-256 over the name, length and bytes of every input, in a fixed order.
fn digest_of_inputs(root: &Path) -> Result<String> {
    let mut digest = Sha256::new();
    for input in INPUTS {
        let files = WalkDir::new(root.join(input)).sort_by_file_name().into_iter();
        for entry in files.filter_entry(|entry| entry.path() != root.join(EXCLUDED)) {
            let entry = entry.with_context(|| format!("`{input}` belongs to the page but could not be read."))?;
            if entry.file_type().is_file() {
                add_file(&mut digest, root, entry.path()).with_context(|| format!("{} could not be read.", entry.path().display()))?;
            }
        }
    }
    Ok(format!("{:x}", digest.finalize()))
}

fn add_file(digest: &mut Sha256, root: &Path, path: &Path) -> io::Result<()> {
    let mut file = fs::File::open(path)?;
    let name = path.strip_prefix(root).unwrap_or(path);
    digest.update(format!("{}\n{}\n", name.display(), file.metadata()?.len()));
    io::copy(&mut file, digest)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn repository() -> TempDir {
        let folder = TempDir::new().expect("a temporary folder");
        for input in INPUTS {
            let path = folder.path().join(input);
            let file = if Path::new(input).extension().is_some() { path } else { path.join("file.rs") };
            fs::create_dir_all(file.parent().expect("a parent")).expect("created");
            fs::write(file, input).expect("written");
        }
        folder
    }

    fn digest(folder: &TempDir) -> String {
        digest_of_inputs(folder.path()).expect("all inputs are there")
    }

    #[test]
    fn the_digest_changes_with_every_input_and_only_then() {
        let folder = repository();
        let before = digest(&folder);
        assert_eq!(digest(&folder), before);
        for changed in ["web/src/new.rs", "index.html", "assets/models/weights", "Cargo.lock"] {
            let path = folder.path().join(changed);
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            fs::write(&path, "changed").expect("written");
            assert_ne!(digest(&folder), before, "{changed}");
            if INPUTS.contains(&changed) {
                fs::write(path, changed).expect("written");
            } else {
                fs::remove_file(path).expect("removed");
            }
        }
        assert_eq!(digest(&folder), before);
    }

    #[test]
    fn the_native_binary_is_no_input() {
        let folder = repository();
        let before = digest(&folder);
        fs::create_dir_all(folder.path().join("crates/hormone-t5/src/bin/hormone")).expect("created");
        fs::write(folder.path().join("crates/hormone-t5/src/bin/hormone/main.rs"), "fn main() {}").expect("written");
        assert_eq!(digest(&folder), before);
    }

    #[test]
    fn a_missing_input_is_an_error_that_names_it() {
        let folder = repository();
        fs::remove_file(folder.path().join("index.html")).expect("removed");
        let message = digest_of_inputs(folder.path()).expect_err("it is missing").to_string();
        assert!(message.contains("index.html"), "{message}");
    }

    #[test]
    fn a_stamp_survives_its_file_and_a_foreign_one_is_ignored() {
        let folder = TempDir::new().expect("a temporary folder");
        let stamp = Stamp {
            inputs_sha256: "0".to_owned(),
            public_url: "./".to_owned(),
            rustc: "rustc 1".to_owned(),
            trunk: "0".to_owned(),
            binaryen: "0".to_owned(),
        };
        assert_eq!(Stamp::read(folder.path()), None);
        stamp.write(folder.path()).expect("written");
        assert_eq!(Stamp::read(folder.path()), Some(stamp));
        fs::write(folder.path().join("build.json"), "{}").expect("written");
        assert_eq!(Stamp::read(folder.path()), None);
    }
}
