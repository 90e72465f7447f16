//! Gives the exchange with a team what is to be sent, and stores what comes.
//!
//! What came is committed together with how far the team's changes are known, so a kill loses neither.

use std::collections::HashSet;

use memod_engine::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_memory_db::{MemoryStore, Outgoing, Rows, Stopped, TeamCounts, TeamTrouble};
use memod_team::{Mark, Version};
use serde::{Deserialize, Serialize};

use super::keeper::Memories;
use super::rules::{Done, refused};
use super::{team_take, team_write};

/// Most changes that are sent at once, and their most bytes after the first.
const MOST_SENT: (usize, usize) = (500, 1 << 20);
/// Number of ids that are read at once.
const PAGE: usize = 1_000;

/// How far the team's changes are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::daemon) struct Place {
    /// Name of the repository for the team.
    pub(in crate::daemon) repository: String,
    /// Name of this database for the server.
    pub(in crate::daemon) client: String,
    /// The last version that is known.
    pub(in crate::daemon) mark: Mark,
    /// Number of the last change that was sent.
    pub(in crate::daemon) sent: i64,
    /// Which server that is.
    pub(in crate::daemon) server_id: String,
    /// When the exchange last was complete, unix ms.
    pub(in crate::daemon) synced_ms: Option<i64>,
    /// Whether the server has forgotten changes that were known, and the comparison with it is not over.
    pub(in crate::daemon) has_forgotten: bool,
}

/// From one place to the next.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct Step {
    pub(in crate::daemon) from: Place,
    pub(in crate::daemon) to: Place,
}

impl Step {
    /// Stores the new place, unless the exchange begins anew: memories were reset, or came out of a backup.
    fn take(&self, rows: &Rows<'_>) -> Done<Place> {
        if place(rows)?.as_ref() != Some(&self.from) {
            return Err(refused("memories were replaced meanwhile".to_owned(), "the exchange begins anew"));
        }
        set_place(rows, self.to.clone())
    }
}

impl Memories {
    /// Returns how far the changes of a repository are known, and whether there are memories of the team; queues those that came
    /// out of a backup.
    pub(in crate::daemon) async fn begin_exchange(
        &self,
        repository: &str,
        server_id: &str,
    ) -> RpcResult<(Place, bool)> {
        let (repository, server_id) = (repository.to_owned(), server_id.to_owned());
        self.team_write(move |rows| {
            for id in rows.unequal_to_team()? {
                if let Some(record) = rows.get(&id)?
                    && let Err(Stopped::Refused(why)) = team_write::put(rows, &record)
                {
                    tracing::warn!(why = why.message, "a memory that came out of a backup stays here");
                }
            }
            for id in rows.lost_sides()? {
                team_take::show_theirs(rows, &id)?;
            }
            // What stood in the way may be gone.
            for TeamTrouble { id, .. } in rows.team_troubles()?.into_iter().filter(|of| of.why.is_some()) {
                team_take::show_again(rows, &id)?;
            }
            let has_any = !rows.team_ids("", 1)?.is_empty();
            match place(rows)? {
                Some(place) if place.repository == repository && place.server_id == server_id => {
                    Ok((place, has_any))
                }
                Some(place) if has_any && place.repository == repository => Err(refused(
                    "the memories of the team that are here are of another server".to_owned(),
                    "set team.url back; or take the repository out of team.repositories, `memo restart`, `memo team leave`, put it back, and `memo share --team`",
                )),
                Some(place) if has_any => {
                    let message = format!(
                        "the memories of the team that are here are of {}, and the remote is {repository} now",
                        place.repository
                    );
                    Err(refused(message, "`memo team leave` keeps them here alone; or set the remote back"))
                }
                _ => {
                    let client = rows.new_client()?;
                    let (repository, server_id) = (repository.clone(), server_id.clone());
                    let new = Place { repository, client, server_id, ..Place::default() };
                    Ok((set_place(rows, new)?, has_any))
                }
            }
        })
        .await
    }

