//! Copies the memories of other repositories of the team, so that searches here find them too.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use memod_memory_db::FollowedRow;
use memod_team::{TeamError, TeamServer, VersionMark};

use crate::daemon::memories::rules::share_rules::is_listed;
use crate::daemon::memories::team_memories::followed_copies::{FollowedCursor, FollowedCursorStep};
use crate::daemon::memories::team_memories::team_sync::exchange_limits::VERSIONS_PER_PAGE;
use crate::daemon::memories::team_memories::team_sync::exchange_limits::local_error;
use crate::daemon::shared::Shared;

/// The other repositories that one connection follows.
pub(super) struct FollowedRepositories<'a> {
    shared: &'a Arc<Shared>,
    server: &'a TeamServer,
    /// Name of the repository of this daemon, for the team.
    own: &'a str,
    server_id: &'a str,
    /// Repositories to whose notifications the connection listens.
    listened_to: HashSet<String>,
    /// Repositories whose stored positions were checked to be of this server.
    checked: HashSet<String>,
    /// Number of pages of versions that were stored.
    pub(super) n_stored_pages: u64,
}

impl<'a> FollowedRepositories<'a> {
    pub(super) fn new(
        shared: &'a Arc<Shared>,
        server: &'a TeamServer,
        own: &'a str,
        server_id: &'a str,
    ) -> Self {
        Self {
            shared,
            server,
            own,
            server_id,
            listened_to: HashSet::new(),
            checked: HashSet::new(),
            n_stored_pages: 0,
        }
    }

    /// Copies all new versions of the repositories that the settings name and the role may see, and deletes the copies from other
    /// repositories. Continues after a failure in one repository, and returns the first failure.
    pub(super) async fn copy_new_versions(&mut self) -> Result<(), TeamError> {
        let visible = self.listen_to_visible_repositories().await?;
        let followed = unfollow_except(self.shared, |repository| visible.contains_key(repository)).await?;
        let mut places: HashMap<String, FollowedCursor> = followed
            .into_iter()
            .map(|repository| (repository.repository, FollowedCursor::from_json(&repository.cursor)))
            .collect();
        let unchecked = places.iter().filter(|(name, _)| !self.checked.contains(*name));
        let asked: Vec<_> = unchecked.map(|(name, place)| (name.as_str(), place.mark.seq)).collect();
        let marks = self.server.read_marks(&asked).await?;
        let mut outcome = Ok(());
        for (repository, last_seq) in visible {
            let place = places.remove(&repository).unwrap_or_default();
            let is_known = self.checked.contains(&repository)
                || place.server_id == self.server_id && marks.get(&repository) == Some(&place.mark);
            let taken = match is_known {
                true if place.mark.seq == last_seq => Ok(()),
                true => self.copy_new_versions_of(&repository, place).await,
                // Nothing was copied yet, or the server was replaced or has forgotten changes.
                false => self.copy_all_versions_of(&repository, place).await,
            };
            if self.server.is_closed() {
                return taken;
            }
            if taken.is_ok() {
                self.checked.insert(repository);
            }
            outcome = outcome.and(taken);
        }
        outcome
    }

    /// Returns the repositories to follow, each with the number of its last version, and listens to their notifications.
    async fn listen_to_visible_repositories(&mut self) -> Result<BTreeMap<String, i64>, TeamError> {
        let list = &self.shared.engine.config.team.follow;
        loop {
            let visible = if list.is_empty() { Vec::new() } else { self.server.list_repositories().await? };
            let visible: BTreeMap<String, i64> =
                visible.into_iter().filter(|(name, _)| name != self.own && is_listed(list, name)).collect();
            let new: Vec<&str> =
                visible.keys().map(String::as_str).filter(|name| !self.listened_to.contains(*name)).collect();
            if new.is_empty() {
                return Ok(visible);
            }
            self.server.listen_to(&new).await?;
            self.listened_to.extend(new.into_iter().map(str::to_owned)); // and list again: only changes from now on are notified
        }
    }

    /// Copies the new versions of a repository.
    async fn copy_new_versions_of(
        &mut self,
        repository: &str,
        mut place: FollowedCursor,
    ) -> Result<(), TeamError> {
        loop {
            let page = self.server.pull_versions(repository, &place.mark, ("", 0), VERSIONS_PER_PAGE).await?;
            if page.lacks_start {
                return self.copy_all_versions_of(repository, place).await;
            }
            if page.up_to != place.mark {
                let to = FollowedCursor { mark: page.up_to, ..place.clone() };
                let step = FollowedCursorStep { from: place, to: to.clone() };
                let taken = self.shared.memories.store_copies(repository.to_owned(), page.versions, step);
                taken.await.map_err(local_error)?;
                self.n_stored_pages += 1;
                place = to;
            }
            if !page.has_more {
                return Ok(());
            }
        }
    }

    /// Copies all versions of a repository from the beginning, and deletes copies that the server does not have. No position is
    /// stored before the end, so that a killed copy starts over.
    async fn copy_all_versions_of(
        &mut self,
        repository: &str,
        mut stored: FollowedCursor,
    ) -> Result<(), TeamError> {
        let memories = &self.shared.memories;
        let (mut ids, mut mark) = (HashSet::new(), VersionMark::default());
        loop {
            let page = self.server.pull_versions(repository, &mark, ("", 0), VERSIONS_PER_PAGE).await?;
            let living = page.versions.iter().filter(|version| !version.text.is_empty());
            ids.extend(living.map(|version| version.id.clone()));
            let step = FollowedCursorStep { from: stored, to: FollowedCursor::default() };
            memories.store_copies(repository.to_owned(), page.versions, step).await.map_err(local_error)?;
            self.n_stored_pages += 1;
            (stored, mark) = (FollowedCursor::default(), page.up_to);
            if !page.has_more {
                break;
            }
        }
        let place = FollowedCursor { mark, server_id: self.server_id.to_owned() };
        memories
            .delete_other_copies(repository.to_owned(), ids, FollowedCursorStep { from: stored, to: place })
            .await
            .map_err(local_error)
    }
}

/// Deletes the copies from repositories that the settings do not name. Needs no server.
pub(super) async fn unfollow_unlisted(shared: &Arc<Shared>) -> Result<(), TeamError> {
    let config = &shared.engine.config.team;
    unfollow_except(shared, |repository| !config.url.is_empty() && is_listed(&config.follow, repository))
        .await
        .map(drop)
}

/// Deletes the copies from all followed repositories for which `is_kept` returns false, and returns the others.
pub(super) async fn unfollow_except(
    shared: &Arc<Shared>,
    is_kept: impl Fn(&str) -> bool,
) -> Result<Vec<FollowedRow>, TeamError> {
    let followed = shared.memories.list_followed().await.map_err(local_error)?;
    let (remaining, gone): (Vec<_>, Vec<_>) =
        followed.into_iter().partition(|repository| is_kept(&repository.repository));
    for repository in gone {
        tracing::info!(repository = repository.repository, "is not followed any more");
        shared.memories.delete_copies_of_repository(repository.repository).await.map_err(local_error)?;
    }
    Ok(remaining)
}
