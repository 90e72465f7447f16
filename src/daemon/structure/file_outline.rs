//! Answers `outline`: lists the definitions of a file, or the sections of a document, in the order of the text.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::{DeclaredRole, SourceKey, is_same_or_inside, last_part};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_extract::{format_name, is_named_by_path};
use memod_index_db::{IndexReader, ManifestEntry};
use memod_proto::{OutlineItem, OutlineParams, OutlineResult};
use memod_structure::map::{NumberedLines, contains_path};

use crate::daemon::request::fresh_snapshot::{SnapshotRequest, question_deadline, run_on_snapshot};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::structure::show_code::{MOST_PARTS, TargetSpan, find_spans, read_shown_text};

/// Default maximum number of items in a result.
const LIMIT: usize = 1_000;
/// Maximum number of files of a directory that are outlined.
const MOST_FILES: usize = 100;
/// Default maximum depth of the items of a directory, because a directory has many files.
const DEPTH_IN_DIR: u32 = 1;
/// Longest signature that is shown, in characters.
const MOST_CHARS: usize = 240;
/// Separates the headings in the title of a section.
const HEADING_SEPARATOR: &str = " > ";

/// Answers `outline`.
pub(in crate::daemon) async fn answer_outline(
    request: &Arc<RequestContext>,
    params: OutlineParams,
) -> RpcResult<OutlineResult> {
    let began = Instant::now();
    let ask = SnapshotRequest {
        cwd: params.cwd.clone(),
        level: params.sync,
        deadline: question_deadline(request, params.wait_ms),
        needs_commits: false,
    };
    let (mut result, why_not) =
        run_on_snapshot(request, ask, move |request, at, _| build_outline_result(request, &params, at))
            .await?;
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

/// A definition, block or section in the outline of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutlineEntry {
    title: String,
    lines: (u32, u32),
    /// Line of the name, if it is known; otherwise the name is searched for from the first line on.
    name_line: Option<u32>,
    depth: u32,
    form: EntryForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryForm {
    Definition,
    /// A block of definitions such as an `impl`.
    Scope,
    /// A file that is a component.
    Component,
    Section,
}

impl OutlineEntry {
    fn new(title: String, lines: (u32, u32), form: EntryForm) -> Self {
        Self { title, lines, name_line: None, depth: 0, form }
    }
}

impl EntryForm {
    fn from_role(role: DeclaredRole) -> Self {
        if role == DeclaredRole::Scope { Self::Scope } else { Self::Definition }
    }
}

/// The span that a target names, with the outline of its file.
type TargetOutline = (ManifestEntry, TargetSpan, FileOutline);

/// The outlines that a target names, in the order of paths.
#[derive(Default)]
struct OutlinedTargets {
    outlined: Vec<TargetOutline>,
    /// Why some are missing.
    cut: Option<String>,
    is_dir: bool,
}

/// The outline of a file or of one of its definitions.
struct FileOutline {
    items: Vec<OutlineEntry>,
    /// Whether the file has more definitions than the index keeps for a file.
    lacks_definitions: bool,
}

fn build_outline_result(
    request: &RequestContext,
    params: &OutlineParams,
    at: &Freshness,
) -> RpcResult<(OutlineResult, Vec<SourceKey>)> {
    let target = (params.target.as_str(), params.cwd.as_str());
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let read = |reader: &IndexReader| match find_directory(&params.target, &dir, at) {
        Some(path) => outline_directory(request, reader, &path, at),
        None => outline_target(request, reader, target, at),
    };
    let OutlinedTargets { outlined, mut cut, is_dir } =
        request.shared.engine.with_reader(|reader: &IndexReader| reader.read_snapshot(read))?;
    let (mut shown, mut stale) = (Vec::new(), Vec::new());
    for (entry, TargetSpan { key, .. }, FileOutline { items, lacks_definitions: lacks_some }) in outlined {
        if lacks_some {
            cut.get_or_insert_with(|| format!("{key} is too complex, and some definitions are missing"));
        }
        let Some(text) = read_shown_text(&request.shared, at, &entry, (&key, &dir))? else {
            stale.push(key);
            continue;
        };
        let lines = NumberedLines::new(text);
        shown.extend(items.iter().map(|item| OutlineItem {
            path: key.to_string(),
            cwd_path: dir.relative_path(key.as_str()),
            text: render_entry(item, &lines).chars().take(MOST_CHARS).collect(),
            title: item.title.clone(),
            lines: item.lines,
            depth: item.depth,
        }));
    }
    let n_found = shown.len();
    let depth = params.depth.or(is_dir.then_some(DEPTH_IN_DIR));
    drop_deepest_items(&mut shown, depth, params.limit.unwrap_or(LIMIT));
    let (fresh, reason, trust) = (at.fresh, at.reason.clone(), "repo".to_owned());
    Ok((OutlineResult { items: shown, n_found, cut, fresh, reason, trust, took_ms: 0.0 }, stale))
}

fn outline_target(
    request: &RequestContext,
    reader: &IndexReader,
    target: (&str, &str),
    at: &Freshness,
) -> RpcResult<OutlinedTargets> {
    let spans = find_spans(request, reader, target, at)?;
    let n_spans = spans.len();
    let mut found = OutlinedTargets::default();
    for (entry, span) in spans.into_iter().take(MOST_PARTS) {
        let outline = read_file_outline(reader, at, &span)?;
        found.outlined.push((entry, span, outline));
    }
    found.cut = (n_spans > MOST_PARTS)
        .then(|| format!("{n_spans} definitions have that name; only {MOST_PARTS} are listed"));
    Ok(found)
}

/// Returns the path of the directory that a target names, relative to the top; `None` if it names none.
fn find_directory(target: &str, dir: &CallerDir, at: &Freshness) -> Option<String> {
    let path = dir.resolve_path(target).ok()?;
    at.disk.lstat(&at.layout.root.join(&path)).is_ok_and(|stat| stat.is_dir()).then_some(path)
}

/// Returns the outlines of the files in a directory that define something or have sections.
fn outline_directory(
    request: &RequestContext,
    reader: &IndexReader,
    dir: &str,
    at: &Freshness,
) -> RpcResult<OutlinedTargets> {
    let needed = dir.to_owned();
    request.caveats.note_needed_files(move |file| contains_path(&needed, &file.path) || file.covers(&needed));
    let mut found = OutlinedTargets { is_dir: true, ..OutlinedTargets::default() };
    let paths = reader.list_paths(at.worktree)?.into_iter().filter(|(_, refusal)| refusal.is_none());
    let mut n_left_out = 0_u64;
    for (path, _) in paths.filter(|(path, _)| contains_path(dir, path)) {
        let key = SourceKey::new(path);
        let Some(entry) = reader.find_entry(at.worktree, &key)?.filter(|entry| entry.hash.is_some()) else {
            continue;
        };
        let span = TargetSpan { key, lines: None, title: None, n_overloads: 0 };
        let outline = read_file_outline(reader, at, &span)?;
        if outline.items.is_empty() {
            continue;
        }
        match found.outlined.len() < MOST_FILES {
            true => found.outlined.push((entry, span, outline)),
            false => n_left_out += 1,
        }
    }
    found.cut = (n_left_out > 0).then(|| {
        format!("the directory has {n_left_out} more files with definitions; `memo map DIR` ranks its files")
    });
    Ok(found)
}

/// Returns the outline of a file or of one of its definitions.
fn read_file_outline(
    reader: &IndexReader,
    at: &Freshness,
    span: &TargetSpan,
) -> Result<FileOutline, DatabaseError> {
    // For memories and changes, the overloads of a name are one definition; the structure of the file has each of them.
    let structure = reader.read_structure(at.worktree, &span.key)?.unwrap_or_default();
    let lacks_some = structure.lacks_definitions;
    let is_component = is_named_by_path(format_name(span.key.as_str(), ""));
    let declared = structure.declared.into_iter().enumerate();
    let mut items: Vec<OutlineEntry> = declared
        .map(|(nth, found)| {
            // The first definition of a component is the component itself.
            let form = match is_component && nth == 0 {
                true => EntryForm::Component,
                false => EntryForm::from_role(found.role),
            };
            let name_line = Some(found.name_at.0);
            OutlineEntry { name_line, ..OutlineEntry::new(found.title, found.lines, form) }
        })
        .collect();
    if items.is_empty() {
        let definitions = reader.list_definitions(at.worktree, &span.key)?.into_iter();
        items = definitions
            .map(|found| OutlineEntry::new(found.title, found.lines, EntryForm::Definition))
            .collect();
    }
    if items.is_empty() {
        items = list_sections(reader.list_sections(at.worktree, &span.key)?);
    } else {
        items.sort_by_key(|item| (item.lines.0, Reverse(item.lines.1), item.form == EntryForm::Definition));
        set_depths(&mut items);
    }
    if let Some(around) = span.lines {
        items.retain(|item| {
            let is_within = around.0 <= item.lines.0 && item.lines.1 <= around.1;
            is_within || span.title.as_ref().is_some_and(|title| is_part_of_type(item, title))
        });
    }
    let least = items.iter().map(|item| item.depth).min().unwrap_or(0);
    items.iter_mut().for_each(|item| item.depth -= least);
    Ok(FileOutline { items, lacks_definitions: lacks_some })
}

/// Returns whether an item is a member of the type with this title, or a block of its members.
fn is_part_of_type(item: &OutlineEntry, title: &str) -> bool {
    is_same_or_inside(&item.title, title)
        || item.title.strip_prefix(title).is_some_and(|rest| rest.starts_with(' '))
}

/// Sets the depths of items, which are sorted by lines: the number of items around each.
fn set_depths(items: &mut [OutlineEntry]) {
    let mut around: Vec<(u32, u32)> = Vec::new();
    for item in items {
        while around.last().is_some_and(|last| last.1 < item.lines.1 || *last == item.lines) {
            around.pop();
        }
        item.depth = around.len() as u32;
        around.push(item.lines);
    }
}

/// Returns an item for each section, and for each heading that has no text of its own.
fn list_sections(parts: Vec<(String, (u32, u32))>) -> Vec<OutlineEntry> {
    let mut items: Vec<OutlineEntry> = Vec::new();
    for (title, lines) in parts {
        if let Some(same) = items.last_mut().filter(|last| last.title == title) {
            same.lines.1 = lines.1;
            continue;
        }
        for (end, _) in title.match_indices(HEADING_SEPARATOR).chain([(title.len(), "")]) {
            let heading = &title[..end];
            let depth = heading.matches(HEADING_SEPARATOR).count() as u32;
            let is_known = items.iter().rev().take_while(|item| item.depth >= depth);
            if end == title.len() || !is_known.into_iter().any(|item| item.title == heading) {
                items.push(OutlineEntry {
                    depth,
                    ..OutlineEntry::new(heading.to_owned(), lines, EntryForm::Section)
                });
            }
        }
    }
    // A section ends where the next one of its level begins.
    let ends: Vec<u32> = (0..items.len())
        .map(|at| {
            let inside = items[at..].iter().enumerate();
            let inside = inside.take_while(|(nth, item)| *nth == 0 || item.depth > items[at].depth);
            inside.map(|(_, item)| item.lines.1).max().unwrap_or(items[at].lines.1)
        })
        .collect();
    items.iter_mut().zip(ends).for_each(|(item, end)| item.lines.1 = end);
    items
}

fn render_entry(item: &OutlineEntry, lines: &NumberedLines) -> String {
    let first = item.lines.0;
    let text = match item.form {
        EntryForm::Section => {
            return item.title.rsplit(HEADING_SEPARATOR).next().unwrap_or_default().to_owned();
        }
        EntryForm::Scope => None,
        // The text of a component has no line with its name.
        EntryForm::Component => return format!("component {}", item.title),
        EntryForm::Definition => {
            let first = item.name_line.unwrap_or(first);
            let signature =
                lines.find_signature(last_part(&item.title), first).map(|(_, signature)| signature);
            // The first line of a resource, `Deployment/web`, says little.
            signature.or_else(|| item.title.contains('/').then(|| item.title.clone()))
        }
    };
    let text = text.unwrap_or_else(|| lines.first_code_line(first).to_owned());
    text.trim_end_matches([' ', '{', ',']).to_owned()
}

/// Removes items that are deeper than requested, and the deepest ones as long as there are more than `limit`.
fn drop_deepest_items(items: &mut Vec<OutlineItem>, depth: Option<u32>, limit: usize) {
    items.retain(|item| depth.is_none_or(|depth| item.depth < depth));
    while items.len() > limit {
        let deepest = items.iter().map(|item| item.depth).max().unwrap_or(0);
        if deepest == 0 {
            items.truncate(limit);
            return;
        }
        items.retain(|item| item.depth < deepest);
    }
}
