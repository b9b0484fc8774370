//! The program between the tests and the browser: <https://developer.chrome.com/docs/chromedriver>.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How long a busy machine may take to start it.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to end its browsers.
const END_LIMIT: Duration = Duration::from_secs(15);

/// A running chromedriver; dropping it ends it and its browsers.
#[derive(Debug)]
pub(crate) struct Chromedriver {
    child: Child,
    port: u16,
}

impl Chromedriver {
    /// Starts it on a port of the system's choice.
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} could not be started; CHROMEDRIVER names the program", program.display()))?;
        let ports = child.stdout.take().map(announced_port);
        let port = ports.and_then(|ports| ports.recv_timeout(START_LIMIT).ok());
        // Made before the port is looked at, so that it is ended in any case.
        let mut driver = Self { child, port: 0 };
        driver.port = port.with_context(|| format!("{} did not name its port within {START_LIMIT:?}", program.display()))?;
        Ok(driver)
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks it to end itself and every browser that it started.
    fn shut_down(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(END_LIMIT))?;
        stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut Vec::new()).map(|_| ())
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        let asked = self.port != 0 && self.shut_down().is_ok();
        let until = Instant::now() + END_LIMIT;
        while asked && Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // Fails only where it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads "... was started successfully on port 1234.", and all that follows, so that the pipe never fills.
fn announced_port(output: ChildStdout) -> mpsc::Receiver<u16> {
    let (found, ports) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(port) = port_in(&line) {
                // Nobody listens any more once the first was taken.
                let _ = found.send(port);
            }
        }
    });
    ports
}

fn port_in(line: &str) -> Option<u16> {
    line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_from_the_announcement() {
        assert_eq!(port_in("ChromeDriver was started successfully on port 45123."), Some(45123));
        assert_eq!(port_in("Starting ChromeDriver 156.0 on port 0"), None);
    }
}
