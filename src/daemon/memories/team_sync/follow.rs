//! Takes what other repositories of the team have, which is searched here too.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use memod_memory_db::Followed;
use memod_team::{Mark, Server, TeamError};

use super::session::{PAGE, here};
use crate::daemon::memories::share_rules::is_listed;
use crate::daemon::memories::team_follow::FollowedPlace;
use crate::daemon::shared::Shared;

/// Other repositories, as one connection knows them.
pub(super) struct Others<'a> {
    shared: &'a Arc<Shared>,
    server: &'a Server,
    /// The repository of this daemon.
    own: &'a str,
    server_id: &'a str,
    /// Those that it listens to.
    heard: HashSet<String>,
    /// Those whose places are known to be of this server.
    checked: HashSet<String>,
    /// Number of pages that were stored.
    pub(super) n_taken: u64,
}

impl<'a> Others<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, server: &'a Server, own: &'a str, server_id: &'a str) -> Self {
        Self { shared, server, own, server_id, heard: HashSet::new(), checked: HashSet::new(), n_taken: 0 }
    }

    /// Takes all that is new in the repositories that the settings name and the role may see, and forgets the others. Goes on after a
    /// failure in one of them, and returns the first.
    pub(super) async fn take_news(&mut self) -> Result<(), TeamError> {
        let visible = self.visible().await?;
        let kept = keep_only(self.shared, |repository| visible.contains_key(repository)).await?;
        let mut places: HashMap<String, FollowedPlace> =
            kept.into_iter().map(|of| (of.repository, FollowedPlace::of(&of.place))).collect();
        let unchecked = places.iter().filter(|(name, _)| !self.checked.contains(*name));
        let asked: Vec<_> = unchecked.map(|(name, place)| (name.as_str(), place.mark.seq)).collect();
        let marks = self.server.marks(&asked).await?;
        let mut outcome = Ok(());
        for (repository, last_seq) in visible {
            let place = places.remove(&repository).unwrap_or_default();
            let is_known = self.checked.contains(&repository)
                || place.server_id == self.server_id && marks.get(&repository) == Some(&place.mark);
            let taken = match is_known {
                true if place.mark.seq == last_seq => Ok(()),
                true => self.take(&repository, place).await,
                // It is the first time, or the server has forgotten some, or is another one.
                false => self.take_all(&repository, place).await,
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

    /// Returns the repositories that are followed, each with the number of its last version, and listens to them.
    async fn visible(&mut self) -> Result<BTreeMap<String, i64>, TeamError> {
        let list = &self.shared.engine.config.team.follow;
        loop {
            let visible = if list.is_empty() { Vec::new() } else { self.server.repositories().await? };
            let visible: BTreeMap<String, i64> =
                visible.into_iter().filter(|(name, _)| name != self.own && is_listed(list, name)).collect();
            let new: Vec<&str> =
                visible.keys().map(String::as_str).filter(|name| !self.heard.contains(*name)).collect();
            if new.is_empty() {
                return Ok(visible);
            }
            self.server.listen(&new).await?;
            self.heard.extend(new.into_iter().map(str::to_owned)); // and look again: what comes from now on is told
        }
    }

    /// Takes what is new.
    async fn take(&mut self, repository: &str, mut place: FollowedPlace) -> Result<(), TeamError> {
        loop {
            let page = self.server.pull(repository, &place.mark, ("", 0), PAGE).await?;
            if page.has_forgotten {
                return self.take_all(repository, place).await;
            }
            if page.up_to != place.mark {
                let to = FollowedPlace { mark: page.up_to, ..place.clone() };
                let step = (place, to.clone());
                let taken = self.shared.memories.take_copies(repository.to_owned(), page.versions, step);
                taken.await.map_err(here)?;
                self.n_taken += 1;
                place = to;
            }
            if !page.has_more {
                return Ok(());
            }
        }
    }

    /// Takes all from the beginning, and deletes what the server has not. Until that is done no place is stored, so that a kill has it
    /// done again.
    async fn take_all(&mut self, repository: &str, mut stored: FollowedPlace) -> Result<(), TeamError> {
        let memories = &self.shared.memories;
        let (mut ids, mut mark) = (HashSet::new(), Mark::default());
        loop {
            let page = self.server.pull(repository, &mark, ("", 0), PAGE).await?;
            let living = page.versions.iter().filter(|version| !version.text.is_empty());
            ids.extend(living.map(|version| version.id.clone()));
            let step = (stored, FollowedPlace::default());
            memories.take_copies(repository.to_owned(), page.versions, step).await.map_err(here)?;
            self.n_taken += 1;
            (stored, mark) = (FollowedPlace::default(), page.up_to);
            if !page.has_more {
                break;
            }
        }
        let place = FollowedPlace { mark, server_id: self.server_id.to_owned() };
        memories.keep_copies(repository.to_owned(), ids, (stored, place)).await.map_err(here)
    }
}

/// Forgets the repositories that the settings do not name, which needs no server.
pub(super) async fn drop_unlisted(shared: &Arc<Shared>) -> Result<(), TeamError> {
    let config = &shared.engine.config.team;
    keep_only(shared, |repository| !config.url.is_empty() && is_listed(&config.follow, repository))
        .await
        .map(drop)
}

/// Forgets the other repositories; returns what is known of those that are kept.
pub(super) async fn keep_only(
    shared: &Arc<Shared>,
    is_kept: impl Fn(&str) -> bool,
) -> Result<Vec<Followed>, TeamError> {
    let followed = shared.memories.followed().await.map_err(here)?;
    let (kept, gone): (Vec<_>, Vec<_>) = followed.into_iter().partition(|of| is_kept(&of.repository));
    for of in gone {
        tracing::info!(repository = of.repository, "is not followed any more");
        shared.memories.unfollow(of.repository).await.map_err(here)?;
    }
    Ok(kept)
}
