//! Exchanges memories over one connection: sends what is queued, takes what is new, and waits for more.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memod_engine::clock::now_ms;
use memod_proto::RpcError;
use memod_team::{About, Mark, Server, Stopped, TeamError};
use tokio::time::sleep;

use super::follow::{self, Others};
use super::{Part, password_of};
use crate::daemon::memories::team_exchange::{Place, Step};
use crate::daemon::shared::Shared;

/// Most versions that are asked for at once.
pub(super) const PAGE: i64 = 2_000;
/// Most changes in a row that are refused because somebody else has changed the memory, before one is stored. More are no accident.
const MOST_REFUSED: usize = 10_000;
/// Time after which it is stored again that an exchange was complete, ms.
const NOTE_AFTER_MS: i64 = 600_000;
/// Time between a notification and the exchange. It doubles, up to the second, with each notification after which there was nothing
/// new.
const AFTER_NEWS: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
/// Time after which the server is asked although it has told nothing.
const POLL: Duration = Duration::from_secs(60);

/// Connects with the password that is known.
pub(super) async fn connect(shared: &Arc<Shared>, part: &Part) -> Result<(Server, About), TeamError> {
    let certificate = Path::new(&shared.engine.config.team.certificate);
    let connected = Server::connect(&part.address, password_of(&part.address), certificate, &part.repository);
    let (server, about) = connected.await?;
    Ok((server, may_read(shared, part, about).await?))
}

/// Fails if the role may not see the repository; then it sees no others from here either.
async fn may_read(shared: &Arc<Shared>, part: &Part, about: About) -> Result<About, TeamError> {
    if about.may_read {
        return Ok(about);
    }
    follow::keep_only(shared, |_| false).await?;
    let message = format!("{}: role {} may not see {}", part.address, about.role, part.repository);
    Err(TeamError::new(message).hint("who owns the tables lets it in: see `memo team members --help`"))
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
    let mut place = begin(shared, part, &server, &about).await?;
    let server_id = about.server_id.clone();
    let mut others = Others::new(shared, &server, &part.repository, &server_id);
    let (mut after_news, mut is_rung) = (AFTER_NEWS[0], false);
    loop {
        let asked = shared.team.begin();
        if !shared.memories.is_place(place.clone()).await.map_err(here)? {
            place = begin(shared, part, &server, &about).await?; // memories were reset, or came out of a backup
        }
        let before = (place.clone(), others.n_taken);
        exchange(shared, &server, &mut place, about.may_write).await?;
        let taken = others.take_news().await;
        let is_news = before != (place.clone(), others.n_taken);
        if is_news {
            after_news = AFTER_NEWS[0];
        } else if is_rung {
            after_news = (after_news * 2).min(AFTER_NEWS[1]);
        }
        if server.is_closed() {
            return Err(taken.err().unwrap_or_else(|| ended(part)));
        }
        let troubles = shared.memories.team_troubles().await.map_err(here)?;
        shared.team.set_hidden(troubles.iter().filter(|of| of.is_hidden()).count());
        shared.team.end(&about, asked, now_ms(), taken.err());
        done();
        is_rung = tokio::select! {
            () = server.changed() => true,
            () = shared.memories.outbox_bell.notified() => false,
            () = shared.team.asked.notified() => false,
            () = sleep(POLL) => {
                after_news = AFTER_NEWS[0];
                false
            }
        };
        if is_rung {
            // What comes in a row is taken at once.
            tokio::select! {
                () = sleep(after_news) => {}
                () = shared.memories.outbox_bell.notified() => {}
                () = shared.team.asked.notified() => {}
            }
        }
        if server.is_closed() {
            return Err(ended(part));
        }
        if super::part(shared).await.is_ok_and(|now| now.repository != part.repository) {
            return Err(TeamError::new(format!("{}: the remote is another one now", part.repository)));
        }
        about = may_read(shared, part, server.about().await?).await?; // rights may have changed
    }
}

/// Returns how far the team's changes are known, once the server and this database know of the same.
async fn begin(
    shared: &Arc<Shared>,
    part: &Part,
    server: &Server,
    about: &About,
) -> Result<Place, TeamError> {
    let began = shared.memories.begin_exchange(&part.repository, &about.server_id);
    let (place, has_any) = began.await.map_err(here)?;
    let marks = server.marks(&[(&place.repository, place.mark.seq)]).await?;
    let has_mark = marks.get(&place.repository) == Some(&place.mark);
    let has_sent = place.sent == 0 || server.has_sent(&place.repository, &place.client, place.sent).await?;
    if !has_any || has_mark && has_sent {
        return Ok(place);
    }
    let has_forgotten = !has_sent || place.mark.seq > 0;
    compare_all(shared, server, place, has_forgotten).await
}

fn ended(part: &Part) -> TeamError {
    TeamError::new(format!("{}: the connection has ended", part.address))
}