    /// Returns whether a place is the one that is stored.
    pub(in crate::daemon) async fn is_place(&self, known: Place) -> RpcResult<bool> {
        let read = move |rows: &Rows<'_>| Ok(place(rows)?.as_ref() == Some(&known));
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    /// Stores versions that came from the team, and that they are known. `is_compared` says that they may be older than what is here.
    pub(in crate::daemon) async fn take_versions(
        &self,
        versions: Vec<Version>,
        step: Step,
        is_compared: bool,
    ) -> RpcResult<Place> {
        self.team_write(move |rows| {
            for version in &versions {
                match is_compared {
                    true => team_take::take_again(rows, version, step.from.has_forgotten)?,
                    false => team_take::take(rows, version)?,
                }
            }
            if !versions.is_empty() {
                rows.link_files()?;
            }
            step.take(rows)
        })
        .await
    }

    /// Stores what the server has of one memory, whose change was refused because somebody else had changed it.
    pub(in crate::daemon) async fn take_refused(
        &self,
        id: String,
        version: Option<Version>,
    ) -> RpcResult<()> {
        self.team_write(move |rows| match &version {
            Some(version) => team_take::take_refused(rows, version),
            None => send_anew(rows, &id),
        })
        .await
    }

    /// Queues all memories that a server has not, which had them.
    pub(in crate::daemon) async fn send_missing(&self, known: HashSet<String>) -> RpcResult<()> {
        self.team_write(move |rows| {
            let mut after = String::new();
            loop {
                let ids = rows.team_ids(&after, PAGE)?;
                let Some(last) = ids.last() else { return Ok(()) };
                after.clone_from(last);
                for id in ids.iter().filter(|id| !known.contains(*id)) {
                    // What is queued is sent in its order.
                    if rows.team_row(id)?.is_some_and(|known| known.base.is_none()) {
                        send_anew(rows, id)?;
                    }
                }
            }
        })
        .await
    }

    /// Returns what is to be sent next.
    pub(in crate::daemon) async fn outgoing(&self) -> RpcResult<Vec<Outgoing>> {
        let read = |rows: &Rows<'_>| Ok(rows.outgoing(MOST_SENT.0, MOST_SENT.1)?);
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    /// Records that the team has all changes up to `sent` of the new place.
    pub(in crate::daemon) async fn note_sent(&self, step: Step) -> RpcResult<Place> {
        self.team_write(move |rows| {
            rows.end_outgoing(step.to.sent)?;
            step.take(rows)
        })
        .await
    }

    /// Takes another name, because another database has this one: it is a copy.
    pub(in crate::daemon) async fn rename_client(&self, place: Place) -> RpcResult<Place> {
        self.team_write(move |rows| {
            let to = Place { client: rows.new_client()?, sent: 0, ..place.clone() };
            Step { from: place.clone(), to }.take(rows)
        })
        .await
    }

    /// Makes all memories of the team this user's alone; returns their number. Fails if they are of a repository that takes part.
    pub(in crate::daemon) async fn leave_team(&self, repository: Option<String>) -> RpcResult<u64> {
        self.team_write(move |rows| {
            let takes_part = place(rows)?.is_some_and(|place| Some(&place.repository) == repository.as_ref());
            if takes_part {
                let message = "the repository takes part in the team, and would take all again".to_owned();
                return Err(refused(message, "take it out of team.repositories, and `memo restart`, first"));
            }
            Ok(rows.leave_team_with_all()?)
        })
        .await
    }

    /// Stores how far the team's changes are known.
    pub(in crate::daemon) async fn move_place(&self, step: Step) -> RpcResult<Place> {
        self.team_write(move |rows| step.take(rows)).await
    }

    /// Counts the memories of the team; also returns when the exchange last was complete.
    pub(in crate::daemon) async fn team_counts(&self) -> RpcResult<(TeamCounts, Option<i64>)> {
        let read =
            |rows: &Rows<'_>| Ok((rows.team_counts()?, place(rows)?.and_then(|place| place.synced_ms)));
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    /// Returns memories in conflict with the team, and texts of it that show no memory, with the reason.
    pub(in crate::daemon) async fn team_troubles(&self) -> RpcResult<Vec<TeamTrouble>> {
        let read = |rows: &Rows<'_>| Ok(rows.team_troubles()?);
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    pub(super) async fn team_write<T: Send + 'static>(
        &self,
        run: impl Fn(&Rows<'_>) -> Done<T> + Send + 'static,
    ) -> RpcResult<T> {
        let write = move |store: &mut MemoryStore| -> Done<T> { store.write(now_ms(), run) };
        Ok(self.ask(write).await??)
    }
}

/// Queues what is known of a memory that the server has not, also that it is archived: others may not know that yet.
fn send_anew(rows: &Rows<'_>, id: &str) -> Done<()> {
    match rows.team_row(id)? {
        Some(known) => Ok(rows.requeue(id, None, &known.text)?),
        None => Ok(()),
    }
}

fn place(rows: &Rows<'_>) -> Done<Option<Place>> {
    Ok(rows.team_place()?.and_then(|json| serde_json::from_str(&json).ok()))
}

fn set_place(rows: &Rows<'_>, place: Place) -> Done<Place> {
    let json = serde_json::to_string(&place).expect("strings and numbers are JSON");
    rows.set_team_place(&json)?;
    Ok(place)
}
