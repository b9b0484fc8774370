//! The page and its model worker.
//!
//! Two wasm files come from this package: `app` draws the page and holds no model, `worker` holds the model and draws nothing. They speak
//! [`protocol`]. What the page knows is in [`session`] (what has happened) and [`controls`] (what the user sets): plain structs, tested on the
//! host; views are thin.

#[cfg(feature = "app")]
pub mod components;
pub mod controls;
pub mod diff;
pub mod export;
pub mod focus;
pub mod history;
pub mod i18n;
#[cfg(feature = "app")]
pub mod inference;
#[cfg(feature = "worker")]
pub mod model_store;
pub mod paper;
pub mod permalink;
pub mod picture;
pub mod presets;
pub mod protocol;
pub mod reading;
pub mod recorded;
pub mod request_queue;
pub mod runs;
pub mod session;
pub mod weights_check;
#[cfg(feature = "worker")]
pub mod worker;
