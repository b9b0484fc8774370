//! A static file server on the loopback address, for `cargo xtask serve` and for the browser tests.
//!
//! It behaves as a plain static host does: the file, or 404; never `index.html` in place of a missing file.
//! Files may lie under a prefix (`/demo/`), as on a host where several pages share a domain. Tests may replace
//! the bytes of one path and read which requests came. Dropping the server closes its port.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use tokio::sync::oneshot;
use tower::ServiceExt;
use tower_http::services::ServeDir;

/// Serves one folder until it is dropped.
#[derive(Debug)]
pub struct StaticServer {
    address: SocketAddr,
    site: Arc<Site>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// One request as the server saw it, in the order of the answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// `GET`, `HEAD`, ...
    pub method: String,
    /// Path with its prefix and without its query, for example `/demo/worker_bg.wasm`.
    pub path: String,
    /// What stood after the `?`, if anything.
    pub query: Option<String>,
    /// The status of the answer.
    pub status: u16,
}

impl StaticServer {
    /// Serves `directory` under `prefix` (`/` or `/demo/`) on a free port.
    pub fn start(directory: &Path, prefix: &str) -> io::Result<Self> {
        Self::start_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, directory, prefix)
    }

    /// The same on a listener that is already bound.
    pub fn start_on(listener: TcpListener, directory: &Path, prefix: &str) -> io::Result<Self> {
        if !(prefix.starts_with('/') && prefix.ends_with('/')) {
            let message = format!("a prefix starts and ends with `/`, as `/demo/` does; this one is `{prefix}`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let site = Arc::new(Site {
            prefix: prefix.to_owned(),
            files: ServeDir::new(directory).append_index_html_on_directories(false),
            replaced: Mutex::default(),
            requests: Mutex::default(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&site));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("static-server".to_owned()).spawn(move || {
            // Leaving `block_on` drops the runtime and with it every open connection.
            runtime.block_on(async {
                match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => {
                        tokio::select! {
                            _ = axum::serve(listener, router) => {}
                            _ = stopped => {}
                        }
                    }
                    Err(error) => {
                        eprintln!("The static server could not use its port: {error}")
                    }
                }
            });
        })?;
        Ok(Self { address, site, stop: Some(stop), thread: Some(thread) })
    }

    /// The page's address, for example `http://127.0.0.1:8080/demo/`.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.site.prefix)
    }

    /// The port, also where the system chose it.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on answers `path` (relative to the prefix, as `models/manifest.json`) with these bytes.
    pub fn replace(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        lock(&self.site.replaced).insert(path.to_owned(), bytes.into().into());
    }

    /// From now on answers `path` with the file in the folder again.
    pub fn restore(&self, path: &str) {
        lock(&self.site.replaced).remove(path);
    }

    /// All requests since the start or the last `clear_requests`.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.site.requests).clone()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        lock(&self.site.requests).clear();
    }
}

impl Drop for StaticServer {
    fn drop(&mut self) {
        // Both fail only where the thread has ended already, and then nothing is left to stop.
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the request handler needs and the owner may change.
#[derive(Debug)]
struct Site {
    prefix: String,
    files: ServeDir,
    replaced: Mutex<HashMap<String, Bytes>>,
    requests: Mutex<Vec<RecordedRequest>>,
}

async fn answer(State(site): State<Arc<Site>>, request: Request) -> Response {
    let method = request.method().to_string();
    let path = request.uri().path().to_owned();
    let query = request.uri().query().map(str::to_owned);
    let mut response = site.find(request).await;
    // A local server is for pages that change: the browser asks again each time, and gets 304 where nothing did.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let status = response.status().as_u16();
    lock(&site.requests).push(RecordedRequest { method, path, query, status });
    response
}

impl Site {
    async fn find(&self, mut request: Request) -> Response {
        let path = request.uri().path().to_owned();
        let Some(mut file) = path.strip_prefix(&self.prefix).map(str::to_owned) else {
            // Relative addresses in the page need the slash at the end.
            if format!("{path}/") == self.prefix {
                return Redirect::permanent(&self.prefix).into_response();
            }
            return missing(&path);
        };
        if file.is_empty() || file.ends_with('/') {
            file.push_str("index.html");
        }
        if let Some(bytes) = lock(&self.replaced).get(&file) {
            let mime = mime_guess::from_path(&file).first_or_octet_stream();
            return ([(header::CONTENT_TYPE, mime.to_string())], bytes.clone()).into_response();
        }
        match format!("/{file}").parse::<Uri>() {
            Ok(uri) => *request.uri_mut() = uri,
            Err(_) => return missing(&path),
        }
        let Ok(response) = self.files.clone().oneshot(request).await;
        if response.status() == StatusCode::NOT_FOUND { missing(&path) } else { response.map(Body::new) }
    }
}

fn missing(path: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("404: there is no file at {path}\n")).into_response()
}

/// A panic elsewhere leaves both collections usable, so a poisoned lock is taken all the same.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
