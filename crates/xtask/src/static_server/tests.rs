//! The static server, asked over plain sockets.

use super::*;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use tempfile::TempDir;

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
    }
}

fn get(server: &StaticServer, path: &str) -> Answer {
    get_with(server, path, "")
}

/// Sends the path as it stands: a client library would tidy `..` away before it left.
fn get_with(server: &StaticServer, path: &str, headers: &str) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("the server listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").expect("the request is sent");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer comes");
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("headers end");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line");
    Answer { status, head, body: bytes[end + 4..].to_vec() }
}

fn site() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("secret.txt"), "not for the page").expect("written");
    let dist = folder.path().join("dist");
    fs::create_dir_all(dist.join("models")).expect("created");
    fs::write(dist.join("index.html"), "<!doctype html>").expect("written");
    for name in ["a.wasm", "a.js", "a.json", "a.css", "a.woff2", "a.svg", "models/w.safetensors"] {
        fs::write(dist.join(name), name).expect("written");
    }
    folder
}

fn start(folder: &TempDir, prefix: &str) -> StaticServer {
    StaticServer::start(&folder.path().join("dist"), prefix).expect("the server starts")
}

#[test]
fn files_come_with_their_mime_type() {
    let folder = site();
    let server = start(&folder, "/");
    for (path, mime) in [
        ("/", "text/html"),
        ("/index.html", "text/html"),
        ("/a.wasm", "application/wasm"),
        ("/a.js", "text/javascript"),
        ("/a.json", "application/json"),
        ("/a.css", "text/css"),
        ("/a.woff2", "font/woff2"),
        ("/a.svg", "image/svg+xml"),
        ("/models/w.safetensors", "application/octet-stream"),
    ] {
        let answer = get(&server, path);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type").as_deref(), Some(mime), "{path}");
        assert_eq!(answer.header("cache-control").as_deref(), Some("no-cache"), "{path}");
    }
}

#[test]
fn a_missing_file_is_a_404_and_not_the_page() {
    let folder = site();
    let server = start(&folder, "/");
    for path in ["/nothing", "/nothing.wasm", "/models", "/models/", "/models/index.html", "/a.wasm/"] {
        let answer = get(&server, path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!String::from_utf8_lossy(&answer.body).contains("<!doctype"), "{path}");
    }
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let folder = site();
    let server = start(&folder, "/");
    for path in [
        "/../secret.txt",
        "/models/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/..%5csecret.txt",
        "//../secret.txt",
        "/models/%2e%2e/%2e%2e/secret.txt",
    ] {
        let answer = get(&server, path);
        assert_ne!(answer.status, 200, "{path}");
        assert!(!String::from_utf8_lossy(&answer.body).contains("not for the page"), "{path}");
    }
}

#[test]
fn the_page_lies_under_its_prefix_only() {
    let folder = site();
    let server = start(&folder, "/demo/");
    assert!(server.url().ends_with("/demo/"));
    assert_eq!(get(&server, "/demo/").body, b"<!doctype html>");
    assert_eq!(get(&server, "/demo/models/w.safetensors").status, 200);
    assert_eq!(get(&server, "/").status, 404);
    assert_eq!(get(&server, "/a.js").status, 404);
    let redirect = get(&server, "/demo");
    assert_eq!(redirect.status, 308);
    assert_eq!(redirect.header("location").as_deref(), Some("/demo/"));
}

#[test]
fn a_prefix_without_slashes_is_refused() {
    let folder = site();
    let error = StaticServer::start(folder.path(), "demo").expect_err("refused");
    assert!(error.to_string().contains("`demo`"), "{error}");
}

#[test]
fn a_replaced_path_answers_with_the_new_bytes_until_restored() {
    let folder = site();
    let server = start(&folder, "/demo/");
    server.replace("models/w.safetensors", "broken");
    assert_eq!(get(&server, "/demo/models/w.safetensors").body, b"broken");
    server.restore("models/w.safetensors");
    assert_eq!(get(&server, "/demo/models/w.safetensors").body, b"models/w.safetensors");
}

#[test]
fn requests_are_recorded_in_order() {
    let folder = site();
    let server = start(&folder, "/");
    get(&server, "/a.js?v=1");
    get(&server, "/nothing");
    let recorded: Vec<_> = server.requests().into_iter().map(|r| (r.method, r.path, r.query, r.status)).collect();
    assert_eq!(
        recorded,
        [("GET".to_owned(), "/a.js".to_owned(), Some("v=1".to_owned()), 200), ("GET".to_owned(), "/nothing".to_owned(), None, 404)]
    );
    server.clear_requests();
    assert_eq!(server.requests(), []);
}

#[test]
fn an_unchanged_file_is_not_sent_twice() {
    let folder = site();
    let server = start(&folder, "/");
    let modified = get(&server, "/a.wasm").header("last-modified").expect("a date");
    let again = get_with(&server, "/a.wasm", &format!("If-Modified-Since: {modified}\r\n"));
    assert_eq!(again.status, 304);
    assert!(again.body.is_empty());
}

#[test]
fn dropping_the_server_frees_its_port_even_with_an_open_connection() {
    let folder = site();
    let server = start(&folder, "/");
    let port = server.port();
    let _open = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    drop(server);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}
