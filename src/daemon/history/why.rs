//! Finds the commits behind a file, a line or a definition.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_base::paths::CallerDir;
use memod_base::types::{Definition, PathPart, SourceKey, parse_target};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_git::{Attributes, Blame, GitIndex, LineMove, ObjectId, OutsideAttributes, PathLog, UserDirs};
use memod_proto::{AnswerPart, FreshnessLevel, RpcError, WhyCommit, WhyMove, WhyParams, WhyResult, code};
use memod_scan::{Content, FileSnapshot, ReadError};

use crate::daemon::definitions::named_definitions::{
    ambiguous_name_error, find_definitions, undefined_name_error, unknown_target_error,
};
use crate::daemon::definitions::similar_targets::suggest_similar_targets;
use crate::daemon::memories::about_code::anchor_states::note_uncertain_states;
use crate::daemon::memories::about_code::memories_for_path::memories_for_path;
use crate::daemon::request::commit_history::{CommitHistory, group_into_spans, parse_source_key};
use crate::daemon::request::fresh_snapshot::{question_deadline, request_deadline, wait_until_fresh};
use crate::daemon::request::linked_paths::explain_link;
use crate::daemon::request::path_spec::{
    choose_part, find_definitions_named, find_other_repository, why_beyond_end,
};
use crate::daemon::request::reader_threads::run_reading_files;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::sparse_paths::SparsePaths;
use crate::daemon::shared::Shared;

/// Time limit for searching history; the answer has the commits that were found by then.
const BUDGET: Duration = Duration::from_secs(10);
/// Default and maximum number of commits.
const LIMIT: (usize, usize) = (10, 1_000);

/// Answers `why`.
pub(in crate::daemon) async fn answer_why(
    request: &Arc<RequestContext>,
    params: WhyParams,
) -> RpcResult<WhyResult> {
    let began = Instant::now();
    // A definition is found in the index, a path on the disk.
    let is_path = params.target.contains('/') && !params.target.contains('#');
    let level = if is_path { FreshnessLevel::None } else { FreshnessLevel::Fs };
    let at = wait_until_fresh(request, &params.cwd, level, question_deadline(request, None)).await?;
    let cwd = params.cwd.clone();
    let mut result = run_reading_files(request, at, move |request, at| {
        build_why_result(request, &params, at, began + BUDGET)
    })
    .await?;
    match memories_for_path(request, &cwd, &result.path, &result.lines, request_deadline(request, None)).await
    {
        Ok((memories, unsure)) => {
            result.memories = memories;
            note_uncertain_states(&request.caveats, unsure);
        }
        // Without memories, history alone is an answer.
        Err(error) => request.caveats.note_caveat(AnswerPart::Memories, error.message),
    }
    let (fresh, took_ms) = (result.complete, began.elapsed().as_secs_f64() * 1_000.0);
    Ok(WhyResult { fresh, took_ms, ..result })
}

