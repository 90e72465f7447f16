//! Knows which requests have no answer yet.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use memod_base::threads::lock;
use rmcp::model::RequestId;

/// Requests without an answer, at most. When there are more, the client waits: nothing else bounds what a server keeps for one
/// that asks and does not read. More than the daemon serves at once on a connection (64), so that a cancellation is read
/// while it is busy.
pub(super) const MOST_IN_FLIGHT: usize = 256;

/// The ids of the requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    ids: Mutex<HashMap<RequestId, Stage>>,
    fewer: Condvar,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asked,
    /// Its answer waits to be written, and takes memory until it is.
    Answered,
}

impl InFlight {
    /// Adds a request as soon as there is room for it. Returns whether its id was free; one that is not is left as it was.
    pub(super) fn begin(&self, id: &RequestId) -> bool {
        let is_full =
            |ids: &mut HashMap<RequestId, Stage>| ids.len() >= MOST_IN_FLIGHT && !ids.contains_key(id);
        let ids = self.fewer.wait_while(self.ids(), is_full);
        let mut ids = ids.unwrap_or_else(PoisonError::into_inner);
        let is_free = !ids.contains_key(id);
        if is_free {
            ids.insert(id.clone(), Stage::Asked);
        }
        is_free
    }

    /// Records that the answer to a request waits to be written.
    pub(super) fn answer(&self, id: &RequestId) {
        self.ids().entry(id.clone()).and_modify(|stage| *stage = Stage::Answered);
    }

    /// Removes a request that is cancelled, unless its answer is on the way.
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut ids = self.ids();
        if ids.get(id) == Some(&Stage::Asked) {
            ids.remove(id);
            self.fewer.notify_one();
        }
    }

    /// Removes a request whose answer is written.
    pub(super) fn end(&self, id: &RequestId) {
        self.ids().remove(id);
        self.fewer.notify_one();
    }

    fn ids(&self) -> MutexGuard<'_, HashMap<RequestId, Stage>> {
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
        let in_flight = InFlight::default();
        let [number, text] = [RequestId::Number(1), RequestId::String("1".into())];
        assert!(in_flight.begin(&number) && in_flight.begin(&text));
        assert!(!in_flight.begin(&number));
        in_flight.end(&number);
        assert!(in_flight.begin(&number) && !in_flight.begin(&text));
    }

    #[test]
    fn a_cancelled_request_counts_while_its_answer_waits() {
        let in_flight = InFlight::default();
        let [asked, answered] = [RequestId::Number(1), RequestId::Number(2)];
        assert!(in_flight.begin(&asked) && in_flight.begin(&answered));
        in_flight.answer(&answered);
        in_flight.cancel(&asked);
        in_flight.cancel(&answered);
        assert!(in_flight.begin(&asked) && !in_flight.begin(&answered));
        in_flight.end(&answered);
        assert!(in_flight.begin(&answered));
    }

    #[test]
    fn one_too_many_waits_for_an_answer() {
        let in_flight = Arc::new(InFlight::default());
        let id = |number: usize| RequestId::Number(i64::try_from(number).expect("it is small"));
        (0..MOST_IN_FLIGHT).for_each(|number| assert!(in_flight.begin(&id(number))));
        assert!(!in_flight.begin(&id(0)), "one that cannot begin does not wait");
        let (sender, begun) = channel();
        let waits = in_flight.clone();
        let waiting = thread::spawn(move || sender.send(waits.begin(&id(MOST_IN_FLIGHT))));
        assert!(begun.recv_timeout(Duration::from_millis(50)).is_err());
        in_flight.end(&id(7));
        assert_eq!(begun.recv(), Ok(true));
        waiting.join().expect("the thread ends").expect("the result was awaited");
    }
}
