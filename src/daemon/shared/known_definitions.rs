//! Caches the definitions of compared versions of files, because mostly one file changes between two questions.

use std::sync::{Arc, Mutex};

use memod_base::threads::lock;
use memod_search::recent_cache::RecentCache;

/// Maximum number of versions whose definitions are cached: usually a few kilobytes each, 32 MB if each had the maximum.
const MOST_KEPT: usize = 1_000;
/// Maximum number of bytes in the names and hashes of a version that is cached.
const MOST_BYTES: usize = 32 << 10;

/// Qualified names in the order of the file, each with the blake3 of its text.
pub(in crate::daemon) type DefinitionHashes = Vec<(String, [u8; 32])>;

/// The definitions of versions of files, by the blake3 of path and text, because the path may determine the language.
#[derive(Default)]
pub(in crate::daemon) struct KnownDefinitions(Mutex<RecentCache<[u8; 32], Arc<DefinitionHashes>, MOST_KEPT>>);

impl KnownDefinitions {
    /// Returns the definitions of a version, if they are cached.
    pub(in crate::daemon) fn find_version(&self, path: &str, text: &str) -> Option<Arc<DefinitionHashes>> {
        lock(&self.0).get(&version_key(path, text)).cloned()
    }

    /// Caches the definitions of a version, unless there are very many, and returns them.
    pub(in crate::daemon) fn keep_version(
        &self,
        path: &str,
        text: &str,
        named: DefinitionHashes,
    ) -> Arc<DefinitionHashes> {
        let named = Arc::new(named);
        let n_bytes: usize =
            named.iter().map(|(name, hash)| size_of_val(name) + name.len() + hash.len()).sum();
        if n_bytes <= MOST_BYTES {
            lock(&self.0).insert(version_key(path, text), Arc::clone(&named));
        }
        named
    }

    /// Forgets all definitions.
    pub(in crate::daemon) fn clear(&self) {
        *lock(&self.0) = RecentCache::default();
    }
}

/// Returns the hash of path and text, with a byte between them that no path contains.
fn version_key(path: &str, text: &str) -> [u8; 32] {
    *blake3::Hasher::new().update(path.as_bytes()).update(b"\0").update(text.as_bytes()).finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_by_path_and_text() {
        let known = KnownDefinitions::default();
        let named = |n: usize| vec![("run".to_owned(), [0; 32]); n];
        known.keep_version("a.rs", "fn run() {}", named(1));
        assert_eq!(known.find_version("a.rs", "fn run() {}").map(|named| named.len()), Some(1));
        assert_eq!(known.find_version("b.rs", "fn run() {}"), None);
        assert_eq!(known.find_version("a.rs", "fn run() { }"), None);
        assert_eq!(known.keep_version("c.rs", "", named(MOST_BYTES / 32)).len(), MOST_BYTES / 32);
        assert_eq!(known.find_version("c.rs", ""), None, "too many");
        known.clear();
        assert_eq!(known.find_version("a.rs", "fn run() {}"), None);
    }
}
