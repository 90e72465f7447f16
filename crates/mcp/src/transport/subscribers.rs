//! Notifies clients of both generations of the protocol that the list of resources has changed.

use std::sync::{Mutex, MutexGuard};

use memod_base::threads::lock;
use rmcp::model::{ErrorData, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionContext, SubscriptionSink};

use super::stdio::InputEnd;

/// Largest number of open subscriptions. Each is a request in flight, and must leave room for other requests.
const MAX_SUBSCRIPTIONS: usize = 64;

/// The open `subscriptions/listen` requests.
#[derive(Debug)]
pub(crate) struct Subscribers {
    sinks: Mutex<Vec<SubscriptionSink>>,
    input_end: InputEnd,
}

impl Subscribers {
    pub(crate) fn new(input_end: InputEnd) -> Self {
        Self { sinks: Mutex::default(), input_end }
    }

    /// Returns the part of a filter that is supported: changes of the list of resources. Tools and prompts never change, and single
    /// resources are not watched.
    pub(crate) fn accepted_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::default();
        accepted.resources_list_changed = requested.resources_list_changed;
        accepted
    }

    /// Holds a subscription until it is cancelled or the input ends.
    ///
    /// # Errors
    /// When too many subscriptions are open.
    pub(crate) async fn hold_subscription(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink().clone();
        if !self.add_sink(&sink) {
            let why = format!("{MAX_SUBSCRIPTIONS} subscriptions are open: cancel one");
            return Err(ErrorData::invalid_request(why, None));
        }
        tokio::select! {
            () = context.cancelled() => {}
            () = self.input_end.wait_until_reached() => {}
        }
        self.lock_sinks().retain(|other| other.id() != sink.id());
        Ok(())
    }

    /// Adds a subscription; returns whether there was room for it.
    fn add_sink(&self, sink: &SubscriptionSink) -> bool {
        let mut sinks = self.lock_sinks();
        let has_room = sinks.len() < MAX_SUBSCRIPTIONS;
        if has_room {
            sinks.push(sink.clone());
        }
        has_room
    }

    /// Sends the notification. Stops waiting when the input ends, because the SDK then sends nothing and would wait forever.
    pub(crate) async fn notify_resources_changed(&self, peer: &Peer<RoleServer>) {
        tokio::select! {
            () = self.notify_subscribers(peer) => {}
            () = self.input_end.wait_until_reached() => {}
        }
    }

    /// Notifies the subscribers. A client of the older generation gets the notification without a subscription, as that protocol
    /// requires.
    async fn notify_subscribers(&self, peer: &Peer<RoleServer>) {
        let sinks = self.lock_sinks().clone();
        for sink in sinks {
            let _ = sink.notify_resource_list_changed().await; // fails for a subscriber that has closed the connection
        }
        if peer.peer_info().is_some() {
            let _ = peer.notify_resource_list_changed().await;
        }
    }

    fn lock_sinks(&self) -> MutexGuard<'_, Vec<SubscriptionSink>> {
        lock(&self.sinks)
    }
}
