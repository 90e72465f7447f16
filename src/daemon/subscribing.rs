//! Answers `subscribe` and `unsubscribe`.

pub(super) mod event_counts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memod_engine::errors::{RpcResult, stopping_error};
use memod_engine::events::subscriptions::{Subscription, TopicSet};
use memod_proto::{FreshnessLevel, RpcError, SubscribeParams, SubscribeResult, Topic, code};

use crate::daemon::request::fresh_snapshot::{request_deadline, wait_until_fresh};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::subscribing::event_counts::publish_drift;

/// Answers `subscribe`: begins a subscription of the connection, whose events follow the answer.
pub(super) async fn answer_subscribe(
    request: &Arc<RequestContext>,
    params: SubscribeParams,
) -> RpcResult<SubscribeResult> {
    let (topics, root) = resolve_topics(request, &params).await?;
    let connection = request.connection().upgrade().ok_or_else(|| no_connection_error(request))?;
    connection.subscribe(&request.shared.engine.events, topics, &root).await;
    record_initial_state(request, topics, &root).await;
    Ok(SubscribeResult { topics: topics.list(), worktree: root.display().to_string() })
}

/// Returns a new subscription, which ends when it is dropped.
pub(super) async fn open_subscription(
    request: &Arc<RequestContext>,
    params: SubscribeParams,
) -> RpcResult<Subscription> {
    let (topics, root) = resolve_topics(request, &params).await?;
    let subscription = request.shared.engine.events.subscribe(topics, &root);
    record_initial_state(request, topics, &root).await;
    Ok(subscription)
}

/// Returns the requested topics, and the root of the worktree.
async fn resolve_topics(
    request: &Arc<RequestContext>,
    params: &SubscribeParams,
) -> RpcResult<(TopicSet, PathBuf)> {
    let topics = TopicSet::from_topics(&params.topics);
    let until = request_deadline(request, None);
    let layout = match topics.intersects(TopicSet::OF_INDEX) {
        // Waiting makes the daemon serve the worktree; otherwise there would be no events.
        true => wait_until_fresh(request, &params.cwd, FreshnessLevel::None, until).await?.layout,
        false => locate_worktree(request, &params.cwd, until).await?,
    };
    Ok((topics, layout.root))
}

/// Determines the state with which later events are compared.
async fn record_initial_state(request: &Arc<RequestContext>, topics: TopicSet, root: &Path) {
    if topics.contains(Topic::Drift) {
        publish_drift(&request.shared, root).await;
    }
    request.shared.engine.record_state_for_subscriber();
}

/// Returns the error for a subscription whose connection is gone: the daemon is stopping, or the client closed its sending side.
fn no_connection_error(request: &RequestContext) -> RpcError {
    if *request.shared.stopping.borrow() {
        return stopping_error();
    }
    let message = "the connection was closed, and events are sent only to an open one";
    RpcError::new(code::INVALID_PARAMS, message)
        .with_hint("keep the sending side of the connection open while events are wanted")
}

/// Answers `unsubscribe`: ends the subscription of the connection, if there is one.
pub(super) async fn answer_unsubscribe(request: &RequestContext) -> RpcResult<()> {
    // If the connection is gone, its subscription has ended already.
    if let Some(connection) = request.connection().upgrade() {
        connection.unsubscribe().await;
    }
    Ok(())
}
