//! The page's views, one a file. Only [`page`] knows the whole; the others take what they show.
//!
//! Stable `data-testid`s for browser tests are listed in `web/e2e/README.md`.

// `#[component]` writes `pub` for every component's properties.
#![allow(unreachable_pub)]

mod about;
mod alpha_panel;
mod announcer;
mod attention_panel;
mod clipboard;
mod composer;
mod conversation;
mod cross_table;
mod data_flow;
mod decoding_panel;
mod download;
mod drop_zone;
mod formula_panel;
mod header;
mod heatmap;
mod hormone_bar;
mod hormone_panel;
mod lane;
mod level_table;
mod load_status;
mod message;
mod model_panel;
mod mood_stripe;
mod notices;
mod page;
mod playground;
mod preferences;
mod profiles;
mod session_file;
mod settings_note;
mod state_line;
mod timeline;
mod turn;
mod weights_badge;
mod welcome;

use leptos::prelude::*;

/// Draws the page in place of the word that it is on its way.
pub fn start() {
    mount_to_body(page::Page);
    if let Some(notice) = document().get_element_by_id("loading") {
        notice.remove();
    }
}
