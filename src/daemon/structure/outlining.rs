//! Answers `outline`: what a file defines, or the sections of a document, in the order of the text.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::{DeclaredRole, SourceKey, is_inside};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_index_db::{Entry, Reader};
use memod_proto::{OutlineItem, OutlineParams, OutlineResult};
use memod_structure::map::Lines;

use crate::daemon::request::path_spec::own_name;
use crate::daemon::request::{SnapshotAsk, deadline, on_snapshot};
use crate::daemon::shared::Shared;
use crate::daemon::structure::show_code::{MOST_PARTS, Span, spans, text_of};

/// Items in a result when the caller names no number.
const LIMIT: usize = 1_000;
/// Longest signature that is shown, in characters.
const MOST_CHARS: usize = 240;
/// Between the headings of a section.
const HEADINGS: &str = " > ";

/// Answers `outline`.
pub(in crate::daemon) async fn outline(
    shared: &Arc<Shared>,
    params: OutlineParams,
) -> RpcResult<OutlineResult> {
    let began = Instant::now();
    let ask = SnapshotAsk {
        cwd: params.cwd.clone(),
        level: params.sync,
        deadline: deadline(shared, params.wait_ms),
        needs_commits: false,
    };
    let look = move |shared: &Shared, at: &Freshness, _: bool| answer(shared, &params, at);
    let (mut result, why_not) = on_snapshot(shared, ask, look).await?;
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

/// Something of a file that has a place in its outline.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    title: String,
    lines: (u32, u32),
    depth: u32,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Definition,
    /// A block such as an `impl`.
    Scope,
    Section,
}

/// What a target names, with the outline of its file.
type Outlined = (Entry, Span, Items);

/// The outline of a file or of one of its definitions.
struct Items {
    items: Vec<Item>,
    /// Whether the file has more definitions than are kept.
    lacks_some: bool,
}

fn answer(
    shared: &Shared,
    params: &OutlineParams,
    at: &Freshness,
) -> RpcResult<(OutlineResult, Vec<SourceKey>)> {
    let target = (params.target.as_str(), params.cwd.as_str());
    let read = |reader: &Reader| -> RpcResult<(Vec<Outlined>, usize)> {
        let spans = spans(shared, reader, target, at)?;
        let n_spans = spans.len();
        let with_items = |(entry, span): (Entry, Span)| {
            let items = items(reader, at, &span)?;
            Ok((entry, span, items))
        };
        let outlined: RpcResult<_> = spans.into_iter().take(MOST_PARTS).map(with_items).collect();
        Ok((outlined?, n_spans))
    };
    let (outlined, n_spans) = shared.engine.read(|reader: &Reader| reader.snapshot(read))?;
    let mut cut = (n_spans > MOST_PARTS)
        .then(|| format!("{n_spans} definitions have that name, and {MOST_PARTS} are looked at"));
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let (mut shown, mut stale) = (Vec::new(), Vec::new());
    for (entry, Span { key, .. }, Items { items, lacks_some }) in outlined {
        if lacks_some {
            cut.get_or_insert_with(|| format!("{key} is too complex, and some definitions are missing"));
        }
        let Some(text) = text_of(shared, at, &entry, (&key, &dir))? else {
            stale.push(key);
            continue;
        };
        let lines = Lines::of(text);
        shown.extend(items.iter().map(|item| OutlineItem {
            path: key.to_string(),
            cwd_path: dir.shown(key.as_str()),
            text: text_of_item(item, &lines).chars().take(MOST_CHARS).collect(),
            title: item.title.clone(),
            lines: item.lines,
            depth: item.depth,
        }));
    }
    let n_found = shown.len();
    shorten(&mut shown, params.depth, params.limit.unwrap_or(LIMIT));
    let (fresh, reason, trust) = (at.fresh, at.reason.clone(), "repo".to_owned());
    Ok((OutlineResult { items: shown, n_found, cut, fresh, reason, trust, took_ms: 0.0 }, stale))
}

/// Returns the outline of a file or of one of its definitions.
fn items(reader: &Reader, at: &Freshness, span: &Span) -> Result<Items, DatabaseError> {
    let item = |title: String, lines, form| Item { title, lines, depth: 0, form };
    // Overloads of one name are one definition to memories and changes, but each has its place in the structure.
    let structure = reader.structure(at.view, &span.key)?.unwrap_or_default();
    let lacks_some = structure.lacks_definitions;
    let form = |role| if role == DeclaredRole::Scope { Form::Scope } else { Form::Definition };
    let declared = structure.declared.into_iter();
    let mut items: Vec<Item> =
        declared.map(|found| item(found.title, found.lines, form(found.role))).collect();
    if items.is_empty() {
        let definitions = reader.definitions(at.view, &span.key)?.into_iter();
        items = definitions.map(|found| item(found.title, found.lines, Form::Definition)).collect();
    }
    if items.is_empty() {
        items = sections(reader.sections(at.view, &span.key)?);
    } else {
        items.sort_by_key(|item| (item.lines.0, Reverse(item.lines.1), item.form == Form::Definition));
        nest(&mut items);
    }
    if let Some(around) = span.lines {
        let is_within = |item: &Item| around.0 <= item.lines.0 && item.lines.1 <= around.1;
        let is_member = |item: &Item| span.title.as_ref().is_some_and(|title| belongs_to(item, title));
        items.retain(|item| is_within(item) || is_member(item));
    }
    let least = items.iter().map(|item| item.depth).min().unwrap_or(0);
    items.iter_mut().for_each(|item| item.depth -= least);
    Ok(Items { items, lacks_some })
}

/// Whether an item is a member of a type, or a block of its members.
fn belongs_to(item: &Item, title: &str) -> bool {
    let of_block = || item.title.strip_prefix(title).is_some_and(|rest| rest.starts_with(' '));
    is_inside(&item.title, title) || of_block()
}

/// Sets the depths of items that are sorted by lines.
fn nest(items: &mut [Item]) {
    let mut around: Vec<(u32, u32)> = Vec::new();
    for item in items {
        while around.last().is_some_and(|last| last.1 < item.lines.1 || *last == item.lines) {
            around.pop();
        }
        item.depth = around.len() as u32;
        around.push(item.lines);
    }
}

/// Makes one item of each section, and of each heading that has no text of its own.
fn sections(parts: Vec<(String, (u32, u32))>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (title, lines) in parts {
        if let Some(same) = items.last_mut().filter(|last| last.title == title) {
            same.lines.1 = lines.1;
            continue;
        }
        for (end, _) in title.match_indices(HEADINGS).chain([(title.len(), "")]) {
            let heading = &title[..end];
            let depth = heading.matches(HEADINGS).count() as u32;
            let is_known = items.iter().rev().take_while(|item| item.depth >= depth);
            if end == title.len() || !is_known.into_iter().any(|item| item.title == heading) {
                items.push(Item { title: heading.to_owned(), lines, depth, form: Form::Section });
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

fn text_of_item(item: &Item, lines: &Lines) -> String {
    let first = item.lines.0;
    let text = match item.form {
        Form::Section => return item.title.rsplit(HEADINGS).next().unwrap_or_default().to_owned(),
        Form::Scope => None,
        Form::Definition => lines.signature(own_name(&item.title), first).map(|(_, signature)| signature),
    };
    let text = text.unwrap_or_else(|| lines.head(first).to_owned());
    text.trim_end_matches([' ', '{']).to_owned()
}

/// Leaves out what is deeper than asked for, and of too many the innermost.
fn shorten(items: &mut Vec<OutlineItem>, depth: Option<u32>, limit: usize) {
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
