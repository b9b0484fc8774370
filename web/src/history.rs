//! Arrow up and down through the messages sent before, as in a terminal: the text that was being written waits at the end.

/// A place in the history; none while the visitor writes something new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryWalk {
    place: Option<usize>,
    unsent: String,
}

impl HistoryWalk {
    /// Whether a message of before is shown.
    pub fn is_walking(&self) -> bool {
        self.place.is_some()
    }

    /// The message before the shown one; `None` where there is none.
    pub fn older(&mut self, history: &[String], shown: &str) -> Option<String> {
        let next = match self.place {
            Some(place) => place.checked_sub(1)?,
            None => {
                self.unsent = shown.to_string();
                history.len().checked_sub(1)?
            }
        };
        self.place = Some(next);
        history.get(next).cloned()
    }

    /// The message after the shown one, or at last the text that was being written; `None` while nothing of before is shown.
    pub fn newer(&mut self, history: &[String]) -> Option<String> {
        let next = self.place? + 1;
        self.place = Some(next).filter(|place| *place < history.len());
        Some(self.place.map_or_else(|| std::mem::take(&mut self.unsent), |place| history[place].clone()))
    }

    /// The visitor writes or sends: the walk is over.
    pub fn end(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_walk_through_all_messages_and_back_to_what_was_being_written() {
        let history: Vec<String> = ["one", "two", "three"].map(String::from).into();
        let mut walk = HistoryWalk::default();
        let up: Vec<_> = std::iter::from_fn(|| walk.older(&history, "half a")).collect();
        assert_eq!(up, ["three", "two", "one"]);
        let down: Vec<_> = std::iter::from_fn(|| walk.newer(&history)).collect();
        assert_eq!(down, ["two", "three", "half a"]);
        assert!(!walk.is_walking());
    }

    #[test]
    fn without_history_nothing_happens() {
        let mut walk = HistoryWalk::default();
        assert_eq!((walk.older(&[], "draft"), walk.newer(&[])), (None, None));
    }

    #[test]
    fn writing_ends_the_walk() {
        let history = vec!["one".to_string(), "two".to_string()];
        let mut walk = HistoryWalk::default();
        walk.older(&history, "");
        walk.older(&history, "");
        walk.end();
        assert_eq!(walk.older(&history, "new"), Some("two".to_string()));
    }
}
