//! Tracks the requests in flight, which have no answer yet.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use memod_base::threads::lock;
use rmcp::model::RequestId;

/// Largest number of requests in flight; with more, reading stops until an answer is written. Nothing else limits the memory for
/// a client that sends requests and does not read. The number is larger than the 64 requests that the daemon serves at once on a
/// connection, so that a cancellation is still read while the daemon is busy.
pub(crate) const MAX_IN_FLIGHT: usize = 256;

/// The ids of the requests in flight.
#[derive(Debug, Default)]
pub(crate) struct InFlightRequests {
    ids: Mutex<HashMap<RequestId, RequestStage>>,
    slot_freed: Condvar,
}

/// The stage of a request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestStage {
    /// The request has no answer yet.
    Pending,
    /// The answer waits to be written, and takes memory until then.
    Answered,
}

impl InFlightRequests {
    /// Waits until fewer than [`MAX_IN_FLIGHT`] requests are in flight, and adds a request. Returns false, and adds nothing, if a
    /// request with the same id is in flight.
    pub(crate) fn begin_request(&self, id: &RequestId) -> bool {
        let is_full =
            |ids: &mut HashMap<RequestId, RequestStage>| ids.len() >= MAX_IN_FLIGHT && !ids.contains_key(id);
        let ids = self.slot_freed.wait_while(self.lock_ids(), is_full);
        let mut ids = ids.unwrap_or_else(PoisonError::into_inner);
        let is_free = !ids.contains_key(id);
        if is_free {
            ids.insert(id.clone(), RequestStage::Pending);
        }
        is_free
    }

    /// Records that the answer to a request waits to be written.
    pub(crate) fn mark_answered(&self, id: &RequestId) {
        self.lock_ids().entry(id.clone()).and_modify(|stage| *stage = RequestStage::Answered);
    }

    /// Removes a cancelled request, unless its answer already waits to be written.
    pub(crate) fn cancel_request(&self, id: &RequestId) {
        let mut ids = self.lock_ids();
        if ids.get(id) == Some(&RequestStage::Pending) {
            ids.remove(id);
            self.slot_freed.notify_one();
        }
    }

    /// Removes a request whose answer is about to be written.
    pub(crate) fn remove_request(&self, id: &RequestId) {
        self.lock_ids().remove(id);
        self.slot_freed.notify_one();
    }

    fn lock_ids(&self) -> MutexGuard<'_, HashMap<RequestId, RequestStage>> {
        lock(&self.ids)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_id_is_free_again_after_its_answer() {
        let in_flight = InFlightRequests::default();
        let [number, text] = [RequestId::Number(1), RequestId::String("1".into())];
        assert!(in_flight.begin_request(&number) && in_flight.begin_request(&text));
        assert!(!in_flight.begin_request(&number));
        in_flight.remove_request(&number);
        assert!(in_flight.begin_request(&number) && !in_flight.begin_request(&text));
    }

    #[test]
    fn a_cancelled_request_counts_while_its_answer_waits() {
        let in_flight = InFlightRequests::default();
        let [asked, answered] = [RequestId::Number(1), RequestId::Number(2)];
        assert!(in_flight.begin_request(&asked) && in_flight.begin_request(&answered));
        in_flight.mark_answered(&answered);
        in_flight.cancel_request(&asked);
        in_flight.cancel_request(&answered);
        assert!(in_flight.begin_request(&asked) && !in_flight.begin_request(&answered));
        in_flight.remove_request(&answered);
        assert!(in_flight.begin_request(&answered));
    }

    #[test]
    fn one_too_many_waits_for_an_answer() {
        let in_flight = Arc::new(InFlightRequests::default());
        let id = |number: usize| RequestId::Number(i64::try_from(number).expect("it is small"));
        (0..MAX_IN_FLIGHT).for_each(|number| assert!(in_flight.begin_request(&id(number))));
        assert!(!in_flight.begin_request(&id(0)), "one that cannot begin does not wait");
        let (sender, begun) = channel();
        let waits = in_flight.clone();
        let waiting = thread::spawn(move || sender.send(waits.begin_request(&id(MAX_IN_FLIGHT))));
        assert!(begun.recv_timeout(Duration::from_millis(50)).is_err());
        in_flight.remove_request(&id(7));
        assert_eq!(begun.recv(), Ok(true));
        waiting.join().expect("the thread ends").expect("the result was awaited");
    }
}
