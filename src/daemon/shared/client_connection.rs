//! Holds the subscription of one connection.

use std::path::Path;
use std::sync::Arc;

use memod_engine::events::subscriptions::{EventBroker, Subscription, TopicSet};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// One connection of the socket. Its subscription ends with the connection.
#[derive(Default)]
pub(in crate::daemon) struct ClientConnection {
    feed: Mutex<EventFeed>,
}

/// The subscription of a connection.
#[derive(Default)]
enum EventFeed {
    #[default]
    None,
    /// The answer to `subscribe` is not sent yet.
    Waiting(Subscription),
    /// A task sends the events.
    Sending(EventSending),
}

/// A subscription whose events a task sends.
struct EventSending {
    number: u64,
    events: Arc<EventBroker>,
    task: JoinHandle<()>,
}

impl ClientConnection {
    /// Begins a subscription, which replaces the present one. Its events wait until [`Self::send_events`] is called.
    pub(in crate::daemon) async fn subscribe(
        &self,
        events: &Arc<EventBroker>,
        topics: TopicSet,
        root: &Path,
    ) {
        let mut feed = self.feed.lock().await;
        let next = match &*feed {
            EventFeed::None => events.subscribe(topics, root),
            EventFeed::Waiting(former) => events.replace_subscription(former.number(), topics, root),
            EventFeed::Sending(former) => events.replace_subscription(former.number, topics, root),
        };
        if let EventFeed::Sending(mut former) = std::mem::replace(&mut *feed, EventFeed::Waiting(next)) {
            former.wait_for_end().await;
        }
    }

    /// Ends the subscription, if there is one. No event is sent after that.
    pub(in crate::daemon) async fn unsubscribe(&self) {
        let mut feed = self.feed.lock().await;
        if let EventFeed::Sending(mut sending) = std::mem::take(&mut *feed) {
            sending.events.close_subscription(sending.number);
            sending.wait_for_end().await;
        }
    }

    /// Starts the task that sends the events of a waiting subscription, with `send`.
    pub(in crate::daemon) async fn send_events(
        &self,
        events: &Arc<EventBroker>,
        send: impl FnOnce(Subscription) -> JoinHandle<()>,
    ) {
        let mut feed = self.feed.lock().await;
        match std::mem::take(&mut *feed) {
            EventFeed::Waiting(subscription) => {
                let number = subscription.number();
                let task = send(subscription);
                *feed = EventFeed::Sending(EventSending { number, events: Arc::clone(events), task });
            }
            other => *feed = other,
        }
    }
}

impl EventSending {
    /// Waits until the task has sent the last event. The subscription must have ended.
    async fn wait_for_end(&mut self) {
        let _ = (&mut self.task).await; // a panic is in the log already
    }
}

impl Drop for EventSending {
    fn drop(&mut self) {
        self.events.close_subscription(self.number);
        self.task.abort(); // it may wait for a peer that does not read
    }
}
