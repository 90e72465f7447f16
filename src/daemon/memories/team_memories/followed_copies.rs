//! Stores copies of the memories of other repositories of the team.

use std::collections::HashSet;

use memod_engine::errors::RpcResult;
use memod_memory_db::{FollowedRow, MemoryRows};
use memod_team::{MemoryVersion, VersionMark};
use serde::{Deserialize, Serialize};

use super::take_versions;
use crate::daemon::memories::rules::memory_rules::{JobResult, refused_error};
use crate::daemon::shared::memory_thread::MemoryThread;

/// The position up to which the changes of another repository are known here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::daemon) struct FollowedCursor {
    /// The last version of that repository that is known here.
    pub(in crate::daemon) mark: VersionMark,
    /// Identity of the server; empty until all memories of the repository were copied once.
    pub(in crate::daemon) server_id: String,
}

/// A move from one position in the changes of another repository to a later one.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct FollowedCursorStep {
    pub(in crate::daemon) from: FollowedCursor,
    pub(in crate::daemon) to: FollowedCursor,
}

impl FollowedCursor {
    /// Parses a stored position. An invalid text means the beginning.
    pub(in crate::daemon) fn from_json(place: &str) -> Self {
        serde_json::from_str(place).unwrap_or_default()
    }
}

impl MemoryThread {
    /// Returns the repositories whose memories are copied here.
    pub(in crate::daemon) async fn list_followed(&self) -> RpcResult<Vec<FollowedRow>> {
        self.team_read(|rows| Ok(rows.followed().list_followed()?)).await
    }

    /// Stores copies of versions of another repository, and the position after them. Fails if the stored position is not where the
    /// step begins, because memories were replaced during the exchange.
    pub(in crate::daemon) async fn store_copies(
        &self,
        repository: String,
        versions: Vec<MemoryVersion>,
        step: FollowedCursorStep,
    ) -> RpcResult<()> {
        self.team_write(move |rows| {
            check_cursor(rows, &repository, &step.from)?;
            for version in &versions {
                take_versions::apply_copy(rows, &repository, version)?;
            }
            store_cursor(rows, &repository, &step.to)
        })
        .await
    }

    /// Deletes the copies from another repository whose ids are not in `ids`, and stores the position after the step.
    pub(in crate::daemon) async fn delete_other_copies(
        &self,
        repository: String,
        ids: HashSet<String>,
        step: FollowedCursorStep,
    ) -> RpcResult<()> {
        let ids = Vec::from_iter(ids);
        self.team_write(move |rows| {
            check_cursor(rows, &repository, &step.from)?;
            rows.followed().delete_other_copies(&repository, &ids)?;
            store_cursor(rows, &repository, &step.to)
        })
        .await
    }

    /// Deletes all copies from another repository.
    pub(in crate::daemon) async fn delete_copies_of_repository(&self, repository: String) -> RpcResult<()> {
        self.team_write(move |rows| Ok(rows.followed().unfollow_repository(&repository)?)).await
    }
}

fn check_cursor(rows: &MemoryRows<'_>, repository: &str, from: &FollowedCursor) -> JobResult<()> {
    let place = rows
        .followed()
        .followed_cursor(repository)?
        .as_deref()
        .map(FollowedCursor::from_json)
        .unwrap_or_default();
    match place == *from {
        true => Ok(()),
        false => Err(refused_error(
            "memories were replaced during the exchange".to_owned(),
            "the exchange starts again from the beginning",
        )),
    }
}

fn store_cursor(rows: &MemoryRows<'_>, repository: &str, place: &FollowedCursor) -> JobResult<()> {
    let json = serde_json::to_string(place).expect("strings and numbers are JSON");
    Ok(rows.followed().set_followed_cursor(repository, &json)?)
}
