//! Tells clients that the list of resources has changed, in the way of their generation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::SubscriptionFilter;
use rmcp::service::{Peer, RoleServer, SubscriptionContext, SubscriptionSink};

/// The open `subscriptions/listen` requests.
#[derive(Debug, Default)]
pub(super) struct Subscribers(Mutex<Vec<SubscriptionSink>>);

impl Subscribers {
    /// Returns what a subscription gets: tools and prompts never change, single resources are not watched.
    pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::default();
        accepted.resources_list_changed = requested.resources_list_changed;
        accepted
    }

    /// Holds a subscription until it is cancelled.
    pub(super) async fn hold(&self, context: SubscriptionContext) {
        let sink = context.sink().clone();
        self.sinks().push(sink.clone());
        context.cancelled().await;
        self.sinks().retain(|other| other.id() != sink.id());
    }

    /// Sends the notice. A client of the older generation gets it without asking, as its rules say.
    pub(super) async fn resources_changed(&self, peer: &Peer<RoleServer>) {
        let sinks = self.sinks().clone();
        for sink in sinks {
            let _ = sink.notify_resource_list_changed().await; // one that has gone needs no notice
        }
        if peer.peer_info().is_some() {
            let _ = peer.notify_resource_list_changed().await;
        }
    }

    fn sinks(&self) -> MutexGuard<'_, Vec<SubscriptionSink>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
