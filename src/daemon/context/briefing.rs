//! Collects what to know before starting work in a worktree.
//!
//! The sections are what the project is and how it is built, important memories, the HTTP routes of its code, changes in the worktree, recent commits and the map. Each has a share of the
//! budget and passes on what it does not use.

mod commands;
mod entry_points;
mod manifests;
mod page;
mod parts;
mod project;
mod readme;
mod routes;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use manifests::ProjectFiles;
use memod_base::paths::CallerDir;
use memod_base::types::{SourceKey, escape};
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_git::Walk;
use memod_index_db::Reader;
use memod_proto::anchor::State;
use memod_proto::memory::{Caller, ListParams, MemoriesResult, Memory, Sort, marks};
use memod_proto::{
    AnswerPart, BriefParams, BriefResult, ChangedFile, ChangedParams, ChangedResult, FileStatus, MapParams,
    MapResult, RpcError, Sync, code,
};
use memod_scan::{Content, Read};
use memod_text::redact::mask;
use memod_text::secrets::find_secret_spans;
use page::{List, Page};
use serde_json::Value;
use tokio::join;
use tokio::time::timeout_at;

use crate::daemon::history::changed::changed;
use crate::daemon::memories::pinned::pinned;
use crate::daemon::memories::states::list_anchored;
use crate::daemon::request::caveats;
use crate::daemon::request::commit_history::History;
use crate::daemon::request::{blocking, deadline, freshness, reading, reading_files};
use crate::daemon::shared::Shared;
use crate::daemon::structure::repo_map;

/// Default budget, tokens.
const BUDGET: usize = 2_048;
/// How full the page may be after each section, percent.
const PROJECT_UNTIL: usize = 20;
const MEMORIES_UNTIL: usize = 40;
const TO_CHECK_UNTIL: usize = 50;
const ROUTES_UNTIL: usize = 55;
const CHANGES_UNTIL: usize = 60;
const COMMITS_UNTIL: usize = 70;
/// Heading of what came from others.
const UNCONFIRMED: &str = "From others, not confirmed";
const TO_CHECK: &str = "To check: the code has changed since";
const MAP: &str = "## Map\n";
/// Most characters of a memory; `memo get` has the rest.
const MOST_MEMORY: usize = 400;
/// Most characters of any other line.
const MOST_LINE: usize = 160;
/// Most characters of a line about the project.
const MOST_PROJECT_LINE: usize = 320;
/// Largest README or manifest that is read, bytes.
const MOST_MANIFEST: u64 = 256 << 10;
/// Most files, memories of one state, and commits that are read.
const MOST_FILES: usize = 30;
const MOST_TO_CHECK: u64 = 50;
const MOST_COMMITS: usize = 12;
const MOST_WALKED: usize = 60;
/// Digits of a commit's id.
const SHORT_OID: usize = 12;

/// Builds the page.
pub(in crate::daemon) async fn brief(shared: &Arc<Shared>, params: BriefParams) -> RpcResult<BriefResult> {
    let wanted = Wanted { until: deadline(shared, None), map_until: None, memories: true };
    brief_until(shared, params, wanted).await
}

/// What a brief is to have.
pub(in crate::daemon) struct Wanted {
    /// Deadline for freshness.
    pub(in crate::daemon) until: Instant,
    /// The map is left out if it is not there by then: it takes longer than everything else.
    pub(in crate::daemon) map_until: Option<Instant>,
    /// Whether to say what memories say.
    pub(in crate::daemon) memories: bool,
}

