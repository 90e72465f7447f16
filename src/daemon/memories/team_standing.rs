//! Holds how the exchange with a team stands, and lets requests ask for one.

use std::sync::Mutex;
use std::time::Duration;

use memod_base::threads::lock;
use memod_base::types::rfc3339;
use memod_engine::errors::RpcResult;
use memod_team::{About, TeamError};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::daemon::request::error::busy;

/// Longest time that a request waits for an exchange.
const ASKED: Duration = Duration::from_secs(300);

/// How the exchange stands.
#[derive(Clone, Debug, Default)]
pub(in crate::daemon) struct Standing {
    /// What the server said of the role; `None` while there is no connection.
    pub(in crate::daemon) about: Option<About>,
    /// Why the last exchange failed.
    pub(in crate::daemon) failure: Option<TeamError>,
    /// What went wrong with other repositories, while the exchange of this one works.
    pub(in crate::daemon) trouble: Option<TeamError>,
    /// Number of texts of the team that are not shown.
    pub(in crate::daemon) n_hidden: usize,
    /// When the exchange last was complete, unix ms.
    pub(in crate::daemon) synced_ms: Option<i64>,
    /// Whether a connection was begun, and no exchange over it was complete.
    pub(in crate::daemon) is_connecting: bool,
    /// Number of requests for an exchange that were made, and that were followed by a whole one.
    n_asked: u64,
    n_done: u64,
}

/// The exchange with a team.
pub(in crate::daemon) struct Team {
    standing: Mutex<Standing>,
    /// Rung when an exchange is asked for.
    pub(in crate::daemon) asked: Notify,
    /// Changes after each exchange, whether it failed or not.
    ended: watch::Sender<u64>,
}

impl Default for Team {
    fn default() -> Self {
        Self { standing: Mutex::default(), asked: Notify::default(), ended: watch::channel(0).0 }
    }
}

impl Team {
    pub(in crate::daemon) fn standing(&self) -> Standing {
        lock(&self.standing).clone()
    }

    /// Records that an exchange failed, or the connection has ended.
    pub(in crate::daemon) fn fail(&self, failure: TeamError) {
        let mut standing = lock(&self.standing);
        (standing.about, standing.failure) = (None, Some(failure));
        drop(standing);
        self.ended.send_modify(|n| *n += 1);
    }

    /// Returns the number of requests that an exchange which begins now fulfils.
    pub(in crate::daemon) fn begin(&self) -> u64 {
        lock(&self.standing).n_asked
    }

    /// Records that the repository takes no part any more.
    pub(in crate::daemon) fn leave(&self) {
        let mut standing = lock(&self.standing);
        (standing.about, standing.failure, standing.is_connecting) = (None, None, false);
    }

    /// Records that an exchange begins, before which nothing is known of the team's changes since the last one.
    pub(in crate::daemon) fn connect(&self, synced_ms: Option<i64>) {
        let mut standing = lock(&self.standing);
        (standing.about, standing.synced_ms, standing.is_connecting) = (None, synced_ms, true);
    }

    /// Returns a notice that what is here of the team is old.
    pub(in crate::daemon) fn note(&self) -> Option<String> {
        let Standing { failure, synced_ms, is_connecting, trouble, n_hidden, .. } = self.standing();
        let as_of =
            synced_ms.map_or_else(|| "never exchanged".to_owned(), |at| format!("as of {}", rfc3339(at)));
        let why = failure.map(|failure| failure.message);
        let why = why.or_else(|| is_connecting.then(|| "the first exchange is not over".to_owned()));
        let of_others = || trouble.map(|trouble| format!("team: other repositories: {}", trouble.message));
        let hidden = || {
            (n_hidden > 0)
                .then(|| format!("team: texts that are not shown here: {n_hidden}; `memo doctor` lists them"))
        };
        why.map(|why| format!("team: {as_of}: {why}")).or_else(of_others).or_else(hidden)
    }

    /// Records how many texts of the team are not shown.
    pub(in crate::daemon) fn set_hidden(&self, n: usize) {
        lock(&self.standing).n_hidden = n;
    }

    /// Records that an exchange was complete, but for what went wrong with other repositories.
    pub(in crate::daemon) fn end(
        &self,
        about: &About,
        fulfilled: u64,
        now_ms: i64,
        trouble: Option<TeamError>,
    ) {
        let mut standing = lock(&self.standing);
        (standing.about, standing.failure, standing.n_done) = (Some(about.clone()), None, fulfilled);
        (standing.synced_ms, standing.is_connecting, standing.trouble) = (Some(now_ms), false, trouble);
        drop(standing);
        self.ended.send_modify(|n| *n += 1);
    }

    /// Has an exchange made, and waits until it is complete.
    ///
    /// # Errors
    /// When it takes too long; the inner one is that of the server.
    pub(in crate::daemon) async fn exchange(&self) -> RpcResult<Result<(), TeamError>> {
        let mut ended = self.ended.subscribe();
        let wanted = {
            let mut standing = lock(&self.standing);
            standing.n_asked += 1;
            standing.n_asked
        };
        self.asked.notify_one();
        let done = async {
            loop {
                let _ = ended.changed().await; // the sender is ours
                let standing = lock(&self.standing).clone();
                match standing.failure {
                    Some(failure) => return Err(failure),
                    None if standing.n_done >= wanted => return Ok(()),
                    None => {}
                }
            }
        };
        let late = |_| {
            busy(format!("the exchange with the team takes longer than {} s; it goes on", ASKED.as_secs()))
        };
        timeout(ASKED, done).await.map_err(late)
    }
}
