//! Takes what other repositories of the team have, which is searched here too.

use std::collections::HashSet;
use std::sync::Arc;

use super::session::{PAGE, here};
use crate::daemon::memories::share_rules::is_listed;
use crate::daemon::memories::team_follow::FollowedPlace;
use crate::daemon::shared::Shared;
use crate::team::{Mark, Server, TeamError};

/// Other repositories, as one connection knows them.
pub(super) struct Others<'a> {
    shared: &'a Arc<Shared>,
    server: &'a Server,
    /// The repository of this daemon.
    own: &'a str,
    server_id: &'a str,
    /// Those that it listens to, of which the places that were stored are known to be of this server.
    heard: HashSet<String>,
}

impl<'a> Others<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, server: &'a Server, own: &'a str, server_id: &'a str) -> Self {
        Self { shared, server, own, server_id, heard: HashSet::new() }
    }

    /// Takes all that is new in the repositories that the settings name and the role may see, and forgets the others. Goes on after a
    /// failure in one of them, and returns the first.
    pub(super) async fn take_news(&mut self) -> Result<(), TeamError> {
        let list = &self.shared.config.team.follow;
        let mut visible = if list.is_empty() { Vec::new() } else { self.server.repositories().await? };
        visible.retain(|(name, _)| name != self.own && is_listed(list, name));
        keep_only(self.shared, |repository| visible.iter().any(|(name, _)| name == repository)).await?;
        let stored = self.shared.memories.followed().await.map_err(here)?;
        let mut outcome = Ok(());
        for (repository, last_seq) in visible {
            let stored = stored.iter().find(|of| of.repository == repository);
            let place = stored.map(|of| FollowedPlace::of(&of.place)).unwrap_or_default();
            let taken = self.take_news_of(&repository, place, last_seq).await;
            if self.server.is_closed() {
                return taken;
            }
            outcome = outcome.and(taken);
        }
        outcome
    }

    async fn take_news_of(
        &mut self,
        repository: &str,
        place: FollowedPlace,
        last_seq: i64,
    ) -> Result<(), TeamError> {
        if self.heard.contains(repository) {
            return match place.mark.seq == last_seq {
                true => Ok(()),
                false => self.take(repository, place).await,
            };
        }
        self.server.listen(repository).await?; // first: what comes after the question rings
        let is_known = place.server_id == self.server_id
            && self.server.mark(repository, place.mark.seq).await? == place.mark;
        match is_known {
            true => self.take(repository, place).await?,
            // It is the first time, or the server has forgotten some, or is another one.
            false => self.take_all(repository, place).await?,
        }
        self.heard.insert(repository.to_owned());
        Ok(())
    }

    /// Takes what is new.
    async fn take(&self, repository: &str, mut place: FollowedPlace) -> Result<(), TeamError> {
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
                place = to;
            }
            if !page.has_more {
                return Ok(());
            }
        }
    }

    /// Takes all from the beginning, and deletes what the server has not. Until that is done no place is stored, so that a kill has it
    /// done again.
    async fn take_all(&self, repository: &str, mut stored: FollowedPlace) -> Result<(), TeamError> {
        let memories = &self.shared.memories;
        let (mut ids, mut mark) = (HashSet::new(), Mark::default());
        loop {
            let page = self.server.pull(repository, &mark, ("", 0), PAGE).await?;
            let living = page.versions.iter().filter(|version| !version.text.is_empty());
            ids.extend(living.map(|version| version.id.clone()));
            let step = (stored, FollowedPlace::default());
            memories.take_copies(repository.to_owned(), page.versions, step).await.map_err(here)?;
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
    let config = &shared.config.team;
    keep_only(shared, |repository| !config.url.is_empty() && is_listed(&config.follow, repository)).await
}

/// Forgets the other repositories.
pub(super) async fn keep_only(shared: &Arc<Shared>, is_kept: impl Fn(&str) -> bool) -> Result<(), TeamError> {
    for of in shared.memories.followed().await.map_err(here)? {
        if !is_kept(&of.repository) {
            tracing::info!(repository = of.repository, "is not followed any more");
            shared.memories.unfollow(of.repository).await.map_err(here)?;
        }
    }
    Ok(())
}
