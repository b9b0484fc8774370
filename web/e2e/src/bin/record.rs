//! `cargo xtask record`: the examples that fill the page while its weights load, made by the page itself with the model that it loads.
//!
//! Numbers are rounded and what the page does not show of an example is left out: the file is part of the page's own wasm.

use std::path::PathBuf;

use anyhow::{Context, Result};
use helt_e2e::{Keys, visit};
use serde_json::Value;

const PRESETS: [&str; 3] = ["preset-excited", "preset-sad", "preset-rude"];

fn main() -> Result<()> {
    let path = PathBuf::from(std::env::args_os().nth(1).context("usage: record FILE")?);
    visit("/", |page| {
        for (index, preset) in PRESETS.iter().enumerate() {
            page.click(preset)?;
            page.press("composer-input", Keys::Enter)?;
            page.wait_until_answered(index + 1)?;
        }
        page.click("save-session")?;
        let mut session: Value = serde_json::from_str(&page.saved("helt-session.json")?)?;
        shorten(&mut session);
        std::fs::write(&path, serde_json::to_string(&session)? + "\n")?;
        println!("{}: {} turns, {} bytes", path.display(), PRESETS.len(), std::fs::metadata(&path)?.len());
        Ok(())
    })
}

fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|number| (number * 1e4).round() / 1e4);
            *value = rounded.map_or(Value::Null, Value::from);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => {
            if let Some(alternatives) = fields.get_mut("alternatives") {
                *alternatives = Value::Array(Vec::new());
            }
            fields.values_mut().for_each(shorten);
        }
        _ => {}
    }
}
