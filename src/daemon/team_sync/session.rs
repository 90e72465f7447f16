//! Exchanges memories over one connection: takes what is new, then sends what is queued, and waits for more.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{Part, password_of};
use crate::daemon::clock::now_ms;
use crate::daemon::memories::team_exchange::Place;
use crate::daemon::shared::Shared;
use crate::proto::RpcError;
use crate::store::Outgoing;
use crate::team::{About, Mark, Server, Stopped, TeamError};

/// Most versions that are asked for at once.
const PAGE: i64 = 2_000;
/// Time after which the server is asked although it has told nothing.
const POLL: Duration = Duration::from_secs(60);

/// Connects with the password that is known.
pub(super) async fn connect(shared: &Arc<Shared>, part: &Part) -> Result<(Server, About), TeamError> {
    let certificate = Path::new(&shared.config.team.certificate);
    let connected = Server::connect(&part.address, password_of(&part.address), certificate, &part.repository);
    let (server, about) = connected.await?;
    Ok((server, may_read(part, about)?))
}

fn may_read(part: &Part, about: About) -> Result<About, TeamError> {
    if about.may_read {
        return Ok(about);
    }
    let message = format!("{}: role {} may not see {}", part.address, about.role, part.repository);
    Err(TeamError { message, hint: Some("who owns the tables lets it in: see `memo team members --help`") })
}

/// Exchanges until something fails; returns that. Calls `done` after each complete exchange.
pub(super) async fn run(shared: &Arc<Shared>, part: &Part, done: &mut impl FnMut()) -> TeamError {
    match exchange_all(shared, part, done).await {
        Ok(never) => match never {},
        Err(failure) => failure,
    }
}

async fn exchange_all(
    shared: &Arc<Shared>,
    part: &Part,
    done: &mut impl FnMut(),
) -> Result<std::convert::Infallible, TeamError> {
    let (server, mut about) = connect(shared, part).await?;
    let mut place = shared.memories.begin_exchange(&part.repository).await.map_err(here)?;
    if place.mark.seq > 0 && server.mark(place.mark.seq).await? != place.mark {
        tracing::warn!("the team's server has forgotten changes: it was restored or replaced");
        place = meet_again(shared, &server, place).await?;
    }
    loop {
        let asked = shared.team.begin();
        exchange(shared, &server, &mut place, about.may_write).await?;
        shared.team.end(&about, asked);
        done();
        tokio::select! {
            () = server.changed() => {}
            () = shared.memories.outbox_bell.notified() => {}
            () = shared.team.asked.notified() => {}
            () = sleep(POLL) => {}
        }
        if server.is_closed() {
            return Err(TeamError::new(format!("{}: the connection has ended", part.address)));
        }
        about = may_read(part, server.about().await?)?; // rights may have changed
    }
}

/// Sends all that is queued, and takes all that is new. Sends first: what the server stored before its answer was lost is then not
/// taken for somebody else's change.
async fn exchange(
    shared: &Arc<Shared>,
    server: &Server,
    place: &mut Place,
    may_write: bool,
) -> Result<(), TeamError> {
    if may_write {
        while send(shared, server, place).await? {}
    }
    loop {
        let page = server.pull(&place.mark, (&place.client, place.sent), PAGE).await?;
        if page.up_to != place.mark {
            place.mark = page.up_to;
            shared.memories.take_versions(page.versions, place.clone(), false).await.map_err(here)?;
        }
        if !page.has_more {
            break;
        }
    }
    if may_write {
        while send(shared, server, place).await? {} // what was merged
    }
    place.synced_ms = Some(now_ms());
    shared.memories.set_place(place.clone()).await.map_err(here)
}

/// Sends some of what is queued; returns whether there may be more.
async fn send(shared: &Arc<Shared>, server: &Server, place: &mut Place) -> Result<bool, TeamError> {
    let outgoing = shared.memories.outgoing().await.map_err(here)?;
    if outgoing.is_empty() {
        return Ok(false);
    }
    let row = |change: &'_ Outgoing| (change.n, change.former);
    let changes: Vec<_> = outgoing
        .iter()
        .map(|change| {
            let (n, former) = row(change);
            (n, change.id.as_str(), former, change.text.as_str())
        })
        .collect();
    let delivered = server.deliver(&place.client, &changes).await?;
    if let Some(last) = delivered.n_stored.checked_sub(1).and_then(|at| outgoing.get(at)) {
        place.sent = last.n;
        shared.memories.note_sent(place.clone()).await.map_err(here)?;
    }
    match (delivered.stopped, outgoing.get(delivered.n_stored)) {
        (Some(Stopped::Changed(version)), Some(refused)) => {
            shared.memories.take_refused(refused.id.clone(), version).await.map_err(here)?;
        }
        (Some(Stopped::SameClient), _) => {
            tracing::warn!("another copy of this memory.db sends to the team; this one takes another name");
            *place = shared.memories.rename_client(place.clone()).await.map_err(here)?;
        }
        _ => {}
    }
    Ok(true)
}

/// Compares all with a server that has forgotten changes, and sends what it lacks.
async fn meet_again(shared: &Arc<Shared>, server: &Server, mut place: Place) -> Result<Place, TeamError> {
    place.mark = Mark::default();
    place = shared.memories.rename_client(place).await.map_err(here)?;
    let mut known = HashSet::new();
    loop {
        let page = server.pull(&place.mark, (&place.client, place.sent), PAGE).await?;
        known.extend(page.versions.iter().map(|version| version.id.clone()));
        place.mark = page.up_to;
        shared.memories.take_versions(page.versions, place.clone(), true).await.map_err(here)?;
        if !page.has_more {
            break;
        }
    }
    shared.memories.send_missing(known).await.map_err(here)?;
    Ok(place)
}

/// Returns the failure of what is here, and not on the server.
#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
fn here(error: RpcError) -> TeamError {
    TeamError { message: format!("memory.db: {}", error.message), hint: None }
}
