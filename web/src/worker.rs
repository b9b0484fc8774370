//! The model worker: receives requests, runs them one after the other, yields between tokens, answers.
//!
//! Everything runs on one thread. Between two tokens the run gives the thread back for a macrotask ([`pause::pause`]), so that a message, above
//! all [`WorkerRequest::Cancel`], is taken within one token; readings that wait are then served before the replies go on. A panic is told to the page before the worker traps.

mod lanes;
mod pause;
mod run;
mod self_test;
mod texts;

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, File, MessageEvent};

use crate::protocol::{RequestId, RequestMessage, ResponseMessage, WorkerError, WorkerRequest, WorkerResponse};
use crate::request_queue::RequestQueue;

/// A request that waits.
struct Job {
    request: WorkerRequest,
    files: Vec<File>,
}

type Queue = Rc<RefCell<RequestQueue<Job>>>;

/// Tests the arithmetic, says [`WorkerResponse::Ready`] and listens.
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        post(None, WorkerResponse::Crashed { reason: info.to_string() });
    }));
    if let Err(reason) = self_test::arithmetic() {
        return post(None, WorkerResponse::Crashed { reason });
    }
    let queue: Queue = Rc::new(RefCell::new(RequestQueue::default()));
    let runner = Rc::new(RefCell::new(Some(run::Runner::default())));
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| receive(&event, &queue, &runner));
    scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    on_message.forget();
    post(None, WorkerResponse::Ready);
}

/// Queues a request and wakes the runner if it sleeps; cancels at once.
fn receive(event: &MessageEvent, queue: &Queue, runner: &Rc<RefCell<Option<run::Runner>>>) {
    let parcel = js_sys::Array::from(&event.data());
    let text = parcel.get(0).as_string().unwrap_or_default();
    let RequestMessage { id, request } = match serde_json::from_str(&text) {
        Ok(message) => message,
        Err(error) => return post(None, WorkerResponse::Crashed { reason: format!("page and worker are of different versions: {error}") }),
    };
    if let WorkerRequest::Cancel { target } = request {
        if queue.borrow_mut().cancel(target) {
            post(Some(target), WorkerResponse::Cancelled);
        }
        return post(Some(id), WorkerResponse::Done);
    }
    let files = parcel.iter().skip(1).filter_map(|file| file.dyn_into().ok()).collect();
    queue.borrow_mut().push(id, Job { request, files });
    let (queue, runner) = (queue.clone(), runner.clone());
    // Taken while it runs: a second wake-up finds nothing to do.
    let Some(mut awake) = runner.borrow_mut().take() else { return };
    spawn_local(async move {
        loop {
            let next = queue.borrow_mut().start_next();
            let Some((id, job)) = next else { break };
            let answer = awake.run(&Conversation { id, queue: queue.clone() }, job).await;
            queue.borrow_mut().finish();
            post(Some(id), answer);
        }
        *runner.borrow_mut() = Some(awake);
    });
}

/// What a running request needs of the outside.
struct Conversation {
    id: RequestId,
    queue: Queue,
}

/// Why a run ended before its end.
#[derive(Debug)]
pub(crate) enum Interruption {
    /// The page asked for it.
    Cancelled,
    /// It could not go on.
    Failed(WorkerError),
}

impl From<WorkerError> for Interruption {
    fn from(error: WorkerError) -> Self {
        Self::Failed(error)
    }
}

impl Conversation {
    /// Tells the page of progress.
    fn say(&self, response: WorkerResponse) {
        post(Some(self.id), response);
    }

    /// A reading that waits and may be served at once, with its text and tau.
    fn next_reading(&self) -> Option<(Conversation, String, Option<f64>)> {
        let is_reading = |job: &Job| matches!(job.request, WorkerRequest::Analyze { .. });
        let is_reply = |job: &Job| matches!(job.request, WorkerRequest::Generate { .. });
        let (id, job) = self.queue.borrow_mut().take_overtaking(is_reading, is_reply)?;
        let WorkerRequest::Analyze { text, attention_temperature } = job.request else { return None };
        Some((Conversation { id, queue: self.queue.clone() }, text, attention_temperature))
    }

    /// Lets messages in; an error where one of them cancelled this request.
    async fn pause(&self) -> Result<(), Interruption> {
        pause::pause().await;
        if self.queue.borrow().is_cancelled() { Err(Interruption::Cancelled) } else { Ok(()) }
    }
}

fn post(request: Option<RequestId>, response: WorkerResponse) {
    // Plain data without maps of other keys than text always serialises.
    let Ok(json) = serde_json::to_string(&ResponseMessage { request, response }) else { return };
    if let Err(error) = scope().post_message(&json.into()) {
        web_sys::console::error_1(&error);
    }
}

pub(crate) fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

pub(crate) fn now_ms() -> f64 {
    scope().performance().map_or(0.0, |performance| performance.now())
}

pub(crate) fn describe(error: &JsValue) -> String {
    error.dyn_ref::<js_sys::Error>().map_or_else(|| format!("{error:?}"), |error| String::from(error.message()))
}
