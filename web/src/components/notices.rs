//! What went wrong, in words, with the way out.

use leptos::prelude::*;

use super::playground::Playground;
use super::preferences;
use crate::session::{Action, LoadStatus, WorkerStatus};

/// A dead worker, a model that did not load, a reply that failed.
#[component]
pub(super) fn Notices(play: Playground) -> impl IntoView {
    let Playground { session, i18n, .. } = play;
    let dead = Memo::new(move |_| {
        session.with(|session| match &session.worker {
            WorkerStatus::Dead { reason } => Some(reason.clone()),
            _ => None,
        })
    });
    let load_error = Memo::new(move |_| {
        session.with(|session| match &session.load {
            LoadStatus::Failed(error) => Some(error.clone()),
            _ => None,
        })
    });
    let reply_error = Memo::new(move |_| session.with(|session| session.error.clone()));
    let has_model = Memo::new(move |_| session.with(|session| session.model().is_some()));
    let waits_for_user = Memo::new(move |_| {
        session.with(|session| session.worker == WorkerStatus::Ready && session.load == LoadStatus::Idle && session.model().is_none())
    });
    view! {
        <div class="notices" role="alert">
            {move || dead.get().map(|reason| view! {
                <div class="notice" data-testid="error-notice">
                    <p>{move || i18n.format("error.worker_died", &[("reason", &reason)])}</p>
                    <button class="solid" data-testid="restart" on:click=move |_| { preferences::loading_ended(); play.start_worker() }>
                        {move || i18n.text("error.restart")}
                    </button>
                </div>
            })}
            {move || load_error.get().map(|error| view! {
                <div class="notice" data-testid="error-notice">
                    <p>{move || i18n.now().error(&error)}</p>
                    <button class="solid" data-testid="retry-load" on:click=move |_| play.retry_load()>
                        {move || i18n.text("error.try_again")}
                    </button>
                    {move || has_model.get().then(|| view! {
                        <button class="quiet" data-testid="close-load-error" on:click=move |_| play.act(Action::CloseLoadError)>
                            {move || i18n.text("error.close")}
                        </button>
                    })}
                </div>
            })}
            {move || reply_error.get().map(|error| view! {
                <div class="notice" data-testid="error-notice">
                    <p>{move || i18n.now().error(&error)}</p>
                    <button class="quiet" data-testid="close-error" on:click=move |_| play.act(Action::CloseError)>
                        {move || i18n.text("error.close")}
                    </button>
                </div>
            })}
            {move || waits_for_user.get().then(|| view! {
                <div class="notice calm">
                    <p>{move || i18n.text("load.waits")}</p>
                    <button class="solid" data-testid="load-model" on:click=move |_| play.load_model(None)>
                        {move || i18n.text("load.start")}
                    </button>
                </div>
            })}
        </div>
    }
}
