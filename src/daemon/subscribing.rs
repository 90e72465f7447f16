//! Answers `subscribe` and `unsubscribe`.

pub(super) mod counting;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use memod_engine::errors::{RpcResult, stopping};
use memod_engine::subscriptions::{Subscription, Topics};
use memod_proto::{SubscribeParams, SubscribeResult, Sync, Topic};

use crate::daemon::request::connection::Connection;
use crate::daemon::request::{CONNECTION, deadline, freshness, locate};
use crate::daemon::shared::Shared;
use crate::daemon::subscribing::counting::tell_drift;

/// Begins a subscription of the connection. Its events follow the answer.
pub(super) async fn subscribe(shared: &Arc<Shared>, params: SubscribeParams) -> RpcResult<SubscribeResult> {
    let (topics, root) = asked(shared, &params).await?;
    connection()?.subscribe(&shared.engine.events, topics, &root).await;
    begin(shared, topics, &root).await;
    Ok(SubscribeResult { topics: topics.list(), worktree: root.display().to_string() })
}

/// Begins a subscription that ends when it is dropped.
pub(super) async fn listen(shared: &Arc<Shared>, params: SubscribeParams) -> RpcResult<Subscription> {
    let (topics, root) = asked(shared, &params).await?;
    let subscription = shared.engine.events.subscribe(topics, &root);
    begin(shared, topics, &root).await;
    Ok(subscription)
}

/// Returns what is asked for: the topics, and the root of the worktree.
async fn asked(shared: &Arc<Shared>, params: &SubscribeParams) -> RpcResult<(Topics, PathBuf)> {
    let topics = Topics::of(&params.topics);
    let until = deadline(shared, None);
    let layout = match topics.meets(Topics::OF_INDEX) {
        // A worktree that is not served has no events.
        true => freshness(shared, &params.cwd, Sync::None, until).await?.layout,
        false => locate(shared, &params.cwd, until).await?,
    };
    Ok((topics, layout.root))
}

/// Looks at the state that later events are compared with.
async fn begin(shared: &Arc<Shared>, topics: Topics, root: &Path) {
    if topics.has(Topic::Drift) {
        tell_drift(shared, root).await;
    }
    shared.engine.note_subscription();
}

/// Ends the subscription of the connection, if there is one.
pub(super) async fn unsubscribe() -> RpcResult<()> {
    connection()?.unsubscribe().await;
    Ok(())
}

/// Returns the connection of the request, unless it has ended.
fn connection() -> RpcResult<Arc<Connection>> {
    CONNECTION.try_with(Weak::upgrade).ok().flatten().ok_or_else(stopping)
}
