//! Fetching a file chunk by chunk.
//!
//! Sizes come from the manifest, never from `Content-Length`, which counts compressed bytes.

use hormone_t5::manifest::FileEntry;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamDefaultReader, RequestCache, RequestInit, Response};

use crate::protocol::WorkerError;
use crate::worker::{Interruption, describe, scope};

/// How far the browser's own cache is trusted.
#[derive(Clone, Copy, Debug)]
pub(super) enum CacheMode {
    /// If the server says that it is current.
    Revalidate,
    /// Not at all.
    Reload,
}

/// A small file as a whole.
pub(super) async fn all(url: &str, file: &str, mode: CacheMode) -> Result<Vec<u8>, WorkerError> {
    let failed = |error: JsValue| WorkerError::Network { file: file.to_string(), reason: describe(&error) };
    let response = response(url, file, mode).await?;
    let buffer = JsFuture::from(response.array_buffer().map_err(failed)?).await.map_err(failed)?;
    Ok(js_sys::Uint8Array::new(&buffer).to_vec())
}

/// A large file; `received` hears of every chunk and can end the download with an error.
pub(super) async fn with_progress(
    url: &str,
    file: &FileEntry,
    mode: CacheMode,
    received: &impl AsyncFn(u64) -> Result<(), Interruption>,
) -> Result<Vec<u8>, Interruption> {
    let failed = |error: JsValue| WorkerError::Network { file: file.path.clone(), reason: describe(&error) };
    let response = response(url, &file.path, mode).await?;
    let Some(body) = response.body() else { return Ok(Vec::new()) };
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let mut bytes = Vec::with_capacity(file.bytes as usize);
    loop {
        let chunk = JsFuture::from(reader.read()).await.map_err(failed)?;
        if js_sys::Reflect::get(&chunk, &"done".into()).is_ok_and(|done| done.is_truthy()) {
            return Ok(bytes);
        }
        let value = js_sys::Reflect::get(&chunk, &"value".into()).map_err(failed)?;
        bytes.extend(js_sys::Uint8Array::new(&value).to_vec());
        let wanted = received((bytes.len() as u64).min(file.bytes)).await;
        // Longer than it should be: what is here is enough to tell what it is.
        let too_long = bytes.len() as u64 > file.bytes;
        if wanted.is_err() || too_long {
            let _ = JsFuture::from(reader.cancel()).await;
            wanted?;
            return Ok(bytes);
        }
    }
}

async fn response(url: &str, file: &str, mode: CacheMode) -> Result<Response, WorkerError> {
    let failed = |error: JsValue| WorkerError::Network { file: file.to_string(), reason: describe(&error) };
    let init = RequestInit::new();
    init.set_cache(match mode {
        CacheMode::Revalidate => RequestCache::NoCache,
        CacheMode::Reload => RequestCache::Reload,
    });
    let response: Response = JsFuture::from(scope().fetch_with_str_and_init(url, &init)).await.map_err(failed)?.unchecked_into();
    if response.ok() { Ok(response) } else { Err(WorkerError::Status { file: file.to_string(), status: response.status() }) }
}
