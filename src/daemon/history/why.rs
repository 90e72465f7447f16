//! Finds the commits behind a file, a line or a definition.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_base::paths::CallerDir;
use memod_base::types::SourceKey;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_git::{Attributes, Blame, LineMove, Log, ObjectId, OutsideAttributes, Tracked, UserDirs};
use memod_index_db::Reader;
use memod_proto::{AnswerPart, RpcError, Sync, WhyCommit, WhyMove, WhyParams, WhyResult, code};
use memod_scan::{Content, Read, ReadError};

use crate::daemon::definitions::named_definitions::{definitions_named, nothing, several, undefined};
use crate::daemon::memories::memories_for_path::memories_for_path;
use crate::daemon::memories::states::note_unsure;
use crate::daemon::request::caveats;
use crate::daemon::request::commit_history::{History, key_of, spans};
use crate::daemon::request::error::bad_params;
use crate::daemon::request::path_spec::{Part, beyond, named, parse};
use crate::daemon::request::{deadline, freshness, reading_files};
use crate::daemon::shared::Shared;

/// Time limit for searching history; the answer has what was found by then.
const BUDGET: Duration = Duration::from_secs(10);
/// Default and maximum number of commits.
const LIMIT: (usize, usize) = (10, 1_000);

/// Answers `why`.
pub(in crate::daemon) async fn why(shared: &Arc<Shared>, params: WhyParams) -> RpcResult<WhyResult> {
    let began = Instant::now();
    // A definition is found in the index, a path on the disk.
    let is_path = params.target.contains('/') && !params.target.contains('#');
    let level = if is_path { Sync::None } else { Sync::Fs };
    let at = freshness(shared, &params.cwd, level, deadline(shared, None)).await?;
    let cwd = params.cwd.clone();
    let answer = move |shared: &Shared, at: &Freshness| answer(shared, &params, at, began + BUDGET);
    let mut result = reading_files(shared, at, answer).await?;
    match memories_for_path(shared, &cwd, &result.path, &result.lines, deadline(shared, None)).await {
        Ok((memories, unsure)) => {
            result.memories = memories;
            note_unsure(unsure);
        }
        // Without memories, history alone is an answer.
        Err(error) => caveats::note(AnswerPart::Memories, error.message),
    }
    let (fresh, took_ms) = (result.complete, began.elapsed().as_secs_f64() * 1_000.0);
    Ok(WhyResult { fresh, took_ms, ..result })
}

fn answer(shared: &Shared, params: &WhyParams, at: &Freshness, until: Instant) -> RpcResult<WhyResult> {
    let limit = params.limit.unwrap_or(LIMIT.0);
    if !(1..=LIMIT.1).contains(&limit) {
        let message = format!("limit: {limit} is not between 1 and {}", LIMIT.1);
        return Err(bad_params(message).with_hint("leave it out for ten"));
    }
    let past = History::open(at)?;
    let head = past.resolve(&at.layout, "HEAD")?;
    let tree = past.objects.node(head)?.tree;
    let in_head = |key: &SourceKey| matches!(past.objects.entry(tree, key.as_str()), Ok(Some(_)));
    let exists = |path: &str| {
        let key = key_of(path, &params.cwd, &at.layout)?;
        let is_absent = |error: io::Error| error.kind() != io::ErrorKind::TimedOut; // what does not answer may be there
        let is_absent = at.disk.lstat(&at.layout.root.join(key.as_str())).is_err_and(is_absent);
        (!is_absent || in_head(&key)).then_some(key)
    };
    let mut parse = parse(&params.target).into_iter();
    let found = parse.find_map(|(path, part)| Some((exists(path)?, part)));
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let question = |key: SourceKey, dir| {
        let former = if in_head(&key) { None } else { former_name((shared, at), &past, tree, &key, until) };
        Question { shared, at, past: &past, head, key, former, dir, limit, until }
    };
    if let Some((key, _)) = &found {
        let needed = key.clone();
        caveats::needs_only(move |file| file.covers(needed.as_str()));
    }
    let Some((key, part)) = found else {
        return match definition(shared, at, &params.target, &dir)? {
            Some((key, found)) => question(key, dir).lines(&found.1, Some(&found.0)),
            None => past_path(&past, params, at, head, limit, until),
        };
    };
    let question = question(key, dir);
    match part {
        Part::Whole => question.whole(),
        Part::Lines(first, last) => question.lines(&[(first, last)], None),
        Part::Symbol(name) => question.lines(&question.symbol_lines(name)?, Some(name)),
    }
}

