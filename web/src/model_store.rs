//! Where the worker finds a model: the manifest, this browser's store, the server, or the user's own files.
//!
//! Nothing is stored or parsed before status, size, first bytes and SHA-256 are right. Where the browser has no Cache API (plain http in a LAN, some
//! private windows) or no room, the model still loads, only not for the next visit.

mod download;
mod storage;

use hormone_t5::manifest::{FileEntry, Manifest, ModelEntry, ModelFiles};
use sha2::{Digest, Sha256};
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

use crate::protocol::{Damage, LoadProgress, LoadStage, WorkerError};
use crate::weights_check::{FileFormat, check};
use crate::worker::{Interruption, describe};
use download::CacheMode;
use storage::Storage;
pub use storage::delete_all;

/// The models of one folder.
#[derive(Debug)]
pub struct ModelStore {
    models_url: String,
    storage: Storage,
}

/// A model's bytes.
#[derive(Debug)]
pub struct Found {
    /// All four files.
    pub files: ModelFiles<Vec<u8>>,
    /// Name of the weights' file.
    pub weights_name: String,
    /// Whether the next visit finds all of them in this browser.
    pub stored: bool,
}

impl Found {
    /// Bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        let ModelFiles { config, hormone, tokenizer, weights } = &self.files;
        (config.len() + hormone.len() + tokenizer.len() + weights.len()) as u64
    }
}

impl ModelStore {
    /// The models under this address, which ends with `/`.
    pub async fn open(models_url: &str) -> Self {
        Self { models_url: models_url.to_string(), storage: Storage::open().await }
    }

    /// Reads `manifest.json`, always anew: it says which versions are current.
    pub async fn manifest(&self) -> Result<Manifest, WorkerError> {
        let file = "manifest.json";
        let bytes = download::all(&format!("{}{file}", self.models_url), file, CacheMode::Revalidate).await?;
        check(file, &bytes, None).map_err(|damage| damaged(file, damage))?;
        Manifest::from_json(&bytes).map_err(|error| WorkerError::Manifest { reason: error.to_string() })
    }

    /// All files of a model, each checked.
    pub(crate) async fn files(
        &self,
        model: &ModelEntry,
        report: impl AsyncFn(LoadProgress) -> Result<(), Interruption>,
    ) -> Result<Found, Interruption> {
        let ModelFiles { config, hormone, tokenizer, weights } = &model.files;
        let mut total = Total { model, received_bytes: 0, stored: true };
        let files = ModelFiles {
            config: self.file(config, &mut total, &report).await?,
            hormone: self.file(hormone, &mut total, &report).await?,
            tokenizer: self.file(tokenizer, &mut total, &report).await?,
            weights: self.file(weights, &mut total, &report).await?,
        };
        Ok(Found { files, weights_name: weights.path.clone(), stored: total.stored })
    }

    async fn file(
        &self,
        file: &FileEntry,
        total: &mut Total<'_>,
        report: &impl AsyncFn(LoadProgress) -> Result<(), Interruption>,
    ) -> Result<Vec<u8>, Interruption> {
        // The hash in the address: another version of a file is another entry, here and in the browser's own cache.
        let url = format!("{}{}?sha256={}", self.models_url, file.path, file.sha256);
        if let Some(bytes) = self.storage.get(&url).await {
            report(total.progress(LoadStage::Cache, file, 0)).await?;
            match verify(file, &bytes) {
                Ok(()) => {
                    total.received_bytes += file.bytes;
                    return Ok(bytes);
                }
                Err(_) => self.storage.remove(&url).await,
            }
        }
        let received = async |bytes: u64| report(total.progress(LoadStage::Download, file, bytes)).await;
        let mut bytes = download::with_progress(&url, file, CacheMode::Revalidate, &received).await?;
        if verify(file, &bytes).is_err() {
            // The browser's own cache may hold a damaged copy: once more, past it.
            bytes = download::with_progress(&url, file, CacheMode::Reload, &received).await?;
        }
        report(total.progress(LoadStage::Check, file, file.bytes)).await?;
        verify(file, &bytes).map_err(|damage| damaged(&file.path, damage))?;
        total.stored &= self.storage.put(&url, &bytes).await;
        total.received_bytes += file.bytes;
        Ok(bytes)
    }
}

/// How far all files are together.
struct Total<'a> {
    model: &'a ModelEntry,
    received_bytes: u64,
    stored: bool,
}

impl Total<'_> {
    fn progress(&self, stage: LoadStage, file: &FileEntry, of_this_file: u64) -> LoadProgress {
        let ModelFiles { config, hormone, tokenizer, weights } = &self.model.files;
        LoadProgress {
            model: self.model.id.clone(),
            stage,
            file: file.path.clone(),
            received_bytes: self.received_bytes + of_this_file,
            total_bytes: config.bytes + hormone.bytes + tokenizer.bytes + weights.bytes,
        }
    }
}

/// A model of the user's own files, told apart by their names; `hormone.json` may be missing.
pub(crate) async fn own_files(
    files: &[File],
    report: impl AsyncFn(LoadProgress) -> Result<(), Interruption>,
) -> Result<Found, Interruption> {
    let named = |wanted: &str| files.iter().find(|file| file.name() == wanted);
    let missing = |missing: &str| WorkerError::OwnFiles { missing: missing.to_string() };
    let is_weights = |file: &&File| matches!(FileFormat::of(&file.name()), Some(FileFormat::Gguf | FileFormat::Safetensors));
    let config = named("config.json").ok_or_else(|| missing("config.json"))?;
    let tokenizer = named("tokenizer.json").ok_or_else(|| missing("tokenizer.json"))?;
    let weights = files.iter().find(is_weights).ok_or_else(|| missing("*.gguf / *.safetensors"))?;
    let total_bytes = files.iter().map(|file| file.size()).sum::<f64>() as u64;
    let progress = LoadProgress { model: weights.name(), stage: LoadStage::OwnFile, file: weights.name(), received_bytes: 0, total_bytes };
    report(progress).await?;
    let files = ModelFiles {
        config: read(config).await?,
        hormone: match named("hormone.json") {
            Some(file) => read(file).await?,
            None => b"{}".to_vec(),
        },
        tokenizer: read(tokenizer).await?,
        weights: read(weights).await?,
    };
    Ok(Found { files, weights_name: weights.name(), stored: false })
}

async fn read(file: &File) -> Result<Vec<u8>, WorkerError> {
    let buffer = JsFuture::from(file.array_buffer()).await;
    let buffer = buffer.map_err(|error| WorkerError::Network { file: file.name(), reason: describe(&error) })?;
    let bytes = js_sys::Uint8Array::new(&buffer).to_vec();
    check(&file.name(), &bytes, None).map_err(|damage| damaged(&file.name(), damage))?;
    Ok(bytes)
}

fn verify(file: &FileEntry, bytes: &[u8]) -> Result<(), Damage> {
    check(&file.path, bytes, Some(file.bytes))?;
    let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == file.sha256 { Ok(()) } else { Err(Damage::Checksum { expected: file.sha256.clone(), found }) }
}

fn damaged(file: &str, damage: Damage) -> WorkerError {
    WorkerError::Damaged { file: file.to_string(), damage }
}
