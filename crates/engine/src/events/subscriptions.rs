//! Queues events for subscribers.
//!
//! An event is serialized once and queued for each subscriber to its topic. The state of a worktree replaces an unread
//! state of the same topic. Changes of memories are queued one by one; once there are too many, the oldest is dropped, and the
//! subscriber gets the number of dropped ones. `worktree_news` decides which events there are.
//!
//! Invariant: without a subscriber no event is made, because callers check [`EventBroker::has_subscriber`] first.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use memod_base::clock::now_ms;
use memod_base::threads::lock;
use memod_base::types::{MemoryChange, format_rfc3339};
use memod_proto::{EventParams, LostEvent, MemoriesEvent, Topic};
use tokio::sync::Notify;

use super::worktree_news::PublishedWorktree;

/// Most events that wait for one subscriber. With at most [`MOST_IDS`] ids each, they take at most half of the bytes that may be
/// unread on a connection.
const MOST_WAITING: usize = 256;
/// Most ids in one event.
const MOST_IDS: usize = 200;

/// A set of topics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TopicSet(u8);

impl TopicSet {
    /// The topics about the index of one worktree.
    pub const OF_INDEX: Self =
        Self(topic_bit(Topic::Progress) | topic_bit(Topic::Views) | topic_bit(Topic::Drift));

    /// The topics of a change of a memory.
    pub const OF_MEMORIES: Self = Self(topic_bit(Topic::Memories) | topic_bit(Topic::Drift));

    /// Returns the set of these topics; an empty slice means all topics.
    pub fn from_topics(topics: &[Topic]) -> Self {
        let topics = if topics.is_empty() { &Topic::ALL } else { topics };
        Self(topics.iter().fold(0, |bits, topic| bits | topic_bit(*topic)))
    }

    /// Returns the topics of the set.
    pub fn list(self) -> Vec<Topic> {
        Topic::ALL.into_iter().filter(|topic| self.contains(*topic)).collect()
    }

    /// Returns whether the set has this topic.
    pub fn contains(self, topic: Topic) -> bool {
        self.0 & topic_bit(topic) != 0
    }

    /// Returns whether the two sets have a topic in common.
    pub fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// Returns the bit of a topic.
const fn topic_bit(topic: Topic) -> u8 {
    1 << topic as u8
}

/// An event as it is sent: one object of JSON, without the frame of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMessage {
    /// Topic of the event; `None` for a notice that events were lost.
    pub topic: Option<Topic>,
    /// The JSON object.
    pub json: Arc<str>,
}

impl EventMessage {
    fn new(topic: Option<Topic>, event: &EventParams) -> Self {
        let json = serde_json::to_string(event).expect("an event has string keys only");
        Self { topic, json: json.into() }
    }
}

/// Passes events to the subscribers of their topics.
#[derive(Default)]
pub struct EventBroker {
    /// The topics with a subscriber, as [`TopicSet`].
    subscribed_topics: AtomicU8,
    registry: Mutex<SubscriberRegistry>,
    /// Notified when the missing vectors of a worktree are to be counted.
    pub vector_count_requested: Notify,
    /// Notified when the memories of a worktree are to be compared with its code.
    pub drift_count_requested: Notify,
    /// Locked while memories are compared with code, so that only one comparison runs at a time.
    pub drift_lock: tokio::sync::Mutex<()>,
}

/// All subscribers, and the state that was published for each worktree.
#[derive(Default)]
pub(crate) struct SubscriberRegistry {
    n_subscribed: u64,
    subscribers: Vec<Subscriber>,
    pub(crate) worktrees: HashMap<PathBuf, PublishedWorktree>,
}

struct Subscriber {
    number: u64,
    topics: TopicSet,
    root: PathBuf,
    queue: Arc<EventQueue>,
}

/// The events that wait for one subscriber.
#[derive(Default)]
struct EventQueue {
    waiting: Mutex<QueuedEvents>,
    changed: Notify,
}