/// A definition: its title, and the lines of its parts.
type Named = (String, Vec<(u32, u32)>);

/// Returns the only definition of a name, in whatever file.
fn definition(
    shared: &Shared,
    at: &Freshness,
    name: &str,
    dir: &CallerDir,
) -> RpcResult<Option<(SourceKey, Named)>> {
    let read = |reader: &Reader| reader.snapshot(|reader| definitions_named(shared, reader, at.view, name));
    let found = shared.engine.read(read)?;
    let Some((key, first)) = found.first() else { return Ok(None) };
    if found.iter().any(|(path, other)| path != key || other.title != first.title) {
        return Err(several(name, &found, dir));
    }
    let lines = found.iter().map(|(_, found)| found.lines).collect();
    Ok(Some((key.clone(), (first.title.clone(), lines))))
}

/// Answers for a path that exists neither in the worktree nor in `HEAD`, but may have existed.
fn past_path(
    past: &History,
    params: &WhyParams,
    at: &Freshness,
    head: ObjectId,
    limit: usize,
    until: Instant,
) -> RpcResult<WhyResult> {
    let target = &params.target;
    if let Some(key) = key_of(target, &params.cwd, &at.layout) {
        let log = past.objects.log(head, key.as_str(), limit, until)?;
        if !log.touches.is_empty() {
            caveats::needs_only(|_| false);
            return of_log(past, log, &key);
        }
    }
    CallerDir::new(&at.layout, Path::new(&params.cwd)).path(target)?;
    let error = nothing(target);
    let message = format!("{}, and no commit of this branch has that file", error.message);
    Err(RpcError { message, ..error })
}

/// A question about one path.
struct Question<'a> {
    shared: &'a Shared,
    at: &'a Freshness,
    past: &'a History,
    head: ObjectId,
    key: SourceKey,
    /// Its name in `head`, where it was renamed since.
    former: Option<String>,
    dir: CallerDir,
    limit: usize,
    until: Instant,
}

