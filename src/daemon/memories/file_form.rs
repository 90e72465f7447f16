//! Converts between a memory and what its file says.

use memod_base::paths::RepoLayout;
use memod_memory::Refused;
use memod_memory::file::{self, MemoryFile};
use memod_memory_db::{FROM_FILE, FileState, FileVersion, Record, Rows, ShownBy, Side, Stopped};
use memod_proto::RpcError;
use memod_proto::memory::LinkKind;

use super::file_text::file_with;
use super::rules::{Done, refused, unreadable};

/// Returns the memory of a file.
fn record_of(id: String, file: MemoryFile) -> (Record, Vec<(LinkKind, String)>) {
    let record = Record {
        id,
        content: file.content,
        title: file.title,
        container: file.container,
        tags: file.tags,
        anchors: file.anchors,
        tier: file.tier,
        priority: file.priority,
        confidence: file.confidence,
        source: FROM_FILE.to_owned(),
        author: file.author,
        agent: file.agent,
        created: file.created,
        updated: file.updated,
        metadata: file.metadata,
        shared: true,
        ..Record::default()
    };
    (record, file.links)
}

/// Returns whether git is putting commits of a worktree on top of others, so that what it calls ours is these others.
pub(super) fn is_rebasing(layout: &RepoLayout) -> bool {
    let is_there = |path: &str| layout.git_dir.as_ref().is_some_and(|dir| dir.join(path).exists());
    is_there("rebase-merge") || is_there("rebase-apply/rebasing")
}

/// Returns the version that a file is, under the hash of the file as memod writes it: another line end or order of keys is no other
/// version.
pub(super) fn version_of(id: &str, side: Side, file: MemoryFile) -> FileVersion {
    let (hash, remarks) = (file::hash(&file.render()), file.remarks());
    let (record, links) = record_of(id.to_owned(), file);
    FileVersion { side, hash, record, links, remarks }
}

/// Returns what a file with this text shows.
pub(super) fn state_of(name: &str, id: &str, text: &str, is_rebasing: bool) -> FileState {
    let version = |side: Side, text: &str| -> Result<FileVersion, Refused> {
        Ok(version_of(id, side, MemoryFile::parse(text)?))
    };
    let versions = match file::own_side_first(text, is_rebasing) {
        Err(why) => Err(why.to_owned()),
        Ok(None) => version(Side::Whole, text).map(|version| vec![version]).map_err(|why| why.to_string()),
        Ok(Some([ours, theirs])) => version(Side::Ours, &ours)
            .and_then(|ours| Ok(vec![ours, version(Side::Theirs, &theirs)?]))
            .map_err(|why| format!("in conflict, and one side cannot be read: {why}")),
    };
    let shown = versions.map_or_else(ShownBy::Nothing, ShownBy::Versions);
    FileState { name: name.to_owned(), hash: file::hash(text), shown, event: None, edited: None }
}

/// Returns the version that a text is. Fails if it would not be read as it is meant, or has what `add` refuses.
pub(super) fn shareable(id: &str, text: &str, new: &MemoryFile) -> Done<FileVersion> {
    let size = text.len();
    if size as u64 > file::MAX_FILE {
        let why = format!("it has {size} bytes with all that is beside the text, over {}", file::MAX_FILE);
        return Err(cannot_be_shared(id, &why));
    }
    match MemoryFile::parse(text) {
        Ok(read) if read == *new => Ok(version_of(id, Side::Whole, read)),
        Ok(_) => Err(cannot_be_shared(id, "it would not be read as it is")),
        Err(why) => Err(cannot_be_shared(id, &why.to_string())),
    }
}

/// Returns the version that the outcome of a conflict is. Fails as [`shareable`].
pub(super) fn outcome(id: &str, outcome: &MemoryFile) -> Done<FileVersion> {
    shareable(id, &outcome.render(), outcome).map_err(|stopped| match stopped {
        Stopped::Refused(error) => Stopped::Refused(
            error.with_hint("take one side, with --ours or --theirs, or give a shorter text"),
        ),
        stopped => stopped,
    })
}

/// Returns the error for a memory whose text cannot go to others.
pub(super) fn cannot_be_shared(id: &str, why: &str) -> Stopped<RpcError> {
    let message = format!("{id} cannot be shared: {why}");
    refused(message, "change it, or keep it here with `memo unshare`")
}

/// Returns what the file of a memory is to say. Comments, keys that this version does not know, and links to memories that are not here,
/// stay as the `former` file has them.
pub(super) fn file_of(rows: &Rows<'_>, record: &Record, former: Option<&MemoryFile>) -> Done<MemoryFile> {
    let links = links(rows, record, former.map_or(&[], |former| &former.links))?;
    Ok(file_with(record, links, former))
}

/// Returns what is known of the file of a memory while there is none: what says nothing of the memory, and links.
pub(super) fn kept_file(rows: &Rows<'_>, id: &str) -> Done<MemoryFile> {
    let said = rows.said_of_memory(id)?;
    MemoryFile::of_remarks(&said.remarks, said.links).map_err(|why| unreadable(id, &why.to_string()))
}

/// Returns the links to memories that are shared with the same people. A mutual link stands in the file of its first end, unless another one has it already.
fn links(rows: &Rows<'_>, of: &Record, former: &[(LinkKind, String)]) -> Done<Vec<(LinkKind, String)>> {
    let mut links = Vec::new();
    let is_known = |id: &str| if of.team { rows.is_team(id) } else { rows.is_shared(id) };
    for link in rows.links(&of.id)? {
        let is_from = link.from == of.id;
        let said = (link.kind, if is_from { link.to } else { link.from });
        let is_said = former.contains(&said) && (is_from || link.kind.is_mutual());
        if is_said || is_from && is_known(&said.1)? {
            links.push(said);
        }
    }
    for said in former {
        if !rows.has(&said.1)? {
            links.push(said.clone());
        }
    }
    links.sort();
    links.dedup();
    Ok(links)
}
