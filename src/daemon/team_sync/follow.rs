//! Takes the memories of other repositories of the team, which are searched here too.

use std::collections::HashSet;
use std::sync::Arc;

use super::session::{PAGE, here};
use crate::daemon::memories::share_rules::is_listed;
use crate::daemon::memories::team_exchange::Place;
use crate::daemon::memories::team_follow::FollowedPlace;
use crate::daemon::shared::Shared;
use crate::team::{Mark, Server, TeamError};

/// What a connection knows of other repositories.
#[derive(Default)]
pub(super) struct Followed {
    /// Those that it listens to.
    heard: HashSet<String>,
    /// Whether the places that were stored are those of this server.
    is_checked: bool,
}

impl Followed {
    /// Takes all that is new in the repositories that the settings name and the role may see, and forgets those of others.
    pub(super) async fn take_news(
        &mut self,
        shared: &Arc<Shared>,
        server: &Server,
        own: &Place,
    ) -> Result<(), TeamError> {
        let stored = shared.memories.followed().await.map_err(here)?;
        let list = &shared.config.team.follow;
        if stored.is_empty() && list.is_empty() {
            return Ok(());
        }
        let mut visible = server.repositories().await?;
        visible.retain(|(name, _)| *name != own.repository && is_listed(list, name));
        for gone in stored.iter().filter(|of| visible.iter().all(|(name, _)| *name != of.repository)) {
            tracing::info!(repository = gone.repository, "is not followed any more");
            shared.memories.unfollow(gone.repository.clone()).await.map_err(here)?;
        }
        for (repository, last_seq) in visible {
            if self.heard.insert(repository.clone()) {
                server.listen(&repository).await?; // what comes from here on rings again
            }
            let known = stored.iter().find(|of| of.repository == repository).map(FollowedPlace::of);
            let is_new = known.is_none();
            let mut place = known.unwrap_or_default();
            let is_known = place.server_id == own.server_id
                && (self.is_checked || server.mark(&repository, place.mark.seq).await? == place.mark);
            match is_known && !is_new {
                true if place.mark.seq == last_seq => {}
                true => drop(take(shared, server, &repository, &mut place).await?),
                // The server has forgotten some, is another one, or this is the first time.
                false => take_all(shared, server, &repository, place, own).await?,
            }
        }
        self.is_checked = true;
        Ok(())
    }
}

/// Takes all from the beginning, and deletes what the server has not.
async fn take_all(
    shared: &Arc<Shared>,
    server: &Server,
    repository: &str,
    place: FollowedPlace,
    own: &Place,
) -> Result<(), TeamError> {
    let mut start = FollowedPlace { mark: Mark::default(), server_id: own.server_id.clone() };
    let step = (place, start.clone());
    shared.memories.take_followed(repository.to_owned(), Vec::new(), step).await.map_err(here)?;
    let known = take(shared, server, repository, &mut start).await?;
    shared.memories.keep_followed(repository.to_owned(), known).await.map_err(here)
}

/// Takes what is new; returns the ids.
async fn take(
    shared: &Arc<Shared>,
    server: &Server,
    repository: &str,
    place: &mut FollowedPlace,
) -> Result<HashSet<String>, TeamError> {
    let mut known = HashSet::new();
    loop {
        let page = server.pull(repository, &place.mark, ("", 0), PAGE).await?;
        if page.up_to != place.mark {
            known.extend(page.versions.iter().map(|version| version.id.clone()));
            let to = FollowedPlace { mark: page.up_to, ..place.clone() };
            let step = (place.clone(), to.clone());
            shared.memories.take_followed(repository.to_owned(), page.versions, step).await.map_err(here)?;
            *place = to;
        }
        if !page.has_more {
            return Ok(known);
        }
    }
}