fn build_why_result(
    request: &RequestContext,
    params: &WhyParams,
    at: &Freshness,
    until: Instant,
) -> RpcResult<WhyResult> {
    let limit = params.limit.unwrap_or(LIMIT.0);
    if !(1..=LIMIT.1).contains(&limit) {
        let message = format!("limit: {limit} is not between 1 and {}", LIMIT.1);
        return Err(bad_params_error(message).with_hint("omit the limit for the default, 10"));
    }
    let history = CommitHistory::open(at)?;
    let head = history.resolve_revision(&at.layout, "HEAD")?;
    let tree = history.objects.read_commit_node(head)?.tree;
    let mut parse = parse_target(&params.target).into_iter();
    let found = parse.find_map(|(path, part)| {
        let key = parse_source_key(path, &params.cwd, &at.layout)?;
        (is_on_disk_or_unanswered(at, &key) || is_in_tree(&history, tree, &key)).then_some((key, part))
    });
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let question = |key: SourceKey, dir| {
        let former = if is_in_tree(&history, tree, &key) {
            None
        } else {
            history.find_former_name((&request.shared, at), tree, (&key, None), until)
        };
        WhyQuestion { request, at, history: &history, head, key, former_path: former, dir, limit, until }
    };
    if let Some((key, _)) = &found {
        if let Some(error) = find_other_repository(at, key) {
            return Err(error);
        }
        let needed = key.clone();
        request.caveats.note_needed_files(move |file| file.covers(needed.as_str()));
    }
    let Some((key, part)) = found else {
        return match find_only_definition(&request.shared, at, &params.target, &dir)? {
            Some((key, found)) => question(key, dir).answer_lines(&found.1, Some(&found.0)),
            None => answer_past_path(request, &history, params, at, head, limit, until),
        };
    };
    // The history of a link itself is that of a file.
    let is_in_history = part == PathPart::Whole && is_in_tree(&history, tree, &key);
    if !is_in_history && let Some(error) = explain_link(at, &key, &dir) {
        return Err(error);
    }
    if part != PathPart::Whole && !is_on_disk_or_unanswered(at, &key) {
        let sparse = SparsePaths::read(&at.layout);
        if sparse.leaves_out(key.as_str()) {
            return Err(sparse.build_error(key.as_str(), &dir));
        }
    }
    let question = question(key, dir);
    let definitions = question.list_definitions()?;
    match choose_part(part, &definitions) {
        PathPart::Whole => question.answer_file(),
        PathPart::Line(line) => question.answer_lines(&[(line, line)], None),
        PathPart::Lines(first, last) => question.answer_lines(&[(first, last)], None),
        PathPart::Symbol(name) => {
            question.answer_lines(&question.find_symbol_lines(name, &definitions)?, Some(name))
        }
    }
}

/// Returns the number of lines of a text in any encoding that has ASCII line ends.
fn count_lines(text: &[u8]) -> u32 {
    let n_lines = text.split_inclusive(|byte| *byte == b'\n').count();
    u32::try_from(n_lines).unwrap_or(u32::MAX)
}

/// Returns whether a path is in the worktree, or its file system does not answer.
fn is_on_disk_or_unanswered(at: &Freshness, key: &SourceKey) -> bool {
    let stat = at.disk.lstat(&key.path_in(&at.layout.root));
    stat.map_or_else(|error| error.kind() == io::ErrorKind::TimedOut, |_| true)
}

fn is_in_tree(history: &CommitHistory, tree: ObjectId, key: &SourceKey) -> bool {
    matches!(history.objects.find_tree_entry(tree, key.as_str()), Ok(Some(_)))
}

/// A definition: its title, and the lines of its parts.
type NamedLines = (String, Vec<(u32, u32)>);

/// Returns the only definition of a name in all files; `None` if there is none.
///
/// # Errors
/// When several definitions have the name, or the index cannot be read.
fn find_only_definition(
    shared: &Shared,
    at: &Freshness,
    name: &str,
    dir: &CallerDir,
) -> RpcResult<Option<(SourceKey, NamedLines)>> {
    let found = shared.engine.with_reader(|reader| {
        reader.read_snapshot(|reader| find_definitions(shared, reader, at.worktree, name))
    })?;
    let Some((key, first)) = found.first() else { return Ok(None) };
    if found.iter().any(|(path, other)| path != key || other.title != first.title) {
        return Err(ambiguous_name_error(name, &found, dir));
    }
    let lines = found.iter().map(|(_, found)| found.lines).collect();
    Ok(Some((key.clone(), (first.title.clone(), lines))))
}

