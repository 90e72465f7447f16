//! Reads the changes to send to a team from the database, and stores versions that arrive from the team.
//!
//! Received versions are committed together with the position up to which the team's changes are known, so a kill loses neither.

use std::collections::HashSet;

use memod_base::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_memory_db::{JobError, MemoryRows, OutgoingChange, TeamCounts, TeamTrouble};
use memod_team::{MemoryVersion, VersionMark};
use serde::{Deserialize, Serialize};

use super::queue_changes;
use super::take_versions;
use crate::daemon::memories::rules::memory_rules::{JobResult, refused_error};
use crate::daemon::shared::memory_thread::MemoryThread;

/// Most changes that are sent in one request.
const MOST_SENT: usize = 500;
/// Most bytes that are sent in one request. The first change may exceed the limit.
const MOST_SENT_BYTES: usize = 1 << 20;
/// Number of ids that are read at once.
const IDS_PER_PAGE: usize = 1_000;

/// The position up to which the changes of the team are known here, and our changes were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::daemon) struct ExchangeCursor {
    /// Name of the repository for the team.
    pub(in crate::daemon) repository: String,
    /// Name of this database for the server.
    pub(in crate::daemon) client: String,
    /// The last version of the team that is known here.
    pub(in crate::daemon) mark: VersionMark,
    /// Number of the last change that was sent.
    pub(in crate::daemon) sent: i64,
    /// Identity of the server.
    pub(in crate::daemon) server_id: String,
    /// When an exchange was last complete, unix ms.
    pub(in crate::daemon) synced_ms: Option<i64>,
    /// Whether the server has forgotten changes that are known here, and the comparison with the server is not complete.
    pub(in crate::daemon) server_has_forgotten: bool,
}

/// A move from one position in the exchange to a later one.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct ExchangeCursorStep {
    pub(in crate::daemon) from: ExchangeCursor,
    pub(in crate::daemon) to: ExchangeCursor,
}

impl ExchangeCursorStep {
    /// Stores the new position. Fails if the exchange must start over, because memories were reset or restored from a backup.
    fn store_new_cursor(&self, rows: &MemoryRows<'_>) -> JobResult<ExchangeCursor> {
        if read_cursor(rows)?.as_ref() != Some(&self.from) {
            return Err(refused_error(
                "memories were replaced during the exchange".to_owned(),
                "the exchange starts again from the beginning",
            ));
        }
        store_cursor(rows, self.to.clone())
    }
}

impl MemoryThread {
    /// Returns the stored or a new position for a repository, and whether there are memories of the team here. Queues memories that
    /// were restored from a backup. Fails if the memories of the team are those of another server or repository.
    pub(in crate::daemon) async fn prepare_exchange(
        &self,
        repository: &str,
        server_id: &str,
    ) -> RpcResult<(ExchangeCursor, bool)> {
        let (repository, server_id) = (repository.to_owned(), server_id.to_owned());
        self.team_write(move |rows| {
            for id in rows.team().list_unequal_to_team()? {
                let Some(record) = rows.records().find_memory(&id)? else { continue };
                match queue_changes::queue_record(rows, &record) {
                    Err(JobError::Refused(why)) => {
                        tracing::warn!(why = why.message, "a memory that was restored from a backup is not sent to the team");
                    }
                    queued => queued?,
                }
            }
            for id in rows.team().list_hidden_sides()? {
                take_versions::store_team_side(rows, &id)?;
            }
            // Texts that could not be applied are tried again, because the reason may no longer exist.
            for TeamTrouble { id, .. } in rows.team().list_team_troubles()?.into_iter().filter(|trouble| trouble.why.is_some()) {
                take_versions::retry_apply_text(rows, &id)?;
            }
            let has_any = !rows.team().list_team_ids("", 1)?.is_empty();
            match read_cursor(rows)? {
                Some(place) if place.repository == repository && place.server_id == server_id => {
                    Ok((place, has_any))
                }
                Some(place) if has_any && place.repository == repository => Err(refused_error(
                    "the memories of the team that are here come from another server".to_owned(),
                    "set team.url back; or take the repository out of team.repositories, `memo daemon restart`, `memo share team leave`, put it back, and `memo share --team`",
                )),
                Some(place) if has_any => {
                    let message = format!(
                        "the memories of the team that are here belong to {}, but the remote is {repository} now",
                        place.repository
                    );
                    Err(refused_error(message, "make the memories private with `memo share team leave`, or set the remote back"))
                }
                _ => {
                    let client = rows.outbox().new_client_name()?;
                    let (repository, server_id) = (repository.clone(), server_id.clone());
                    let new = ExchangeCursor { repository, client, server_id, ..ExchangeCursor::default() };
                    Ok((store_cursor(rows, new)?, has_any))
                }
            }
        })
        .await
    }

    /// Returns whether a position equals the stored one.
    pub(in crate::daemon) async fn is_stored_cursor(&self, known: ExchangeCursor) -> RpcResult<bool> {
        self.team_read(move |rows| Ok(read_cursor(rows)?.as_ref() == Some(&known))).await
    }

    /// Applies versions of the team, and stores the position after them. If `is_compared`, versions may be older than the memories
    /// here. Returns the new position.
    pub(in crate::daemon) async fn apply_versions(
        &self,
        versions: Vec<MemoryVersion>,
        step: ExchangeCursorStep,
        is_compared: bool,
    ) -> RpcResult<ExchangeCursor> {
        self.team_write(move |rows| {
            for version in &versions {
                match is_compared {
                    true => {
                        take_versions::apply_compared_version(rows, version, step.from.server_has_forgotten)?;
                    }
                    false => take_versions::apply_version(rows, version)?,
                }
            }
            if !versions.is_empty() {
                rows.file_links().update_file_links()?;
            }
            step.store_new_cursor(rows)
        })
        .await
    }