/// Like [`brief`], with what is wanted.
pub(in crate::daemon) async fn brief_until(
    shared: &Arc<Shared>,
    params: BriefParams,
    wanted: Wanted,
) -> RpcResult<BriefResult> {
    let Wanted { until, map_until, memories } = wanted;
    let began = Instant::now();
    let budget = params.budget.unwrap_or(BUDGET);
    let at = freshness(shared, &params.cwd, params.sync, until).await?;
    let at = Arc::new(at);
    let for_commits = Arc::clone(&at);
    let commits = reading(shared, &at.layout.root, move |_| Ok(commits(&for_commits)));
    let for_project = Arc::clone(&at);
    let project = reading(shared, &at.layout.root, move |shared| project(shared, &for_project));
    let view = at.view;
    let routes = blocking(shared, move |shared| Ok(shared.engine.read(|reader| reader.routes(view))?));
    let (pinned, (mut to_check, mut n_to_check), changes, commits, project, routes) = join!(
        async { if memories { pinned(shared).await } else { Ok(Vec::new()) } },
        async { if memories { to_check(shared, &params.cwd).await } else { (Vec::new(), 0) } },
        uncommitted(shared, &params.cwd),
        commits,
        project,
        routes
    );
    let (mut pinned, commits, project, routes) = (pinned?, commits?, project?, routes?);
    for memory in &mut pinned {
        // A pinned memory about changed code is listed once, with its state.
        if let Some(at) = to_check.iter().position(|other| other.id == memory.id) {
            *memory = to_check.remove(at);
            n_to_check -= 1;
        }
    }
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    for anchor in pinned.iter_mut().chain(&mut to_check).flat_map(|memory| &mut memory.anchors) {
        anchor.path = dir.display(&anchor.path);
    }
    let focus =
        changes.files.iter().map(|file| at.layout.root.join(&file.path).display().to_string()).collect();
    let (routes, n_routes) = routes::routes(&routes, &dir);
    // What nobody here vouches for stands apart.
    let (mut unconfirmed, pinned): (Vec<Memory>, _) = pinned.into_iter().partition(is_unconfirmed);
    let (others, to_check): (Vec<Memory>, Vec<Memory>) = to_check.into_iter().partition(is_unconfirmed);
    n_to_check -= others.len();
    unconfirmed.extend(others);
    let n_unconfirmed = unconfirmed.len();
    let lists = vec![
        List::new("project", "Project", PROJECT_UNTIL, &project, String::clone, project.len()),
        List::new("memories", "Memories", MEMORIES_UNTIL, &pinned, memory_line, pinned.len()),
        List::new("to-check", TO_CHECK, TO_CHECK_UNTIL, &to_check, memory_line, n_to_check),
        List::new("unconfirmed", UNCONFIRMED, TO_CHECK_UNTIL, &unconfirmed, memory_line, n_unconfirmed),
        List::new("routes", "Routes", ROUTES_UNTIL, &routes, String::clone, n_routes),
        List::new("changes", "Not committed", CHANGES_UNTIL, &changes.files, file_line, changes.total),
        List::new("commits", "Last commits", COMMITS_UNTIL, &commits, String::clone, commits.len()),
    ];
    let mut page = Page::new(budget);
    page.fill(&lists);
    let params = MapParams {
        cwd: params.cwd,
        budget: Some(page.tokens(MAP)),
        focus,
        sync: params.sync,
        ..MapParams::default()
    };
    let map = map_of(shared, params, &at, map_until).await?;
    let mut page = page.again(&lists, &format!("{MAP}{}", map.text));
    page.block("map", MAP, &map.text, (map.files, map.total_files));
    let (text, tokens, sections) = page.finish();
    let took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    let (fresh, reason, clock) = (map.fresh, map.reason, map.clock);
    Ok(BriefResult { text, tokens, budget, sections, fresh, reason, clock, took_ms })
}

/// Returns the map; an empty one if it is not there in time. Then the thread goes on, and nobody waits for it.
async fn map_of(
    shared: &Arc<Shared>,
    params: MapParams,
    at: &Arc<Freshness>,
    until: Option<Instant>,
) -> RpcResult<MapResult> {
    let map = move |shared: &Shared, at: &Freshness| repo_map::map(shared, &params, at);
    let map = reading_files(shared, Freshness::clone(at), map);
    let Some(until) = until else { return map.await };
    timeout_at(until.into(), map).await.unwrap_or_else(|_| {
        let (fresh, reason) = (at.fresh, at.reason.clone());
        Ok(MapResult { fresh, reason, ..MapResult::default() })
    })
}

/// Returns what the README and the manifests of the worktree say, as far as they are indexed.
fn project(shared: &Shared, at: &Freshness) -> RpcResult<Vec<String>> {
    let current = |reader: &Reader| shared.surveys.current(reader, at.view);
    let survey = shared.engine.read(|reader| reader.snapshot(current))?;
    let mut texts = BTreeMap::new();
    for (path, needs_text) in project::wanted(&survey.manifests) {
        let text = if needs_text { manifest(&at.layout.root, path) } else { Some(String::new()) };
        texts.extend(text.map(|text| (path.to_owned(), text))); // a file that cannot be read says nothing
    }
    let folder = at.layout.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let (languages, programs) = (survey.languages.clone(), survey.programs.clone());
    let files = ProjectFiles { texts, folder: folder.unwrap_or_default(), languages, programs };
    Ok(project::project_lines(&files).iter().map(|line| cut(line, MOST_PROJECT_LINE)).collect())
}

/// Returns the text of a file without what may be a credential.
fn manifest(root: &Path, path: &str) -> Option<String> {
    match memod_scan::read(root, &SourceKey::new(path), MOST_MANIFEST) {
        Ok(Read { content: Content::Text(text), .. }) => {
            Some(mask(&text, &find_secret_spans(&text, memod_extract::syntax_of(path, &text))).into_owned())
        }
        _ => None,
    }
}

