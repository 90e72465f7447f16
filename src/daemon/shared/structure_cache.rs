//! Caches between requests what files declare and use, and the files of each worktree with the modules that its manifests name.

mod manifest_packages;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use memod_base::threads::lock;
use memod_base::types::{ChunkId, FileStructure, SourceKey, WorktreeId};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_search::worktree_chunks::WorktreeChunks;
use memod_structure::resolve::PathIndex;

use self::manifest_packages::{ManifestHash, read_packages};

/// Maximum memory of all structures together, bytes: those of some 10,000 files. A question about a common name reads those of
/// 6,000, which took a third of its time when they did not fit.
const MOST_BYTES: usize = 160 << 20;
/// Maximum number of worktrees whose files are kept.
const MOST_WORKTREES: usize = 4;

/// Caches structures by content, and files by worktree.
#[derive(Default)]
pub(in crate::daemon) struct StructureCache {
    structures: Mutex<KnownStructures>,
    /// The files of worktrees, the one used last at the end.
    worktrees: Mutex<Vec<(WorktreeId, CachedPaths)>>,
}

/// The files of a worktree as they are in a snapshot.
#[derive(Clone)]
struct CachedPaths {
    /// Epoch and sequence number of the worktree.
    clock: Option<(i64, u64)>,
    /// The manifests that were read, each with the hash of its content.
    manifests: Vec<ManifestHash>,
    paths: Arc<PathIndex>,
}

impl StructureCache {
    /// Forgets everything.
    pub(in crate::daemon) fn clear(&self) {
        *lock(&self.structures) = KnownStructures::default();
        lock(&self.worktrees).clear();
    }

    /// Returns the structure of a content, identified by its first chunk; `read` reads it if it is not known. `n_replaced` is the
    /// number of contents that had been extracted again by then.
    ///
    /// # Errors
    /// When `read` fails.
    pub(in crate::daemon) fn find_structure<E>(
        &self,
        n_replaced: u64,
        first: ChunkId,
        read: impl FnOnce() -> Result<FileStructure, E>,
    ) -> Result<Arc<FileStructure>, E> {
        if let Some(known) = lock(&self.structures).find_structure(n_replaced, first) {
            return Ok(known);
        }
        let structure = Arc::new(read()?);
        lock(&self.structures).add_structure(n_replaced, first, &structure);
        Ok(structure)
    }

    /// Returns the files of a worktree in the snapshot of `reader`, whose chunks are `chunks`.
    ///
    /// The meaning of an import depends only on paths and manifests, so the answer stays in memory until one of these changes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn current_paths(
        &self,
        reader: &IndexReader,
        (view, root): (WorktreeId, &Path),
        chunks: &WorktreeChunks,
    ) -> Result<Arc<PathIndex>, DatabaseError> {
        let clock = reader.find_worktree(view)?.map(|row| (row.epoch, row.seq));
        let former = self.take_former(view);
        if let Some(former) = former.as_ref().filter(|former| former.clock == clock) {
            self.keep_paths(view, former.clone());
            return Ok(Arc::clone(&former.paths));
        }
        let all = (0..chunks.n_contents() as u32).flat_map(|content| chunks.paths_of(content));
        let mut paths: Vec<String> = all.map(str::to_owned).collect();
        // An empty file has no chunks, but may make its directory a package.
        paths.extend(reader.list_empty_files(view)?);
        paths.sort_unstable();
        paths.dedup();
        if let Some(former) = former
            && former.paths.has_paths(&paths)
            && has_manifests(reader, view, &former.manifests)?
        {
            let paths = Arc::clone(&former.paths);
            self.keep_paths(view, CachedPaths { clock, ..former });
            return Ok(paths);
        }
        let (packages, manifests) = read_packages(root, &paths);
        let paths = Arc::new(PathIndex::new(paths).with_packages(packages));
        // If a manifest differs from the snapshot, a later request reads it again.
        if has_manifests(reader, view, &manifests)? {
            self.keep_paths(view, CachedPaths { clock, manifests, paths: Arc::clone(&paths) });
        }
        Ok(paths)
    }

    fn take_former(&self, view: WorktreeId) -> Option<CachedPaths> {
        lock(&self.worktrees).iter().find(|(known, _)| *known == view).map(|(_, cached)| cached.clone())
    }

    fn keep_paths(&self, view: WorktreeId, cached: CachedPaths) {
        let mut worktrees = lock(&self.worktrees);
        worktrees.retain(|(known, _)| *known != view);
        if worktrees.len() >= MOST_WORKTREES {
            worktrees.remove(0);
        }
        worktrees.push((view, cached));
    }
}

