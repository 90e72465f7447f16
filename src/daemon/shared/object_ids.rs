//! Caches the object ids that git gives to contents, so that an unchanged file is not read again.
//!
//! Git's index has the ids of most files. Its entries are not reliable for files that were written in the same second as the index
//! itself, as all files of a new clone are.

use std::sync::Mutex;

use memod_base::threads::lock;
use memod_base::types::{SourceKey, Stat};
use memod_git::{ObjectHash, ObjectId, blob_id};
use memod_index_db::ManifestEntry;
use memod_search::recent_cache::RecentCache;

/// Maximum number of contents whose object ids are cached.
const MOST_CONTENTS: usize = 1 << 17;

/// Identifies the content of a file.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(in crate::daemon) enum ContentKey {
    /// blake3 of the bytes.
    Hash([u8; 32]),
    /// Path and [`Stat`] of a file that is not indexed.
    Stat(SourceKey, Stat),
}

impl ContentKey {
    /// Returns the key of the content that a manifest entry describes.
    pub(in crate::daemon) fn from_entry(key: &SourceKey, entry: &ManifestEntry) -> Self {
        entry.hash.map_or_else(|| Self::Stat(key.clone(), entry.stat), Self::Hash)
    }
}

/// The object ids that git may give to one content.
#[derive(Clone, Copy)]
pub(in crate::daemon) struct ObjectIds {
    /// Object id of the bytes as they are.
    pub(in crate::daemon) raw: ObjectId,
    /// Object id of the bytes with `\n` for each `\r\n`, as `core.autocrlf` stores them.
    pub(in crate::daemon) lf: ObjectId,
}

impl ObjectIds {
    /// Computes the object ids of a content.
    pub(in crate::daemon) fn from_bytes(object_hash: ObjectHash, bytes: &[u8]) -> Self {
        let raw = blob_id(object_hash, bytes);
        let has_crlf = bytes.windows(2).any(|pair| pair == b"\r\n");
        let lf = if has_crlf { blob_id(object_hash, &without_cr(bytes)) } else { raw };
        Self { raw, lf }
    }
}

/// Caches the object ids of contents.
#[derive(Default)]
pub(in crate::daemon) struct KnownObjectIds(Mutex<RecentCache<ContentKey, ObjectIds, MOST_CONTENTS>>);

impl KnownObjectIds {
    /// Returns the object ids of a content, if they are cached.
    pub(in crate::daemon) fn find_ids(&self, content: &ContentKey) -> Option<ObjectIds> {
        lock(&self.0).get(content).copied()
    }

    /// Caches the object ids of a content.
    pub(in crate::daemon) fn add_ids(&self, content: ContentKey, ids: ObjectIds) {
        lock(&self.0).insert(content, ids);
    }
}

fn without_cr(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\r' || rest.peek() != Some(&b'\n') {
            kept.push(byte);
        }
    }
    kept
}
