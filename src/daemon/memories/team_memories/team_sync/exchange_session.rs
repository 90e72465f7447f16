//! Exchanges memories over one connection: sends queued changes, applies new versions, and waits for more of both.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memod_base::clock::now_ms;
use memod_team::{DeliveryStop, ServerAccess, TeamError, TeamServer, VersionMark};
use tokio::time::sleep;

use super::follow_repositories::{self, FollowedRepositories};
use super::{TeamMembership, find_password};
use crate::daemon::memories::team_memories::team_exchange::{ExchangeCursor, ExchangeCursorStep};
use crate::daemon::memories::team_memories::team_sync::exchange_limits::VERSIONS_PER_PAGE;
use crate::daemon::memories::team_memories::team_sync::exchange_limits::local_error;
use crate::daemon::shared::Shared;

/// Most refusals in a row because other members have changed the memory. More refusals mean that the server is faulty.
const MOST_REFUSED: usize = 10_000;
/// Interval at which the time of the last complete exchange is stored, ms.
const STORE_TIME_INTERVAL_MS: i64 = 600_000;
/// Shortest time between a notification and the exchange. It doubles with each notification without news.
const SHORTEST_DELAY: Duration = Duration::from_millis(50);
/// Longest time between a notification and the exchange.
const LONGEST_DELAY: Duration = Duration::from_secs(2);
/// Interval of exchanges without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(60);

/// Connects to the server of the team with the stored password. Fails if the role may not see the repository.
pub(super) async fn connect_server(
    shared: &Arc<Shared>,
    membership: &TeamMembership,
) -> Result<(TeamServer, ServerAccess), TeamError> {
    let certificate = Path::new(&shared.engine.config.team.certificate);
    let connected = TeamServer::connect(
        &membership.address,
        find_password(&membership.address),
        certificate,
        &membership.repository,
    );
    let (server, about) = connected.await?;
    Ok((server, check_may_read(shared, membership, about).await?))
}

/// Returns `about` if the role may see the repository. Otherwise stops following other repositories, and fails.
async fn check_may_read(
    shared: &Arc<Shared>,
    membership: &TeamMembership,
    about: ServerAccess,
) -> Result<ServerAccess, TeamError> {
    if about.may_read {
        return Ok(about);
    }
    follow_repositories::unfollow_except(shared, |_| false).await?;
    let message =
        format!("{}: role {} may not see {}", membership.address, about.role, membership.repository);
    Err(TeamError::new(message)
        .with_hint("the owner of the tables can admit it: see `memo share team members --help`"))
}

/// Exchanges memories until something fails, and returns the failure. Calls `done` after each complete exchange.
pub(super) async fn run_session(
    shared: &Arc<Shared>,
    membership: &TeamMembership,
    done: &mut impl FnMut(),
) -> TeamError {
    match exchange_until_failure(shared, membership, done).await {
        Ok(never) => match never {},
        Err(failure) => failure,
    }
}