/// Answers for a path that exists neither in the worktree nor in `HEAD`, but may have existed.
fn answer_past_path(
    request: &RequestContext,
    history: &CommitHistory,
    params: &WhyParams,
    at: &Freshness,
    head: ObjectId,
    limit: usize,
    until: Instant,
) -> RpcResult<WhyResult> {
    let target = &params.target;
    if let Some(key) = parse_source_key(target, &params.cwd, &at.layout) {
        let log = history.objects.list_path_commits(head, key.as_str(), limit, until)?;
        if !log.touches.is_empty() {
            request.caveats.note_needed_files(|_| false);
            return build_log_result(history, log, &key);
        }
    }
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    dir.resolve_path(target)?;
    let shared = &request.shared;
    let similar = shared
        .engine
        .with_reader(|reader| suggest_similar_targets((shared, reader), at.worktree, target, &dir))?;
    let error = unknown_target_error(&request.caveats, target, similar);
    if error.code != code::NOT_FOUND {
        return Err(error);
    }
    let message = format!("{}, and no file of that name in any commit of this branch", error.message);
    Err(RpcError { message, ..error })
}

/// A question about one path.
struct WhyQuestion<'a> {
    request: &'a RequestContext,
    at: &'a Freshness,
    history: &'a CommitHistory,
    head: ObjectId,
    key: SourceKey,
    /// Path of the file in `head`, if the file was renamed since.
    former_path: Option<String>,
    dir: CallerDir,
    limit: usize,
    until: Instant,
}

