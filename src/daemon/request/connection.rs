//! Holds what belongs to one connection: the events that it has subscribed to.

use std::path::Path;
use std::sync::Arc;

use memod_engine::subscriptions::{Events, Subscription, Topics};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// One connection; its subscription ends with it.
#[derive(Default)]
pub(in crate::daemon) struct Connection {
    feed: Mutex<Feed>,
}

/// The subscription of a connection.
#[derive(Default)]
enum Feed {
    #[default]
    None,
    /// The answer to `subscribe` is not sent yet.
    Waiting(Subscription),
    /// A task sends the events.
    Sending(Sending),
}

struct Sending {
    number: u64,
    events: Arc<Events>,
    task: JoinHandle<()>,
}

impl Connection {
    /// Begins a subscription, in place of the one that there is. Its events wait for [`Self::send_events`].
    pub(in crate::daemon) async fn subscribe(&self, events: &Arc<Events>, topics: Topics, root: &Path) {
        let mut feed = self.feed.lock().await;
        let next = match &*feed {
            Feed::None => events.subscribe(topics, root),
            Feed::Waiting(former) => events.replace(former.number(), topics, root),
            Feed::Sending(former) => events.replace(former.number, topics, root),
        };
        if let Feed::Sending(mut former) = std::mem::replace(&mut *feed, Feed::Waiting(next)) {
            former.end().await;
        }
    }

    /// Ends the subscription, if there is one. No event is sent after that.
    pub(in crate::daemon) async fn unsubscribe(&self) {
        let mut feed = self.feed.lock().await;
        if let Feed::Sending(mut sending) = std::mem::take(&mut *feed) {
            sending.events.close(sending.number);
            sending.end().await;
        }
    }

    /// Has a task, which `send` starts, send the events of a subscription that waits for it.
    pub(in crate::daemon) async fn send_events(
        &self,
        events: &Arc<Events>,
        send: impl FnOnce(Subscription) -> JoinHandle<()>,
    ) {
        let mut feed = self.feed.lock().await;
        match std::mem::take(&mut *feed) {
            Feed::Waiting(subscription) => {
                let number = subscription.number();
                let task = send(subscription);
                *feed = Feed::Sending(Sending { number, events: Arc::clone(events), task });
            }
            other => *feed = other,
        }
    }
}

impl Sending {
    /// Waits until the last event is on its way. The subscription must have ended.
    async fn end(&mut self) {
        let _ = (&mut self.task).await; // a panic is in the log already
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.events.close(self.number);
        self.task.abort(); // it may wait for a peer that does not read
    }
}
