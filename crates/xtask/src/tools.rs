//! The tools that build the page: found where the right version exists, else installed into the cache.
//!
//! Trunk would download wasm-bindgen and wasm-opt from GitHub by itself. It takes what is on PATH instead where the
//! version is the one it is told, so every tool comes from cargo or npm, in one pinned version, and Trunk runs offline.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, command, on_path, output_of, run};
use crate::lockfile::locked_version;
use crate::project;

pub(crate) const TRUNK_VERSION: &str = "0.21.14";
/// The npm package's version; `wasm-opt --version` prints its first number.
pub(crate) const BINARYEN_VERSION: &str = "132.0.0";
/// The checks of the browser tests for barriers.
const AXE_VERSION: &str = "4.10.3";

/// Everything Trunk needs, in place.
pub(crate) struct PageTools {
    trunk: PathBuf,
    wasm_bindgen: PathBuf,
    wasm_bindgen_version: String,
    wasm_opt: PathBuf,
}

impl PageTools {
    /// Finds or installs the wasm32 target, Trunk, wasm-bindgen and wasm-opt.
    pub(crate) fn ensure() -> Result<Self> {
        ensure_wasm_target()?;
        let wasm_bindgen_version = locked_version("wasm-bindgen")?;
        Ok(Self {
            trunk: TRUNK.ensure()?,
            wasm_bindgen: wasm_bindgen_folder(&wasm_bindgen_version)?,
            wasm_bindgen_version,
            wasm_opt: wasm_opt_folder()?,
        })
    }

    /// wasm-bindgen's command.
    pub(crate) fn wasm_bindgen(&self) -> Command {
        command(self.wasm_bindgen.join(executable("wasm-bindgen")))
    }

    /// Trunk, told to use these tools and to download nothing.
    pub(crate) fn trunk(&self) -> Result<Command> {
        let mut trunk = command(self.trunk.join(executable("trunk")));
        trunk
            .env("PATH", path_with(&[&self.wasm_bindgen, &self.wasm_opt])?)
            .env("TRUNK_TOOLS_WASM_BINDGEN", &self.wasm_bindgen_version)
            .env("TRUNK_TOOLS_WASM_OPT", format!("version_{}", wasm_opt_number()))
            .env("TRUNK_SKIP_VERSION_CHECK", "true")
            // Trunk's own stack trace would hide the message of the tool that failed.
            .env("RUST_BACKTRACE", "0")
            // Trunk 0.21 stops at NO_COLOR=1, which everybody else understands: it wants `true`.
            .env_remove("NO_COLOR");
        Ok(trunk)
    }
}

/// The runner that `cargo test --target wasm32-unknown-unknown` hands its tests to.
pub(crate) fn ensure_wasm_test_runner() -> Result<PathBuf> {
    ensure_wasm_target()?;
    let folder = wasm_bindgen_folder(&locked_version("wasm-bindgen")?)?;
    Ok(folder.join(executable("wasm-bindgen-test-runner")))
}

/// PATH with `folders` in front. One that is on PATH already keeps its place: /usr/bin in front could bring another
/// cargo or rustc along with the tool.
pub(crate) fn path_with(folders: &[&Path]) -> Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    join_paths(folders, env::split_paths(&path).collect())
}

fn join_paths(folders: &[&Path], path: Vec<PathBuf>) -> Result<OsString> {
    let new = folders.iter().map(|folder| folder.to_path_buf()).filter(|folder| !path.contains(folder));
    env::join_paths(new.chain(path.iter().cloned()))
        .context("A tool's folder has a character in its name that PATH cannot hold: set HELT_TOOLS to another folder.")
}

/// The standard library for wasm32; rustup can add it, other installations must bring it.
pub(crate) fn ensure_wasm_target() -> Result<()> {
    const TARGET: &str = "wasm32-unknown-unknown";
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libraries = output_of(command(rustc).args(["--print", "target-libdir", "--target", TARGET]))
        .context("`rustc` gave no answer: install Rust from https://rustup.rs and try again.")?;
    let is_installed = fs::read_dir(libraries).is_ok_and(|mut files| files.next().is_some());
    if is_installed {
        return Ok(());
    }
    let Some(rustup) = on_path("rustup") else {
        bail!(
            "Rust's standard library for {TARGET} is missing and there is no rustup to add it: install the package of \
             your system that holds it (Debian: libstd-rust-dev-wasm32), or Rust from https://rustup.rs."
        );
    };
    println!("Adding Rust's standard library for {TARGET} (under a minute):");
    run(command(rustup).args(["target", "add", TARGET]))
}

const TRUNK: CargoTool<'static> = CargoTool { package: "trunk", programs: &["trunk"], version: TRUNK_VERSION, minutes: 7 };

/// A tool that `cargo install` builds.
struct CargoTool<'a> {
    package: &'a str,
    /// All must be there in the right version; the first names the tool.
    programs: &'a [&'a str],
    version: &'a str,
    /// On two cores.
    minutes: u32,
}

