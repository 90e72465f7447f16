//! Stores copies of what other repositories of the team have.

use std::collections::HashSet;

use memod_engine::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_memory_db::{Followed, MemoryStore, Rows};
use memod_team::{Mark, Version};
use serde::{Deserialize, Serialize};

use super::keeper::Memories;
use super::rules::{Done, refused};
use super::team_take;

/// How far the changes of another repository are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::daemon) struct FollowedPlace {
    /// The last version that is known.
    pub(in crate::daemon) mark: Mark,
    /// Which server that is; empty until all was taken once.
    pub(in crate::daemon) server_id: String,
}

impl FollowedPlace {
    /// Returns what was stored.
    pub(in crate::daemon) fn of(place: &str) -> Self {
        serde_json::from_str(place).unwrap_or_default()
    }
}

impl Memories {
    /// Returns the repositories that are followed.
    pub(in crate::daemon) async fn followed(&self) -> RpcResult<Vec<Followed>> {
        let read = |rows: &Rows<'_>| Ok(rows.followed()?);
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    /// Stores versions of another repository, and how far its changes are known then. Fails if that is not `from` any more: memories
    /// were replaced meanwhile.
    pub(in crate::daemon) async fn take_copies(
        &self,
        repository: String,
        versions: Vec<Version>,
        (from, to): (FollowedPlace, FollowedPlace),
    ) -> RpcResult<()> {
        self.team_write(move |rows| {
            check_place(rows, &repository, &from)?;
            for version in &versions {
                team_take::take_copy(rows, &repository, version)?;
            }
            set_place(rows, &repository, &to)
        })
        .await
    }

    /// Deletes copies of what another repository has not any more, and stores how far its changes are known.
    pub(in crate::daemon) async fn keep_copies(
        &self,
        repository: String,
        ids: HashSet<String>,
        (from, to): (FollowedPlace, FollowedPlace),
    ) -> RpcResult<()> {
        let ids = Vec::from_iter(ids);
        self.team_write(move |rows| {
            check_place(rows, &repository, &from)?;
            rows.keep_copies(&repository, &ids)?;
            set_place(rows, &repository, &to)
        })
        .await
    }

    /// Deletes all copies of what another repository has.
    pub(in crate::daemon) async fn unfollow(&self, repository: String) -> RpcResult<()> {
        self.team_write(move |rows| Ok(rows.unfollow(&repository)?)).await
    }
}

fn check_place(rows: &Rows<'_>, repository: &str, from: &FollowedPlace) -> Done<()> {
    let place = rows.followed_place(repository)?.as_deref().map(FollowedPlace::of).unwrap_or_default();
    match place == *from {
        true => Ok(()),
        false => Err(refused("memories were replaced meanwhile".to_owned(), "the exchange begins anew")),
    }
}

fn set_place(rows: &Rows<'_>, repository: &str, place: &FollowedPlace) -> Done<()> {
    let json = serde_json::to_string(place).expect("strings and numbers are JSON");
    Ok(rows.set_followed_place(repository, &json)?)
}
