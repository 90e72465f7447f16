//! Renders the file of a memory.

use memod_memory::file::{self, MemoryFile};
use memod_memory_db::{FileMemory, MemoryRecord};
use memod_proto::memory::LinkKind;

/// Builds the file of a memory. Copies comments, and keys that this version does not know, from the `former` file.
pub(in crate::daemon::memories) fn build_file(
    record: &MemoryRecord,
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

/// Renders the file of a memory, with conflict markers if there is another side, `theirs`. Returns the text and its hash; `None` if
/// the text is too long, would not be read back equal, or has content that `memo add` refuses.
pub(in crate::daemon::memories) fn render_file(
    content: &FileMemory,
    theirs: Option<&FileMemory>,
) -> Option<(String, [u8; 32])> {
    let text = match theirs {
        Some(theirs) => file::render_conflict(&render_side(content)?, &render_side(theirs)?)?,
        None => render_side(content)?,
    };
    let hash = file::hash_file_text(&text);
    (text.len() as u64 <= file::MAX_FILE_BYTES).then_some((text, hash))
}

/// Renders one side of a file, without conflict markers; `None` if the text would not be read back equal.
fn render_side(content: &FileMemory) -> Option<String> {
    let former = MemoryFile::from_remarks(&content.remarks, Vec::new()).ok()?;
    let file = build_file(&content.record, content.links.clone(), Some(&former));
    let text = file.render();
    let is_whole =
        matches!(file::parse_conflict_sides(&text), Ok(None)) && text.len() as u64 <= file::MAX_FILE_BYTES;
    (is_whole && MemoryFile::parse(&text).is_ok_and(|read| read == file)).then_some(text)
}
