//! How far the model is, in bytes and words.

use leptos::prelude::*;

use crate::i18n::I18n;
use crate::protocol::{LoadProgress, LoadStage};
use crate::session::{LoadStatus, Session, WorkerStatus};

/// A line of text over a bar. It keeps its height when the model is there, so that nothing jumps.
#[component]
pub(super) fn LoadStatusLine(i18n: I18n, session: RwSignal<Session>) -> impl IntoView {
    let state = Memo::new(move |_| session.with(|session| (session.worker.clone(), session.load.clone())));
    // Whether the model that answers is kept, and how long it took.
    let ready = Memo::new(move |_| session.with(|session| session.model().map(|model| (model.stored, model.load_ms))));
    let fraction = move || {
        state.with(|(_, load)| match load {
            _ if ready.get().is_some() => 1.0,
            LoadStatus::Loading(Some(progress)) if progress.total_bytes > 0 => progress.received_bytes as f64 / progress.total_bytes as f64,
            _ => 0.0,
        })
    };
    let name = move || state.with(|(worker, load)| if ready.get().is_some() { "ready" } else { state_name(worker, load) });
    let text = move || match ready.get() {
        Some((stored, load_ms)) => {
            let key = if stored { "load.ready_stored" } else { "load.ready" };
            i18n.format(key, &[("time", &i18n.now().duration(load_ms))])
        }
        None => state.with(|(worker, load)| describe(i18n, worker, load)),
    };
    view! {
        <div class="load" data-testid="load-status" data-state=name>
            <div
                class="load-bar"
                role="progressbar"
                aria-label=move || i18n.text("load.label")
                aria-valuemin="0"
                aria-valuemax="100"
                aria-valuenow=move || format!("{:.0}", fraction() * 100.0)
            >
                <span style:transform=move || format!("scaleX({:.4})", fraction())></span>
            </div>
            <p>{text}</p>
        </div>
    }
}

fn state_name(worker: &WorkerStatus, load: &LoadStatus) -> &'static str {
    match (worker, load) {
        (WorkerStatus::Dead { .. }, _) => "dead",
        (_, LoadStatus::Failed(_)) => "failed",
        (WorkerStatus::Starting, _) => "starting",
        (_, LoadStatus::Idle) => "idle",
        (_, LoadStatus::Loading(_)) => "loading",
    }
}

fn describe(i18n: I18n, worker: &WorkerStatus, load: &LoadStatus) -> String {
    match (worker, load) {
        (WorkerStatus::Dead { .. }, _) => i18n.text("load.dead"),
        (_, LoadStatus::Failed(_)) => i18n.text("load.failed"),
        (WorkerStatus::Starting, _) | (_, LoadStatus::Loading(None)) => i18n.text("load.starting"),
        (_, LoadStatus::Idle) => i18n.text("load.idle"),
        (_, LoadStatus::Loading(Some(progress))) => describe_progress(i18n, progress),
    }
}

fn describe_progress(i18n: I18n, progress: &LoadProgress) -> String {
    let key = match progress.stage {
        LoadStage::Download => "load.download",
        LoadStage::Cache => "load.cache",
        LoadStage::OwnFile => "load.own_file",
        LoadStage::Check => "load.check",
        LoadStage::Build => "load.build",
    };
    let locale = i18n.now();
    i18n.format(key, &[("received", &locale.bytes(progress.received_bytes)), ("total", &locale.bytes(progress.total_bytes))])
}
