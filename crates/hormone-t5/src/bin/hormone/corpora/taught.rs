//! Texts that a teacher elsewhere has read: a JSON line each with `text` and `tones`, how likely each tone is.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use hormone_t5::Tone;
use serde::Deserialize;

use super::{read_text, tidy};

/// One line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaughtText {
    pub(crate) text: String,
    /// In the order of [`Tone::ALL`]; they add up to 1.
    pub(crate) tones: [f32; Tone::ALL.len()],
}

impl TaughtText {
    /// Reads and checks a file; one without lines is an error.
    pub(crate) fn read(path: &Path) -> Result<Vec<Self>> {
        let text = read_text(path, "a JSON line for each text, with `text` and `tones`")?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let texts = lines
            .map(|(index, line)| {
                let place = || format!("{}, line {}: expected `text` and five `tones` that add up to 1", path.display(), index + 1);
                let taught: Self = serde_json::from_str(line).with_context(place)?;
                let sum: f32 = taught.tones.iter().sum();
                ensure!(taught.tones.iter().all(|tone| *tone >= 0.0) && (sum - 1.0).abs() < 0.02, "{}, but they add up to {sum}", place());
                let text = tidy(&taught.text);
                ensure!(!text.is_empty(), "{}, but there is no text", place());
                Ok(Self { text, ..taught })
            })
            .collect::<Result<Vec<Self>>>()?;
        ensure!(!texts.is_empty(), "{} has no texts", path.display());
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_with_their_tones_and_what_cannot_be_read_is_named() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("taught.jsonl");
        let read = |lines: &str| {
            std::fs::write(&path, lines).expect("written");
            TaughtText::read(&path).map_err(|error| format!("{error:#}"))
        };
        let texts = read("{\"text\":\"so glad\",\"tones\":[0.5,0,0,0,0.5]}\n\n").expect("readable");
        assert_eq!(texts, [TaughtText { text: "so glad".into(), tones: [0.5, 0.0, 0.0, 0.0, 0.5] }]);
        for (lines, named) in [
            ("{\"text\":\"a\",\"tones\":[1,0,0,0,0]}\n{\"text\":\"b\",\"tones\":[1,0]}", "line 2"),
            ("{\"text\":\"a\",\"tones\":[1,1,0,0,0]}", "add up to 2"),
            ("{\"text\":\" \",\"tones\":[1,0,0,0,0]}", "no text"),
            ("{\"text\":\"a\",\"tones\":[2,-1,0,0,0]}", "line 1"),
            ("\n", "no texts"),
        ] {
            let error = read(lines).expect_err(lines);
            assert!(error.contains(named), "{error}");
        }
        Ok(())
    }
}
