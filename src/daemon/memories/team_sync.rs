//! Exchanges memories with the server of a team, while the daemon runs.
//!
//! Requests never wait for it: what is written is queued in memory.db, and what the team has is there too. `session` is one
//! connection, over which `follow` reads other repositories; this keeps one open, and says how it stands.

mod follow;
mod session;

use std::sync::Arc;
use std::time::Duration;

use memod_base::types::rfc3339;
use memod_engine::errors::RpcResult;
use memod_memory_db::TeamTrouble;
use memod_proto::team::{
    FollowedRepository, TeamLeaveResult, TeamMember, TeamMembersResult, TeamParams, TeamStatusResult,
};
use memod_proto::{Check, RpcError, code};
use memod_team::{Address, Member, TeamError, password};
use tokio::time::sleep;

use crate::daemon::memories::file_check::how_to_resolve_own;
use crate::daemon::memories::share_rules::{NoTeam, TeamAccess};
use crate::daemon::request;
use crate::daemon::shared::Shared;

/// Wait after the first failure; it doubles up to the second.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// A repository that takes part.
struct Part {
    address: Address,
    repository: String,
}

/// Why a repository exchanges nothing.
enum NoPart {
    /// The settings do not name it, or no team.
    Outside(NoTeam),
    /// The address of the server cannot be used.
    Failed(TeamError),
}

impl From<NoPart> for TeamError {
    fn from(no_part: NoPart) -> Self {
        match no_part {
            NoPart::Outside(NoTeam { why, hint }) => Self::new(why).hint(hint),
            NoPart::Failed(failure) => failure,
        }
    }
}

/// Exchanges until the daemon ends, while the settings name a team in which the repository takes part.
pub(in crate::daemon) async fn keep(shared: Arc<Shared>) {
    if let Err(failure) = follow::drop_unlisted(&shared).await {
        tracing::warn!(%failure, "copies of other repositories are not deleted");
    }
    if shared.engine.config.team.url.is_empty() {
        return;
    }
    let mut wait = AGAIN[0];
    loop {
        let failure = match part(&shared).await {
            Ok(part) => {
                shared.team.connect(synced_ms(&shared).await);
                session::run(&shared, &part, &mut || wait = AGAIN[0]).await
            }
            Err(NoPart::Outside(_)) => {
                wait = AGAIN[1]; // a remote may be added
                shared.team.leave();
                if let Err(failure) = follow::keep_only(&shared, |_| false).await {
                    tracing::warn!(%failure, "copies of other repositories are not deleted");
                }
                pause(&shared, wait).await;
                continue;
            }
            Err(NoPart::Failed(failure)) => failure,
        };
        tracing::info!(%failure, "exchange with the team");
        shared.team.fail(failure);
        pause(&shared, wait).await;
        wait = (wait * 2).min(AGAIN[1]);
    }
}

/// Returns when the exchange last was complete.
async fn synced_ms(shared: &Arc<Shared>) -> Option<i64> {
    let stored = shared.memories.team_counts().await.ok().and_then(|(_, synced_ms)| synced_ms);
    shared.team.standing().synced_ms.max(stored)
}

async fn pause(shared: &Arc<Shared>, wait: Duration) {
    tokio::select! {
        () = sleep(wait) => {}
        () = shared.team.asked.notified() => {}
    }
}

/// Returns how the exchange stands.
pub(in crate::daemon) async fn show(shared: &Arc<Shared>, params: TeamParams) -> RpcResult<TeamStatusResult> {
    request::locate(shared, &params.cwd, request::deadline(shared, None)).await?;
    status(shared).await
}

/// Exchanges now.
pub(in crate::daemon) async fn sync(shared: &Arc<Shared>, params: TeamParams) -> RpcResult<TeamStatusResult> {
    request::locate(shared, &params.cwd, request::deadline(shared, None)).await?;
    part(shared).await.map_err(|no_part| told(no_part.into()))?;
    shared.team.exchange().await?.map_err(told)?;
    status(shared).await
}

/// Keeps all memories of the team here alone.
pub(in crate::daemon) async fn leave(shared: &Arc<Shared>, params: TeamParams) -> RpcResult<TeamLeaveResult> {
    request::locate(shared, &params.cwd, request::deadline(shared, None)).await?;
    let repository = match part(shared).await {
        Ok(part) => Some(part.repository),
        Err(NoPart::Outside(_)) => None,
        Err(NoPart::Failed(failure)) => return Err(told(failure)),
    };
    Ok(TeamLeaveResult { memories: shared.memories.leave_team(repository).await? })
}

/// Lists who may see the repository.
pub(in crate::daemon) async fn members(
    shared: &Arc<Shared>,
    params: TeamParams,
) -> RpcResult<TeamMembersResult> {
    request::locate(shared, &params.cwd, request::deadline(shared, None)).await?;
    let part = part(shared).await.map_err(|no_part| told(no_part.into()))?;
    let (server, _) = session::connect(shared, &part).await.map_err(told)?;
    let members = server.members().await.map_err(told)?.into_iter();
    let member = |member: Member| TeamMember {
        role: member.role,
        repository: member.repository,
        may_write: member.may_write,
    };
    Ok(TeamMembersResult { repository: part.repository, members: members.map(member).collect() })
}

