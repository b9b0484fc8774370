//! Builds the finished page into dist/ with Trunk, unless dist/ is already what a build would make.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::command::{cargo, run};
use crate::inspect::inspect;
use crate::project;
use crate::public_url::PublicUrl;
use crate::stamp::Stamp;
use crate::tools::PageTools;

/// Brings dist/ up to date, checks it, and returns its folder.
pub(crate) fn build(public_url: &PublicUrl) -> Result<PathBuf> {
    let _lock = wait_for_other_builds(&project::target())?;
    let dist = project::dist();
    remove_staging_folder(&dist)?;
    let stamp = Stamp::of(&project::root(), public_url)?;
    if Stamp::read(&dist).is_some_and(|last| last == stamp) && inspect(&dist, public_url).is_ok() {
        copy_runs(&project::root().join("runs"), &dist)?;
        println!("dist/ is up to date: nothing changed since the last build.");
        return Ok(dist);
    }

    let tools = PageTools::ensure()?;
    println!("Fetching crates (seconds; the first time a minute or two):");
    run(cargo().arg("fetch"))?;
    println!("Compiling the page to WebAssembly (the first time about 8 minutes on two cores):");
    let started = Instant::now();
    run(tools.trunk()?.args(["build", "--release", "--offline", "--public-url", public_url.as_str()]))?;
    version_worker(&dist)?;
    copy_runs(&project::root().join("runs"), &dist)?;
    let files = inspect(&dist, public_url)?;
    stamp.write(&dist)?;

    println!("\ndist/ for `{public_url}`, built in {:.0} s:", started.elapsed().as_secs_f32());
    for file in files {
        println!("{:>12} bytes  {}", with_separators(file.size_bytes), file.path);
    }
    Ok(dist)
}

/// Two builds at once would mix their files in Trunk's working folders. Dropping the file opens the way again.
fn wait_for_other_builds(target: &Path) -> Result<File> {
    let path = target.join("xtask-build.lock");
    let open = || -> io::Result<File> {
        fs::create_dir_all(target)?;
        let file = File::create(&path)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            println!("Waiting for another build to end:");
            file.lock()?;
        }
        Ok(file)
    };
    open().with_context(|| format!("{} could not be locked.", path.display()))
}

/// An interrupted Trunk leaves half a page in dist/.stage.
fn remove_staging_folder(dist: &Path) -> Result<()> {
    let staging = dist.join(".stage");
    if staging.exists() {
        fs::remove_dir_all(&staging).with_context(|| format!("{} could not be deleted.", staging.display()))?;
    }
    Ok(())
}

/// Loss curves and evaluations, with a list of them: the page asks for nothing that is not there. A run that is going on changes its curve
/// every few minutes; that is no reason to compile the page again, so they are no input of the stamp.
fn copy_runs(runs: &Path, dist: &Path) -> Result<()> {
    let target = dist.join("runs");
    let copy = || -> io::Result<()> {
        fs::create_dir_all(&target)?;
        let mut names = Vec::new();
        if runs.is_dir() {
            for entry in fs::read_dir(runs)? {
                let path = entry?.path();
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                if path.is_file() && (name.ends_with(".csv") || name.ends_with(".json")) {
                    fs::copy(&path, target.join(&name))?;
                    names.push(name);
                }
            }
        }
        names.sort();
        fs::write(target.join("index.json"), serde_json::json!({ "files": names }).to_string() + "\n")
    };
    copy().with_context(|| format!("{} could not be copied to {}.", runs.display(), target.display()))
}