/// Exchanges over one connection, again and again, until something fails.
async fn exchange_until_failure(
    shared: &Arc<Shared>,
    membership: &TeamMembership,
    done: &mut impl FnMut(),
) -> Result<std::convert::Infallible, TeamError> {
    let (server, mut about) = connect_server(shared, membership).await?;
    let mut place = find_start_cursor(shared, membership, &server, &about).await?;
    let server_id = about.server_id.clone();
    let mut others = FollowedRepositories::new(shared, &server, &membership.repository, &server_id);
    let (mut delay, mut is_rung) = (SHORTEST_DELAY, false);
    loop {
        let asked = shared.team.read_request_count();
        if !shared.memories.is_stored_cursor(place.clone()).await.map_err(local_error)? {
            place = find_start_cursor(shared, membership, &server, &about).await?; // memories were reset, or restored from a backup
        }
        let before = (place.clone(), others.n_stored_pages);
        exchange_once(shared, &server, &mut place, about.may_write).await?;
        let taken = others.copy_new_versions().await;
        let is_news = before != (place.clone(), others.n_stored_pages);
        if is_news {
            delay = SHORTEST_DELAY;
        } else if is_rung {
            delay = (delay * 2).min(LONGEST_DELAY);
        }
        if server.is_closed() {
            return Err(taken.err().unwrap_or_else(|| ended_error(membership)));
        }
        let troubles = shared.memories.list_team_troubles().await.map_err(local_error)?;
        shared.team.set_hidden_count(troubles.iter().filter(|trouble| trouble.is_hidden()).count());
        shared.team.note_complete(&about, asked, now_ms(), taken.err());
        done();
        is_rung = tokio::select! {
            () = server.wait_for_change() => true,
            () = shared.memories.outbox_notify.notified() => false,
            () = shared.team.requested.notified() => false,
            () = sleep(POLL_INTERVAL) => {
                delay = SHORTEST_DELAY;
                false
            }
        };
        if is_rung {
            // Changes in quick succession are applied together.
            tokio::select! {
                () = sleep(delay) => {}
                () = shared.memories.outbox_notify.notified() => {}
                () = shared.team.requested.notified() => {}
            }
        }
        if server.is_closed() {
            return Err(ended_error(membership));
        }
        if super::find_membership(shared).await.is_ok_and(|now| now.repository != membership.repository) {
            return Err(TeamError::new(format!(
                "{}: the remote of this repository has changed; the exchange begins again with the new one",
                membership.repository
            )));
        }
        about = check_may_read(shared, membership, server.read_access().await?).await?; // rights may have changed
    }
}

/// Returns the position of this repository in the exchange. Compares all memories first if the server does not have that position.
async fn find_start_cursor(
    shared: &Arc<Shared>,
    membership: &TeamMembership,
    server: &TeamServer,
    about: &ServerAccess,
) -> Result<ExchangeCursor, TeamError> {
    let began = shared.memories.prepare_exchange(&membership.repository, &about.server_id);
    let (place, has_any) = began.await.map_err(local_error)?;
    let marks = server.read_marks(&[(&place.repository, place.mark.seq)]).await?;
    let has_mark = marks.get(&place.repository) == Some(&place.mark);
    let has_sent = place.sent == 0 || server.has_change(&place.repository, &place.client, place.sent).await?;
    if !has_any || has_mark && has_sent {
        return Ok(place);
    }
    let server_has_forgotten = !has_sent || place.mark.seq > 0;
    compare_with_server(shared, server, place, server_has_forgotten).await
}

fn ended_error(membership: &TeamMembership) -> TeamError {
    TeamError::new(format!("{}: the connection has ended", membership.address))
}

/// Sends all queued changes, and applies all new versions. Sends first, because otherwise a change of ours that the server stored
/// without its answer arriving would be mistaken for a change of another member.
async fn exchange_once(
    shared: &Arc<Shared>,
    server: &TeamServer,
    place: &mut ExchangeCursor,
    may_write: bool,
) -> Result<(), TeamError> {
    let mut sent = send_all(shared, server, place, may_write).await;
    loop {
        pull_all_versions(shared, server, place).await?;
        sent?; // checked only now, because a failure to send must not prevent the versions from being applied
        sent = send_all(shared, server, place, may_write).await; // sends the merged memories
        if matches!(sent, Ok(false)) {
            break;
        }
    }
    // The time is not stored at each exchange, so that an idle daemon does not write.
    if place.synced_ms.is_none_or(|at| now_ms() - at > STORE_TIME_INTERVAL_MS) {
        let to = ExchangeCursor { synced_ms: Some(now_ms()), ..place.clone() };
        *place = shared
            .memories
            .store_cursor_step(ExchangeCursorStep { from: place.clone(), to })
            .await
            .map_err(local_error)?;
    }
    Ok(())
}

/// Pulls all new versions from the server, and applies them.
async fn pull_all_versions(
    shared: &Arc<Shared>,
    server: &TeamServer,
    place: &mut ExchangeCursor,
) -> Result<(), TeamError> {
    loop {
        let page = server
            .pull_versions(&place.repository, &place.mark, (&place.client, place.sent), VERSIONS_PER_PAGE)
            .await?;
        if page.lacks_start {
            *place = compare_with_server(shared, server, place.clone(), true).await?; // the server was restored under this connection
            continue;
        }
        if page.up_to != place.mark {
            let to = ExchangeCursor { mark: page.up_to, ..place.clone() };
            let step = ExchangeCursorStep { from: place.clone(), to };
            *place = shared.memories.apply_versions(page.versions, step, false).await.map_err(local_error)?;
        }
        if !page.has_more {
            return Ok(());
        }
    }
}