async fn status(shared: &Arc<Shared>) -> RpcResult<TeamStatusResult> {
    let standing = shared.team.standing();
    let (counts, synced_ms) = shared.memories.team_counts().await?;
    let followed = shared.memories.followed().await?.into_iter();
    let mut status = TeamStatusResult {
        followed: followed
            .map(|of| FollowedRepository { repository: of.repository, memories: of.memories })
            .collect(),
        memories: counts.memories,
        unsent: counts.unsent,
        conflicts: counts.conflicts,
        unreadable: counts.unreadable,
        synced: standing.synced_ms.max(synced_ms).map(rfc3339),
        is_connected: standing.about.is_some(),
        failure: standing.failure.or(standing.trouble).map(|failure| failure.message),
        ..TeamStatusResult::default()
    };
    let part = part(shared).await;
    if let (Some(about), Ok(part)) = (standing.about, &part) {
        let told =
            |n| format!("role {} may only read {}: changes that stay here: {n}", about.role, part.repository);
        if !about.may_write && counts.unsent > 0 {
            status.failure = Some(told(counts.unsent));
        }
        (status.role, status.server, status.may_write) =
            (Some(about.role), Some(about.version), about.may_write);
    }
    match part {
        Ok(part) => (status.url, status.repository) = (Some(part.address.to_string()), Some(part.repository)),
        Err(no_part) => status.failure = Some(TeamError::from(no_part).message),
    }
    Ok(status)
}

/// Says whether the exchange works, and what needs somebody; nothing without a team.
pub(in crate::daemon) async fn check(shared: &Arc<Shared>) -> Vec<Check> {
    if matches!(part(shared).await, Err(NoPart::Outside(_))) {
        return Vec::new();
    }
    let troubles = match shared.memories.team_troubles().await {
        Ok(troubles) => troubles,
        Err(error) => return vec![bad("team".to_owned(), error.message, "`memo logs` says more")],
    };
    let mut checks: Vec<Check> = troubles.into_iter().map(check_trouble).collect();
    match status(shared).await {
        Ok(TeamStatusResult { failure: Some(failure), unsent, synced, is_connected, may_write, .. }) => {
            let synced = synced.unwrap_or_else(|| "never".to_owned());
            let detail = format!("{failure}; changes unsent: {unsent}, last complete {synced}");
            let hint = match (is_connected, may_write) {
                (true, true) => "`memo logs` says more",
                (true, false) => "all is kept here; who owns the tables gives the rights",
                (false, _) => "all is kept here, and sent once the server can be reached",
            };
            checks.push(bad("team".to_owned(), detail, hint));
        }
        Ok(status) => {
            let detail = format!("memories: {}, changes unsent: {}", status.memories, status.unsent);
            checks.push(Check { name: "team".to_owned(), ok: true, detail, hint: None });
        }
        Err(error) => checks.push(bad("team".to_owned(), error.message, "`memo logs` says more")),
    }
    checks
}

fn check_trouble(trouble: TeamTrouble) -> Check {
    let TeamTrouble { id, why, is_shown } = trouble;
    let name = format!("team: {id}");
    match why {
        None => {
            let hint = format!(
                "`memo get {id}` shows both sides, `memo resolve {id} --ours|--theirs|--text TEXT` ends it"
            );
            bad(name, "in conflict with what the team has".to_owned(), &hint)
        }
        Some(_) if is_shown => {
            let detail = "in conflict: a memory of yours alone has its id and says something else";
            let first = format!("; while yours is in the archive, `memo restore {id}` comes first");
            bad(name, detail.to_owned(), &(how_to_resolve_own(&id) + &first))
        }
        Some(why) => bad(
            name,
            why.replace(" ID", &format!(" {id}")),
            "until that ends, the team's text is not shown here; `memo update` replaces one that cannot be read",
        ),
    }
}

fn bad(name: String, detail: String, hint: &str) -> Check {
    Check { name, ok: false, detail, hint: Some(hint.to_owned()) }
}

fn told(failure: TeamError) -> RpcError {
    let error = RpcError::new(code::TEAM, failure.message);
    match failure.hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// Returns which repository takes part in which team.
async fn part(shared: &Arc<Shared>) -> Result<Part, NoPart> {
    let config = &shared.engine.config.team;
    let identity = request::identity(shared, &shared.engine.layout).await;
    let remote = identity.ok().and_then(|identity| identity.remote);
    match TeamAccess::of(config, remote.as_deref()) {
        TeamAccess::No(no_team) => Err(NoPart::Outside(no_team)),
        TeamAccess::Yes(repository, _) => {
            Ok(Part { address: Address::parse(&config.url).map_err(NoPart::Failed)?, repository })
        }
    }
}

/// Returns the password of the server: from memod's own file, or from that of libpq.
fn password_of(address: &Address) -> Option<String> {
    let files = [memod_config::team_passwords(), memod_config::libpq_passwords()];
    files
        .into_iter()
        .flatten()
        .find_map(|file| password::find(&memod_config::read_file(&file).ok()??, address))
}
