//! Builds the brief that an agent reads before it starts work in a worktree.
//!
//! The sections are the project and its commands, important memories, the HTTP routes of its code, changes in the worktree,
//! recent commits and the map. Each section has a share of the budget; later sections may use what it leaves.

mod brief_page;
mod brief_routes;
mod build_commands;
mod entry_points;
mod manifests;
mod project_lines;
mod project_parts;
mod readme;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use brief_page::{BriefList, BriefPage};
use manifests::ProjectFiles;
use memod_base::paths::CallerDir;
use memod_base::types::{SourceKey, escape_for_display};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_git::CommitWalk;
use memod_proto::anchor::AnchorState;
use memod_proto::memory::{Caller, ListParams, MemoriesResult, Memory, MemorySort, build_reader_marks};
use memod_proto::{
    AnswerPart, BriefParams, BriefResult, ChangedFile, ChangedParams, ChangedResult, FileStatus,
    FreshnessLevel, MapParams, MapResult, RpcError, code,
};
use memod_scan::{Content, FileSnapshot};
use memod_text::redact::mask;
use memod_text::secrets::find_secret_spans;
use serde_json::Value;
use tokio::join;
use tokio::time::timeout_at;

use crate::daemon::history::changed::answer_changed;
use crate::daemon::memories::about_code::anchor_states::list_memories_by_anchors;
use crate::daemon::memories::finding::pinned_memories::list_pinned;
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::commit_history::CommitHistory;
use crate::daemon::request::fresh_snapshot::{request_deadline, wait_until_fresh};
use crate::daemon::request::reader_threads::{run_blocking, run_reading, run_reading_files};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::shared::Shared;
use crate::daemon::structure::repo_map;

/// Default budget of a brief, tokens.
const BUDGET: usize = 2_048;
/// How full the page may be after each section, percent of the budget.
const PROJECT_UNTIL: usize = 20;
const MEMORIES_UNTIL: usize = 40;
const TO_CHECK_UNTIL: usize = 50;
const ROUTES_UNTIL: usize = 55;
const CHANGES_UNTIL: usize = 60;
const COMMITS_UNTIL: usize = 70;
/// Heading of the memories that other people wrote and nobody here confirmed.
const UNCONFIRMED: &str = "From others, not confirmed";
const TO_CHECK: &str = "To check: the code has changed since";
const MAP: &str = "## Map\n";
/// Maximum number of characters of a memory; `memo get` shows the whole text.
const MOST_MEMORY: usize = 400;
/// Maximum number of characters of any other line.
const MOST_LINE: usize = 160;
/// Maximum number of characters of a line about the project.
const MOST_PROJECT_LINE: usize = 320;
/// Largest README or manifest that is read, bytes.
const MOST_MANIFEST: u64 = 256 << 10;
/// Maximum numbers of changed files, of memories in one state and of commits that are listed, and of commits that are read.
const MOST_FILES: usize = 30;
const MOST_TO_CHECK: u64 = 50;
const MOST_COMMITS: usize = 12;
const MOST_WALKED: usize = 60;
/// Number of digits that are shown of a commit's id.
const SHORT_OID: usize = 12;

/// Answers `brief`.
pub(in crate::daemon) async fn answer_brief(
    request: &Arc<RequestContext>,
    params: BriefParams,
) -> RpcResult<BriefResult> {
    let wanted = BriefOptions { until: request_deadline(request, None), map_until: None, memories: true };
    build_brief(request, params, wanted).await
}

/// The deadlines and contents of a brief.
pub(in crate::daemon) struct BriefOptions {
    /// Deadline for freshness.
    pub(in crate::daemon) until: Instant,
    /// Deadline for the map, which takes longer than all other sections; a map that is late is left out.
    pub(in crate::daemon) map_until: Option<Instant>,
    /// Whether to include memories.
    pub(in crate::daemon) memories: bool,
}

