//! Answers `subscribe` and `unsubscribe`.

use std::sync::{Arc, Weak};

use super::connection::Connection;
use super::counting::tell_drift;
use super::error::{RpcResult, stopping};
use super::event::Event;
use super::request::{CONNECTION, deadline, freshness, locate};
use super::shared::Shared;
use super::subscriptions::Topics;
use crate::proto::{SubscribeParams, SubscribeResult, Sync, Topic};

/// Begins a subscription. Its events follow the answer.
pub(super) async fn subscribe(shared: &Arc<Shared>, params: SubscribeParams) -> RpcResult<SubscribeResult> {
    let topics = Topics::of(&params.topics);
    let until = deadline(shared, None);
    let layout = match topics.meets(Topics::OF_INDEX) {
        // A worktree that is not served has no events.
        true => freshness(shared, &params.cwd, Sync::None, until).await?.layout,
        false => locate(shared, &params.cwd, until).await?,
    };
    connection()?.subscribe(&shared.events, topics, &layout.root).await;
    if topics.has(Topic::Drift) {
        tell_drift(shared, &layout.root).await;
    }
    shared.send(Event::Subscribed);
    Ok(SubscribeResult { topics: topics.list(), worktree: layout.root.display().to_string() })
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
