//! Queues events for who has subscribed to them.
//!
//! An event is serialized once and queued for each subscriber that hears its topic. The state of a worktree replaces an unread
//! one of the same topic. Changes of memories wait one by one; once too many do, the oldest is dropped, and the subscriber
//! is told how many were. `worktree_news` says which events there are.
//!
//! Invariant: while nobody subscribes, who asks [`Events::hears`] does nothing else: no event is made.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use memod_base::threads::lock;
use memod_base::types::{NotedChange, rfc3339};
use memod_proto::{EventParams, LostEvent, MemoriesEvent, Topic};
use tokio::sync::Notify;

use super::clock::now_ms;
use super::worktree_news::LastTold;

/// Most events that wait for one subscriber. With [`MOST_IDS`] they take as much as may be unread on a connection, half of
/// it at most.
const MOST_WAITING: usize = 256;
/// Most ids in one event.
const MOST_IDS: usize = 200;

/// Some topics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topics(u8);

impl Topics {
    /// Those about the index of one worktree.
    pub const OF_INDEX: Self = Self(bit(Topic::Progress) | bit(Topic::Views) | bit(Topic::Drift));

    /// Those that a change of a memory belongs to.
    pub const OF_MEMORIES: Self = Self(bit(Topic::Memories) | bit(Topic::Drift));

    /// Returns these topics; none means all.
    pub fn of(topics: &[Topic]) -> Self {
        let topics = if topics.is_empty() { &Topic::ALL } else { topics };
        Self(topics.iter().fold(0, |bits, topic| bits | bit(*topic)))
    }

    /// Returns each of them.
    pub fn list(self) -> Vec<Topic> {
        Topic::ALL.into_iter().filter(|topic| self.has(*topic)).collect()
    }

    /// Returns whether this is one of them.
    pub fn has(self, topic: Topic) -> bool {
        self.0 & bit(topic) != 0
    }

    /// Returns whether one of these is among the others.
    pub fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// Returns the bit of a topic.
const fn bit(topic: Topic) -> u8 {
    1 << topic as u8
}

/// An event as it is sent: one object of JSON, without the frame of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMessage {
    /// Its topic; `None` for a notice that events were lost.
    pub topic: Option<Topic>,
    /// The object.
    pub json: Arc<str>,
}

impl EventMessage {
    fn new(topic: Option<Topic>, event: &EventParams) -> Self {
        let json = serde_json::to_string(event).expect("an event has string keys only");
        Self { topic, json: json.into() }
    }
}

/// Knows who listens to what.
#[derive(Default)]
pub struct Events {
    /// The topics that anybody hears, as [`Topics`].
    heard: AtomicU8,
    hub: Mutex<Hub>,
    /// Told when the missing vectors of a worktree are to be counted.
    pub count_vectors: Notify,
    /// Told when the memories of a worktree are to be compared with its code.
    pub count_drift: Notify,
    /// Held while that is done.
    pub drift_turn: tokio::sync::Mutex<()>,
}

/// All subscribers, and what those of each worktree know.
#[derive(Default)]
pub(crate) struct Hub {
    n_subscribed: u64,
    subscribers: Vec<Subscriber>,
    pub(crate) worktrees: HashMap<PathBuf, LastTold>,
}

struct Subscriber {
    number: u64,
    topics: Topics,
    root: PathBuf,
    queue: Arc<Queue>,
}

/// The events that wait for one subscriber.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<EventMessage>,
    n_lost: u64,
    is_closed: bool,
}

impl Events {
    /// Begins a subscription to events of one worktree, and of memories, which belong to all worktrees.
    pub fn subscribe(self: &Arc<Self>, topics: Topics, root: &Path) -> Subscription {
        let mut hub = lock(&self.hub);
        let subscription = self.add(&mut hub, topics, root);
        self.note_heard(&hub);
        subscription
    }