impl CargoTool<'_> {
    /// The folder that holds the programs.
    fn ensure(&self) -> Result<PathBuf> {
        let cache = project::tools_cache()?;
        let name = format!("{}-{}", self.package, self.version);
        let root = cache.join(&name);
        let installed = root.join("bin");
        if let Some(folder) = find(&installed, self.programs[0], |folder| self.is_complete(folder)) {
            return Ok(folder);
        }
        println!("Installing {name} into {} (about {} minutes on two cores, once):", root.display(), self.minutes);
        // A build folder of its own lets a second try go on where the first was interrupted.
        let build = cache.join("build").join(&name);
        run(cargo()
            .args(["install", "--locked", "--force", self.package, "--version", self.version, "--root"])
            .arg(&root)
            .env("CARGO_TARGET_DIR", &build))?;
        if !self.is_complete(&installed) {
            bail!("{name} was installed but does not answer to `--version` as expected: delete {} and try again.", root.display());
        }
        fs::remove_dir_all(&build).with_context(|| format!("{} could not be deleted.", build.display()))?;
        Ok(installed)
    }

    /// Asks each program, so that half an installation does not count.
    fn is_complete(&self, folder: &Path) -> bool {
        self.programs.iter().all(|program| {
            let answer = output_of(Command::new(folder.join(executable(program))).arg("--version"));
            answer.is_some_and(|text| text.split_whitespace().nth(1) == Some(self.version))
        })
    }
}

/// The command must have the very version of the library: both ends of the same glue code.
fn wasm_bindgen_folder(version: &str) -> Result<PathBuf> {
    let programs = &["wasm-bindgen", "wasm-bindgen-test-runner"];
    CargoTool { package: "wasm-bindgen-cli", programs, version, minutes: 3 }.ensure()
}

/// wasm-opt comes from npm, where Binaryen publishes each release compiled to wasm: one file for every system.
fn wasm_opt_folder() -> Result<PathBuf> {
    let root = project::tools_cache()?.join(format!("binaryen-{BINARYEN_VERSION}"));
    let installed = root.join("node_modules").join(".bin");
    if let Some(folder) = find(&installed, "wasm-opt", has_wasm_opt) {
        return Ok(folder);
    }
    println!("Installing wasm-opt {BINARYEN_VERSION} into {} (under a minute, 100 MB, once):", root.display());
    install_from_npm(&root, "binaryen", BINARYEN_VERSION)?;
    if !has_wasm_opt(&installed) {
        bail!("wasm-opt was installed but does not answer to `--version` as expected: delete {} and try again.", root.display());
    }
    Ok(installed)
}

/// The accessibility checker of the browser tests; it never becomes part of the page.
pub(crate) fn axe_core() -> Result<PathBuf> {
    let root = project::tools_cache()?.join(format!("axe-core-{AXE_VERSION}"));
    let script = root.join("node_modules/axe-core/axe.min.js");
    if !script.is_file() {
        println!("Installing axe-core {AXE_VERSION} into {} (seconds, 3 MB, once):", root.display());
        install_from_npm(&root, "axe-core", AXE_VERSION)?;
    }
    if !script.is_file() {
        bail!("axe-core was installed but lacks {}: delete its folder and try again.", script.display());
    }
    Ok(script)
}

fn install_from_npm(root: &Path, package: &str, version: &str) -> Result<()> {
    let Some(npm) = on_path("npm") else {
        bail!(
            "{package} {version} is needed and comes from npm, which is missing: install Node.js (Debian: `apt-get install npm`; others: https://nodejs.org)."
        );
    };
    let options = ["--ignore-scripts", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"];
    run(command(npm).arg("install").arg("--prefix").arg(root).arg(format!("{package}@{version}")).args(options))
}

/// The folder in the cache or the one on PATH that holds `program`, whichever is complete first.
fn find(installed: &Path, program: &str, is_complete: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let on_path = on_path(program).and_then(|program| program.parent().map(Path::to_path_buf));
    [Some(installed.to_path_buf()), on_path].into_iter().flatten().find(|folder| is_complete(folder))
}

fn has_wasm_opt(folder: &Path) -> bool {
    // Looked up as Trunk does it, so that npm's `wasm-opt.cmd` counts on Windows.
    let Ok(program) = which::which_in("wasm-opt", Some(folder), ".") else {
        return false;
    };
    let answer = output_of(Command::new(program).arg("--version"));
    answer.is_some_and(|text| text.split_whitespace().nth(2) == Some(wasm_opt_number()))
}

fn wasm_opt_number() -> &'static str {
    BINARYEN_VERSION.split('.').next().unwrap_or(BINARYEN_VERSION)
}

fn executable(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_installation_does_not_count() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(executable("trunk")), "").expect("written");
        assert!(!TRUNK.is_complete(folder.path()));
    }

    #[test]
    fn a_folder_on_path_keeps_its_place_and_a_new_one_goes_in_front() {
        let path = vec![PathBuf::from("/cargo/bin"), PathBuf::from("/usr/bin")];
        let joined = join_paths(&[Path::new("/usr/bin"), Path::new("/cache/bin")], path).expect("plain names");
        let folders: Vec<_> = env::split_paths(&joined).collect();
        assert_eq!(folders, ["/cache/bin", "/cargo/bin", "/usr/bin"].map(PathBuf::from));
    }

    #[test]
    fn trunk_toml_names_the_same_versions() {
        let text = fs::read_to_string(project::root().join("Trunk.toml")).expect("Trunk.toml is there");
        let config: toml::Table = toml::from_str(&text).expect("Trunk.toml is valid");
        assert_eq!(config["trunk-version"].as_str(), Some(format!("={TRUNK_VERSION}").as_str()));
        assert_eq!(config["tools"]["wasm_opt"].as_str(), Some(format!("version_{}", wasm_opt_number()).as_str()));
    }
}
