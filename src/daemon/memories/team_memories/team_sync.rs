//! Exchanges memories with the server of a team, while the daemon runs.
//!
//! Requests never wait for the server: changes are queued in memory.db, which also has the memories of the team.
//! `exchange_session` is one connection, over which `follow_repositories` reads other repositories; this module keeps one open,
//! and reports its status.

mod exchange_limits;
mod exchange_session;
mod follow_repositories;

use std::sync::Arc;
use std::time::Duration;

use memod_base::types::format_rfc3339;
use memod_engine::errors::RpcResult;
use memod_memory_db::TeamTrouble;
use memod_proto::team::{
    FollowedRepository, TeamLeaveResult, TeamMember, TeamMembersResult, TeamParams, TeamStatusResult,
};
use memod_proto::{Check, RpcError, code};
use memod_team::{ServerAddress, TeamError, password};
use tokio::time::sleep;

use crate::daemon::memories::memory_files::check_files::private_conflict_hint;
use crate::daemon::memories::rules::share_rules::{NoTeam, TeamAccess};
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::{locate_worktree, read_identity};
use crate::daemon::shared::Shared;

/// Wait after the first failure. It doubles with each failure.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait after a failure.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The membership of a repository in a team.
struct TeamMembership {
    address: ServerAddress,
    repository: String,
}

/// Why a repository exchanges no memories with a team.
enum NoMembership {
    /// The settings name no team, or do not name the repository.
    Outside(NoTeam),
    /// The address of the server cannot be used.
    Failed(TeamError),
}

impl From<NoMembership> for TeamError {
    fn from(no_membership: NoMembership) -> Self {
        match no_membership {
            NoMembership::Outside(NoTeam { why, hint }) => Self::new(why).with_hint(hint),
            NoMembership::Failed(failure) => failure,
        }
    }
}