    /// As [`Self::subscribe`], in place of another subscription, which ends: what waits there and is wanted here goes on waiting.
    pub fn replace(self: &Arc<Self>, number: u64, topics: Topics, root: &Path) -> Subscription {
        let mut hub = lock(&self.hub);
        let subscription = self.add(&mut hub, topics, root);
        let is_same = hub.subscribers.iter().any(|other| other.number == number && other.root == root);
        if let Some(Waiting { mut events, n_lost, .. }) = hub.close(number) {
            let is_wanted = |topic| topics.has(topic) && (is_same || topic == Topic::Memories);
            events.retain(|event| event.topic.is_some_and(is_wanted));
            *lock(&subscription.queue.waiting) = Waiting { events, n_lost, is_closed: false };
        }
        self.note_heard(&hub);
        subscription
    }

    fn add(self: &Arc<Self>, hub: &mut Hub, topics: Topics, root: &Path) -> Subscription {
        hub.n_subscribed += 1;
        let (number, queue) = (hub.n_subscribed, Arc::<Queue>::default());
        hub.subscribers.push(Subscriber { number, topics, root: root.to_owned(), queue: Arc::clone(&queue) });
        hub.worktrees.entry(root.to_owned()).or_default();
        Subscription { events: Arc::clone(self), number, queue }
    }

    /// Ends a subscription; what waits is dropped.
    pub fn close(&self, number: u64) {
        let mut hub = lock(&self.hub);
        if hub.close(number).is_some() {
            self.note_heard(&hub);
        }
    }

    fn note_heard(&self, hub: &Hub) {
        let heard = hub.subscribers.iter().fold(0, |heard, subscriber| heard | subscriber.topics.0);
        self.heard.store(heard, Ordering::Relaxed);
    }

    /// Returns whether anybody hears one of these topics.
    pub fn hears(&self, topics: Topics) -> bool {
        Topics(self.heard.load(Ordering::Relaxed)).meets(topics)
    }

    /// Calls `tell` with all subscribers.
    pub(crate) fn with<T>(&self, tell: impl FnOnce(&mut Hub) -> T) -> T {
        tell(&mut lock(&self.hub))
    }

    /// Tells which memories have changed.
    pub fn tell_memories(&self, changes: Vec<NotedChange>) {
        if changes.is_empty() {
            return;
        }
        self.with(|hub| {
            for NotedChange { action, ids } in changes {
                let parts: Vec<&[String]> =
                    if ids.is_empty() { vec![&[]] } else { ids.chunks(MOST_IDS).collect() };
                for ids in parts {
                    let (time, change) = (rfc3339(now_ms()), action.clone());
                    let event = MemoriesEvent { time, ids: ids.to_vec(), change };
                    hub.tell(Topic::Memories, None, &EventParams::Memories(event));
                }
            }
            if hub.want_drift() {
                self.count_drift.notify_one();
            }
        });
    }
}

impl Hub {
    /// Queues an event for everybody who hears it; without a worktree it is for those of all.
    pub(crate) fn tell(&self, topic: Topic, root: Option<&Path>, event: &EventParams) {
        let mut message = None;
        for subscriber in self.subscribers.iter().filter(|one| one.hears(topic, root)) {
            let message = message.get_or_insert_with(|| EventMessage::new(Some(topic), event));
            subscriber.queue.put(message.clone());
        }
    }

    /// Returns whether anybody hears a topic of a worktree.
    pub(crate) fn hears(&self, topic: Topic, root: &Path) -> bool {
        self.subscribers.iter().any(|subscriber| subscriber.hears(topic, Some(root)))
    }

    /// Has the memories of every worktree compared with its code where somebody hears of it; returns whether there is one.
    fn want_drift(&mut self) -> bool {
        let Self { subscribers, worktrees, .. } = self;
        let mut is_any = false;
        for (root, told) in worktrees {
            if subscribers.iter().any(|subscriber| subscriber.hears(Topic::Drift, Some(root))) {
                (told.wants_drift, is_any) = (true, true);
            }
        }
        is_any
    }

    /// Removes a subscriber, and what was known for nobody else; returns what waited.
    fn close(&mut self, number: u64) -> Option<Waiting> {
        let at = self.subscribers.iter().position(|subscriber| subscriber.number == number)?;
        let Subscriber { root, queue, .. } = self.subscribers.swap_remove(at);
        if !self.subscribers.iter().any(|other| other.root == root) {
            self.worktrees.remove(&root);
        } else if !self.hears(Topic::Drift, &root)
            && let Some(told) = self.worktrees.get_mut(&root)
        {
            told.forget_drift();
        }
        let waiting =
            std::mem::replace(&mut *lock(&queue.waiting), Waiting { is_closed: true, ..Waiting::default() });
        queue.changed.notify_one();
        Some(waiting)
    }
}

