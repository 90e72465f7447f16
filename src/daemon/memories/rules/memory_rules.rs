//! Resolves ids and conditions to memories, and checks texts before they are stored.

use memod_base::clock::to_local_time;
use memod_base::types::memory_file_path;
use memod_memory::{RefusedValue, fields, id, text, time};
use memod_memory_db::{FileSide, JobError, MemoryEvent, MemoryFilter, MemoryRecord, MemoryRows};
use memod_proto::memory::{Selection, Traits};
use memod_proto::{RpcError, code};

use crate::daemon::memories::rules::protocol_values;

/// Most ids that are listed for an ambiguous prefix.
const MOST_CANDIDATES: usize = 10;

/// Result of a job on the rows of memories: a value, or an error that is a refusal or a failure of the database.
pub(in crate::daemon::memories) type JobResult<T> = Result<T, JobError<RpcError>>;

/// Converts the refusal of a field to an error for invalid params.
#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
pub(in crate::daemon::memories) fn field_error(refused: RefusedValue) -> JobError<RpcError> {
    build_refusal(code::INVALID_PARAMS, refused.to_string(), refused.hint)
}

/// Returns the error for invalid params.
pub(in crate::daemon::memories) fn refused_error(message: String, hint: &'static str) -> JobError<RpcError> {
    build_refusal(code::INVALID_PARAMS, message, Some(hint))
}

/// Returns the error for a memory that does not exist.
pub(in crate::daemon::memories) fn not_found_error(
    message: String,
    hint: &'static str,
) -> JobError<RpcError> {
    build_refusal(code::NOT_FOUND, message, Some(hint))
}

