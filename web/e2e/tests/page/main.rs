//! The built page in a real browser. `cargo xtask test --only e2e` builds the page, finds the browser and runs this.

mod damage;
mod look;
mod reading;
mod replies;
mod site;
mod strength;
