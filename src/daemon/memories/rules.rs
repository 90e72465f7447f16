//! Resolves ids and conditions to memories, and checks texts before they are stored.

use memod_base::types::memory_file;
use memod_engine::clock::local;
use memod_memory::{Refused, fields, id, text, time};
use memod_memory_db::{MemoryEvent, MemoryFilter, Record, Rows, Side, Stopped};
use memod_proto::memory::{Selection, Traits};
use memod_proto::{RpcError, code};

use super::show;

/// Most ids that are listed for an ambiguous prefix.
const MOST_CANDIDATES: usize = 10;

/// Result of a job on the rows: a value, a refusal, or a failure of the database.
pub(super) type Done<T> = Result<T, Stopped<RpcError>>;

#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
pub(super) fn bad(refused: Refused) -> Stopped<RpcError> {
    error(code::INVALID_PARAMS, refused.to_string(), refused.hint)
}

pub(super) fn refused(message: String, hint: &'static str) -> Stopped<RpcError> {
    error(code::INVALID_PARAMS, message, Some(hint))
}

pub(super) fn not_found(message: String, hint: &'static str) -> Stopped<RpcError> {
    error(code::NOT_FOUND, message, Some(hint))
}

fn error(code: i64, message: String, hint: Option<&str>) -> Stopped<RpcError> {
    let error = RpcError::new(code, message);
    Stopped::Refused(match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}

/// Returns the memory of this repository with this id or id prefix.
pub(super) fn find(rows: &Rows<'_>, typed: &str) -> Done<Record> {
    let record = find_copies_too(rows, typed)?;
    match &record.repository {
        None => Ok(record),
        Some(repository) => {
            let message = format!("id: {} is of {repository}, and only read here", record.id);
            Err(refused(message, "`memo get` and searches show it; change it in a clone of that repository"))
        }
    }
}

/// Like [`find`]; of two under one id the one in the archive.
pub(super) fn find_archived(rows: &Rows<'_>, typed: &str) -> Done<Record> {
    let living = find(rows, typed)?;
    let archived = rows.beginning(&living.id, Side::ALL.len())?;
    Ok(archived.into_iter().find(|record| !record.lives(rows.now_ms())).unwrap_or(living))
}

/// Like [`find`], also among copies of what other repositories have.
pub(super) fn find_copies_too(rows: &Rows<'_>, typed: &str) -> Done<Record> {
    let beginning = id::parse_prefix(typed).map_err(bad)?;
    let mut found = rows.beginning(&beginning, MOST_CANDIDATES + 1)?;
    // The sides of a conflict, ours first; what a file says before what this user has in the archive.
    found.sort_by_key(|record| (record.id.clone(), !record.lives(rows.now_ms()), record.side));
    found.dedup_by(|other, first| other.id == first.id);
    match found.len() {
        0 => Err(not_found_here(rows, &beginning)?),
        1 => Ok(found.remove(0)),
        n => {
            let line = |record: &Record| format!("\n  {}  {}", record.id, show::brief(record).line);
            let candidates: String = found.iter().take(MOST_CANDIDATES).map(line).collect();
            let (n, more) = if n > MOST_CANDIDATES { (MOST_CANDIDATES, "\n  …") } else { (n, "") };
            let message = format!("id: {beginning} begins {n} ids{}{candidates}{more}", or_more(more));
            Err(refused(message, "type more of the one that is meant"))
        }
    }
}

/// Returns the error for a beginning of ids that the worktree has not.
fn not_found_here(rows: &Rows<'_>, beginning: &str) -> Done<Stopped<RpcError>> {
    Ok(match rows.find_elsewhere(beginning)? {
        None => not_found(format!("id: no memory begins with {beginning}"), "`memo list` shows the ids"),
        Some((id, place)) => {
            if let Some(why) = rows.file_trouble(&id)? {
                return Ok(unreadable(&id, &why));
            }
            let hint = format!("`memo restore {id}` brings it into this one");
            let message = format!("id: {id} is a file of another worktree alone: {place}");
            Stopped::Refused(RpcError::new(code::NOT_FOUND, message).with_hint(hint))
        }
    })
}

/// Like [`find`], among living memories.
pub(super) fn find_living(rows: &Rows<'_>, typed: &str, now_ms: i64) -> Done<Record> {
    let record = find(rows, typed)?;
    check_file(rows, &record)?;
    must_live(&record, now_ms)?;
    match rows.archived_beside(&record)? {
        Some(_) => Err(archived_beside(&record.id)),
        None => Ok(record),
    }
}

/// Returns the error for a memory of the team while one of this user alone is in the archive under its id, which a verb would change.
pub(super) fn archived_beside(id: &str) -> Stopped<RpcError> {
    let message = format!("id: {id} is the team's here, because yours of that id is in the archive");
    let hint = format!(
        "`memo restore {id}` shows yours beside it; then `memo resolve {id} --theirs|--both` ends that, and verbs change it"
    );
    Stopped::Refused(RpcError::new(code::INVALID_PARAMS, message).with_hint(hint))
}

/// Fails if a memory is in the archive because its file in the worktree cannot be read.
fn check_file(rows: &Rows<'_>, record: &Record) -> Done<()> {
    match record.archived_at.map(|_| rows.file_trouble(&record.id)).transpose()?.flatten() {
        Some(why) => Err(unreadable(&record.id, &why)),
        None => Ok(()),
    }
}

/// Returns the error for a memory whose file cannot be read.
pub(super) fn unreadable(id: &str, why: &str) -> Stopped<RpcError> {
    let message = format!("{}: is no memory: {why}; nothing was changed", memory_file(id));
    error(code::INVALID_PARAMS, message, Some("correct the file, or remove it and `memo restore` the memory"))
}

/// Returns whether the title or the text of a memory was changed.
pub(super) fn says_other(before: &Record, after: &Record) -> bool {
    (&before.title, &before.content) != (&after.title, &after.content)
}

/// Returns the error for a change of an archived memory.
pub(super) fn must_live(record: &Record, now_ms: i64) -> Done<()> {
    if record.lives(now_ms) {
        return Ok(());
    }
    Err(refused(format!("id: {} is in the archive", record.id), "`memo restore` takes it out"))
}

fn or_more(more: &str) -> &'static str {
    if more.is_empty() { ":" } else { " or more:" }
}

