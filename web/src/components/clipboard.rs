//! Texts for the visitor to paste elsewhere.

use leptos::prelude::window;
use wasm_bindgen_futures::JsFuture;

/// Whether there is a clipboard; none on plain http.
pub(super) fn is_open() -> bool {
    window().is_secure_context()
}

/// Puts a text on the clipboard; false where the browser has none or refuses.
pub(super) async fn copy(text: &str) -> bool {
    is_open() && JsFuture::from(window().navigator().clipboard().write_text(text)).await.is_ok()
}