/// Sends all queued changes if the role may write. Returns whether there were any changes to send.
async fn send_all(
    shared: &Arc<Shared>,
    server: &TeamServer,
    place: &mut ExchangeCursor,
    may_write: bool,
) -> Result<bool, TeamError> {
    let (mut n_refused, mut has_any) = (0, false);
    while may_write && send_some(shared, server, place, &mut n_refused).await? {
        has_any = true;
    }
    Ok(has_any)
}

/// Sends one page of queued changes, and returns whether there may be more.
async fn send_some(
    shared: &Arc<Shared>,
    server: &TeamServer,
    place: &mut ExchangeCursor,
    n_refused: &mut usize,
) -> Result<bool, TeamError> {
    let outgoing = shared.memories.read_outgoing().await.map_err(local_error)?;
    if outgoing.is_empty() {
        return Ok(false);
    }
    let changes: Vec<_> =
        outgoing.iter().map(|change| (change.n, &*change.id, change.former, &*change.text)).collect();
    let delivered = server.deliver_changes(&place.client, &changes).await?;
    if let Some(last) = delivered.n_stored.checked_sub(1).and_then(|at| outgoing.get(at)) {
        *n_refused = 0;
        let step =
            ExchangeCursorStep { from: place.clone(), to: ExchangeCursor { sent: last.n, ..place.clone() } };
        *place = shared.memories.record_sent_changes(step).await.map_err(local_error)?;
    }
    match (delivered.stopped, outgoing.get(delivered.n_stored)) {
        (Some(DeliveryStop::Changed(version)), Some(refused)) => {
            *n_refused += 1;
            if *n_refused > MOST_REFUSED {
                let message =
                    format!("{}: the server keeps refusing changes that follow its own version", refused.id);
                return Err(TeamError::new(message));
            }
            shared.memories.apply_refusing_version(refused.id.clone(), version).await.map_err(local_error)?;
        }
        (Some(DeliveryStop::SameClient), _) => {
            tracing::warn!("another copy of this memory.db sends to the team; this one takes another name");
            *place = shared.memories.rename_client(place.clone()).await.map_err(local_error)?;
        }
        _ => {}
    }
    Ok(true)
}

/// Compares all memories of the team with the server, and queues those that the server lacks. Needed if the server is new or has
/// forgotten changes (`server_has_forgotten`), or if this database lost its position. Until the comparison is complete, the stored
/// position is the beginning, so that a killed comparison starts over. Returns the new position.
async fn compare_with_server(
    shared: &Arc<Shared>,
    server: &TeamServer,
    mut place: ExchangeCursor,
    server_has_forgotten: bool,
) -> Result<ExchangeCursor, TeamError> {
    tracing::info!("all memories of the team are compared with the server");
    if server_has_forgotten {
        place = shared.memories.rename_client(place).await.map_err(local_error)?;
        let to = ExchangeCursor { mark: VersionMark::default(), server_has_forgotten: true, ..place.clone() };
        place = shared
            .memories
            .store_cursor_step(ExchangeCursorStep { from: place, to })
            .await
            .map_err(local_error)?;
    }
    let (mut known, mut mark) = (HashSet::new(), VersionMark::default());
    loop {
        // Pulls from the beginning, and includes the versions that this client has sent.
        let page =
            server.pull_versions(&place.repository, &mark, (&place.client, 0), VERSIONS_PER_PAGE).await?;
        known.extend(page.versions.iter().map(|version| version.id.clone()));
        mark = page.up_to;
        let stay = ExchangeCursorStep { from: place.clone(), to: place };
        place = shared.memories.apply_versions(page.versions, stay, true).await.map_err(local_error)?;
        if !page.has_more {
            break;
        }
    }
    shared.memories.queue_missing_memories(known).await.map_err(local_error)?;
    let to = ExchangeCursor { mark, server_has_forgotten: false, ..place.clone() };
    shared.memories.store_cursor_step(ExchangeCursorStep { from: place, to }).await.map_err(local_error)
}