/// Parses the selection of a request.
pub(super) fn memory_filter(
    rows: &Rows<'_>,
    selection: &Selection,
    archived: bool,
    now_ms: i64,
) -> Done<MemoryFilter> {
    let container =
        selection.container.as_deref().map(fields::validate_container).transpose().map_err(bad)?;
    let ids = match selection.ids.as_slice() {
        [] => None,
        typed => Some(ids(rows, typed, container.as_deref(), archived, now_ms)?),
    };
    let no_words = || refused("match: no word in it".to_owned(), "name words of title, tags or content");
    let expression = match &selection.words {
        Some(words) => Some(text::all_words(words).ok_or_else(no_words)?),
        None => None,
    };
    let (since, until) = (selection.since.as_deref(), selection.until.as_deref());
    let (since, before) = time::parse_period(since, until, &local(now_ms)).map_err(bad)?;
    Ok(MemoryFilter {
        ids,
        container,
        tags: fields::validate_tags(&selection.tags).map_err(bad)?,
        traits: traits(&selection.traits).map_err(bad)?,
        since,
        before,
        expression,
        archived,
        ..MemoryFilter::default()
    })
}

/// Validates the conditions on fields.
pub(in crate::daemon) fn traits(traits: &Traits) -> Result<Traits, Refused> {
    traits.min_priority.map(fields::validate_priority).transpose()?;
    Ok(traits.clone())
}

/// Explains why a memory that was named by id is not in the selection.
fn ids(
    rows: &Rows<'_>,
    typed: &[String],
    container: Option<&str>,
    archived: bool,
    now_ms: i64,
) -> Done<Vec<String>> {
    let mut ids = Vec::new();
    for typed in typed {
        let record = if archived { find_archived(rows, typed)? } else { find(rows, typed)? };
        if !archived {
            check_file(rows, &record)?;
        }
        if record.lives(now_ms) == archived {
            let (place, hint) = match archived {
                true => ("not in the archive", "`memo forget` puts it there"),
                false => ("in the archive already", "`memo restore` takes it out, `memo purge` deletes it"),
            };
            return Err(not_found(format!("id: {} is {place}", record.id), hint));
        }
        if let Some(container) = container.filter(|container| *container != record.container) {
            let message =
                format!("id: {} is in container {}, not in {container}", record.id, record.container);
            return Err(refused(message, "leave out --container, or name the right one"));
        }
        ids.push(record.id);
    }
    Ok(ids)
}

/// Fails if the team has some of these memories and not all: archiving them is for everybody.
pub(super) fn same_scope(records: &[Record]) -> Done<()> {
    let n_of_team = records.iter().filter(|record| record.team).count();
    if n_of_team == 0 || n_of_team == records.len() {
        return Ok(());
    }
    let message = "ids: the team has some of them, and others are yours alone".to_owned();
    Err(refused(message, "`memo share --team` or `memo unshare` makes them alike"))
}

/// Fails if another living memory of the container has the same text.
pub(super) fn check_text(rows: &Rows<'_>, record: &Record) -> Done<()> {
    match rows.same_text(record, &text::hash(&record.content))? {
        Some(twin) if twin.id != record.id => {
            let line = show::brief(&twin).line;
            let message = format!("content: {} in {} has this text: {line}", twin.id, twin.container);
            Err(refused(message, "forget one of the two, or use another container"))
        }
        _ => Ok(()),
    }
}

/// Gives what this user has in the archive an id of its own, if a file says something else under its id, which a verb makes this
/// user's too. Returns a notice on that; one of a dry run, which is undone, names no id.
pub(super) fn part_from_archived(
    rows: &Rows<'_>,
    id: &str,
    event: &MemoryEvent,
    dry_run: bool,
) -> Done<Option<String>> {
    let new_id = rows.part_from_archived(id, event)?;
    Ok(new_id.map(|new_id| match dry_run {
        true => format!("what you have of {id} in the archive would get an id of its own"),
        false => format!("what you had of {id} in the archive is {new_id} now"),
    }))
}

/// Returns notices as one; `None` if there are none.
pub(super) fn joined(notices: &[String]) -> Option<String> {
    (!notices.is_empty()).then(|| notices.join("; "))
}

/// Returns a hash that changes when any of these memories changes.
pub(super) fn digest<'a>(records: impl IntoIterator<Item = &'a Record>) -> String {
    let mut hasher = blake3::Hasher::new();
    for record in records {
        hasher.update(record.id.as_bytes()).update(&record.updated.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Fails if the selection is not the one that was shown.
pub(super) fn check_expected(expected: Option<&String>, digest: &str, done: &str) -> Done<()> {
    if expected.is_none_or(|expected| expected == digest) {
        return Ok(());
    }
    let message = format!("expect: these memories have changed since they were shown; nothing was {done}");
    Err(refused(message, "look at them again"))
}
