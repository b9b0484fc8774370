//! Gives the thread back for one macrotask.
//!
//! A `MessageChannel` does so in microseconds; nested `setTimeout(0)` would wait 4 ms each time. A promise alone would not do: microtasks run
//! before any message is taken.

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

thread_local! {
    static CHANNEL: Option<MessageChannel> = MessageChannel::new().ok();
}

/// Returns after every message that had come before is handled.
pub(super) async fn pause() {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        let posted = CHANNEL.with(|channel| {
            channel.as_ref().is_some_and(|channel| {
                channel.port1().set_onmessage(Some(&resolve));
                channel.port2().post_message(&JsValue::NULL).is_ok()
            })
        });
        if !posted {
            // Without channels: go on rather than hang.
            let _ = resolve.call0(&JsValue::NULL);
        }
    });
    // Resolved above, never rejected.
    let _ = JsFuture::from(promise).await;
}
