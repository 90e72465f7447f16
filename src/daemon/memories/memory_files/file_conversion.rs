//! Converts between a memory and its file.

use memod_base::paths::RepoLayout;
use memod_database::DatabaseError;
use memod_memory::RefusedValue;
use memod_memory::file::{self, MemoryFile};
use memod_memory_db::{
    FILE_SOURCE, FileSide, FileVersion, JobError, MemoriesInFile, MemoryFileSnapshot, MemoryRecord,
    MemoryRows,
};
use memod_proto::RpcError;
use memod_proto::memory::LinkKind;

use crate::daemon::memories::rules::memory_rules::{JobResult, refused_error, unreadable_error};
use crate::daemon::memories::rules::render_file::build_file;

/// Returns the memory that a file contains, and the links of the memory.
fn to_record(id: String, file: MemoryFile) -> (MemoryRecord, Vec<(LinkKind, String)>) {
    let record = MemoryRecord {
        id,
        content: file.content,
        title: file.title,
        container: file.container,
        tags: file.tags,
        anchors: file.anchors,
        tier: file.tier,
        priority: file.priority,
        confidence: file.confidence,
        source: FILE_SOURCE.to_owned(),
        author: file.author,
        agent: file.agent,
        created: file.created,
        updated: file.updated,
        metadata: file.metadata,
        shared: true,
        ..MemoryRecord::default()
    };
    (record, file.links)
}

/// Returns whether git is rebasing a worktree, which swaps the sides that it calls ours and theirs.
pub(in crate::daemon::memories) fn is_rebasing(layout: &RepoLayout) -> bool {
    let marks = ["rebase-merge", "rebase-apply/rebasing"];
    layout.git_dir.as_ref().is_some_and(|dir| marks.iter().any(|mark| dir.join(mark).exists()))
}

/// Converts a parsed file to a version. Its hash is that of the file as memod would write it, so other line ends or another order
/// of keys make no different version.
pub(in crate::daemon::memories) fn to_version(id: &str, side: FileSide, file: MemoryFile) -> FileVersion {
    let (hash, remarks) = (file::hash_file_text(&file.render()), file.remarks());
    let (record, links) = to_record(id.to_owned(), file);
    FileVersion { side, hash, record, links, remarks }
}

/// Parses the text of a file, and returns the memories in it or why there is none. `is_rebasing` swaps the sides of a conflict.
pub(in crate::daemon::memories) fn parse_state(
    name: &str,
    id: &str,
    text: &str,
    is_rebasing: bool,
) -> MemoryFileSnapshot {
    let versions = match file::parse_own_side_first(text, is_rebasing) {
        Err(why) => Err(why.to_owned()),
        Ok(None) => {
            parse_side(id, FileSide::Whole, text).map(|version| vec![version]).map_err(|why| why.to_string())
        }
        Ok(Some([ours, theirs])) => parse_side(id, FileSide::Ours, &ours)
            .and_then(|ours| Ok(vec![ours, parse_side(id, FileSide::Theirs, &theirs)?]))
            .map_err(|why| format!("in conflict, and one side cannot be read: {why}")),
    };
    let shown = versions.map_or_else(MemoriesInFile::NoneBecause, MemoriesInFile::Versions);
    MemoryFileSnapshot {
        name: name.to_owned(),
        hash: file::hash_file_text(text),
        memories: shown,
        event: None,
        edited_ms: None,
    }
}

/// Parses one side of a file as a version.
fn parse_side(id: &str, side: FileSide, text: &str) -> Result<FileVersion, RefusedValue> {
    Ok(to_version(id, side, MemoryFile::parse(text)?))
}

/// Converts the text of a new file to a version. Fails if the text is too long, would not be read back equal to `new`, or has
/// content that `memo add` refuses.
pub(in crate::daemon::memories) fn to_shareable_version(
    id: &str,
    text: &str,
    new: &MemoryFile,
) -> JobResult<FileVersion> {
    let size = text.len();
    if size as u64 > file::MAX_FILE_BYTES {
        let why = format!("its file would have {size} bytes, over {}", file::MAX_FILE_BYTES);
        return Err(not_shareable_error(id, &why));
    }
    match MemoryFile::parse(text) {
        Ok(read) if read == *new => Ok(to_version(id, FileSide::Whole, read)),
        Ok(_) => Err(not_shareable_error(id, "its file would be read differently")),
        Err(why) => Err(not_shareable_error(id, &why.to_string())),
    }
}

/// Converts the outcome of a conflict to a version. Fails like [`to_shareable_version`].
pub(in crate::daemon::memories) fn to_outcome_version(
    id: &str,
    outcome: &MemoryFile,
) -> JobResult<FileVersion> {
    to_shareable_version(id, &outcome.render(), outcome).map_err(|stopped| match stopped {
        JobError::Refused(error) => JobError::Refused(
            error.with_hint("choose a side with --ours or --theirs, or give a shorter text"),
        ),
        stopped => stopped,
    })
}

/// Returns the error for a memory that cannot be shared.
pub(super) fn not_shareable_error(id: &str, why: &str) -> JobError<RpcError> {
    let message = format!("{id} cannot be shared: {why}");
    refused_error(message, "change the memory, or keep it private with `memo share remove`")
}

/// Builds the file of a memory. Copies comments, keys that this version does not know, and links to memories that do not exist
/// here from the `former` file.
pub(in crate::daemon::memories) fn build_shared_file(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
    former: Option<&MemoryFile>,
) -> JobResult<MemoryFile> {
    let links = list_file_links(rows, record, former.map_or(&[], |former| &former.links))?;
    Ok(build_file(record, links, former))
}

/// Returns the comments, unknown keys and links that the last file of a memory had, as a file without content.
pub(in crate::daemon::memories) fn read_remarks_file(
    rows: &MemoryRows<'_>,
    id: &str,
) -> JobResult<MemoryFile> {
    let known = rows.versions().read_worktree_file_memory(id)?;
    MemoryFile::from_remarks(&known.remarks, known.links)
        .map_err(|why| unreadable_error(id, &why.to_string()))
}

/// Returns the links of a memory to memories that are shared with the same people. A mutual link is in the file of its first end,
/// unless the file of the second end already has the link.
fn list_file_links(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
    former: &[(LinkKind, String)],
) -> JobResult<Vec<(LinkKind, String)>> {
    let mut links = Vec::new();
    for link in rows.links().list_links(&record.id)? {
        let is_from = link.from == record.id;
        let entry = (link.kind, if is_from { link.to } else { link.from });
        let is_in_former = former.contains(&entry) && (is_from || link.kind.is_mutual());
        if is_in_former || is_from && has_same_scope(rows, record, &entry.1)? {
            links.push(entry);
        }
    }
    for entry in former {
        if !rows.records().has_memory(&entry.1)? {
            links.push(entry.clone());
        }
    }
    links.sort();
    links.dedup();
    Ok(links)
}

/// Returns whether a memory is shared with the same people as a record.
fn has_same_scope(rows: &MemoryRows<'_>, record: &MemoryRecord, id: &str) -> Result<bool, DatabaseError> {
    if record.team { rows.sharing().is_team_memory(id) } else { rows.sharing().is_shared_by_file(id) }
}
