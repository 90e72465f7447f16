//! Holds the status of the exchange with a team, and lets requests start an exchange.

use std::sync::Mutex;
use std::time::Duration;

use memod_base::threads::lock;
use memod_base::types::format_rfc3339;
use memod_engine::errors::RpcResult;
use memod_team::{ServerAccess, TeamError};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use memod_engine::errors::busy_error;

/// Longest time that a request waits for an exchange.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(300);

/// The status of the exchange with a team.
#[derive(Clone, Debug, Default)]
pub(in crate::daemon) struct ExchangeStatus {
    /// The server and the rights of the role; `None` while there is no connection.
    pub(in crate::daemon) server: Option<ServerAccess>,
    /// Why the last exchange failed.
    pub(in crate::daemon) failure: Option<TeamError>,
    /// The failure that concerns other repositories only, while the exchange of this one works.
    pub(in crate::daemon) other_repositories_failure: Option<TeamError>,
    /// Number of the team's texts that are not shown.
    pub(in crate::daemon) n_hidden: usize,
    /// When an exchange was last complete, unix ms.
    pub(in crate::daemon) synced_ms: Option<i64>,
    /// Whether a connection was begun, and no exchange over it is complete yet.
    pub(in crate::daemon) is_connecting: bool,
    /// Number of requests for an exchange.
    n_requested: u64,
    /// Number of these requests that a complete exchange has fulfilled.
    n_fulfilled: u64,
}

/// The exchange with a team, as requests and the task that exchanges share it.
pub(in crate::daemon) struct TeamExchange {
    status: Mutex<ExchangeStatus>,
    /// Notified when an exchange is requested.
    pub(in crate::daemon) requested: Notify,
    /// Incremented after each exchange, whether it failed or not.
    ended: watch::Sender<u64>,
}

impl Default for TeamExchange {
    fn default() -> Self {
        Self { status: Mutex::default(), requested: Notify::default(), ended: watch::channel(0).0 }
    }
}

impl TeamExchange {
    /// Returns a copy of the present status.
    pub(in crate::daemon) fn exchange_status(&self) -> ExchangeStatus {
        lock(&self.status).clone()
    }

    /// Records that an exchange failed, or that the connection has ended.
    pub(in crate::daemon) fn note_failure(&self, failure: TeamError) {
        let mut status = lock(&self.status);
        (status.server, status.failure) = (None, Some(failure));
        drop(status);
        self.ended.send_modify(|n| *n += 1);
    }

    /// Returns the number of requests that an exchange which begins now will fulfil.
    pub(in crate::daemon) fn read_request_count(&self) -> u64 {
        lock(&self.status).n_requested
    }

    /// Records that the repository has left the team.
    pub(in crate::daemon) fn note_left(&self) {
        let mut status = lock(&self.status);
        (status.server, status.failure, status.is_connecting) = (None, None, false);
    }

    /// Records that a connection begins; until its first exchange, the team's changes since `synced_ms` are unknown.
    pub(in crate::daemon) fn note_connecting(&self, synced_ms: Option<i64>) {
        let mut status = lock(&self.status);
        (status.server, status.synced_ms, status.is_connecting) = (None, synced_ms, true);
    }

    /// Returns a notice if the memories of the team may be out of date or incomplete.
    pub(in crate::daemon) fn stale_notice(&self) -> Option<String> {
        let ExchangeStatus {
            failure,
            synced_ms,
            is_connecting,
            other_repositories_failure: trouble,
            n_hidden,
            ..
        } = self.exchange_status();
        let as_of = synced_ms
            .map_or_else(|| "never exchanged".to_owned(), |at| format!("as of {}", format_rfc3339(at)));
        let why = failure.map(|failure| failure.message);
        let why = why.or_else(|| is_connecting.then(|| "the first exchange is not complete".to_owned()));
        why.map(|why| format!("team: {as_of}: {why}"))
            .or_else(|| trouble.map(|trouble| format!("team: other repositories: {}", trouble.message)))
            .or_else(|| {
                (n_hidden > 0).then(|| {
                    format!("team: texts that are not shown here: {n_hidden}; `memo doctor` lists them")
                })
            })
    }

    /// Records the number of the team's texts that are not shown.
    pub(in crate::daemon) fn set_hidden_count(&self, n: usize) {
        lock(&self.status).n_hidden = n;
    }

    /// Records that an exchange was complete, apart from `trouble`, a failure that concerns other repositories only.
    pub(in crate::daemon) fn note_complete(
        &self,
        about: &ServerAccess,
        fulfilled: u64,
        now_ms: i64,
        trouble: Option<TeamError>,
    ) {
        let mut status = lock(&self.status);
        (status.server, status.failure, status.n_fulfilled) = (Some(about.clone()), None, fulfilled);
        (status.synced_ms, status.is_connecting, status.other_repositories_failure) =
            (Some(now_ms), false, trouble);
        drop(status);
        self.ended.send_modify(|n| *n += 1);
    }

    /// Requests an exchange, and waits until it is complete.
    ///
    /// # Errors
    /// When it takes too long. The inner error is that of the exchange.
    pub(in crate::daemon) async fn exchange_now(&self) -> RpcResult<Result<(), TeamError>> {
        let mut ended = self.ended.subscribe();
        let wanted = {
            let mut status = lock(&self.status);
            status.n_requested += 1;
            status.n_requested
        };
        self.requested.notify_one();
        let done = async {
            loop {
                let _ = ended.changed().await; // the sender is ours
                let status = lock(&self.status).clone();
                match status.failure {
                    Some(failure) => return Err(failure),
                    None if status.n_fulfilled >= wanted => return Ok(()),
                    None => {}
                }
            }
        };
        timeout(EXCHANGE_TIMEOUT, done).await.map_err(|_| {
            busy_error(format!(
                "the exchange with the team takes longer than {} s; it continues in the background",
                EXCHANGE_TIMEOUT.as_secs()
            ))
        })
    }
}
