//! Sizes of the built wasm files as a host would send them. Node, which is there for wasm-opt, has both compressors.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::command::{on_path, output_of};

/// A file's size, plain and compressed at each compressor's highest level.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Size {
    file: String,
    raw: u64,
    gzip: u64,
    brotli: u64,
}

const SCRIPT: &str = "const zlib = require('zlib'), bytes = require('fs').readFileSync(process.argv[1]);\
    console.log(JSON.stringify({ file: process.argv[2], raw: bytes.length, gzip: zlib.gzipSync(bytes, { level: 9 }).length,\
    brotli: zlib.brotliCompressSync(bytes).length }))";

pub(super) fn of_wasm_files(dist: &Path) -> Result<Vec<Size>> {
    let node = on_path("node").context("Node.js is needed to compress: install it.")?;
    let mut sizes = Vec::new();
    for entry in fs::read_dir(dist).context("dist/ could not be read.")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let kind = if name.starts_with("worker") { "worker" } else { "app" };
            let text = output_of(Command::new(&node).arg("-e").arg(SCRIPT).arg(&path).arg(kind)).context("Node.js could not compress.")?;
            sizes.push(serde_json::from_str(&text).context("Node.js gave no sizes.")?);
        }
    }
    sizes.sort_by(|a: &Size, b| a.file.cmp(&b.file));
    Ok(sizes)
}

pub(super) fn table(sizes: &[Size]) -> String {
    let mut text = String::from("| wasm | bytes | gzip | brotli |\n|---|---:|---:|---:|\n");
    for Size { file, raw, gzip, brotli } in sizes {
        text += &format!("| {file} | {raw} | {gzip} | {brotli} |\n");
    }
    text
}
