//! Takes what the page reports: `POST /progress`, `/done` and `/failed` with JSON text, one request a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;

/// A listener on a port of the system's choice.
pub(super) struct Collector {
    url: String,
    reports: mpsc::Receiver<Report>,
}

#[derive(Debug, PartialEq)]
struct Report {
    path: String,
    body: String,
}

impl Collector {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("No port could be opened for the page's report.")?;
        let url = format!("http://{}/", listener.local_addr()?);
        let (send, reports) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Ok(report) = read(stream)
                    && send.send(report).is_err()
                {
                    break;
                }
            }
        });
        Ok(Self { url, reports })
    }

    /// Where the page posts to.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Shows progress until the page is done.
    pub(super) fn wait<T: DeserializeOwned>(&self, patience: Duration) -> Result<T> {
        loop {
            let Report { path, body } = self.reports.recv_timeout(patience).context("The page fell silent.")?;
            match path.as_str() {
                "/progress" => println!("  {}", body.trim_matches('"')),
                "/done" => return serde_json::from_str(&body).context("The page's report could not be read."),
                "/failed" => bail!("The page failed: {body}"),
                _ => {}
            }
        }
    }
}

fn read(mut stream: TcpStream) -> Result<Report> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body)?;
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")?;
    Ok(Report { path, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_arrives_with_its_path_and_body() {
        let collector = Collector::start().expect("a port");
        let mut stream = TcpStream::connect(collector.url().trim_start_matches("http://").trim_end_matches('/')).expect("it listens");
        stream.write_all(b"POST /done HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n[1,2]").expect("it reads");
        let numbers: Vec<u32> = collector.wait(Duration::from_secs(10)).expect("a report");
        assert_eq!(numbers, [1, 2]);
    }
}