#[derive(Default)]
struct QueuedEvents {
    events: VecDeque<EventMessage>,
    n_lost: u64,
    is_closed: bool,
}

impl EventBroker {
    /// Begins a subscription to these topics of the worktree at `root`. Events about memories belong to all worktrees.
    pub fn subscribe(self: &Arc<Self>, topics: TopicSet, root: &Path) -> Subscription {
        let mut registry = lock(&self.registry);
        let subscription = self.add_subscriber(&mut registry, topics, root);
        self.update_subscribed_topics(&registry);
        subscription
    }

    /// Like [`Self::subscribe`], but ends the subscription `number`. The new one takes over those waiting events that it wants.
    pub fn replace_subscription(
        self: &Arc<Self>,
        number: u64,
        topics: TopicSet,
        root: &Path,
    ) -> Subscription {
        let mut registry = lock(&self.registry);
        let subscription = self.add_subscriber(&mut registry, topics, root);
        let is_same = registry.subscribers.iter().any(|other| other.number == number && other.root == root);
        if let Some(QueuedEvents { mut events, n_lost, .. }) = registry.remove_subscriber(number) {
            let is_wanted = |topic| topics.contains(topic) && (is_same || topic == Topic::Memories);
            events.retain(|event| event.topic.is_some_and(is_wanted));
            *lock(&subscription.queue.waiting) = QueuedEvents { events, n_lost, is_closed: false };
        }
        self.update_subscribed_topics(&registry);
        subscription
    }

    fn add_subscriber(
        self: &Arc<Self>,
        registry: &mut SubscriberRegistry,
        topics: TopicSet,
        root: &Path,
    ) -> Subscription {
        registry.n_subscribed += 1;
        let (number, queue) = (registry.n_subscribed, Arc::<EventQueue>::default());
        registry.subscribers.push(Subscriber {
            number,
            topics,
            root: root.to_owned(),
            queue: Arc::clone(&queue),
        });
        registry.worktrees.entry(root.to_owned()).or_default();
        Subscription { events: Arc::clone(self), number, queue }
    }

    /// Ends a subscription, and drops the events that wait for it.
    pub fn close_subscription(&self, number: u64) {
        let mut registry = lock(&self.registry);
        if registry.remove_subscriber(number).is_some() {
            self.update_subscribed_topics(&registry);
        }
    }

    fn update_subscribed_topics(&self, registry: &SubscriberRegistry) {
        let heard = registry.subscribers.iter().fold(0, |heard, subscriber| heard | subscriber.topics.0);
        self.subscribed_topics.store(heard, Ordering::Relaxed);
    }

    /// Returns whether one of these topics has a subscriber.
    pub fn has_subscriber(&self, topics: TopicSet) -> bool {
        TopicSet(self.subscribed_topics.load(Ordering::Relaxed)).intersects(topics)
    }

    /// Calls `run` with the locked registry of all subscribers; returns its result.
    pub(crate) fn with_registry<T>(&self, run: impl FnOnce(&mut SubscriberRegistry) -> T) -> T {
        run(&mut lock(&self.registry))
    }

    /// Publishes changes of memories.
    pub fn publish_memory_changes(&self, changes: Vec<MemoryChange>) {
        if changes.is_empty() {
            return;
        }
        self.with_registry(|registry| {
            for MemoryChange { action, ids } in changes {
                let parts: Vec<&[String]> =
                    if ids.is_empty() { vec![&[]] } else { ids.chunks(MOST_IDS).collect() };
                for ids in parts {
                    let (time, change) = (format_rfc3339(now_ms()), action.clone());
                    let event = MemoriesEvent { time, ids: ids.to_vec(), change };
                    registry.queue_event(Topic::Memories, None, &EventParams::Memories(event));
                }
            }
            if registry.request_drift_counts() {
                self.drift_count_requested.notify_one();
            }
        });
    }
}

