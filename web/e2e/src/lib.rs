//! Drives the built page in a real browser, over WebDriver.
//!
//! Every test is a [`visit`]: its own server for `dist/`, its own chromedriver, a browser with an empty profile. What the page looks like comes
//! back as one [`View`], taken between two of the page's own steps, so that nothing in it is of another moment. No test waits a fixed time: each
//! waits until the view is as expected and, if it never is, tells what was expected and what was there.

mod browser;
mod chromedriver;
mod look;
mod network_log;
mod page;
mod setup;
mod view;
mod visit;
mod wording;

pub use browser::Keys;
pub use look::Look;
pub use page::{Page, Weights};
pub use view::{Alpha, Bar, Barrier, Feel, Heatmap, LaneView, Load, Overflow, Shift, TurnView, View};
pub use visit::{visit, visit_unopened};
pub use wording::Wording;