/// Like [`answer_brief`], with options.
pub(in crate::daemon) async fn build_brief(
    request: &Arc<RequestContext>,
    params: BriefParams,
    wanted: BriefOptions,
) -> RpcResult<BriefResult> {
    let BriefOptions { until, map_until, memories } = wanted;
    let began = Instant::now();
    let budget = params.budget.unwrap_or(BUDGET);
    let at = wait_until_fresh(request, &params.cwd, params.sync, until).await?;
    let at = Arc::new(at);
    let for_commits = Arc::clone(&at);
    let commits = run_reading(request, &at.layout.root, move |request| {
        Ok(list_commits(&request.caveats, &for_commits))
    });
    let for_project = Arc::clone(&at);
    let project =
        run_reading(request, &at.layout.root, move |request| read_project(&request.shared, &for_project));
    let view = at.worktree;
    let routes = run_blocking(request, move |request| {
        Ok(request.shared.engine.with_reader(|reader| reader.list_routes(view))?)
    });
    let (pinned, (mut to_check, mut n_to_check), changes, commits, project, routes) = join!(
        async { if memories { list_pinned(request).await } else { Ok(Vec::new()) } },
        async { if memories { list_memories_to_check(request, &params.cwd).await } else { (Vec::new(), 0) } },
        list_uncommitted(request, &params.cwd),
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
        anchor.path = dir.display_path(&anchor.path);
    }
    let focus =
        changes.files.iter().map(|file| at.layout.root.join(&file.path).display().to_string()).collect();
    let (routes, n_routes) = brief_routes::list_routes(&routes, &dir);
    // Memories of others that nobody confirmed are listed apart.
    let (mut unconfirmed, pinned): (Vec<Memory>, _) = pinned.into_iter().partition(is_unconfirmed);
    let (others, to_check): (Vec<Memory>, Vec<Memory>) = to_check.into_iter().partition(is_unconfirmed);
    n_to_check -= others.len();
    unconfirmed.extend(others);
    let n_unconfirmed = unconfirmed.len();
    let lists = vec![
        BriefList::new("project", "Project", PROJECT_UNTIL, &project, String::clone, project.len()),
        BriefList::new("memories", "Memories", MEMORIES_UNTIL, &pinned, memory_line, pinned.len()),
        BriefList::new("to-check", TO_CHECK, TO_CHECK_UNTIL, &to_check, memory_line, n_to_check),
        BriefList::new("unconfirmed", UNCONFIRMED, TO_CHECK_UNTIL, &unconfirmed, memory_line, n_unconfirmed),
        BriefList::new("routes", "Routes", ROUTES_UNTIL, &routes, String::clone, n_routes),
        BriefList::new("changes", "Not committed", CHANGES_UNTIL, &changes.files, file_line, changes.total),
        BriefList::new("commits", "Last commits", COMMITS_UNTIL, &commits, String::clone, commits.len()),
    ];
    let mut page = BriefPage::new(budget);
    page.add_sections(&lists);
    let params = MapParams {
        cwd: params.cwd,
        budget: Some(page.tokens_left(MAP)),
        focus,
        sync: params.sync,
        ..MapParams::default()
    };
    let map = build_map_until(request, params, &at, map_until).await?;
    let mut page = page.rebuild_with_spare_space(&lists, &format!("{MAP}{}", map.text));
    page.add_block("map", MAP, &map.text, (map.files, map.total_files));
    let (text, tokens, sections) = page.into_text_and_sections();
    let took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    let (fresh, reason, clock) = (map.fresh, map.reason, map.clock);
    Ok(BriefResult { text, tokens, budget, sections, fresh, reason, clock, took_ms })
}

/// Returns the map, or an empty one if the map is not built by the deadline. The thread that builds a late map runs to its end.
async fn build_map_until(
    request: &Arc<RequestContext>,
    params: MapParams,
    at: &Arc<Freshness>,
    until: Option<Instant>,
) -> RpcResult<MapResult> {
    let map = run_reading_files(request, Freshness::clone(at), move |request, at| {
        repo_map::answer_map(&request.shared, &params, at)
    });
    let Some(until) = until else { return map.await };
    timeout_at(until.into(), map).await.unwrap_or_else(|_| {
        let (fresh, reason) = (at.fresh, at.reason.clone());
        Ok(MapResult { fresh, reason, ..MapResult::default() })
    })
}

/// Returns the lines about the project from the indexed README and manifests of the worktree.
fn read_project(shared: &Shared, at: &Freshness) -> RpcResult<Vec<String>> {
    let survey = shared.engine.with_reader(|reader| {
        reader.read_snapshot(|reader| shared.surveys.current_survey(reader, at.worktree))
    })?;
    let mut texts = BTreeMap::new();
    for (path, needs_text) in project_lines::select_files(&survey.manifests) {
        let text = if needs_text { read_manifest(&at.layout.root, path) } else { Some(String::new()) };
        texts.extend(text.map(|text| (path.to_owned(), text))); // a file that cannot be read is left out
    }
    let folder = at.layout.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let (languages, programs) = (survey.languages.clone(), survey.programs.clone());
    let files = ProjectFiles { texts, folder: folder.unwrap_or_default(), languages, programs };
    Ok(project_lines::project_lines(&files)
        .iter()
        .map(|line| shorten_line(line, MOST_PROJECT_LINE))
        .collect())
}

/// Returns the text of a file with possible credentials masked; `None` if the file cannot be read or is no text.
fn read_manifest(root: &Path, path: &str) -> Option<String> {
    match memod_scan::read(root, &SourceKey::new(path), MOST_MANIFEST) {
        Ok(FileSnapshot { content: Content::Text(text), .. }) => Some(
            mask(&text, &find_secret_spans(&text, memod_extract::bare_word_syntax(path, &text))).into_owned(),
        ),
        _ => None,
    }
}

