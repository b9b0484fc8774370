//! Checks a finished dist/: all files are there, index.html finds them, and nothing comes from another host.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use walkdir::WalkDir;

use crate::public_url::PublicUrl;

/// A file of the finished page.
#[derive(Debug)]
pub(crate) struct DistFile {
    /// Relative to dist/, with `/` on every system.
    pub(crate) path: String,
    pub(crate) size_bytes: u64,
}

/// Lists the files of `dist`, or says everything that is wrong with them.
pub(crate) fn inspect(dist: &Path, public_url: &PublicUrl) -> Result<Vec<DistFile>> {
    let files = list(dist)?;
    let index = dist.join("index.html");
    let html = fs::read_to_string(&index).with_context(|| format!("{} is missing.", index.display()))?;

    let mut problems = missing_files(&files);
    problems.extend(problems_of_html(&html, public_url, &files));
    for file in files.iter().filter(|file| file.path.ends_with(".wasm")) {
        if !fs::read(dist.join(&file.path))?.starts_with(b"\0asm") {
            problems.push(format!("{} is not WebAssembly: it does not start with `\\0asm`", file.path));
        }
    }
    if !problems.is_empty() {
        bail!("dist/ is not a working page:\n  - {}", problems.join("\n  - "));
    }
    Ok(files)
}

fn list(dist: &Path) -> Result<Vec<DistFile>> {
    let mut files = Vec::new();
    for entry in WalkDir::new(dist).sort_by_file_name() {
        let entry = entry.context("dist/ could not be read.")?;
        if entry.file_type().is_file() {
            let relative = entry.path().strip_prefix(dist).unwrap_or(entry.path());
            let path = relative.to_string_lossy().replace('\\', "/");
            files.push(DistFile { path, size_bytes: entry.metadata()?.len() });
        }
    }
    Ok(files)
}

/// The page's own files carry a hash in their names, the worker's do not.
fn missing_files(files: &[DistFile]) -> Vec<String> {
    const EXPECTED: [(&str, &str); 5] =
        [("app-", ".js"), ("app-", "_bg.wasm"), ("worker", ".js"), ("worker", "_bg.wasm"), ("worker_loader", ".js")];
    let is_there = |start: &str, end: &str| {
        let hashed = start.ends_with('-');
        files.iter().any(|file| match hashed {
            true => file.path.starts_with(start) && file.path.ends_with(end),
            false => file.path == format!("{start}{end}"),
        })
    };
    let missing = EXPECTED.iter().filter(|(start, end)| !is_there(start, end));
    missing.map(|(start, end)| format!("{start}*{end} is missing")).collect()
}

fn problems_of_html(html: &str, public_url: &PublicUrl, files: &[DistFile]) -> Vec<String> {
    let mut problems = Vec::new();
    // Trunk 0.21.14 may write the hash of other bytes (its issue 1028), and then the browser blocks the file.
    if html.contains("integrity=") {
        problems.push("index.html has an `integrity` attribute: keep `no_sri = true` in Trunk.toml".to_owned());
    }
    for word in words(html) {
        let is_namespace = word.starts_with("http://www.w3.org/");
        if (word.contains("://") || word.starts_with("//")) && !is_namespace {
            problems.push(format!("index.html refers to another host: `{word}`"));
        } else if let Some(path) = word.strip_prefix(public_url.as_str()).filter(|path| is_file_name(path)) {
            let path = path.split(['?', '#']).next().unwrap_or(path);
            if !files.iter().any(|file| file.path == path) {
                problems.push(format!("index.html refers to `{word}`, which is not in dist/"));
            }
        }
    }
    problems
}

/// The text cut at everything that ends an address in HTML or in a script.
fn words(html: &str) -> impl Iterator<Item = &str> {
    html.split(|c: char| c.is_whitespace() || "\"'`<>(),;=".contains(c)).filter(|word| word.len() > 2)
}

/// `/script` of a closing tag begins as an address does, but has no ending.
fn is_file_name(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(html: &str, public_url: &str) -> Vec<String> {
        let files = ["app-1f.js", "models/manifest.json"].map(|path| DistFile { path: path.to_owned(), size_bytes: 1 });
        problems_of_html(html, &public_url.parse().expect("a valid place"), &files)
    }

    #[test]
    fn a_page_that_refers_to_its_own_files_is_in_order() {
        let html = |at: &str| {
            format!(
                r#"<svg xmlns="http://www.w3.org/2000/svg"/> It isn't much. // a comment, and/or
                <link rel="modulepreload" href="{at}app-1f.js?v=1#x"><script type="module">import init from '{at}app-1f.js';</script>"#
            )
        };
        for at in ["./", "/", "/demo/"] {
            assert_eq!(problems(&html(at), at), [""; 0], "{at}");
        }
    }

    #[test]
    fn a_reference_to_a_missing_file_is_found() {
        assert_eq!(problems("import init from './app-2e.js'", "./").len(), 1);
        assert_eq!(problems(r#"<script src="/demo/app.js"></script>"#, "/demo/").len(), 1);
    }

    #[test]
    fn another_host_is_found() {
        for html in [r#"<script src="https://cdn.example/x.js">"#, "<img src=//cdn.example/x>", "url('http://a.b/c')"] {
            assert_eq!(problems(html, "./").len(), 1, "{html}");
        }
    }

    #[test]
    fn an_integrity_attribute_is_found() {
        assert_eq!(problems(r#"<link integrity="sha384-x">"#, "./").len(), 1);
    }

    #[test]
    fn an_empty_folder_is_not_a_page_and_every_missing_file_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("index.html"), "").expect("written");
        fs::write(folder.path().join("worker_bg.wasm"), "<!doctype html>").expect("written");
        let message = inspect(folder.path(), &PublicUrl::default()).expect_err("incomplete").to_string();
        for part in ["app-*.js", "app-*_bg.wasm", "worker*.js", "worker_loader*.js", "is not WebAssembly"] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}
