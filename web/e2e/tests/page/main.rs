//! The built page in a real browser. `cargo xtask test --only e2e` builds the page, finds the browser and runs this.

mod access;
mod attention;
mod damage;
mod files;
mod levels;
mod look;
mod model;
mod reading;
mod replies;
mod site;
mod strength;
