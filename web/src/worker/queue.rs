//! First in, first out; a request can be cancelled while it waits and while it runs.

use std::collections::VecDeque;

use crate::protocol::RequestId;

/// Requests that wait, and the one that runs.
#[derive(Debug)]
pub(super) struct RequestQueue<T> {
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
    pub(super) fn push(&mut self, id: RequestId, request: T) {
        self.waiting.push_back((id, request));
    }

    /// The request that runs from now on.
    pub(super) fn start_next(&mut self) -> Option<(RequestId, T)> {
        let next = self.waiting.pop_front();
        self.running = next.as_ref().map(|(id, _)| Running { id: *id, cancelled: false });
        next
    }

    /// The running request is answered.
    pub(super) fn finish(&mut self) {
        self.running = None;
    }

    /// Cancels a request. True where it had not begun: then nobody else will answer it.
    pub(super) fn cancel(&mut self, target: RequestId) -> bool {
        if let Some(running) = self.running.as_mut().filter(|running| running.id == target) {
            running.cancelled = true;
            return false;
        }
        let before = self.waiting.len();
        self.waiting.retain(|(id, _)| *id != target);
        self.waiting.len() < before
    }

    /// Whether the running request should end.
    pub(super) fn is_cancelled(&self) -> bool {
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
    fn cancelling_what_is_over_does_nothing() {
        let mut queue = RequestQueue::<()>::default();
        assert!(!queue.cancel(RequestId(9)) && !queue.is_cancelled());
    }
}
