//! Makes rows of an index without files, for tests.

use memod_base::types::{ChunkKind, SourceKey, Stat, WordPieces};

use crate::writing::new_rows::{ManifestChange, NewBlob, NewChunk, WorktreeKey};

/// The signature of every file.
pub(crate) const STAT: Stat = Stat { size: 1, mtime_ns: 1, ctime_ns: 1, inode: 1, dev: 1, mode: 0o100_644 };

/// Returns the worktree at `/r`.
pub fn worktree_key() -> WorktreeKey {
    WorktreeKey { git_dir: "/r/.git".to_owned(), inode: 1, root: "/r".to_owned() }
}

/// Returns a chunk without words that waits for a vector.
pub fn embeddable_chunk(text_hash: [u8; 32]) -> NewChunk {
    NewChunk {
        kind: ChunkKind::Text,
        bytes: (0, 1),
        lines: (1, 1),
        symbol: None,
        title: None,
        text: None,
        text_hash,
        gets_vector: true,
        words: Default::default(),
        pieces: WordPieces::default(),
    }
}

/// Returns a chunk that is not part of a file, so that it can be embedded without one.
pub fn own_chunk(text: &str) -> NewChunk {
    let text_hash = *blake3::hash(text.as_bytes()).as_bytes();
    NewChunk {
        kind: ChunkKind::Map,
        bytes: (0, text.len()),
        text: Some(text.to_owned()),
        ..embeddable_chunk(text_hash)
    }
}

/// Returns the change that puts a content at a path.
pub fn put_change(path: &str, hash: [u8; 32], chunks: Vec<NewChunk>) -> ManifestChange {
    let blob = NewBlob { size: 1, kind: "text", extractor_version: 1, chunks, ..NewBlob::default() };
    ManifestChange::Put {
        key: SourceKey::new(path),
        stat: STAT,
        racy: false,
        hash,
        lang: "",
        path_part: String::new(),
        blob: Some(Box::new(blob)),
    }
}
