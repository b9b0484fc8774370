//! What is pointed at, shared by messages, heatmap, bars and replies: pointing at one lights up its fellows.

use hormone_t5::analysis::Hormone;

use crate::protocol::Lane;
use crate::reading::Column;

/// What is pointed at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// A hormone, by its index.
    pub hormone: Option<usize>,
    /// A place in a message.
    pub span: Option<Span>,
    /// A word of a reply.
    pub reply: Option<ReplyWord>,
}

/// Bytes `start..end` of a message: the same for its words and for the pieces they are cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Id of the turn; `None` is the text in the composer.
    pub turn: Option<u32>,
    /// See [`Column::start`].
    pub start: usize,
    /// See [`Column::end`].
    pub end: usize,
}

/// A word of a reply, counted by white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyWord {
    /// Id of the turn.
    pub turn: u32,
    /// The reply.
    pub lane: Lane,
    /// Place among its words.
    pub word: usize,
}

impl Span {
    /// The place of a column.
    pub fn of(turn: Option<u32>, column: &Column) -> Self {
        Self { turn, start: column.start, end: column.end }
    }

    /// Whether both have a byte in common, or are the same empty place (the end mark, the prompt).
    pub fn touches(self, other: Self) -> bool {
        self.turn == other.turn && (self == other || (self.start < other.end && other.start < self.end))
    }
}

impl Focus {
    /// Whether this place is pointed at.
    pub fn is_at(self, place: Span) -> bool {
        self.span.is_some_and(|span| span.touches(place))
    }

    /// Where an arrow, Home or End leads in the heatmap of `turn`; `None` for other keys. The first key only enters it.
    pub fn step(self, key: &str, turn: Option<u32>, columns: &[Column]) -> Option<Self> {
        if key == "Escape" {
            return Some(Self::default());
        }
        let last = columns.len().checked_sub(1)?;
        let at = |column: &Column| self.is_at(Span::of(turn, column));
        let column = columns.iter().position(at);
        let (row, place) = (self.hormone.unwrap_or(0), column.unwrap_or(0));
        let is_inside = self.hormone.is_some() && column.is_some();
        let (row, place) = match key {
            "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown" if !is_inside => (row, place),
            "ArrowLeft" => (row, place.saturating_sub(1)),
            "ArrowRight" => (row, (place + 1).min(last)),
            "ArrowUp" => (row.saturating_sub(1), place),
            "ArrowDown" => ((row + 1).min(Hormone::ALL.len() - 1), place),
            "Home" => (row, 0),
            "End" => (row, last),
            _ => return None,
        };
        Some(Self { hormone: Some(row), span: Some(Span::of(turn, &columns[place])), reply: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::tests::example;
    use crate::reading::{HeadChoice, columns};

    fn walk(keys: &[&str]) -> Focus {
        let columns = columns(&example(), HeadChoice::Mean, true);
        keys.iter().fold(Focus::default(), |focus, key| focus.step(key, Some(1), &columns).expect("a key of the heatmap"))
    }

    #[test]
    fn the_first_arrow_enters_the_heatmap_and_the_next_ones_move() {
        let span = |start, end| Some(Span { turn: Some(1), start, end });
        assert_eq!((walk(&["ArrowDown"]).hormone, walk(&["ArrowDown"]).span), (Some(0), span(0, 2)));
        let moved = walk(&["ArrowDown", "ArrowDown", "ArrowRight"]);
        assert_eq!((moved.hormone, moved.span), (Some(1), span(3, 8)));
        assert_eq!(walk(&["End"]).span, span(8, 8));
        assert_eq!(walk(&["End", "ArrowRight", "ArrowUp"]), walk(&["End"]));
        assert_eq!(walk(&["End", "Escape"]), Focus::default());
    }

    #[test]
    fn a_piece_lights_up_its_word_and_only_in_its_own_message() {
        let piece = Span { turn: Some(1), start: 5, end: 8 };
        assert!(piece.touches(Span { turn: Some(1), start: 3, end: 8 }));
        assert!(!piece.touches(Span { turn: Some(2), start: 3, end: 8 }));
        assert!(!piece.touches(Span { turn: Some(1), start: 0, end: 5 }));
    }

    #[test]
    fn other_keys_are_left_to_the_browser() {
        assert_eq!(Focus::default().step("Tab", None, &columns(&example(), HeadChoice::Mean, true)), None);
        assert_eq!(Focus::default().step("ArrowLeft", None, &[]), None);
    }
}
