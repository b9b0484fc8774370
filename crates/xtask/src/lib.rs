//! What other crates of this workspace may use from `xtask`: the static file server, and the looks that it runs the browser tests with.

pub mod static_server;

/// Languages and screens that every browser test runs with, in `HELT_LOOK`; the first is the usual one.
pub const LOOKS: [&str; 2] = ["en-desktop", "nl-phone"];
