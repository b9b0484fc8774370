//! `cargo xtask bench`: the built worker in a real browser, with what people would use instead beside it, on the same work in turn.
//!
//! The page in crates/peers/page runs everything and posts raw times to a port of ours; medians, ratios and tables are made here. Numbers of a
//! shared machine move by tens of percent, ratios of the same run by far less: quote ratios. No test depends on any time.

mod collector;
mod sizes;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;
use xtask::static_server::StaticServer;

use crate::browser::Browser;
use crate::bundle;
use crate::command::{cargo, command, on_path, output_of, run};
use crate::project;
use crate::public_url::PublicUrl;
use crate::tools::PageTools;
use collector::Collector;
use sizes::Size;
use summary::Samples;

/// Pinned, so that runs of different days compare.
const ONNXRUNTIME_WEB_VERSION: &str = "1.30.0";
/// Matrices that one decoder step of T5-small reads: self-attention, the query and output of cross-attention, feed-forward, the head.
const STEP_WEIGHTS: usize = 6 * (6 * 512 * 512 + 2 * 512 * 2048) + 32128 * 512;
/// The same in bytes, with a 32-bit scale for every 32 weights of a byte.
const STEP_BYTES: usize = STEP_WEIGHTS * 36 / 32;
/// Longest silence of the page.
const PATIENCE: Duration = Duration::from_secs(600);

/// What the page sends at its end.
#[derive(Debug, Deserialize)]
struct Finished {
    samples: Samples,
    quick: bool,
    browser: String,
}

/// Written beside the tables.
#[derive(Debug, Serialize)]
struct Results<'a> {
    processor: String,
    browser: &'a str,
    step_bytes: usize,
    sizes: &'a [Size],
    samples: &'a Samples,
}

/// Builds (or takes the page in `dist`), runs and prints. `onnx` holds files made by `scripts/export_onnx.py`.
pub(crate) fn bench(dist: Option<&Path>, onnx: Option<&Path>, quick: bool) -> Result<()> {
    let dist = match dist {
        Some(dist) => dist.to_path_buf(),
        None => bundle::build(&PublicUrl::default())?,
    };
    let browser = Browser::ensure()?;
    let folder = project::target().join("bench");
    let collector = Collector::start()?;
    let site = site(&folder.join("site"), &dist, onnx, quick, &collector)?;
    let server = StaticServer::start(&site, "/").context("The static server could not start.")?;

    println!("Measuring ({}):", if quick { "about two minutes" } else { "about ten minutes" });
    let profile = folder.join("profile");
    remove(&profile)?;
    let running = RunningBrowser::open(&browser.chrome, &profile, &format!("{}bench.html", server.url()))?;
    let finished: Finished = collector.wait(PATIENCE)?;
    // Its profile stays until the next run: a browser that is still closing writes into it, and no result may be lost to that.
    drop(running);

    let sizes = sizes::of_wasm_files(&dist)?;
    let processor = processor();
    println!("\n{processor}; {}\n", finished.browser);
    if finished.quick {
        println!("A short run: too few rounds to quote.\n");
    }
    println!("{}", summary::tables(&finished.samples, STEP_BYTES));
    println!("{}", sizes::table(&sizes));
    let results = Results { processor, browser: &finished.browser, step_bytes: STEP_BYTES, sizes: &sizes, samples: &finished.samples };
    let path = folder.join("results.json");
    fs::write(&path, serde_json::to_string_pretty(&results)? + "\n")
        .with_context(|| format!("{} could not be written.", path.display()))?;
    println!("All samples: {}", path.display());
    Ok(())
}