/// Returns a refusal with this code, which rolls the transaction back.
fn build_refusal(code: i64, message: String, hint: Option<&str>) -> JobError<RpcError> {
    let error = RpcError::new(code, message);
    JobError::Refused(match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}

/// Returns the memory of this repository with this id or id prefix.
pub(in crate::daemon::memories) fn find_memory(
    rows: &MemoryRows<'_>,
    typed: &str,
) -> JobResult<MemoryRecord> {
    let record = find_memory_or_copy(rows, typed)?;
    match &record.repository {
        None => Ok(record),
        Some(repository) => {
            let message = format!("id: {} belongs to {repository}, and can only be read here", record.id);
            Err(refused_error(
                message,
                "`memo get` and searches show it; change it in a clone of that repository",
            ))
        }
    }
}

/// Like [`find_memory`], but returns the archived memory if an archived and a living memory have the same id.
pub(in crate::daemon::memories) fn find_memory_archived_first(
    rows: &MemoryRows<'_>,
    typed: &str,
) -> JobResult<MemoryRecord> {
    let living = find_memory(rows, typed)?;
    let archived = rows.records().list_with_prefix(&living.id, FileSide::ALL.len())?;
    Ok(archived.into_iter().find(|record| !record.is_living(rows.now_ms())).unwrap_or(living))
}

/// Like [`find_memory`], but also finds copies of memories from other repositories.
pub(in crate::daemon::memories) fn find_memory_or_copy(
    rows: &MemoryRows<'_>,
    typed: &str,
) -> JobResult<MemoryRecord> {
    let beginning = id::parse_prefix(typed).map_err(field_error)?;
    let mut found = rows.records().list_with_prefix(&beginning, MOST_CANDIDATES + 1)?;
    // Our side of a conflict comes first, and a living memory before an archived one.
    found.sort_by_key(|record| (record.id.clone(), !record.is_living(rows.now_ms()), record.side));
    found.dedup_by(|other, first| other.id == first.id);
    match found.len() {
        0 => Err(not_found_here_error(rows, &beginning)?),
        1 => Ok(found.remove(0)),
        n => {
            let candidates: String = found
                .iter()
                .take(MOST_CANDIDATES)
                .map(|record| format!("\n  {}  {}", record.id, protocol_values::to_brief(record).line))
                .collect();
            let (n, more) = match n > MOST_CANDIDATES {
                true => (format!("{MOST_CANDIDATES} or more"), "\n  …"),
                false => (n.to_string(), ""),
            };
            let message = format!("id: {n} ids begin with {beginning}:{candidates}{more}");
            Err(refused_error(message, "give more characters of the id"))
        }
    }
}

/// Returns the error for an id prefix that no memory in this worktree has.
fn not_found_here_error(rows: &MemoryRows<'_>, beginning: &str) -> JobResult<JobError<RpcError>> {
    Ok(match rows.worktrees().find_in_other_worktree(beginning)? {
        None => {
            not_found_error(format!("id: no memory begins with {beginning}"), "`memo list` shows the ids")
        }
        Some((id, place)) => {
            if let Some(why) = rows.files().why_file_hidden(&id)? {
                return Ok(unreadable_error(&id, &why));
            }
            let hint = format!("bring it into this worktree with `memo restore {id}`");
            let message = format!("id: {id} is only in a file of another worktree: {place}");
            JobError::Refused(RpcError::new(code::NOT_FOUND, message).with_hint(hint))
        }
    })
}

/// Like [`find_memory`], but fails if the memory is archived or its file is unreadable.
pub(in crate::daemon::memories) fn find_living(
    rows: &MemoryRows<'_>,
    typed: &str,
    now_ms: i64,
) -> JobResult<MemoryRecord> {
    let record = find_memory(rows, typed)?;
    check_file_readable(rows, &record)?;
    check_living(&record, now_ms)?;
    match rows.team().find_archived_private(&record)? {
        Some(_) => Err(archived_private_error(&record.id)),
        None => Ok(record),
    }
}

/// Returns the error for a change of a memory of the team while a private memory with the same id is archived, because a verb would
/// change the private memory.
pub(in crate::daemon::memories) fn archived_private_error(id: &str) -> JobError<RpcError> {
    let message =
        format!("id: {id} is a memory of the team here, and your memory of that id is in the archive");
    let hint = format!(
        "restore yours with `memo restore {id}`, and choose with `memo resolve {id} --theirs|--both`; then the memory can change"
    );
    JobError::Refused(RpcError::new(code::INVALID_PARAMS, message).with_hint(hint))
}

/// Fails if a memory is in the archive because its file in the worktree cannot be read.
fn check_file_readable(rows: &MemoryRows<'_>, record: &MemoryRecord) -> JobResult<()> {
    match record.archived_at.map(|_| rows.files().why_file_hidden(&record.id)).transpose()?.flatten() {
        Some(why) => Err(unreadable_error(&record.id, &why)),
        None => Ok(()),
    }
}

/// Returns the error for a memory whose file cannot be read.
pub(in crate::daemon::memories) fn unreadable_error(id: &str, why: &str) -> JobError<RpcError> {
    let message = format!("{}: not a memory: {why}; nothing was changed", memory_file_path(id));
    build_refusal(
        code::INVALID_PARAMS,
        message,
        Some("correct the file, or remove it and `memo restore` the memory"),
    )
}

/// Returns whether the title or the text of a memory was changed.
pub(in crate::daemon::memories) fn has_changed_text(before: &MemoryRecord, after: &MemoryRecord) -> bool {
    (&before.title, &before.content) != (&after.title, &after.content)
}

/// Fails if a memory is archived or has expired.
pub(in crate::daemon::memories) fn check_living(record: &MemoryRecord, now_ms: i64) -> JobResult<()> {
    if record.is_living(now_ms) {
        return Ok(());
    }
    Err(refused_error(format!("id: {} is in the archive", record.id), "restore it with `memo restore`"))
}

/// Converts the selection of a request to a filter. Fails if a condition is invalid, or a named memory is not in the selection.
pub(in crate::daemon::memories) fn parse_selection(
    rows: &MemoryRows<'_>,
    selection: &Selection,
    archived: bool,
    now_ms: i64,
) -> JobResult<MemoryFilter> {
    let container =
        selection.container.as_deref().map(fields::validate_container).transpose().map_err(field_error)?;
    let ids = match selection.ids.as_slice() {
        [] => None,
        typed => Some(resolve_selected_ids(rows, typed, container.as_deref(), archived, now_ms)?),
    };
    let expression = match &selection.words {
        Some(words) => Some(text::build_all_words_query(words).ok_or_else(|| {
            refused_error("match: contains no word".to_owned(), "name words of title, tags or content")
        })?),
        None => None,
    };
    let (since, until) = (selection.since.as_deref(), selection.until.as_deref());
    let (since, before) = time::parse_period(since, until, &to_local_time(now_ms)).map_err(field_error)?;
    Ok(MemoryFilter {
        ids,
        container,
        tags: fields::validate_tags(&selection.tags).map_err(field_error)?,
        traits: validate_traits(&selection.traits).map_err(field_error)?,
        since,
        before,
        expression,
        archived,
        ..MemoryFilter::default()
    })
}

/// Validates the conditions on fields of memories, and returns them.
pub(in crate::daemon) fn validate_traits(traits: &Traits) -> Result<Traits, RefusedValue> {
    traits.min_priority.map(fields::validate_priority).transpose()?;
    Ok(traits.clone())
}

/// Resolves typed ids or id prefixes to ids. Fails with the reason if one of the memories is not in the selection.
fn resolve_selected_ids(
    rows: &MemoryRows<'_>,
    typed: &[String],
    container: Option<&str>,
    archived: bool,
    now_ms: i64,
) -> JobResult<Vec<String>> {
    let mut ids = Vec::new();
    for typed in typed {
        let record =
            if archived { find_memory_archived_first(rows, typed)? } else { find_memory(rows, typed)? };
        if !archived {
            check_file_readable(rows, &record)?;
        }
        if record.is_living(now_ms) == archived {
            let (place, hint) = match archived {
                true => ("not in the archive", "`memo forget` puts it there"),
                false => {
                    ("in the archive already", "`memo restore` takes it out, `memo forget purge` deletes it")
                }
            };
            return Err(not_found_error(format!("id: {} is {place}", record.id), hint));
        }
        if let Some(container) = container.filter(|container| *container != record.container) {
            let message =
                format!("id: {} is in container {}, not in {container}", record.id, record.container);
            return Err(refused_error(message, "leave out --container, or name the right one"));
        }
        ids.push(record.id);
    }
    Ok(ids)
}

/// Fails if only some of these memories are the team's, because archiving a memory of the team affects all members.
pub(in crate::daemon::memories) fn check_same_scope(records: &[MemoryRecord]) -> JobResult<()> {
    let n_of_team = records.iter().filter(|record| record.team).count();
    if n_of_team == 0 || n_of_team == records.len() {
        return Ok(());
    }
    let message = "ids: the team has some of these memories, and others are private".to_owned();
    Err(refused_error(
        message,
        "first share all of them with `memo share --team`, or make all private with `memo share remove`",
    ))
}

/// Fails if another living memory of the record's container has the same text.
pub(in crate::daemon::memories) fn check_unique_text(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
) -> JobResult<()> {
    match rows.records().find_memory_with_text(record, &text::hash_content(&record.content))? {
        Some(twin) if twin.id != record.id => {
            let line = protocol_values::to_brief(&twin).line;
            let message = format!("content: {} in {} has this text: {line}", twin.id, twin.container);
            Err(refused_error(message, "forget one of the two, or use another container"))
        }
        _ => Ok(()),
    }
}

/// Gives an archived private memory a new id if a verb removes or unshares another memory that a file has under the same id.
/// Returns a notice about the new id. The notice of a dry run does not name the new id, because a dry run is rolled back.
pub(in crate::daemon::memories) fn move_archived_to_new_id(
    rows: &MemoryRows<'_>,
    id: &str,
    event: &MemoryEvent,
    dry_run: bool,
) -> JobResult<Option<String>> {
    let new_id = rows.private_memories().give_archived_new_id(id, event)?;
    Ok(new_id.map(|new_id| match dry_run {
        true => format!("your archived version of {id} would get a new id"),
        false => format!("your archived version of {id} now has the id {new_id}"),
    }))
}

/// Joins notices into one; `None` if there are none.
pub(in crate::daemon::memories) fn join_notices(notices: &[String]) -> Option<String> {
    (!notices.is_empty()).then(|| notices.join("; "))
}

/// Returns a hash that changes when any of these memories changes.
pub(in crate::daemon::memories) fn digest_records<'a>(
    records: impl IntoIterator<Item = &'a MemoryRecord>,
) -> String {
    let mut hasher = blake3::Hasher::new();
    for record in records {
        hasher.update(record.id.as_bytes()).update(&record.updated.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Fails if the digest of the selected memories is not the expected one: they have changed since they were shown. `done` is the
/// participle of the refused action, for the message.
pub(in crate::daemon::memories) fn check_expected(
    expected: Option<&String>,
    digest: &str,
    done: &str,
) -> JobResult<()> {
    if expected.is_none_or(|expected| expected == digest) {
        return Ok(());
    }
    let message = format!("expect: these memories have changed since they were shown; nothing was {done}");
    Err(refused_error(message, "read them again, then repeat the command"))
}