impl Subscriber {
    fn hears(&self, topic: Topic, root: Option<&Path>) -> bool {
        self.topics.has(topic) && root.is_none_or(|root| root == self.root)
    }
}

impl Queue {
    fn put(&self, event: EventMessage) {
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

impl Waiting {
    /// Takes the next event; `None` while there is none.
    fn take(&mut self) -> Option<EventMessage> {
        match std::mem::take(&mut self.n_lost) {
            0 => self.events.pop_front(),
            n => {
                let event = LostEvent { time: rfc3339(now_ms()), n };
                Some(EventMessage::new(None, &EventParams::Lost(event)))
            }
        }
    }
}

/// The events of one subscriber. The subscription ends when this is dropped.
pub struct Subscription {
    events: Arc<Events>,
    number: u64,
    queue: Arc<Queue>,
}

impl Subscription {
    /// Returns the number by which [`Events::close`] and [`Events::replace`] know it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits for the next event; `None` once the subscription has ended. Cancel safe.
    pub async fn next(&mut self) -> Option<EventMessage> {
        loop {
            {
                let mut waiting = lock(&self.queue.waiting);
                if let Some(event) = waiting.take() {
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
        self.events.close(self.number);
    }
}

#[cfg(test)]
mod tests {
    use memod_proto::{ProgressEvent, ViewsEvent};

    use super::*;

    fn change(id: usize) -> Vec<NotedChange> {
        vec![NotedChange { action: "add".to_owned(), ids: vec![id.to_string()] }]
    }

    fn views(events: &Events, root: &str, head: &str) {
        let event = ViewsEvent { head: Some(head.to_owned()), ..ViewsEvent::default() };
        events.with(|hub| hub.tell(Topic::Views, Some(Path::new(root)), &EventParams::Views(event)));
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
        let events = Arc::<Events>::default();
        let mut slow = events.subscribe(Topics::of(&[]), Path::new("/r"));
        for number in 0..MOST_WAITING + 3 {
            events.tell_memories(change(number));
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
        let events = Arc::<Events>::default();
        assert!(!events.hears(Topics::of(&[])));
        let one = events.subscribe(Topics::of(&[Topic::Views, Topic::Drift]), Path::new("/r"));
        assert!(events.hears(Topics::OF_INDEX) && events.hears(Topics::OF_MEMORIES));
        let two = events.subscribe(Topics::of(&[Topic::Progress]), Path::new("/r"));
        drop(one);
        assert!(events.hears(Topics::OF_INDEX) && !events.hears(Topics::OF_MEMORIES));
        events.with(|hub| assert_eq!(hub.worktrees.len(), 1));
        drop(two);
        assert!(!events.hears(Topics::of(&[])));
        events.with(|hub| assert!(hub.worktrees.is_empty() && hub.subscribers.is_empty()));
    }

    #[tokio::test]
    async fn what_waits_goes_on_waiting_under_other_topics() {
        let events = Arc::<Events>::default();
        let (root, other) = (Path::new("/r"), Path::new("/other"));
        let mut first = events.subscribe(Topics::of(&[]), root);
        events.tell_memories(change(1));
        views(&events, "/r", "here");
        let progress = EventParams::Progress(ProgressEvent::default());
        events.with(|hub| hub.tell(Topic::Progress, Some(root), &progress));
        let topics = Topics::of(&[Topic::Views, Topic::Memories]);
        let second = events.replace(first.number(), topics, root);
        assert_eq!(first.next().await, None, "it has ended");
        let mut third = events.replace(second.number(), topics, other);
        views(&events, "/r", "there no more");
        events.tell_memories(change(2));
        assert_eq!(waiting(&mut third).await, ["1", "2"], "the state was that of another worktree");
        events.close(third.number());
        assert_eq!(third.next().await, None);
    }
}