impl WhyQuestion<'_> {
    fn path_in_head(&self) -> &str {
        self.former_path.as_deref().unwrap_or(self.key.as_str())
    }

    fn answer_file(&self) -> RpcResult<WhyResult> {
        let log =
            self.history.objects.list_path_commits(self.head, self.path_in_head(), self.limit, self.until);
        let mut result = build_log_result(self.history, log?, &self.key)?;
        // Only a text has uncommitted lines; a directory and a binary file have none.
        if let Ok(stored) = self.read_stored_bytes() {
            let lines = self.history.objects.uncommitted_lines(self.head, self.path_in_head(), &stored);
            result.uncommitted = group_into_spans(&lines?);
        }
        Ok(result)
    }

    fn answer_lines(&self, wanted: &[(u32, u32)], symbol: Option<&str>) -> RpcResult<WhyResult> {
        let stored = self.read_stored_bytes()?;
        let n_lines = count_lines(&stored);
        if let Some(why) = wanted.iter().find_map(|lines| why_beyond_end(*lines, n_lines)) {
            let error = RpcError::new(
                code::NOT_FOUND,
                format!("{}: {why}", self.dir.display_path(self.key.as_str())),
            );
            return Err(error.with_hint("ask for the whole file: `memo why PATH`"));
        }
        let wanted_lines = wanted.iter().flat_map(|(first, last)| *first..=*last).collect();
        let blamed = self.history.objects.blame(
            self.head,
            self.path_in_head(),
            &stored,
            &wanted_lines,
            &self.history.list_ignored_commits(),
            self.until,
        );
        let Blame { commits, moves, uncommitted, unknown, timed_out: late, gaps } = blamed?;
        let more = commits.len() > self.limit;
        let mut result = WhyResult {
            path: self.key.to_string(),
            lines: wanted.to_vec(),
            symbol: symbol.map(str::to_owned),
            uncommitted: group_into_spans(&uncommitted),
            more,
            complete: unknown.is_empty() && gaps.is_empty(),
            reason: why_incomplete(late, &gaps),
            trust: "repo".to_owned(),
            ..WhyResult::default()
        };
        for (id, path, lines) in commits.into_iter().take(self.limit) {
            let (commit, subject, body) = self.history.describe_commit(id)?;
            result.commits.push(WhyCommit { commit, subject, body, path, lines: group_into_spans(&lines) });
        }
        for LineMove { id, from, to, lines } in moves.into_iter().take(self.limit) {
            let (commit, subject, _) = self.history.describe_commit(id)?;
            result.moves.push(WhyMove { commit, subject, from, to, lines: group_into_spans(&lines) });
        }
        Ok(result)
    }

    /// Returns the bytes of the file as git stores them, so that its lines can be compared with those in commits.
    fn read_stored_bytes(&self) -> RpcResult<Vec<u8>> {
        let (layout, settings) = (&self.at.layout, &self.history.settings);
        let most = self.request.shared.engine.config.index.max_file_bytes;
        let Ok(Some(bytes)) = self.at.disk.read_bytes(&layout.root, &self.key, most) else {
            // Returns the error that says why. Without the file, the attribute files beside it cannot be read either.
            return self.read_text().map(String::into_bytes);
        };
        let outside = OutsideAttributes::read(layout, settings, &UserDirs::read());
        let index = layout.git_dir.as_ref().map(|dir| dir.join("index")).unwrap_or_default();
        let tracked = GitIndex::read(&index, settings.object_hash, settings.ignore_case)?;
        let from = (&tracked, Some(&self.history.objects));
        let attributes = Attributes::new(&layout.root, settings, &outside, from);
        let conversion = attributes.find_conversion(self.key.as_str());
        if conversion.stores_unchanged() {
            return self.read_text().map(|_| bytes); // a binary file has no lines
        }
        conversion.convert_for_storage(&bytes).map(Cow::into_owned).ok_or_else(|| {
            let why = "git converts the file (.gitattributes), so its lines differ from those in commits";
            self.no_lines_error(why)
        })
    }

    fn no_lines_error(&self, why: &str) -> RpcError {
        let hint = "ask for the file as a whole: `memo why PATH`";
        bad_params_error(format!("{}: {why}", self.dir.display_path(self.key.as_str()))).with_hint(hint)
    }

    fn read_text(&self) -> RpcResult<String> {
        let most = self.request.shared.engine.config.index.max_file_bytes;
        match self.at.disk.read(&self.at.layout.root, &self.key, most) {
            Ok(FileSnapshot { content: Content::Text(text), .. }) => Ok(text),
            Ok(FileSnapshot { content: Content::Refused(refusal), .. }) => {
                Err(self.no_lines_error(&format!("{}, so it has no lines", refusal.as_str())))
            }
            Err(ReadError::Transient(error) | ReadError::Unreadable(error)) => {
                Err(RpcError::new(code::IO, error.to_string()))
            }
            Err(error) => Err(self.no_lines_error(&format!("no lines to ask about ({error})"))),
        }
    }

    /// Returns the definitions of the file.
    fn list_definitions(&self) -> RpcResult<Vec<Definition>> {
        let engine = &self.request.shared.engine;
        Ok(engine.with_reader(|reader| reader.list_definitions(self.at.worktree, &self.key))?)
    }

    /// Returns the lines of the definitions that match a name.
    fn find_symbol_lines(&self, name: &str, definitions: &[Definition]) -> RpcResult<Vec<(u32, u32)>> {
        let mut lines: Vec<u32> = find_definitions_named(definitions, name)
            .iter()
            .flat_map(|found| found.lines.0..=found.lines.1)
            .collect();
        lines.sort_unstable();
        if !lines.is_empty() {
            return Ok(group_into_spans(&lines));
        }
        self.read_text()?; // a file that cannot be read may define the name
        Err(undefined_name_error(
            &self.request.caveats,
            &self.dir.display_path(self.key.as_str()),
            name,
            definitions,
        ))
    }
}

fn build_log_result(history: &CommitHistory, log: PathLog, key: &SourceKey) -> RpcResult<WhyResult> {
    let PathLog { touches, has_more: more, timed_out: late, gaps } = log;
    let mut commits = Vec::new();
    for touch in touches {
        let (commit, subject, body) = history.describe_commit(touch.id)?;
        commits.push(WhyCommit { commit, subject, body, path: touch.path, lines: Vec::new() });
    }
    Ok(WhyResult {
        path: key.to_string(),
        commits,
        more,
        complete: !late && gaps.is_empty(),
        reason: why_incomplete(late, &gaps),
        trust: "repo".to_owned(),
        ..WhyResult::default()
    })
}

fn why_incomplete(late: bool, gaps: &[String]) -> Option<String> {
    if late {
        return Some(format!("history was searched for {} s, not to its end", BUDGET.as_secs()));
    }
    gaps.first().cloned()
}