/// Returns memories about code that has changed or is gone, and their number; nothing if that cannot be determined now.
async fn to_check(shared: &Arc<Shared>, cwd: &str) -> (Vec<Memory>, usize) {
    let (mut memories, mut total) = (Vec::new(), 0);
    for state in [State::Drifted, State::Orphaned] {
        let caller = Caller { cwd: cwd.to_owned(), ..Caller::default() };
        let (limit, sort) = (Some(MOST_TO_CHECK), Sort::Priority);
        let params = ListParams { caller, state: vec![state], limit, sort, ..ListParams::default() };
        let answer = list_anchored(shared, params).await.unwrap_or_else(|error| {
            caveats::note(AnswerPart::Memories, error.message);
            Value::Null
        });
        let list: MemoriesResult = serde_json::from_value(answer).unwrap_or_default();
        total += usize::try_from(list.total).unwrap_or(usize::MAX);
        memories.extend(list.memories);
    }
    (memories, total)
}

/// Returns the changes since the last commit; nothing outside git and before the first commit.
async fn uncommitted(shared: &Arc<Shared>, cwd: &str) -> ChangedResult {
    let limit = Some(MOST_FILES);
    let params = ChangedParams { cwd: cwd.to_owned(), limit, sync: Sync::None, ..ChangedParams::default() };
    let result = changed(shared, params).await.unwrap_or_else(|error| {
        note_unread(&error);
        ChangedResult::default()
    });
    // Before the first commit every file is new, which tells an agent nothing.
    if result.base.is_some() { result } else { ChangedResult::default() }
}

/// Notes that commits could not be read. Outside git, and before the first commit, there are none.
fn note_unread(error: &RpcError) {
    if [code::GIT, code::IO, code::INTERNAL].contains(&error.code) {
        caveats::note(AnswerPart::Commits, &*error.message);
    }
}

/// Returns the newest commits, one line each; nothing outside git.
fn commits(at: &Freshness) -> Vec<String> {
    newest_commits(at).unwrap_or_else(|error| {
        note_unread(&error);
        Vec::new()
    })
}

fn newest_commits(at: &Freshness) -> RpcResult<Vec<String>> {
    let past = History::open(at)?;
    let Some(head) = past.refs.find("HEAD")? else { return Ok(Vec::new()) };
    let known = HashMap::new();
    let mut walk = Walk::new(&past.objects, &known, head);
    // A merge repeats what its commits say.
    let own: Vec<_> = walk
        .by_ref()
        .take(MOST_WALKED)
        .filter(|(_, node)| node.parents.len() < 2)
        .take(MOST_COMMITS)
        .collect();
    if let Some(why) = walk.unread.take() {
        caveats::note(AnswerPart::Commits, why);
    }
    let described = own.into_iter().filter_map(|(id, _)| past.describe(id).inspect_err(note_unread).ok());
    let line = |(info, subject, _): (memod_proto::CommitInfo, String, String)| {
        let oid: String = info.oid.chars().take(SHORT_OID).collect();
        cut(&format!("- {oid} {} {subject}", day(&info.date)), MOST_LINE)
    };
    Ok(described.map(line).collect())
}

fn is_unconfirmed(memory: &Memory) -> bool {
    memod_proto::memory::is_unconfirmed(&memory.trust)
}

/// Returns a memory on one line, with its state, marks, id, priority, date and tags.
pub(in crate::daemon) fn memory_line(memory: &Memory) -> String {
    let title = memory.title.as_ref().map_or(String::new(), |title| format!("{title}: "));
    let tags: String = memory.tags.iter().map(|tag| format!(" #{tag}")).collect();
    let text = cut(&format!("{title}{}", memory.content), MOST_MEMORY);
    let said = format!("{} p{} {}{tags}", memory.id, memory.priority, day(&memory.created));
    let state = memory.state.filter(|state| *state != State::Fresh).map_or(String::new(), |state| {
        let about: Vec<String> = memory.anchors.iter().map(ToString::to_string).collect();
        format!("[{}: {}] ", state.as_str(), cut(&about.join(", "), MOST_LINE))
    });
    let marks: String = marks(
        &memory.trust,
        memory.scope,
        memory.repository.as_deref(),
        memory.conflict.as_deref(),
        &memory.superseded_by,
    )
    .iter()
    .map(|mark| format!("{mark} "))
    .collect();
    format!("- {marks}{state}{text} ({})", cut(&said, MOST_LINE))
}

fn file_line(file: &ChangedFile) -> String {
    let letter = match file.status {
        FileStatus::Added => 'A',
        FileStatus::Modified => 'M',
        FileStatus::Removed => 'D',
        FileStatus::Renamed => 'R',
    };
    let mut names = Vec::new();
    if let Some(symbols) = &file.symbols {
        for (mark, list) in [('+', &symbols.added), ('~', &symbols.changed), ('-', &symbols.removed)] {
            names.extend(list.iter().map(|name| format!("{mark}{name}")));
        }
    }
    let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(" ")) };
    cut(&format!("{letter} {}{names}", file.cwd_path.as_ref().unwrap_or(&file.path)), MOST_LINE)
}

/// Returns a text on one line, shortened and escaped for display.
fn cut(text: &str, most: usize) -> String {
    let line = escape(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}