/// Gives the worker's files an address that changes with their content.
///
/// Trunk puts a hash into the names of the page's own files but not of the worker's (its issue 604), so after an update a
/// browser could join a new page with an old worker. The page reads the worker's address from `<meta name="worker">`.
fn version_worker(dist: &Path) -> Result<()> {
    const META: &str = r#"<meta name="worker" content="worker_loader.js""#;
    let mut digest = Sha256::new();
    for name in ["worker.js", "worker_bg.wasm"] {
        let path = dist.join(name);
        digest.update(fs::read(&path).with_context(|| format!("Trunk wrote no {}.", path.display()))?);
    }
    let version = &format!("{:x}", digest.finalize())[..16];

    let index = dist.join("index.html");
    let html = fs::read_to_string(&index).with_context(|| format!("Trunk wrote no {}.", index.display()))?;
    if html.matches(META).count() != 1 {
        bail!("index.html should hold `{META}>` exactly once: the page finds its worker by it.");
    }
    let versioned = META.replace("worker_loader.js", &format!("worker_loader.js?v={version}"));
    let write = |path: &Path, text: &str| fs::write(path, text).with_context(|| format!("{} could not be written.", path.display()));
    write(&index, &html.replace(META, &versioned))?;
    write(&dist.join("worker_loader.js"), &loader(version))
}

/// As Trunk's own shim, with the version in both addresses.
fn loader(version: &str) -> String {
    format!(
        "import init from \"./worker.js?v={version}\";\n\
         await init({{ module_or_path: new URL(\"./worker_bg.wasm?v={version}\", import.meta.url) }});\n"
    )
}

/// 1234567 as `1 234 567`.
fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;
    use tempfile::TempDir;

    fn dist(html: &str, worker: &str) -> TempDir {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in [("index.html", html), ("worker.js", worker), ("worker_bg.wasm", "\0asm")] {
            fs::write(folder.path().join(name), text).expect("written");
        }
        folder
    }

    fn address_after_build(worker: &str) -> String {
        let folder = dist(r#"<meta name="worker" content="worker_loader.js">"#, worker);
        version_worker(folder.path()).expect("all files are there");
        let html = fs::read_to_string(folder.path().join("index.html")).expect("read");
        html.split("content=").nth(1).expect("an address").to_owned()
    }

    #[test]
    fn the_workers_address_changes_with_its_content_only() {
        assert_eq!(address_after_build("a"), address_after_build("a"));
        assert_ne!(address_after_build("a"), address_after_build("b"));
        assert!(address_after_build("a").starts_with("\"worker_loader.js?v="));
    }

    #[test]
    fn the_loader_asks_for_both_files_in_the_same_version() {
        let text = loader("0123");
        assert!(text.contains("./worker.js?v=0123") && text.contains("./worker_bg.wasm?v=0123"), "{text}");
    }

    #[test]
    fn runs_are_copied_and_listed() {
        let (runs, dist) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
        for name in ["b.csv", "a.json", "notes.txt"] {
            fs::write(runs.path().join(name), name).expect("written");
        }
        copy_runs(runs.path(), dist.path()).expect("copied");
        let list = fs::read_to_string(dist.path().join("runs/index.json")).expect("listed");
        assert_eq!(list.trim(), r#"{"files":["a.json","b.csv"]}"#);
        assert_eq!(fs::read_to_string(dist.path().join("runs/b.csv")).expect("copied"), "b.csv");
        copy_runs(&runs.path().join("missing"), dist.path()).expect("a page without runs is a page");
    }

    #[test]
    fn a_page_that_names_no_worker_is_an_error() {
        let message = version_worker(dist("<html>", "a").path()).expect_err("no meta").to_string();
        assert!(message.contains("meta name"), "{message}");
    }

    #[test]
    fn a_second_build_waits_for_the_first() {
        let folder = TempDir::new().expect("a temporary folder");
        let first = wait_for_other_builds(folder.path()).expect("nobody else builds");
        let target = folder.path().to_path_buf();
        let second = thread::spawn(move || wait_for_other_builds(&target).map(|_| ()));
        thread::sleep(Duration::from_millis(100));
        assert!(!second.is_finished());
        drop(first);
        assert!(second.join().expect("no panic").is_ok());
    }

    #[test]
    fn sizes_are_grouped_by_thousands() {
        assert_eq!(with_separators(1), "1");
        assert_eq!(with_separators(1000), "1 000");
        assert_eq!(with_separators(1_234_567), "1 234 567");
    }
}
