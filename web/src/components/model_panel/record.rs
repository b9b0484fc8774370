//! What `runs/` says of the model at hand, fetched from this site when the panel is open.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::inference::resolve;
use crate::paper::LevelFigures;
use crate::runs::{OwnAblation, RunList, TrainingRun, ablations, level_figures};

/// All that is known; empty where nothing was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    /// The loss curve.
    pub(super) training: Option<TrainingRun>,
    /// The six levels on held-out messages.
    pub(super) levels: Option<[LevelFigures; 6]>,
    /// Our ablations.
    pub(super) ablations: Vec<OwnAblation>,
    /// Whether it could not be fetched.
    failed: bool,
}

impl Record {
    /// The record of the model with this id, as soon as there is one.
    pub(super) fn follow(id: Signal<Option<String>>) -> RwSignal<Self> {
        let record = RwSignal::new(Self::default());
        Effect::new(move |_| {
            let Some(id) = id.get() else { return };
            leptos::task::spawn_local(async move {
                record.set(Self::fetch(&id).await.unwrap_or(Self { failed: true, ..Self::default() }));
            });
        });
        record
    }

    /// Key of what is said where something lacks: `absent` if it was never measured.
    pub(super) fn why_missing(&self, absent: &'static str) -> &'static str {
        if self.failed { "model.record_failed" } else { absent }
    }

    async fn fetch(id: &str) -> Result<Self, JsValue> {
        let list: RunList = serde_json::from_str(&fetch_text("runs/index.json").await?).map_err(|error| error.to_string())?;
        let (curve, evaluation) = (format!("{id}.csv"), format!("{id}.json"));
        let file = async |name: &str| if list.has(name) { fetch_text(&format!("runs/{name}")).await.map(Some) } else { Ok(None) };
        Ok(Self {
            training: file(&curve).await?.map(|csv| TrainingRun::from_csv(&csv)),
            levels: file(&evaluation).await?.and_then(|json| level_figures(&json)),
            ablations: file("ablations.csv").await?.map(|csv| ablations(&csv)).unwrap_or_default(),
            failed: false,
        })
    }
}

async fn fetch_text(path: &str) -> Result<String, JsValue> {
    let response: web_sys::Response = JsFuture::from(window().fetch_with_str(&resolve(path)?)).await?.dyn_into()?;
    if !response.ok() {
        return Err(response.status().into());
    }
    JsFuture::from(response.text()?).await?.as_string().ok_or_else(|| "no text".into())
}
