//! Stores what comes of other repositories of the team.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::keeper::Memories;
use super::rules::{Done, refused};
use super::team_take;
use crate::daemon::clock::now_ms;
use crate::daemon::error::RpcResult;
use crate::store::{Followed, MemoryStore, Rows};
use crate::team::{Mark, Version};

/// How far the changes of another repository are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::daemon) struct FollowedPlace {
    /// The last version that is known.
    pub(in crate::daemon) mark: Mark,
    /// Which server that is.
    pub(in crate::daemon) server_id: String,
}

impl FollowedPlace {
    /// Returns what was stored.
    pub(in crate::daemon) fn of(followed: &Followed) -> Self {
        serde_json::from_str(&followed.place).unwrap_or_default()
    }
}

impl Memories {
    /// Returns the repositories that are followed.
    pub(in crate::daemon) async fn followed(&self) -> RpcResult<Vec<Followed>> {
        let read = |rows: &Rows<'_>| Ok(rows.followed()?);
        let read = move |store: &mut MemoryStore| -> Done<_> { store.read(now_ms(), read) };
        Ok(self.ask(read).await??)
    }

    /// Stores versions of another repository, and that they are known; fails if memories were replaced meanwhile.
    pub(in crate::daemon) async fn take_followed(
        &self,
        repository: String,
        versions: Vec<Version>,
        (from, to): (FollowedPlace, FollowedPlace),
    ) -> RpcResult<()> {
        self.team_write(move |rows| {
            if place(rows, &repository)? != from {
                let message = "memories were replaced meanwhile".to_owned();
                return Err(refused(message, "the exchange begins anew"));
            }
            for version in &versions {
                team_take::take_of_other(rows, &repository, version)?;
            }
            if !versions.is_empty() {
                rows.link_files()?;
            }
            let place = serde_json::to_string(&to).expect("strings and numbers are JSON");
            Ok(rows.set_followed(&repository, &place)?)
        })
        .await
    }

    /// Deletes memories of another repository that the server has not.
    pub(in crate::daemon) async fn keep_followed(
        &self,
        repository: String,
        known: HashSet<String>,
    ) -> RpcResult<()> {
        self.team_write(move |rows| {
            for id in rows.followed_ids(&repository)?.iter().filter(|id| !known.contains(*id)) {
                rows.drop_followed(&repository, id)?;
            }
            Ok(())
        })
        .await
    }

    /// Deletes all memories of another repository.
    pub(in crate::daemon) async fn unfollow(&self, repository: String) -> RpcResult<()> {
        self.team_write(move |rows| Ok(rows.unfollow(&repository)?)).await
    }
}

fn place(rows: &Rows<'_>, repository: &str) -> Done<FollowedPlace> {
    let followed = rows.followed()?.into_iter().find(|of| of.repository == repository);
    Ok(followed.as_ref().map(FollowedPlace::of).unwrap_or_default())
}