/// Lays out what the browser loads: the built page, the peers, the benchmark's page.
fn site(site: &Path, dist: &Path, onnx: Option<&Path>, quick: bool, collector: &Collector) -> Result<PathBuf> {
    remove(site)?;
    place(dist, site, |_| true)?;
    place(&project::root().join("crates/peers/page"), site, |_| true)?;
    let target = project::target().join("peers");
    println!("Compiling the peers (the first time about 8 minutes on two cores):");
    run(cargo()
        .args(["build", "--release", "--manifest-path", "crates/peers/Cargo.toml", "--target", "wasm32-unknown-unknown", "--target-dir"])
        .arg(&target))?;
    let tools = PageTools::ensure()?;
    run(tools
        .wasm_bindgen()
        .arg(target.join("wasm32-unknown-unknown/release/helt_peers.wasm"))
        .args(["--target", "web", "--no-typescript", "--out-name", "peers", "--out-dir"])
        .arg(site))?;
    if let Some(onnx) = onnx {
        let is_model = |name: &str| name.ends_with(".onnx") || name.ends_with(".onnx_data") || name.ends_with(".data");
        place(onnx, &site.join("onnx"), is_model)?;
        let is_plain_wasm =
            |name: &str| name == "ort.wasm.bundle.min.mjs" || name.starts_with("ort-wasm-simd-threaded.") && !name.contains("js");
        let is_loader = |name: &str| name == "ort-wasm-simd-threaded.mjs";
        place(&onnxruntime_web()?, &site.join("ort"), |name| is_plain_wasm(name) || is_loader(name))?;
    }
    let settings = serde_json::json!({
        "quick": quick, "onnx": onnx.is_some(), "report_url": collector.url(), "step_bytes": STEP_BYTES,
    });
    fs::write(site.join("settings.json"), settings.to_string()).context("The benchmark's settings could not be written.")?;
    Ok(site.to_path_buf())
}

/// The npm package's dist/, installed into the cache of tools.
fn onnxruntime_web() -> Result<PathBuf> {
    let root = project::tools_cache()?.join(format!("onnxruntime-web-{ONNXRUNTIME_WEB_VERSION}"));
    let dist = root.join("node_modules/onnxruntime-web/dist");
    if !dist.is_dir() {
        let npm = on_path("npm").context("onnxruntime-web comes from npm, which is missing: install Node.js.")?;
        println!("Installing onnxruntime-web {ONNXRUNTIME_WEB_VERSION} (under a minute, once):");
        run(command(npm).arg("install").arg("--prefix").arg(&root).arg(format!("onnxruntime-web@{ONNXRUNTIME_WEB_VERSION}")).args([
            "--ignore-scripts",
            "--no-save",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
        ]))?;
    }
    Ok(dist)
}

/// Links, or where that cannot be, copies the files of `from` whose name is wanted.
fn place(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry.with_context(|| format!("{} could not be read.", from.display()))?;
        let target = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs::create_dir_all(&target).with_context(|| format!("{} could not be made.", target.display()))?;
        } else if entry.file_name().to_str().is_some_and(&wanted) && fs::hard_link(entry.path(), &target).is_err() {
            fs::copy(entry.path(), &target).with_context(|| format!("{} could not be copied.", entry.path().display()))?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("{} could not be deleted.", folder.display()))?;
    }
    Ok(())
}

/// A browser without a window; dropping it ends it.
struct RunningBrowser(Child);

impl RunningBrowser {
    fn open(chrome: &Path, profile: &Path, url: &str) -> Result<Self> {
        let settings = fs::read(project::root().join("web/webdriver.json")).context("web/webdriver.json is missing.")?;
        let settings: serde_json::Value = serde_json::from_slice(&settings).context("web/webdriver.json is not JSON.")?;
        let arguments = settings["goog:chromeOptions"]["args"].as_array().into_iter().flatten().filter_map(|argument| argument.as_str());
        let mut command = Command::new(chrome);
        command.args(arguments).arg(format!("--user-data-dir={}", profile.display())).arg(url);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Self(child.with_context(|| format!("{} could not be started.", chrome.display()))?))
    }
}

impl Drop for RunningBrowser {
    fn drop(&mut self) {
        // Fails only where it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As Linux and macOS name it.
fn processor() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let linux = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let name = linux.or_else(|| output_of(command("sysctl").args(["-n", "machdep.cpu.brand_string"])));
    format!("{} ({cores} cores)", name.unwrap_or_else(|| "unknown processor".to_owned()))
}
