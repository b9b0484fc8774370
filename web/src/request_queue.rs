//! First in, first out; a request can be cancelled while it waits and while it runs.

use std::collections::VecDeque;

use crate::protocol::RequestId;

/// Requests that wait, and the one that runs.
#[derive(Debug)]
pub struct RequestQueue<T> {
    waiting: VecDeque<(RequestId, T)>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    id: RequestId,
    cancelled: bool,
}

impl<T> Default for RequestQueue<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), running: None }
    }
}

impl<T> RequestQueue<T> {
    /// Adds a request at the end.
    pub fn push(&mut self, id: RequestId, request: T) {
        self.waiting.push_back((id, request));
    }

    /// The request that runs from now on.
    pub fn start_next(&mut self) -> Option<(RequestId, T)> {
        let next = self.waiting.pop_front();
        self.running = next.as_ref().map(|(id, _)| Running { id: *id, cancelled: false });
        next
    }

    /// Takes a waiting request that may be served while another runs: the first that `may_overtake`, if all before it may be overtaken.
    ///
    /// A reading overtakes replies, but never a model that is to be loaded before it.
    pub fn take_overtaking(&mut self, may_overtake: impl Fn(&T) -> bool, may_be_overtaken: impl Fn(&T) -> bool) -> Option<(RequestId, T)> {
        let place = self.waiting.iter().position(|(_, request)| may_overtake(request))?;
        if self.waiting.iter().take(place).all(|(_, request)| may_be_overtaken(request)) { self.waiting.remove(place) } else { None }
    }

    /// The running request is answered.
    pub fn finish(&mut self) {
        self.running = None;
    }

    /// Cancels a request. True where it had not begun: then nobody else will answer it.
    pub fn cancel(&mut self, target: RequestId) -> bool {
        if let Some(running) = self.running.as_mut().filter(|running| running.id == target) {
            running.cancelled = true;
            return false;
        }
        let before = self.waiting.len();
        self.waiting.retain(|(id, _)| *id != target);
        self.waiting.len() < before
    }

    /// Whether the running request should end.
    pub fn is_cancelled(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_run_in_the_order_they_came() {
        let mut queue = RequestQueue::default();
        queue.push(RequestId(1), "a");
        queue.push(RequestId(2), "b");
        assert_eq!(queue.start_next(), Some((RequestId(1), "a")));
        queue.finish();
        assert_eq!(queue.start_next(), Some((RequestId(2), "b")));
    }

    #[test]
    fn a_waiting_request_is_dropped_and_a_running_one_is_marked() {
        let mut queue = RequestQueue::default();
        queue.push(RequestId(1), ());
        queue.push(RequestId(2), ());
        queue.start_next();
        assert!(queue.cancel(RequestId(2)) && !queue.is_cancelled());
        assert!(!queue.cancel(RequestId(1)) && queue.is_cancelled());
        queue.finish();
        assert!(queue.start_next().is_none() && !queue.is_cancelled());
    }

    #[test]
    fn a_reading_overtakes_replies_but_no_loading() {
        let (is_reading, is_reply) = (|request: &&str| *request == "read", |request: &&str| *request == "reply");
        let mut queue = RequestQueue::default();
        for (id, request) in ["reply", "reply", "read", "load", "read"].into_iter().enumerate() {
            queue.push(RequestId(id as u64), request);
        }
        queue.start_next();
        assert_eq!(queue.take_overtaking(is_reading, is_reply), Some((RequestId(2), "read")));
        assert_eq!(queue.take_overtaking(is_reading, is_reply), None);
        assert!(!queue.cancel(RequestId(2)), "what was taken is no longer waiting");
    }

    #[test]
    fn cancelling_what_is_over_does_nothing() {
        let mut queue = RequestQueue::<()>::default();
        assert!(!queue.cancel(RequestId(9)) && !queue.is_cancelled());
    }
}
