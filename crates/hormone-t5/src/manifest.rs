//! `assets/models/manifest.json`: which models the page can load, with the size and SHA-256 of every file.
//!
//! Written by `hormone export`, read by the page and the command line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The whole manifest.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Manifest {
    /// Version of this format: 1.
    pub schema: u32,
    /// Id of the model to load when none is asked for.
    pub default: String,
    /// All models.
    pub models: Vec<ModelEntry>,
}

/// One model.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ModelEntry {
    /// Name of its folder beside the manifest.
    pub id: String,
    /// What it is, by language (`en`, `nl`).
    pub description: BTreeMap<String, String>,
    /// Count of its parameters.
    pub parameters: u64,
    /// How its weights are stored: `F32`, `F16`, `Q8_0` or `Q4_0`.
    pub quantization: String,
    /// Its files.
    pub files: ModelFiles<FileEntry>,
    /// Names of the texts it was trained on.
    pub trained_on: Vec<String>,
    /// SPDX expression of its weights' licence.
    pub licence: String,
    /// Results on unseen text, by name; empty where none were measured.
    #[serde(default)]
    pub results: BTreeMap<String, f64>,
}

/// The four files of a model; `T` is what is known of each, or its bytes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ModelFiles<T> {
    /// Hugging Face's `config.json`.
    pub config: T,
    /// `hormone.json`: [`crate::HormoneConfig`].
    pub hormone: T,
    /// Hugging Face's `tokenizer.json`.
    pub tokenizer: T,
    /// `model.gguf` or `model.safetensors`.
    pub weights: T,
}

/// One file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FileEntry {
    /// Path relative to the manifest, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Lower-case hexadecimal SHA-256.
    pub sha256: String,
}

impl Manifest {
    /// Reads and checks a manifest.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let invalid = |reason: String| Error::Config { file: "manifest.json", reason };
        let manifest: Self = serde_json::from_slice(json).map_err(|error| invalid(error.to_string()))?;
        if manifest.schema != 1 {
            return Err(invalid(format!("its schema is {}, but this program knows 1.", manifest.schema)));
        }
        manifest.model(&manifest.default)?;
        Ok(manifest)
    }

    /// The model with this id.
    pub fn model(&self, id: &str) -> Result<&ModelEntry> {
        self.models.iter().find(|model| model.id == id).ok_or_else(|| {
            let ids: Vec<&str> = self.models.iter().map(|model| model.id.as_str()).collect();
            Error::Config { file: "manifest.json", reason: format!("there is no model \"{id}\"; there are: {}.", ids.join(", ")) }
        })
    }
}
