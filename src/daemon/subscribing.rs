//! Answers `subscribe` and `unsubscribe`.

pub(super) mod event_counts;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use memod_engine::errors::{RpcResult, stopping_error};
use memod_engine::subscriptions::{Subscription, TopicSet};
use memod_proto::{FreshnessLevel, SubscribeParams, SubscribeResult, Topic};

use crate::daemon::request::client_connection::ClientConnection;
use crate::daemon::request::{CONNECTION, locate_worktree, request_deadline, wait_until_fresh};
use crate::daemon::shared::Shared;
use crate::daemon::subscribing::event_counts::publish_drift;

/// Begins a subscription of the connection. Its events follow the answer.
pub(super) async fn answer_subscribe(
    shared: &Arc<Shared>,
    params: SubscribeParams,
) -> RpcResult<SubscribeResult> {
    let (topics, root) = resolve_topics(shared, &params).await?;
    current_connection()?.subscribe(&shared.engine.events, topics, &root).await;
    begin_subscription(shared, topics, &root).await;
    Ok(SubscribeResult { topics: topics.list(), worktree: root.display().to_string() })
}

/// Begins a subscription that ends when it is dropped.
pub(super) async fn open_subscription(
    shared: &Arc<Shared>,
    params: SubscribeParams,
) -> RpcResult<Subscription> {
    let (topics, root) = resolve_topics(shared, &params).await?;
    let subscription = shared.engine.events.subscribe(topics, &root);
    begin_subscription(shared, topics, &root).await;
    Ok(subscription)
}

/// Returns what is asked for: the topics, and the root of the worktree.
async fn resolve_topics(shared: &Arc<Shared>, params: &SubscribeParams) -> RpcResult<(TopicSet, PathBuf)> {
    let topics = TopicSet::from_topics(&params.topics);
    let until = request_deadline(shared, None);
    let layout = match topics.intersects(TopicSet::OF_INDEX) {
        // A worktree that is not served has no events.
        true => wait_until_fresh(shared, &params.cwd, FreshnessLevel::None, until).await?.layout,
        false => locate_worktree(shared, &params.cwd, until).await?,
    };
    Ok((topics, layout.root))
}

/// Looks at the state that later events are compared with.
async fn begin_subscription(shared: &Arc<Shared>, topics: TopicSet, root: &Path) {
    if topics.contains(Topic::Drift) {
        publish_drift(shared, root).await;
    }
    shared.engine.note_subscription();
}

/// Ends the subscription of the connection, if there is one.
pub(super) async fn answer_unsubscribe() -> RpcResult<()> {
    current_connection()?.unsubscribe().await;
    Ok(())
}

/// Returns the connection of the request, unless it has ended.
fn current_connection() -> RpcResult<Arc<ClientConnection>> {
    CONNECTION.try_with(Weak::upgrade).ok().flatten().ok_or_else(stopping_error)
}
