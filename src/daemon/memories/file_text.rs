//! Renders the file of a memory.

use memod_memory::file::{self, MemoryFile};
use memod_memory_db::{Record, SaidByFile};
use memod_proto::memory::LinkKind;

/// Returns what a file says of a memory. Comments, and keys that this version does not know, stay as the `former` file has them.
pub(super) fn file_with(
    record: &Record,
    links: Vec<(LinkKind, String)>,
    former: Option<&MemoryFile>,
) -> MemoryFile {
    MemoryFile {
        title: record.title.clone(),
        container: record.container.clone(),
        tags: record.tags.clone(),
        tier: record.tier,
        priority: record.priority,
        confidence: record.confidence,
        author: record.author.clone(),
        agent: record.agent.clone(),
        created: record.created,
        updated: record.updated,
        anchors: record.anchors.clone(),
        links,
        metadata: record.metadata.clone(),
        others: former.map(|former| former.others.clone()).unwrap_or_default(),
        comments: former.map(|former| former.comments.clone()).unwrap_or_default(),
        content: record.content.replace("\r\n", "\n"),
    }
}

/// Returns the text of a file that says this, in conflict with the other side if there is one, and its hash; `None` if it would not
/// be read as it is meant, or has what `add` refuses.
pub(super) fn file_text(said: &SaidByFile, other: Option<&SaidByFile>) -> Option<(String, [u8; 32])> {
    let text = match other {
        Some(other) => file::render_conflict(&whole_text(said)?, &whole_text(other)?)?,
        None => whole_text(said)?,
    };
    let hash = file::hash(&text);
    (text.len() as u64 <= file::MAX_FILE).then_some((text, hash))
}

fn whole_text(said: &SaidByFile) -> Option<String> {
    let former = MemoryFile::of_remarks(&said.remarks, Vec::new()).ok()?;
    let file = file_with(&said.record, said.links.clone(), Some(&former));
    let text = file.render();
    let is_whole = matches!(file::parse_sides(&text), Ok(None)) && text.len() as u64 <= file::MAX_FILE;
    (is_whole && MemoryFile::parse(&text).is_ok_and(|read| read == file)).then_some(text)
}
