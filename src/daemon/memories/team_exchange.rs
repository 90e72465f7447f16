//! Gives the exchange with a team what is to be sent, and stores what comes.
//!
//! What came is committed together with how far the team's changes are known, so a kill loses neither.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::keeper::Memories;
use super::rules::Done;
use super::{team_take, team_write};
use crate::daemon::clock::now_ms;
use crate::daemon::error::RpcResult;
use crate::store::{MemoryStore, Outgoing, Rows, TeamCounts};
use crate::team::{Mark, Version};

/// Most changes that are sent at once, and their most bytes after the first.
const MOST_SENT: (usize, usize) = (500, 1 << 20);
/// Number of ids that are read at once.
const PAGE: usize = 1_000;

/// How far the team's changes are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::daemon) struct Place {
    /// Name of the repository for the team.
    pub(in crate::daemon) repository: String,
    /// Name of this database for the server.
    pub(in crate::daemon) client: String,
    /// The last version that is known.
    pub(in crate::daemon) mark: Mark,
    /// Number of the last change that was sent.
    #[serde(default)]
    pub(in crate::daemon) sent: i64,
    /// When the exchange last was complete, unix ms.
    pub(in crate::daemon) synced_ms: Option<i64>,
}

impl Memories {
    /// Returns how far the changes of a repository are known, and queues what came out of a backup.
    pub(in crate::daemon) async fn begin_exchange(&self, repository: &str) -> RpcResult<Place> {
        let repository = repository.to_owned();
        self.team_write(move |rows| {
            for id in rows.unequal_to_team()? {
                if let Some(record) = rows.get(&id)? {
                    team_write::put(rows, &record)?;
                }
            }
            let place = place(rows)?.filter(|place| place.repository == repository);
            match place {
                Some(place) => Ok(place),
                None => set_place(
                    rows,
                    Place { repository: repository.clone(), client: new_client(rows)?, ..Place::default() },
                ),
            }
        })
        .await
    }

    /// Stores versions that came from the team, and that they are known. `forgot` says that the server has forgotten some.
    pub(in crate::daemon) async fn take_versions(
        &self,
        versions: Vec<Version>,
        place: Place,
        forgot: bool,
    ) -> RpcResult<()> {
        self.team_write(move |rows| {
            for version in &versions {
                match forgot {
                    true => team_take::take_again(rows, version)?,
                    false => team_take::take(rows, version)?,
                }
            }
            if !versions.is_empty() {
                rows.link_files()?;
            }
            set_place(rows, place.clone()).map(drop)
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
            Some(version) => team_take::take(rows, version),
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
                    send_anew(rows, id)?;
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

    /// Records that the team has all changes up to `place.sent`.
    pub(in crate::daemon) async fn note_sent(&self, place: Place) -> RpcResult<()> {
        self.team_write(move |rows| {
            rows.end_outgoing(place.sent)?;
            set_place(rows, place.clone()).map(drop)
        })
        .await
    }

    /// Takes another name, because another database has this one: it is a copy.
    pub(in crate::daemon) async fn rename_client(&self, place: Place) -> RpcResult<Place> {
        self.team_write(move |rows| {
            set_place(rows, Place { client: new_client(rows)?, sent: 0, ..place.clone() })
        })
        .await
    }

    /// Stores how far the team's changes are known.
    pub(in crate::daemon) async fn set_place(&self, place: Place) -> RpcResult<()> {
        self.team_write(move |rows| set_place(rows, place.clone()).map(drop)).await
    }

    /// Counts the memories of the team; also returns when the exchange last was complete.
    pub(in crate::daemon) async fn team_counts(&self) -> RpcResult<(TeamCounts, Option<i64>)> {
        let read =
            |rows: &Rows<'_>| Ok((rows.team_counts()?, place(rows)?.and_then(|place| place.synced_ms)));
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    /// Returns memories in conflict with the team, and texts of it that show no memory, with the reason.
    pub(in crate::daemon) async fn team_troubles(&self) -> RpcResult<Vec<(String, Option<String>)>> {
        let read = |rows: &Rows<'_>| Ok(rows.team_troubles()?);
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    async fn team_write<T: Send + 'static>(
        &self,
        run: impl Fn(&Rows<'_>) -> Done<T> + Send + 'static,
    ) -> RpcResult<T> {
        let write = move |store: &mut MemoryStore| -> Done<T> { store.write(now_ms(), run) };
        Ok(self.ask(write).await??)
    }
}

fn send_anew(rows: &Rows<'_>, id: &str) -> Done<()> {
    let known = rows.team_row(id)?.filter(|known| !known.text.is_empty());
    match known {
        Some(known) => Ok(rows.requeue(id, None, &known.text)?),
        None => Ok(rows.end_changes(id)?), // it is archived, and the server has none
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

fn new_client(rows: &Rows<'_>) -> Done<String> {
    Ok(rows.random()?.iter().map(|byte| format!("{byte:02x}")).collect())
}
