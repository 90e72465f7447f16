//! Finds the memories and commits about the definitions of an answer.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_proto::{FreshnessLevel, ReferencePart, WhyCommit, WhyMemory};

use crate::daemon::memories::about_code::anchor_states::note_uncertain_states;
use crate::daemon::memories::about_code::memories_for_path::{PathLines, memories_for_places};
use crate::daemon::request::commit_history::CommitHistory;
use crate::daemon::request::fresh_snapshot::wait_until_fresh;
use crate::daemon::request::reader_threads::run_reading;
use crate::daemon::request::request_context::RequestContext;

/// Maximum number of files whose memories are listed.
const MOST_PLACES: usize = 200;
/// Maximum numbers of files whose commits are listed, of commits of one file, and of all commits.
const MOST_COMMITS: (usize, usize, usize) = (10, 3, 10);
/// Time limit for reading history.
const BUDGET: Duration = Duration::from_secs(2);

/// Memories and commits that are added to an answer.
#[derive(Default)]
pub(super) struct MemoriesAndCommits {
    pub(super) memories: Vec<WhyMemory>,
    pub(super) commits: Vec<WhyCommit>,
    /// Why there may be more commits.
    pub(super) cut: Option<String>,
}

/// Finds the memories and commits about places in files, as far as `with` requests them.
pub(super) async fn find_memories_and_commits(
    request: &Arc<RequestContext>,
    cwd: &str,
    with: &[ReferencePart],
    places: Vec<PathLines>,
    until: Instant,
) -> RpcResult<MemoriesAndCommits> {
    let mut found = MemoriesAndCommits::default();
    if with.is_empty() {
        return Ok(found);
    }
    let places = merge_places(places);
    if with.contains(&ReferencePart::Memories) {
        let memories = memories_for_places(request, cwd, places.clone(), until).await?;
        found.memories = memories.0;
        note_uncertain_states(&request.caveats, memories.1);
    }
    if with.contains(&ReferencePart::Commits) {
        let at = wait_until_fresh(request, cwd, FreshnessLevel::None, until).await?;
        let root = at.layout.root.clone();
        let paths: Vec<String> = places.into_iter().map(|(path, _)| path).take(MOST_COMMITS.0).collect();
        let (commits, is_late) = run_reading(request, &root, move |_| list_commits(&at, &paths)).await?;
        found.commits = commits;
        let late = is_late.then(|| "history was not read to its end in 2 s".to_owned());
        found.cut = late;
    }
    Ok(found)
}

/// Merges the places of each file into one; a place without lines is a whole file.
fn merge_places(places: Vec<PathLines>) -> Vec<PathLines> {
    let mut all: Vec<PathLines> = Vec::new();
    for (path, lines) in places {
        match all.iter().position(|(known, _)| *known == path) {
            Some(at) => all[at].1.extend(lines),
            None if all.len() < MOST_PLACES => all.push((path, lines)),
            None => {}
        }
    }
    all
}

/// Returns the newest commits that changed some files, newest first, and whether the time limit was reached.
fn list_commits(at: &Freshness, paths: &[String]) -> RpcResult<(Vec<WhyCommit>, bool)> {
    let history = CommitHistory::open(at)?;
    let Some(head) = history.refs.resolve_ref("HEAD")? else {
        return Ok((Vec::new(), false)); // before the first commit
    };
    let until = Instant::now() + BUDGET;
    let (mut found, mut known, mut is_late) = (Vec::new(), HashSet::new(), false);
    for path in paths {
        let log = history.objects.list_path_commits(head, path, MOST_COMMITS.1, until)?;
        is_late |= log.timed_out;
        for touch in log.touches.into_iter().filter(|touch| known.insert(touch.id)) {
            let (commit, subject, body) = history.describe_commit(touch.id)?;
            found.push(WhyCommit { commit, subject, body, path: touch.path, lines: Vec::new() });
        }
    }
    found.sort_by(|one, other| other.commit.date.cmp(&one.commit.date));
    found.truncate(MOST_COMMITS.2);
    Ok((found, is_late))
}
