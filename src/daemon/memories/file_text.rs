//! Renders the file of a memory.

use crate::memory::file::{self, MemoryFile};
use crate::proto::memory::LinkKind;
use crate::store::{Record, SaidByFile};

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

/// Returns the text of a file that says this, and its hash; `None` if it would not be read as it is meant, or has what `add` refuses.
pub(super) fn file_text(said: &SaidByFile) -> Option<(String, [u8; 32])> {
    let former = MemoryFile::of_remarks(&said.remarks, Vec::new()).ok()?;
    let file = file_with(&said.record, said.links.clone(), Some(&former));
    let text = file.render();
    let is_whole = matches!(file::sides(&text), Ok(None)) && text.len() as u64 <= file::MAX_FILE;
    let is_read = is_whole && MemoryFile::parse(&text).is_ok_and(|read| read == file);
    let hash = file::hash(&text);
    is_read.then_some((text, hash))
}
