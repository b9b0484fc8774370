//! `cargo xtask serve`: the finished page on this machine, and only on this machine.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use anyhow::{Context, Result, anyhow};
use xtask::static_server::StaticServer;

use crate::bundle;
use crate::public_url::PublicUrl;

/// Builds where something changed, then serves until Ctrl-C.
pub(crate) fn serve(port: u16, open_browser: bool, public_url: &PublicUrl) -> Result<()> {
    // Before the build, which may take minutes; the port stays ours meanwhile.
    let listener = listen(port)?;
    let dist = bundle::build(public_url)?;
    let server = StaticServer::start_on(listener, &dist, public_url.prefix()).context("The static server could not start.")?;
    println!("\nThe page is at {}\nCtrl-C stops the server.", server.url());
    if open_browser && let Err(error) = open::that(server.url()) {
        println!("No browser could be opened ({error}): open the address above yourself.");
    }
    loop {
        thread::park();
    }
}

/// Takes the port on the loopback address, or says why it cannot be had.
fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "Port {port} is taken by another program: stop that one, or choose another port, for example `--port {}`.",
            next_port(port)
        ),
        ErrorKind::PermissionDenied => {
            anyhow!("Port {port} is not allowed for this user (ports below 1024 seldom are): choose another, for example `--port 8080`.")
        }
        _ => anyhow!("Port {port} could not be opened: {error}"),
    })
}

fn next_port(port: u16) -> u16 {
    port.checked_add(1).unwrap_or(8080)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_an_error_that_suggests_the_next_one() {
        let taken = listen(0).expect("any free port");
        let port = taken.local_addr().expect("an address").port();
        let message = listen(port).expect_err("it is taken").to_string();
        assert!(message.contains(&format!("Port {port} is taken")), "{message}");
        assert!(message.contains(&format!("--port {}", next_port(port))), "{message}");
    }

    #[test]
    fn the_port_after_the_last_is_an_ordinary_one() {
        assert_eq!(next_port(u16::MAX), 8080);
    }
}
