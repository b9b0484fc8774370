//! Files dropped anywhere on the page: a saved session is opened, model files are loaded. They stay on this device.

use leptos::ev;
use leptos::prelude::*;
use web_sys::{DragEvent, File};

use super::playground::Playground;
use super::session_file::open_session;

/// A veil that says what will happen, while files hover over the page.
#[component]
pub(super) fn DropZone(play: Playground) -> impl IntoView {
    let i18n = play.i18n;
    let hovering = RwSignal::new(false);
    let failure = RwSignal::new(None::<String>);
    // The page listens as long as it lives.
    window_event_listener(ev::dragover, move |event| {
        if carries_files(&event) {
            event.prevent_default();
            hovering.set(true);
        }
    });
    window_event_listener(ev::dragleave, move |event| {
        // Leaving the window, not merely one of its elements.
        if event.related_target().is_none() {
            hovering.set(false);
        }
    });
    window_event_listener(ev::drop, move |event| {
        hovering.set(false);
        if carries_files(&event) {
            event.prevent_default();
            take(play, files_of(&event), failure);
        }
    });
    view! {
        <div class="drop-veil" hidden=move || !hovering.get() data-testid="drop-veil"><p>{move || i18n.text("drop.hint")}</p></div>
        {move || failure.get().map(|reason| view! {
            <div class="notice floating" role="alert" data-testid="drop-failed">
                <p>{move || i18n.format("session.import_failed", &[("reason", &reason)])}</p>
                <button class="quiet" on:click=move |_| failure.set(None)>{move || i18n.text("error.close")}</button>
            </div>
        })}
    }
}

/// One JSON file that is no part of a model is a session; anything else is a model.
fn take(play: Playground, files: Vec<File>, failure: RwSignal<Option<String>>) {
    let of_a_model = ["config.json", "hormone.json", "tokenizer.json"];
    match files.as_slice() {
        [] => {}
        [file] if file.name().ends_with(".json") && !of_a_model.contains(&file.name().as_str()) => open_session(play, file, failure),
        _ => play.load_own_files(files),
    }
}

fn carries_files(event: &DragEvent) -> bool {
    event.data_transfer().is_some_and(|data| data.types().includes(&"Files".into(), 0))
}

fn files_of(event: &DragEvent) -> Vec<File> {
    let list = event.data_transfer().and_then(|data| data.files());
    list.map(|list| (0..list.length()).filter_map(|index| list.get(index)).collect()).unwrap_or_default()
}
