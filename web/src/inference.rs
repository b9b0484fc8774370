//! The worker, as verbs for the page: start, send, end.

use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

use crate::protocol::{RequestMessage, ResponseMessage};

/// What comes from the worker.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEvent {
    /// It spoke.
    Message(ResponseMessage),
    /// It failed without a word of its own.
    Died(String),
}

/// A running worker; dropping it ends the worker and frees its memory.
#[derive(Debug)]
pub struct Inference {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

impl Inference {
    /// Starts the worker named by `<meta name="worker">`, whose address carries the build's version.
    pub fn start(on_event: impl Fn(WorkerEvent) + Clone + 'static) -> Result<Self, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(&worker_url()?, &options).map_err(|error| describe(&error))?;
        let speak = on_event.clone();
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            speak(match serde_json::from_str(&text) {
                Ok(message) => WorkerEvent::Message(message),
                Err(error) => WorkerEvent::Died(format!("page and worker are of different versions ({error}): reload the page")),
            });
        });
        let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
            event.prevent_default();
            // A worker whose script cannot be fetched gives a plain event without a message.
            let message = js_sys::Reflect::get(&event, &"message".into()).ok().and_then(|message| message.as_string());
            on_event(WorkerEvent::Died(message.unwrap_or_else(|| "worker script".to_string())));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Self { worker, _on_message: on_message, _on_error: on_error })
    }

    /// Sends a request, with handles of the user's files where it needs them.
    pub fn send(&self, message: &RequestMessage, files: &[web_sys::File]) -> Result<(), String> {
        let json = serde_json::to_string(message).map_err(|error| error.to_string())?;
        let parcel = js_sys::Array::of1(&json.into());
        files.iter().for_each(|file| {
            parcel.push(file);
        });
        self.worker.post_message(&parcel).map_err(|error| describe(&error))
    }
}

impl Drop for Inference {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

/// Address of the folder with the models' manifest.
pub fn models_url() -> Result<String, String> {
    resolve("models/")
}

fn worker_url() -> Result<String, String> {
    let meta = document()?.query_selector("meta[name=worker]").ok().flatten().and_then(|meta| meta.get_attribute("content"));
    resolve(&meta.ok_or("the page names no worker")?)
}

/// Relative to the page, so that it works in every folder of every host.
pub fn resolve(path: &str) -> Result<String, String> {
    let base = document()?.base_uri().ok().flatten().ok_or("the page has no address")?;
    Ok(web_sys::Url::new_with_base(path, &base).map_err(|error| describe(&error))?.href())
}

fn document() -> Result<web_sys::Document, String> {
    web_sys::window().and_then(|window| window.document()).ok_or_else(|| "there is no page".to_string())
}

fn describe(error: &JsValue) -> String {
    error.dyn_ref::<js_sys::Error>().map_or_else(|| format!("{error:?}"), |error| String::from(error.message()))
}