impl SubscriberRegistry {
    /// Queues an event for the subscribers to its topic in a worktree; without a worktree, in all worktrees.
    pub(crate) fn queue_event(&self, topic: Topic, root: Option<&Path>, event: &EventParams) {
        let mut message = None;
        for subscriber in self.subscribers.iter().filter(|one| one.wants_event(topic, root)) {
            let message = message.get_or_insert_with(|| EventMessage::new(Some(topic), event));
            subscriber.queue.push_event(message.clone());
        }
    }

    /// Returns whether a topic of a worktree has a subscriber.
    pub(crate) fn has_subscriber(&self, topic: Topic, root: &Path) -> bool {
        self.subscribers.iter().any(|subscriber| subscriber.wants_event(topic, Some(root)))
    }

    /// Requests the comparison of memories with code for every worktree that has a subscriber to drift; returns whether there is
    /// such a worktree.
    fn request_drift_counts(&mut self) -> bool {
        let Self { subscribers, worktrees, .. } = self;
        let mut is_any = false;
        for (root, delivered) in worktrees {
            if subscribers.iter().any(|subscriber| subscriber.wants_event(Topic::Drift, Some(root))) {
                (delivered.wants_drift, is_any) = (true, true);
            }
        }
        is_any
    }

    /// Removes a subscriber, and the published state if it was the last of its worktree; returns its queued events.
    fn remove_subscriber(&mut self, number: u64) -> Option<QueuedEvents> {
        let at = self.subscribers.iter().position(|subscriber| subscriber.number == number)?;
        let Subscriber { root, queue, .. } = self.subscribers.swap_remove(at);
        if !self.subscribers.iter().any(|other| other.root == root) {
            self.worktrees.remove(&root);
        } else if !self.has_subscriber(Topic::Drift, &root)
            && let Some(delivered) = self.worktrees.get_mut(&root)
        {
            delivered.forget_drift();
        }
        let waiting = std::mem::replace(
            &mut *lock(&queue.waiting),
            QueuedEvents { is_closed: true, ..QueuedEvents::default() },
        );
        queue.changed.notify_one();
        Some(waiting)
    }
}

impl Subscriber {
    fn wants_event(&self, topic: Topic, root: Option<&Path>) -> bool {
        self.topics.contains(topic) && root.is_none_or(|root| root == self.root)
    }
}

impl EventQueue {
    fn push_event(&self, event: EventMessage) {
        let mut waiting = lock(&self.waiting);
        if event.topic != Some(Topic::Memories) {
            waiting.events.retain(|older| older.topic != event.topic);
        }
        if waiting.events.len() == MOST_WAITING {
            let oldest = waiting.events.iter().position(|event| event.topic == Some(Topic::Memories));
            waiting.events.remove(oldest.unwrap_or(0));
            waiting.n_lost += 1;
        }
        waiting.events.push_back(event);
        drop(waiting);
        self.changed.notify_one();
    }
}

impl QueuedEvents {
    /// Removes and returns the next event; `None` if none waits.
    fn take_next(&mut self) -> Option<EventMessage> {
        match std::mem::take(&mut self.n_lost) {
            0 => self.events.pop_front(),
            n => {
                let event = LostEvent { time: format_rfc3339(now_ms()), n };
                Some(EventMessage::new(None, &EventParams::Lost(event)))
            }
        }
    }
}

/// A subscription, which receives the events of one subscriber and ends when it is dropped.
pub struct Subscription {
    events: Arc<EventBroker>,
    number: u64,
    queue: Arc<EventQueue>,
}

impl Subscription {
    /// Returns the number that [`EventBroker::close_subscription`] and [`EventBroker::replace_subscription`] expect.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits for the next event; `None` once the subscription has ended. Cancel safe.
    pub async fn next(&mut self) -> Option<EventMessage> {
        loop {
            {
                let mut waiting = lock(&self.queue.waiting);
                if let Some(event) = waiting.take_next() {
                    return Some(event);
                }
                if waiting.is_closed {
                    return None;
                }
            }
            self.queue.changed.notified().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.events.close_subscription(self.number);
    }
}

#[cfg(test)]
mod tests {
    use memod_proto::{ProgressEvent, ViewsEvent};

    use super::*;