/// Exchanges memories with the team until the daemon ends, whenever the repository takes part in a team.
pub(in crate::daemon) async fn keep_exchanging(shared: Arc<Shared>) {
    if let Err(failure) = follow_repositories::unfollow_unlisted(&shared).await {
        tracing::warn!(%failure, "copies of other repositories are not deleted");
    }
    if shared.engine.config.team.url.is_empty() {
        return;
    }
    let mut wait = FIRST_WAIT;
    loop {
        let failure = match find_membership(&shared).await {
            Ok(membership) => {
                shared.team.note_connecting(find_synced_ms(&shared).await);
                exchange_session::run_session(&shared, &membership, &mut || wait = FIRST_WAIT).await
            }
            Err(NoMembership::Outside(_)) => {
                wait = LONGEST_WAIT; // a remote may be added
                shared.team.note_left();
                if let Err(failure) = follow_repositories::unfollow_except(&shared, |_| false).await {
                    tracing::warn!(%failure, "copies of other repositories are not deleted");
                }
                wait_until_requested(&shared, wait).await;
                continue;
            }
            Err(NoMembership::Failed(failure)) => failure,
        };
        tracing::info!(%failure, "the exchange with the team failed");
        shared.team.note_failure(failure);
        wait_until_requested(&shared, wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Returns when an exchange was last complete, unix ms; `None` if none ever was.
async fn find_synced_ms(shared: &Arc<Shared>) -> Option<i64> {
    let stored = shared.memories.count_team_memories().await.ok().and_then(|(_, synced_ms)| synced_ms);
    shared.team.exchange_status().synced_ms.max(stored)
}

/// Waits until an exchange is requested, but at most `wait`.
async fn wait_until_requested(shared: &Arc<Shared>, wait: Duration) {
    tokio::select! {
        () = sleep(wait) => {}
        () = shared.team.requested.notified() => {}
    }
}

/// Answers `team.status`: returns the status of the exchange.
pub(in crate::daemon) async fn read_team_status(
    request: &Arc<RequestContext>,
    params: TeamParams,
) -> RpcResult<TeamStatusResult> {
    locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let shared = &request.shared;
    build_status(shared).await
}

/// Answers `team.sync`: waits for an exchange that begins now, and returns the status after it.
pub(in crate::daemon) async fn sync_now(
    request: &Arc<RequestContext>,
    params: TeamParams,
) -> RpcResult<TeamStatusResult> {
    locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let shared = &request.shared;
    find_membership(shared).await.map_err(|no_membership| to_rpc_error(no_membership.into()))?;
    shared.team.exchange_now().await?.map_err(to_rpc_error)?;
    build_status(shared).await
}

/// Answers `team.leave`: leaves the team, and keeps all memories of the team as private ones.
pub(in crate::daemon) async fn leave_team(
    request: &Arc<RequestContext>,
    params: TeamParams,
) -> RpcResult<TeamLeaveResult> {
    locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let shared = &request.shared;
    let repository = match find_membership(shared).await {
        Ok(membership) => Some(membership.repository),
        Err(NoMembership::Outside(_)) => None,
        Err(NoMembership::Failed(failure)) => return Err(to_rpc_error(failure)),
    };
    Ok(TeamLeaveResult { memories: shared.memories.leave_team(repository).await? })
}

/// Answers `team.members`: lists the members who may see the repository.
pub(in crate::daemon) async fn list_members(
    request: &Arc<RequestContext>,
    params: TeamParams,
) -> RpcResult<TeamMembersResult> {
    locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let shared = &request.shared;
    let membership =
        find_membership(shared).await.map_err(|no_membership| to_rpc_error(no_membership.into()))?;
    let (server, _) = exchange_session::connect_server(shared, &membership).await.map_err(to_rpc_error)?;
    let members = server.list_members().await.map_err(to_rpc_error)?.into_iter();
    Ok(TeamMembersResult {
        repository: membership.repository,
        members: members
            .map(|member| TeamMember {
                role: member.role,
                repository: member.repository,
                may_write: member.may_write,
            })
            .collect(),
    })
}

/// Builds the status of the exchange from the counts in the database and the state of the connection.
async fn build_status(shared: &Arc<Shared>) -> RpcResult<TeamStatusResult> {
    let exchange = shared.team.exchange_status();
    let (counts, synced_ms) = shared.memories.count_team_memories().await?;
    let followed = shared.memories.list_followed().await?.into_iter();
    let mut status = TeamStatusResult {
        followed: followed
            .map(|repository| FollowedRepository {
                repository: repository.repository,
                memories: repository.memories,
            })
            .collect(),
        memories: counts.memories,
        unsent: counts.unsent,
        conflicts: counts.conflicts,
        unreadable: counts.unreadable,
        synced: exchange.synced_ms.max(synced_ms).map(format_rfc3339),
        is_connected: exchange.server.is_some(),
        failure: exchange.failure.or(exchange.other_repositories_failure).map(|failure| failure.message),
        ..TeamStatusResult::default()
    };
    let membership = find_membership(shared).await;
    if let (Some(about), Ok(membership)) = (exchange.server, &membership) {
        if !about.may_write && counts.unsent > 0 {
            let (role, repository, n) = (&about.role, &membership.repository, counts.unsent);
            status.failure =
                Some(format!("role {role} may only read {repository}; changes that cannot be sent: {n}"));
        }
        (status.role, status.server, status.may_write) =
            (Some(about.role), Some(about.version), about.may_write);
    }
    match membership {
        Ok(membership) => {
            status.url = Some(membership.address.to_string());
            status.repository = Some(membership.repository);
        }
        Err(no_membership) => status.failure = Some(TeamError::from(no_membership).message),
    }
    Ok(status)
}

/// Returns a check of the exchange, and one for each conflict and each text that could not be applied; no check without a team.
pub(in crate::daemon) async fn check_exchange(shared: &Arc<Shared>) -> Vec<Check> {
    if matches!(find_membership(shared).await, Err(NoMembership::Outside(_))) {
        return Vec::new();
    }
    let troubles = match shared.memories.list_team_troubles().await {
        Ok(troubles) => troubles,
        Err(error) => {
            return vec![failed_check("team".to_owned(), error.message, "`memo daemon logs` says more")];
        }
    };
    let mut checks: Vec<Check> = troubles.into_iter().map(check_trouble).collect();
    match build_status(shared).await {
        Ok(TeamStatusResult { failure: Some(failure), unsent, synced, is_connected, may_write, .. }) => {
            let synced = synced.unwrap_or_else(|| "never".to_owned());
            let detail = format!("{failure}; changes unsent: {unsent}, last complete {synced}");
            let hint = match (is_connected, may_write) {
                (true, true) => "`memo daemon logs` says more",
                (true, false) => {
                    "all changes are kept here; the owner of the tables can grant the right to send them"
                }
                (false, _) => "all changes are kept here, and are sent once the server can be reached",
            };
            checks.push(failed_check("team".to_owned(), detail, hint));
        }
        Ok(status) => {
            let detail = format!("memories: {}, changes unsent: {}", status.memories, status.unsent);
            checks.push(Check { name: "team".to_owned(), ok: true, detail, hint: None });
        }
        Err(error) => {
            checks.push(failed_check("team".to_owned(), error.message, "`memo daemon logs` says more"));
        }
    }
    checks
}

fn check_trouble(trouble: TeamTrouble) -> Check {
    let TeamTrouble { id, why, is_shown } = trouble;
    let name = format!("team: {id}");
    match why {
        None => {
            let hint = format!(
                "`memo get {id}` shows both sides, `memo resolve {id} --ours|--theirs|--text TEXT` ends the conflict"
            );
            failed_check(name, "in conflict with the version of the team".to_owned(), &hint)
        }
        Some(_) if is_shown => {
            let detail = "in conflict: a private memory of yours has its id and another text";
            let first = format!("; if yours is in the archive, first run `memo restore {id}`");
            failed_check(name, detail.to_owned(), &(private_conflict_hint(&id) + &first))
        }
        Some(why) => failed_check(
            name,
            why.replace(" ID", &format!(" {id}")),
            "until this is solved, the team's text is not shown here; `memo update` replaces a text that cannot be read",
        ),
    }
}

fn failed_check(name: String, detail: String, hint: &str) -> Check {
    Check { name, ok: false, detail, hint: Some(hint.to_owned()) }
}

fn to_rpc_error(failure: TeamError) -> RpcError {
    let error = RpcError::new(code::TEAM, failure.message);
    match failure.hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// Returns the name of this repository for its team and the address of the server, or why the repository takes part in no team.
async fn find_membership(shared: &Arc<Shared>) -> Result<TeamMembership, NoMembership> {
    let config = &shared.engine.config.team;
    let identity = read_identity(shared, &shared.engine.layout).await;
    let remote = identity.ok().and_then(|identity| identity.remote);
    match TeamAccess::from_config(config, remote.as_deref()) {
        TeamAccess::Outside(no_team) => Err(NoMembership::Outside(no_team)),
        TeamAccess::Member(repository, _) => Ok(TeamMembership {
            address: ServerAddress::parse(&config.url).map_err(NoMembership::Failed)?,
            repository,
        }),
    }
}

/// Returns the password for the server, from memod's own password file or from that of libpq.
fn find_password(address: &ServerAddress) -> Option<String> {
    let files = [memod_config::team_password_file(), memod_config::libpq_password_file()];
    files
        .into_iter()
        .flatten()
        .find_map(|file| password::find_password(&memod_config::read_settings_file(&file).ok()??, address))
}