/// Returns the name that a file of the worktree has in a tree, if it was renamed and that is not committed yet.
fn former_name(
    (shared, at): (&Shared, &Freshness),
    past: &History,
    tree: ObjectId,
    key: &SourceKey,
    until: Instant,
) -> Option<String> {
    let root = &at.layout.root;
    let Ok(Read { content: Content::Text(text), .. }) =
        at.disk.read(root, key, shared.engine.config.index.max_file_bytes)
    else {
        return None;
    };
    let is_gone = |path: &str| {
        at.disk.lstat(&root.join(path)).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    past.objects.name_in_tree(tree, (key.as_str(), text.as_bytes()), is_gone, until).ok().flatten()
}

impl Question<'_> {
    fn name_in_head(&self) -> &str {
        self.former.as_deref().unwrap_or(self.key.as_str())
    }

    fn whole(&self) -> RpcResult<WhyResult> {
        let log = self.past.objects.log(self.head, self.name_in_head(), self.limit, self.until);
        let mut result = of_log(self.past, log?, &self.key)?;
        // A directory or binary file is committed as a whole, and a text line by line.
        if let Ok(text) = self.stored_text() {
            let lines = self.past.objects.uncommitted_lines(self.head, self.name_in_head(), text.as_bytes());
            result.uncommitted = spans(&lines?);
        }
        Ok(result)
    }

    fn lines(&self, wanted: &[(u32, u32)], symbol: Option<&str>) -> RpcResult<WhyResult> {
        let text = self.stored_text()?;
        let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        if let Some(why) = wanted.iter().find_map(|lines| beyond(*lines, n_lines)) {
            let error =
                RpcError::new(code::NOT_FOUND, format!("{}: {why}", self.dir.display(self.key.as_str())));
            return Err(error.with_hint("ask for the whole: `memo why PATH`"));
        }
        let wanted_lines = wanted.iter().flat_map(|(first, last)| *first..=*last).collect();
        let blamed = self.past.objects.blame(
            self.head,
            self.name_in_head(),
            text.as_bytes(),
            &wanted_lines,
            self.until,
        );
        let Blame { commits, moves, uncommitted, unknown, late, gaps } = blamed?;
        let more = commits.len() > self.limit;
        let mut result = WhyResult {
            path: self.key.to_string(),
            lines: wanted.to_vec(),
            symbol: symbol.map(str::to_owned),
            uncommitted: spans(&uncommitted),
            more,
            complete: unknown.is_empty() && gaps.is_empty(),
            reason: reason(late, &gaps),
            trust: "repo".to_owned(),
            ..WhyResult::default()
        };
        for (id, path, lines) in commits.into_iter().take(self.limit) {
            let (commit, subject, body) = self.past.describe(id)?;
            result.commits.push(WhyCommit { commit, subject, body, path, lines: spans(&lines) });
        }
        for LineMove { id, from, to, lines } in moves.into_iter().take(self.limit) {
            let (commit, subject, _) = self.past.describe(id)?;
            result.moves.push(WhyMove { commit, subject, from, to, lines: spans(&lines) });
        }
        Ok(result)
    }

    /// Returns the text as git stores it, which has the same lines.
    fn stored_text(&self) -> RpcResult<String> {
        // Where the file system does not answer, it does not for the attributes beside the file either.
        if self.at.disk.lstat(&self.at.layout.root.join(self.key.as_str())).is_err() {
            return self.text();
        }
        let (layout, settings) = (&self.at.layout, &self.past.settings);
        let outside = OutsideAttributes::read(layout, settings, &UserDirs::read());
        let index = layout.git_dir.as_ref().map(|dir| dir.join("index")).unwrap_or_default();
        let tracked = Tracked::read(&index, settings.object_hash, settings.ignore_case)?;
        let from = (&tracked, Some(&self.past.objects));
        let attributes = Attributes::new(&layout.root, settings, &outside, from);
        let conversion = attributes.conversion(self.key.as_str());
        if conversion.is_none() {
            return self.text();
        }
        let most = self.shared.engine.config.index.max_file_bytes;
        let bytes = self.at.disk.bytes(&layout.root, &self.key, most).ok().flatten();
        let stored = bytes.as_deref().and_then(|bytes| conversion.stored(bytes)).map(Cow::into_owned);
        stored.and_then(|stored| String::from_utf8(stored).ok()).ok_or_else(|| {
            let why = "git converts it (.gitattributes), so its lines are not those of its commits";
            self.refused(why)
        })
    }

    fn refused(&self, why: &str) -> RpcError {
        let hint = "ask for the file as a whole: `memo why PATH`";
        bad_params(format!("{}: {why}", self.dir.display(self.key.as_str()))).with_hint(hint)
    }

    fn text(&self) -> RpcResult<String> {
        let most = self.shared.engine.config.index.max_file_bytes;
        match self.at.disk.read(&self.at.layout.root, &self.key, most) {
            Ok(Read { content: Content::Text(text), .. }) => Ok(text),
            Ok(Read { content: Content::Refused(refusal), .. }) => {
                Err(self.refused(&format!("{}, so it has no lines", refusal.as_str())))
            }
            Err(ReadError::Transient(error) | ReadError::Unreadable(error)) => {
                Err(RpcError::new(code::IO, error.to_string()))
            }
            Err(error) => Err(self.refused(&format!("no lines to ask about ({error})"))),
        }
    }

    /// Returns the lines of the definitions that match a name.
    fn symbol_lines(&self, name: &str) -> RpcResult<Vec<(u32, u32)>> {
        let read = |reader: &Reader| reader.definitions(self.at.view, &self.key);
        let definitions = self.shared.engine.read(read)?;
        let mut lines: Vec<u32> =
            named(&definitions, name).iter().flat_map(|found| found.lines.0..=found.lines.1).collect();
        lines.sort_unstable();
        if !lines.is_empty() {
            return Ok(spans(&lines));
        }
        self.text()?; // what may not be read may define it
        Err(undefined(&self.dir.display(self.key.as_str()), name, &definitions))
    }
}

fn of_log(past: &History, log: Log, key: &SourceKey) -> RpcResult<WhyResult> {
    let Log { touches, more, late, gaps } = log;
    let mut commits = Vec::new();
    for touch in touches {
        let (commit, subject, body) = past.describe(touch.id)?;
        commits.push(WhyCommit { commit, subject, body, path: touch.path, lines: Vec::new() });
    }
    Ok(WhyResult {
        path: key.to_string(),
        commits,
        more,
        complete: !late && gaps.is_empty(),
        reason: reason(late, &gaps),
        trust: "repo".to_owned(),
        ..WhyResult::default()
    })
}

fn reason(late: bool, gaps: &[String]) -> Option<String> {
    if late {
        return Some(format!("history was searched for {} s, not to its end", BUDGET.as_secs()));
    }
    gaps.first().cloned()
}