    fn change(id: usize) -> Vec<MemoryChange> {
        vec![MemoryChange { action: "add".to_owned(), ids: vec![id.to_string()] }]
    }

    fn views(events: &EventBroker, root: &str, head: &str) {
        let event = ViewsEvent { head: Some(head.to_owned()), ..ViewsEvent::default() };
        events.with_registry(|registry| {
            registry.queue_event(Topic::Views, Some(Path::new(root)), &EventParams::Views(event));
        });
    }

    /// Returns the events that wait, each as its most telling value.
    async fn waiting(subscription: &mut Subscription) -> Vec<String> {
        let mut seen = Vec::new();
        while !lock(&subscription.queue.waiting).events.is_empty() {
            let event = subscription.next().await.unwrap();
            seen.push(match serde_json::from_str(&event.json).unwrap() {
                EventParams::Memories(event) => event.ids.join(" "),
                EventParams::Views(event) => event.head.unwrap(),
                EventParams::Lost(event) => format!("{} lost", event.n),
                other => panic!("{other:?}"),
            });
        }
        seen
    }

    #[tokio::test]
    async fn who_does_not_read_is_told_how_much_was_dropped() {
        let events = Arc::<EventBroker>::default();
        let mut slow = events.subscribe(TopicSet::from_topics(&[]), Path::new("/r"));
        for number in 0..MOST_WAITING + 3 {
            events.publish_memory_changes(change(number));
        }
        for head in ["one", "two", "three"] {
            views(&events, "/r", head);
            views(&events, "/other", "not its own");
        }
        let seen = waiting(&mut slow).await;
        assert_eq!(seen.len(), 1 + MOST_WAITING);
        assert_eq!([&seen[0], &seen[1], &seen[2]], ["4 lost", "4", "5"], "the oldest were");
        assert_eq!(seen[MOST_WAITING], "three", "of a state there is one");
    }

    #[tokio::test]
    async fn nobody_is_heard_once_all_have_left() {
        let events = Arc::<EventBroker>::default();
        assert!(!events.has_subscriber(TopicSet::from_topics(&[])));
        let one = events.subscribe(TopicSet::from_topics(&[Topic::Views, Topic::Drift]), Path::new("/r"));
        assert!(events.has_subscriber(TopicSet::OF_INDEX) && events.has_subscriber(TopicSet::OF_MEMORIES));
        let two = events.subscribe(TopicSet::from_topics(&[Topic::Progress]), Path::new("/r"));
        drop(one);
        assert!(events.has_subscriber(TopicSet::OF_INDEX) && !events.has_subscriber(TopicSet::OF_MEMORIES));
        events.with_registry(|registry| assert_eq!(registry.worktrees.len(), 1));
        drop(two);
        assert!(!events.has_subscriber(TopicSet::from_topics(&[])));
        events.with_registry(|registry| {
            assert!(registry.worktrees.is_empty() && registry.subscribers.is_empty());
        });
    }

    #[tokio::test]
    async fn what_waits_goes_on_waiting_under_other_topics() {
        let events = Arc::<EventBroker>::default();
        let (root, other) = (Path::new("/r"), Path::new("/other"));
        let mut first = events.subscribe(TopicSet::from_topics(&[]), root);
        events.publish_memory_changes(change(1));
        views(&events, "/r", "here");
        let progress = EventParams::Progress(ProgressEvent::default());
        events.with_registry(|registry| registry.queue_event(Topic::Progress, Some(root), &progress));
        let topics = TopicSet::from_topics(&[Topic::Views, Topic::Memories]);
        let second = events.replace_subscription(first.number(), topics, root);
        assert_eq!(first.next().await, None, "it has ended");
        let mut third = events.replace_subscription(second.number(), topics, other);
        views(&events, "/r", "there no more");
        events.publish_memory_changes(change(2));
        assert_eq!(waiting(&mut third).await, ["1", "2"], "the state was that of another worktree");
        events.close_subscription(third.number());
        assert_eq!(third.next().await, None);
    }
}
