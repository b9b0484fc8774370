//! Whether bytes can be the file that the manifest speaks of: size and first bytes, before anything is stored or parsed.
//!
//! A single-page fallback answers a missing file with a web page and status 200, and a repository without LFS serves pointers; stored once, they
//! would poison the cache for good.

use crate::protocol::Damage;

/// The formats a model's files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// `config.json`, `hormone.json`, `tokenizer.json`.
    Json,
    /// `model.gguf`.
    Gguf,
    /// `model.safetensors`.
    Safetensors,
}

impl FileFormat {
    /// By the file name's end; `None` for a name of another kind.
    pub fn of(path: &str) -> Option<Self> {
        match path.rsplit('.').next()? {
            "json" => Some(Self::Json),
            "gguf" => Some(Self::Gguf),
            "safetensors" => Some(Self::Safetensors),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Gguf => "GGUF",
            Self::Safetensors => "safetensors",
        }
    }

    fn starts(self, bytes: &[u8]) -> bool {
        match self {
            Self::Json => matches!(first_mark(bytes), Some(b'{' | b'[')),
            Self::Gguf => bytes.starts_with(b"GGUF"),
            // Eight bytes of header length, then the header, which is JSON.
            Self::Safetensors => bytes.get(8) == Some(&b'{'),
        }
    }
}

/// Checks the first bytes; `expected_bytes` is the manifest's size where one is known.
pub fn check(path: &str, bytes: &[u8], expected_bytes: Option<u64>) -> Result<(), Damage> {
    if first_mark(bytes) == Some(b'<') {
        return Err(Damage::WebPage);
    }
    if bytes.starts_with(b"version https://git-lfs") {
        return Err(Damage::LfsPointer);
    }
    let found = bytes.len() as u64;
    if let Some(expected) = expected_bytes.filter(|expected| *expected != found) {
        return Err(Damage::Size { expected, found });
    }
    match FileFormat::of(path) {
        Some(format) if !format.starts(bytes) => Err(Damage::Magic { expected: format.name().to_string() }),
        _ => Ok(()),
    }
}

fn first_mark(bytes: &[u8]) -> Option<u8> {
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_files_pass() {
        assert_eq!(check("a/config.json", b" {\"d_model\": 4}", None), Ok(()));
        assert_eq!(check("model.gguf", b"GGUF\x03\0\0\0", Some(8)), Ok(()));
        assert_eq!(check("model.safetensors", b"\x02\0\0\0\0\0\0\0{}", Some(10)), Ok(()));
    }

    #[test]
    fn a_web_page_in_place_of_weights_is_told_as_such() {
        assert_eq!(check("model.gguf", b"\n<!doctype html>", Some(1_000)), Err(Damage::WebPage));
    }

    #[test]
    fn a_pointer_in_place_of_weights_is_told_as_such() {
        assert_eq!(check("model.gguf", b"version https://git-lfs.github.com/spec/v1\n", None), Err(Damage::LfsPointer));
    }

    #[test]
    fn a_cut_off_file_is_told_with_both_sizes() {
        assert_eq!(check("model.gguf", b"GGUF", Some(8)), Err(Damage::Size { expected: 8, found: 4 }));
    }

    #[test]
    fn other_first_bytes_are_told() {
        assert_eq!(check("model.gguf", b"PK\x03\x04", Some(4)), Err(Damage::Magic { expected: "GGUF".into() }));
        assert_eq!(check("model.safetensors", b"", None), Err(Damage::Magic { expected: "safetensors".into() }));
    }
}