/// Returns whether manifests have these contents in the snapshot of `reader`.
fn has_manifests(
    reader: &IndexReader,
    view: WorktreeId,
    manifests: &[ManifestHash],
) -> Result<bool, DatabaseError> {
    for (path, hash) in manifests {
        let entry = reader.find_entry(view, &SourceKey::new(path))?;
        if entry.and_then(|entry| entry.hash) != *hash {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Structures by the first chunks of their contents, in two generations: those used since the last change of generations, and
/// those used before.
#[derive(Default)]
struct KnownStructures {
    /// Number of contents that had been extracted again when these were read. A content that is extracted again may keep its chunks.
    n_replaced: u64,
    young: HashMap<ChunkId, Arc<FileStructure>>,
    old: HashMap<ChunkId, Arc<FileStructure>>,
    /// Memory of the young ones, bytes.
    young_bytes: usize,
}

impl KnownStructures {
    fn find_structure(&mut self, n_replaced: u64, first: ChunkId) -> Option<Arc<FileStructure>> {
        if self.n_replaced != n_replaced {
            return None;
        }
        if let Some(known) = self.young.get(&first) {
            return Some(Arc::clone(known));
        }
        let known = self.old.remove(&first)?;
        self.add_structure(n_replaced, first, &known);
        Some(known)
    }

    fn add_structure(&mut self, n_replaced: u64, first: ChunkId, structure: &Arc<FileStructure>) {
        if self.n_replaced != n_replaced {
            *self = Self { n_replaced, ..Self::default() };
        }
        let size = measure_bytes(structure);
        if self.young_bytes + size > MOST_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += size;
        self.young.insert(first, Arc::clone(structure));
    }
}

/// Returns the approximate size of a structure in memory, bytes.
fn measure_bytes(structure: &FileStructure) -> usize {
    let names: usize = structure.names.iter().map(String::len).sum();
    let titles = structure.declared.iter().map(|own| own.title.len() + own.names.len());
    let imports = structure.imports.iter().map(|one| one.local.len() + one.module.len() + one.name.len());
    let exports = structure.exports.iter().map(|one| one.name.len() + one.local.len());
    size_of::<FileStructure>()
        + names
        + titles.chain(imports).chain(exports).sum::<usize>()
        + size_of_val(structure.names.as_slice())
        + size_of_val(structure.uses.as_slice())
        + size_of_val(structure.values.as_slice())
        + size_of_val(structure.declared.as_slice())
        + size_of_val(structure.imports.as_slice())
        + size_of_val(structure.exports.as_slice())
}

#[cfg(test)]
mod tests {
    use memod_base::types::NameUse;

    use super::*;

    fn structure_of(name: &str, n_uses: usize) -> Arc<FileStructure> {
        let used = NameUse {
            name: 0,
            line: 1,
            column: 0,
            within: 0,
            receiver: memod_base::types::UseReceiver::None,
            role: memod_base::types::UseRole::Call,
            n_arguments: None,
        };
        let (names, uses) = (vec![name.to_owned()], vec![used; n_uses]);
        Arc::new(FileStructure { names, uses, ..FileStructure::default() })
    }

    #[test]
    fn a_structure_is_read_once_until_its_content_is_extracted_again() {
        let cache = StructureCache::default();
        let find = |n_replaced: u64, id: i64, name: &str| {
            let read = || Ok::<_, ()>(Arc::unwrap_or_clone(structure_of(name, 1)));
            cache.find_structure(n_replaced, ChunkId(id), read).map(|found| found.names[0].clone())
        };
        assert_eq!(find(0, 1, "a"), Ok("a".to_owned()));
        assert_eq!(find(0, 1, "b"), Ok("a".to_owned()), "known");
        assert_eq!(find(0, 2, "c"), Ok("c".to_owned()));
        assert_eq!(find(1, 1, "b"), Ok("b".to_owned()), "extracted again");
        cache.clear();
        assert_eq!(find(1, 1, "d"), Ok("d".to_owned()), "forgotten");
        let failed = cache.find_structure(1, ChunkId(9), || Err("unreadable"));
        assert_eq!(failed.map(|_| ()), Err("unreadable"));
        assert_eq!(find(1, 9, "e"), Ok("e".to_owned()), "a failure is not kept");
    }

    #[test]
    fn structures_take_bounded_memory_and_the_used_ones_stay() {
        let mut known = KnownStructures::default();
        let large = structure_of("a", MOST_BYTES / 16 / size_of::<NameUse>());
        for id in 0..40 {
            known.add_structure(0, ChunkId(id), &large);
            assert!(known.find_structure(0, ChunkId(0)).is_some(), "used each time, after {id}");
        }
        let n_kept = known.young.len() + known.old.len();
        assert!(n_kept * measure_bytes(&large) <= MOST_BYTES, "{n_kept}");
        assert!(known.find_structure(0, ChunkId(2)).is_none(), "not used for long");
    }
}