    /// Applies the server's version of a memory whose change was refused because another member had changed the memory. Without a
    /// version, queues the memory again.
    pub(in crate::daemon) async fn apply_refusing_version(
        &self,
        id: String,
        version: Option<MemoryVersion>,
    ) -> RpcResult<()> {
        self.team_write(move |rows| match &version {
            Some(version) => take_versions::apply_refusing_version(rows, version),
            None => queue_again(rows, &id),
        })
        .await
    }

    /// Queues all memories of the team whose ids are not in `known`, because the server has lost them.
    pub(in crate::daemon) async fn queue_missing_memories(&self, known: HashSet<String>) -> RpcResult<()> {
        self.team_write(move |rows| {
            let mut after = String::new();
            loop {
                let ids = rows.team().list_team_ids(&after, IDS_PER_PAGE)?;
                let Some(last) = ids.last() else { return Ok(()) };
                after.clone_from(last);
                for id in ids.iter().filter(|id| !known.contains(*id)) {
                    // Memories with unsent changes are in the queue already.
                    if rows.team_versions().find_team_row(id)?.is_some_and(|known| known.base.is_none()) {
                        queue_again(rows, id)?;
                    }
                }
            }
        })
        .await
    }

    /// Returns the queued changes to send next, within the limits of one request.
    pub(in crate::daemon) async fn read_outgoing(&self) -> RpcResult<Vec<OutgoingChange>> {
        self.team_read(|rows| Ok(rows.outbox().list_outgoing(MOST_SENT, MOST_SENT_BYTES)?)).await
    }

    /// Records that the team has all changes up to `sent` of the new position. Returns that position.
    pub(in crate::daemon) async fn record_sent_changes(
        &self,
        step: ExchangeCursorStep,
    ) -> RpcResult<ExchangeCursor> {
        self.team_write(move |rows| {
            rows.outbox().mark_sent_up_to(step.to.sent)?;
            step.store_new_cursor(rows)
        })
        .await
    }

    /// Gives this database another name for the server, because a copy of the database uses the present name. Returns the new
    /// position.
    pub(in crate::daemon) async fn rename_client(&self, place: ExchangeCursor) -> RpcResult<ExchangeCursor> {
        self.team_write(move |rows| {
            let to = ExchangeCursor { client: rows.outbox().new_client_name()?, sent: 0, ..place.clone() };
            ExchangeCursorStep { from: place.clone(), to }.store_new_cursor(rows)
        })
        .await
    }

    /// Makes all memories of the team private, and returns their number. Fails if they are those of `repository`, which takes part.
    pub(in crate::daemon) async fn leave_team(&self, repository: Option<String>) -> RpcResult<u64> {
        self.team_write(move |rows| {
            let takes_part =
                read_cursor(rows)?.is_some_and(|place| Some(&place.repository) == repository.as_ref());
            if takes_part {
                let message =
                    "the repository takes part in the team, so an exchange would bring all memories back";
                return Err(refused_error(
                    message.to_owned(),
                    "first take the repository out of team.repositories, and run `memo daemon restart`",
                ));
            }
            Ok(rows.team().make_all_team_memories_private()?)
        })
        .await
    }

    /// Stores the position after a step, and returns it.
    pub(in crate::daemon) async fn store_cursor_step(
        &self,
        step: ExchangeCursorStep,
    ) -> RpcResult<ExchangeCursor> {
        self.team_write(move |rows| step.store_new_cursor(rows)).await
    }

    /// Counts the memories of the team. Also returns when an exchange was last complete, unix ms.
    pub(in crate::daemon) async fn count_team_memories(&self) -> RpcResult<(TeamCounts, Option<i64>)> {
        self.team_read(|rows| {
            let counts = rows.team().count_team_memories()?;
            Ok((counts, read_cursor(rows)?.and_then(|place| place.synced_ms)))
        })
        .await
    }

    /// Returns the memories in conflict with the team, and the texts of the team that could not be applied, with the reason.
    pub(in crate::daemon) async fn list_team_troubles(&self) -> RpcResult<Vec<TeamTrouble>> {
        self.team_read(|rows| Ok(rows.team().list_team_troubles()?)).await
    }

    /// Runs a transaction of the exchange on the thread that owns the memories, and returns its result.
    pub(super) async fn team_write<T: Send + 'static>(
        &self,
        run: impl Fn(&MemoryRows<'_>) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<T> {
        Ok(self.run_job(move |store| store.write(now_ms(), run)).await??)
    }

    /// Runs a read of the exchange on the thread that owns the memories, and returns its result.
    pub(super) async fn team_read<T: Send + 'static>(
        &self,
        run: impl Fn(&MemoryRows<'_>) -> JobResult<T> + Send + 'static,
    ) -> RpcResult<T> {
        Ok(self.run_job(move |store| store.read(now_ms(), run)).await??)
    }
}

/// Queues a memory that the server lacks, even if the memory is archived, because other members may not know that yet.
fn queue_again(rows: &MemoryRows<'_>, id: &str) -> JobResult<()> {
    match rows.team_versions().find_team_row(id)? {
        Some(known) => Ok(rows.outbox().requeue_change(id, None, &known.text)?),
        None => Ok(()),
    }
}

fn read_cursor(rows: &MemoryRows<'_>) -> JobResult<Option<ExchangeCursor>> {
    Ok(rows.outbox().team_cursor()?.and_then(|json| serde_json::from_str(&json).ok()))
}

fn store_cursor(rows: &MemoryRows<'_>, place: ExchangeCursor) -> JobResult<ExchangeCursor> {
    let json = serde_json::to_string(&place).expect("strings and numbers are JSON");
    rows.outbox().set_team_cursor(&json)?;
    Ok(place)
}
