//! What other crates of this workspace may use from `xtask`: the static file server.

pub mod static_server;