/// Sends all that is queued, and takes all that is new. Sends first: what the server stored before its answer was lost is then not
/// taken for somebody else's change.
async fn exchange(
    shared: &Arc<Shared>,
    server: &Server,
    place: &mut Place,
    may_write: bool,
) -> Result<(), TeamError> {
    let mut sent = send_all(shared, server, place, may_write).await;
    loop {
        take_all(shared, server, place).await?;
        sent?; // what the server does not take is no reason to take nothing
        sent = send_all(shared, server, place, may_write).await; // what was merged
        if matches!(sent, Ok(false)) {
            break;
        }
    }
    // Not each time: it would be all that is written while nothing happens.
    if place.synced_ms.is_none_or(|at| now_ms() - at > NOTE_AFTER_MS) {
        let to = Place { synced_ms: Some(now_ms()), ..place.clone() };
        *place = shared.memories.move_place(Step { from: place.clone(), to }).await.map_err(here)?;
    }
    Ok(())
}

/// Takes all that is new.
async fn take_all(shared: &Arc<Shared>, server: &Server, place: &mut Place) -> Result<(), TeamError> {
    loop {
        let page = server.pull(&place.repository, &place.mark, (&place.client, place.sent), PAGE).await?;
        if page.has_forgotten {
            *place = compare_all(shared, server, place.clone(), true).await?; // it was restored under this connection
            continue;
        }
        if page.up_to != place.mark {
            let to = Place { mark: page.up_to, ..place.clone() };
            let step = Step { from: place.clone(), to };
            *place = shared.memories.take_versions(page.versions, step, false).await.map_err(here)?;
        }
        if !page.has_more {
            return Ok(());
        }
    }
}

/// Sends all that is queued, if the role may; returns whether there was anything.
async fn send_all(
    shared: &Arc<Shared>,
    server: &Server,
    place: &mut Place,
    may_write: bool,
) -> Result<bool, TeamError> {
    let (mut n_refused, mut has_any) = (0, false);
    while may_write && send(shared, server, place, &mut n_refused).await? {
        has_any = true;
    }
    Ok(has_any)
}

/// Sends some of what is queued; returns whether there may be more.
async fn send(
    shared: &Arc<Shared>,
    server: &Server,
    place: &mut Place,
    n_refused: &mut usize,
) -> Result<bool, TeamError> {
    let outgoing = shared.memories.outgoing().await.map_err(here)?;
    if outgoing.is_empty() {
        return Ok(false);
    }
    let changes: Vec<_> = outgoing.iter().map(|of| (of.n, &*of.id, of.former, &*of.text)).collect();
    let delivered = server.deliver(&place.client, &changes).await?;
    if let Some(last) = delivered.n_stored.checked_sub(1).and_then(|at| outgoing.get(at)) {
        *n_refused = 0;
        let step = Step { from: place.clone(), to: Place { sent: last.n, ..place.clone() } };
        *place = shared.memories.note_sent(step).await.map_err(here)?;
    }
    match (delivered.stopped, outgoing.get(delivered.n_stored)) {
        (Some(Stopped::Changed(version)), Some(refused)) => {
            *n_refused += 1;
            if *n_refused > MOST_REFUSED {
                let message = format!("{}: the server refuses what follows its own version", refused.id);
                return Err(TeamError::new(message));
            }
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

/// Compares all with a server that has forgotten changes or is new, or of which nothing is known here any more, and sends what it
/// lacks. Until that is done, the place is the beginning, so that it is done again after a kill.
async fn compare_all(
    shared: &Arc<Shared>,
    server: &Server,
    mut place: Place,
    has_forgotten: bool,
) -> Result<Place, TeamError> {
    tracing::info!("all memories of the team are compared with the server");
    if has_forgotten {
        place = shared.memories.rename_client(place).await.map_err(here)?;
        let to = Place { mark: Mark::default(), has_forgotten: true, ..place.clone() };
        place = shared.memories.move_place(Step { from: place, to }).await.map_err(here)?;
    }
    let (mut known, mut mark) = (HashSet::new(), Mark::default());
    loop {
        // From the beginning, without leaving out what this client has sent.
        let page = server.pull(&place.repository, &mark, (&place.client, 0), PAGE).await?;
        known.extend(page.versions.iter().map(|version| version.id.clone()));
        mark = page.up_to;
        let stay = Step { from: place.clone(), to: place };
        place = shared.memories.take_versions(page.versions, stay, true).await.map_err(here)?;
        if !page.has_more {
            break;
        }
    }
    shared.memories.send_missing(known).await.map_err(here)?;
    let to = Place { mark, has_forgotten: false, ..place.clone() };
    shared.memories.move_place(Step { from: place, to }).await.map_err(here)
}

/// Returns the failure of what is here, and not on the server.
pub(super) fn here(error: RpcError) -> TeamError {
    let hint = error.data.and_then(|data| data.hint);
    TeamError { message: format!("memory.db: {}", error.message), hint }
}
