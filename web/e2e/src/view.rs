//! What is to be seen on the page at one moment; `probe.js` takes it.

use serde::Deserialize;

/// The whole page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct View {
    /// `lang` of the document.
    pub language: String,
    /// The window's title.
    pub title: String,
    /// Every visible heading, in order.
    pub headings: Vec<String>,
    /// How many recorded examples are shown.
    pub examples: usize,
    /// How far the model is.
    pub load: Load,
    /// What went wrong.
    pub notices: Vec<String>,
    /// The six levels.
    pub bars: Vec<Bar>,
    /// Where they look.
    pub heatmap: Heatmap,
    /// The strength that is set.
    pub alpha: Alpha,
    /// The conversation, oldest first.
    pub turns: Vec<TurnView>,
    /// Whether the send button is there and can be pressed.
    pub can_send: bool,
    /// Whether the stop button is there.
    pub can_stop: bool,
    /// The text in the composer.
    pub draft: String,
}

/// The model's state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Load {
    /// `starting`, `loading`, `ready`, `failed`, `idle` or `dead`.
    pub state: String,
    /// The sentence beside the bar.
    pub text: String,
}

/// One hormone's bar.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Bar {
    /// Its hormone.
    pub name: String,
    /// 0 to 1, as screen readers are told; `None` before the page is drawn.
    pub level: Option<f64>,
    /// The number as text; a dash before anything is read.
    pub shown: String,
}

/// Hormones by words.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Heatmap {
    /// Count of its columns, those for prompt and end mark too.
    pub columns: usize,
    /// The words of the message that head columns.
    pub words: Vec<String>,
    /// Attention in percent; a row for each hormone.
    pub percent: Vec<Vec<f64>>,
}

/// The strength panel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Alpha {
    /// The number.
    pub shown: String,
    /// What it means.
    pub remark: String,
}

/// A message and its replies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TurnView {
    /// The message, with what introduces it to screen readers.
    pub message: String,
    /// What is to be said of its reading: that it was cut, or which marks are unknown.
    pub remark: String,
    /// Whether the page says that both replies are equal.
    pub says_equal: bool,
    /// Whether replies that were cut short can be made again.
    pub can_retry: bool,
    /// The reply without hormones.
    pub baseline: Option<LaneView>,
    /// The reply with them.
    pub modulated: Option<LaneView>,
    /// The reply with the levels set by hand.
    pub own: Option<LaneView>,
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LaneView {
    /// Its text so far.
    pub text: String,
    /// `waiting`, `searching`, `streaming`, `finished`, `stopped` or `failed`.
    pub state: String,
    /// Its name and alpha.
    pub header: String,
    /// How fast it came, or what it waits for.
    pub timings: String,
}

/// How the page felt while a reply was made.
#[derive(Clone, Debug, Deserialize)]
pub struct Feel {
    /// Milliseconds of every task of the main thread that took more than 50.
    pub long_tasks: Vec<f64>,
    /// What moved by itself.
    pub shifts: Vec<Shift>,
    /// Milliseconds that the main thread itself ran, without those in which other programs had its core.
    #[serde(default)]
    pub own_ms: f64,
}

impl Feel {
    /// Whether the long tasks were long because other programs had the core: together they took longer than the thread ran at all.
    pub fn is_disturbed(&self) -> bool {
        self.long_tasks.iter().sum::<f64>() > self.own_ms
    }
}

/// A move that nobody asked for: <https://web.dev/articles/cls>.
#[derive(Clone, Debug, Deserialize)]
pub struct Shift {
    /// Its score.
    pub value: f64,
    /// The elements that moved.
    pub of: Vec<String>,
}

/// Something that keeps people from using the page, found by axe-core.
#[derive(Clone, Debug, Deserialize)]
pub struct Barrier {
    /// Name of the rule.
    pub id: String,
    /// `minor`, `moderate`, `serious` or `critical`.
    pub impact: Option<String>,
    /// What is wrong.
    pub help: String,
    /// Where.
    pub nodes: Vec<String>,
}

/// Whether the page fits its window.
#[derive(Clone, Debug, Deserialize)]
pub struct Overflow {
    /// Width of what is in the page.
    pub content: u32,
    /// Width of the window.
    pub window: u32,
    /// The elements that reach over the edge.
    pub too_wide: Vec<String>,
}

impl View {
    /// The newest turn.
    pub fn latest(&self) -> Option<&TurnView> {
        self.turns.last()
    }

    /// Whether a reading is shown.
    pub fn has_reading(&self) -> bool {
        self.heatmap.columns > 0 && self.bars.iter().all(|bar| bar.shown.chars().any(|mark| mark.is_ascii_digit()))
    }

    /// The six levels.
    pub fn levels(&self) -> Vec<Option<f64>> {
        self.bars.iter().map(|bar| bar.level).collect()
    }

    /// Whether the newest of `count` turns has both replies, complete.
    pub fn is_answered(&self, count: usize) -> bool {
        let finished = |lane: &Option<LaneView>| lane.as_ref().is_some_and(LaneView::is_finished);
        self.turns.len() == count
            && !self.can_stop
            && self.latest().is_some_and(|turn| finished(&turn.baseline) && finished(&turn.modulated))
    }
}

impl TurnView {
    /// The text of the reply without hormones.
    pub fn baseline_text(&self) -> &str {
        self.baseline.as_ref().map_or("", |lane| &lane.text)
    }

    /// The text of the reply with hormones.
    pub fn modulated_text(&self) -> &str {
        self.modulated.as_ref().map_or("", |lane| &lane.text)
    }
}

impl LaneView {
    /// Whether more will come.
    pub fn is_running(&self) -> bool {
        matches!(self.state.as_str(), "waiting" | "searching" | "streaming")
    }

    /// Whether it came to its own end.
    pub fn is_finished(&self) -> bool {
        self.state == "finished"
    }
}
