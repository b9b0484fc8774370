//! This browser's store of checked files: the Cache API where there is one.

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Cache, CacheStorage, Response};

use crate::protocol::WorkerError;
use crate::worker::describe;

/// Every cache of this project starts with this; the rest is the version of what is in it.
const PREFIX: &str = "helt-models";
const NAME: &str = "helt-models-1";

/// The store; without a Cache API it holds nothing and forgets all.
#[derive(Debug)]
pub(super) struct Storage {
    cache: Option<Cache>,
}

impl Storage {
    /// Opens the store. A browser that refuses (private windows, plain http) gives an empty one.
    pub(super) async fn open() -> Self {
        let Some(caches) = cache_storage() else { return Self { cache: None } };
        Self { cache: JsFuture::from(caches.open(NAME)).await.ok().map(JsCast::unchecked_into) }
    }

    /// The bytes stored under an address.
    pub(super) async fn get(&self, url: &str) -> Option<Vec<u8>> {
        let response = JsFuture::from(self.cache.as_ref()?.match_with_str(url)).await.ok()?;
        let buffer = JsFuture::from(response.dyn_into::<Response>().ok()?.array_buffer().ok()?).await.ok()?;
        Some(js_sys::Uint8Array::new(&buffer).to_vec())
    }

    /// Stores checked bytes; false where the browser has no store or no room.
    pub(super) async fn put(&self, url: &str, bytes: &[u8]) -> bool {
        let Some(cache) = &self.cache else { return false };
        let body = js_sys::Uint8Array::from(bytes);
        let Ok(response) = Response::new_with_opt_js_u8_array(Some(&body)) else { return false };
        self.remove_versions(url).await;
        JsFuture::from(cache.put_with_str(url, &response)).await.is_ok()
    }

    /// Forgets an address.
    pub(super) async fn remove(&self, url: &str) {
        if let Some(cache) = &self.cache {
            let _ = JsFuture::from(cache.delete_with_str(url)).await;
        }
    }

    /// Forgets other versions of a file: its address without the hash.
    async fn remove_versions(&self, url: &str) {
        let Some(cache) = &self.cache else { return };
        let path = url.split('?').next().unwrap_or(url);
        let Ok(requests) = JsFuture::from(cache.keys()).await else { return };
        for request in js_sys::Array::from(&requests).iter() {
            let address = request.unchecked_into::<web_sys::Request>().url();
            if address.split('?').next() == Some(path) {
                self.remove(&address).await;
            }
        }
    }
}

/// Deletes every stored model, those of older versions of this page too.
pub async fn delete_all() -> Result<(), WorkerError> {
    let failed = |error: JsValue| WorkerError::NotRemoved { reason: describe(&error) };
    let Some(caches) = cache_storage() else { return Ok(()) };
    let names = JsFuture::from(caches.keys()).await.map_err(failed)?;
    for name in js_sys::Array::from(&names).iter().filter_map(|name| name.as_string()).filter(|name| name.starts_with(PREFIX)) {
        JsFuture::from(caches.delete(&name)).await.map_err(failed)?;
    }
    Ok(())
}

/// Undefined on plain http; asked for by name, since the typed getter would trap.
fn cache_storage() -> Option<CacheStorage> {
    js_sys::Reflect::get(&js_sys::global(), &"caches".into()).ok()?.dyn_into().ok()
}