/// Returns memories about code that has changed or is gone, and the total number of such memories; none if the states of
/// memories cannot be determined now, which is noted.
async fn list_memories_to_check(request: &Arc<RequestContext>, cwd: &str) -> (Vec<Memory>, usize) {
    let (mut memories, mut total) = (Vec::new(), 0);
    for state in [AnchorState::Drifted, AnchorState::Orphaned] {
        let caller = Caller { cwd: cwd.to_owned(), ..Caller::default() };
        let (limit, sort) = (Some(MOST_TO_CHECK), MemorySort::Priority);
        let params = ListParams { caller, state: vec![state], limit, sort, ..ListParams::default() };
        let answer = list_memories_by_anchors(request, params).await.unwrap_or_else(|error| {
            request.caveats.note_caveat(AnswerPart::Memories, error.message);
            Value::Null
        });
        let list: MemoriesResult = serde_json::from_value(answer).unwrap_or_default();
        total += usize::try_from(list.total).unwrap_or(usize::MAX);
        memories.extend(list.memories);
    }
    (memories, total)
}

/// Returns the changes since the last commit; nothing outside git and before the first commit.
async fn list_uncommitted(request: &Arc<RequestContext>, cwd: &str) -> ChangedResult {
    let limit = Some(MOST_FILES);
    let params =
        ChangedParams { cwd: cwd.to_owned(), limit, sync: FreshnessLevel::None, ..ChangedParams::default() };
    let result = answer_changed(request, params).await.unwrap_or_else(|error| {
        note_unread_commits(&request.caveats, &error);
        ChangedResult::default()
    });
    // Before the first commit every file is new, which does not help an agent.
    if result.base.is_some() { result } else { ChangedResult::default() }
}

/// Notes that commits could not be read. Notes nothing outside git and before the first commit, where there are no commits.
fn note_unread_commits(caveats: &NotedCaveats, error: &RpcError) {
    if [code::GIT, code::IO, code::INTERNAL].contains(&error.code) {
        caveats.note_caveat(AnswerPart::Commits, &*error.message);
    }
}

/// Returns the newest commits, one line each; nothing outside git.
fn list_commits(caveats: &NotedCaveats, at: &Freshness) -> Vec<String> {
    newest_commits(caveats, at).unwrap_or_else(|error| {
        note_unread_commits(caveats, &error);
        Vec::new()
    })
}

fn newest_commits(caveats: &NotedCaveats, at: &Freshness) -> RpcResult<Vec<String>> {
    let history = CommitHistory::open(at)?;
    let Some(head) = history.refs.resolve_ref("HEAD")? else { return Ok(Vec::new()) };
    let known = HashMap::new();
    let mut walk = CommitWalk::new(&history.objects, &known, head);
    // A merge repeats what the merged commits say.
    let own: Vec<_> = walk
        .by_ref()
        .take(MOST_WALKED)
        .filter(|(_, node)| node.parents.len() < 2)
        .take(MOST_COMMITS)
        .collect();
    if let Some(why) = walk.unreadable.take() {
        caveats.note_caveat(AnswerPart::Commits, why);
    }
    let described = own.into_iter().filter_map(|(id, _)| {
        history.describe_commit(id).inspect_err(|error| note_unread_commits(caveats, error)).ok()
    });
    Ok(described
        .map(|(info, subject, _)| {
            let oid: String = info.oid.chars().take(SHORT_OID).collect();
            shorten_line(&format!("- {oid} {} {subject}", date_part(&info.date)), MOST_LINE)
        })
        .collect())
}

fn is_unconfirmed(memory: &Memory) -> bool {
    memod_proto::memory::is_unconfirmed_trust(&memory.trust)
}

/// Returns a memory on one line, with its state, marks, id, priority, date and tags.
pub(in crate::daemon) fn memory_line(memory: &Memory) -> String {
    let title = memory.title.as_ref().map_or(String::new(), |title| format!("{title}: "));
    let tags: String = memory.tags.iter().map(|tag| format!(" #{tag}")).collect();
    let text = shorten_line(&format!("{title}{}", memory.content), MOST_MEMORY);
    let details = format!("{} p{} {}{tags}", memory.id, memory.priority, date_part(&memory.created));
    let state = memory.state.filter(|state| *state != AnchorState::Fresh).map_or(String::new(), |state| {
        let about: Vec<String> = memory.anchors.iter().map(ToString::to_string).collect();
        format!("[{}: {}] ", state.as_str(), shorten_line(&about.join(", "), MOST_LINE))
    });
    let marks: String = build_reader_marks(
        &memory.trust,
        memory.scope,
        memory.repository.as_deref(),
        memory.conflict.as_deref(),
        &memory.superseded_by,
    )
    .iter()
    .map(|mark| format!("{mark} "))
    .collect();
    format!("- {marks}{state}{text} ({})", shorten_line(&details, MOST_LINE))
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
    shorten_line(&format!("{letter} {}{names}", file.cwd_path.as_ref().unwrap_or(&file.path)), MOST_LINE)
}

/// Returns a text on one line, escaped for display and cut after `most` characters.
fn shorten_line(text: &str, most: usize) -> String {
    let line = escape_for_display(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn date_part(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}
