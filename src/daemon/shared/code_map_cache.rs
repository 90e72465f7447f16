//! Caches the code maps of worktrees, and updates them by their changes.

use std::sync::Arc;

use memod_base::types::{ChunkId, ClassSet, FileClass, WorktreeId, own_part};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_search::paths::class_rules;
use memod_structure::map::{CodeFile, CodeMap, FileSymbols, MapSymbol};

use crate::daemon::shared::worktree_cache::{CacheValue, WorktreeCache};

/// Classes of files that a map never begins with.
pub(in crate::daemon) const SECONDARY_CLASSES: [FileClass; 7] = [
    FileClass::Test,
    FileClass::Fixture,
    FileClass::Snapshot,
    FileClass::Example,
    FileClass::Benchmark,
    FileClass::Generated,
    FileClass::Vendored,
];

/// Memory of all kept maps together, bytes.
pub(in crate::daemon) const MOST_MAP_BYTES: usize = 48 << 20;

/// Code maps of worktrees.
pub(in crate::daemon) type CodeMapCache = WorktreeCache<CachedCodeMap>;

/// The map of a worktree as it was in the index.
#[derive(Clone)]
pub(in crate::daemon) struct CachedCodeMap {
    pub(in crate::daemon) clock: String,
    /// Contents that were extracted again until then.
    n_replaced: u64,
    pub(in crate::daemon) map: Arc<CodeMap>,
}

impl CacheValue for CachedCodeMap {
    fn size_bytes(&self) -> usize {
        self.map.size()
    }
}

impl CachedCodeMap {
    /// Returns the map of a worktree in the snapshot of `reader`, where the worktree has this clock.
    ///
    /// Each change of a worktree's files changes its clock. A content may be extracted again for another worktree, which is counted.
    pub(in crate::daemon) fn bring_up_to_date(
        former: Option<Self>,
        reader: &IndexReader,
        view: WorktreeId,
        clock: String,
    ) -> Result<Self, DatabaseError> {
        let n_replaced = reader.n_replaced()?;
        let map = match former {
            Some(kept) if kept.clock == clock && kept.n_replaced == n_replaced => kept.map,
            former => update_code_map(reader, view, former.map(|kept| kept.map).unwrap_or_default())?,
        };
        Ok(Self { clock, n_replaced, map })
    }
}

/// Returns a map made equal to the index.
fn update_code_map(
    reader: &IndexReader,
    view: WorktreeId,
    mut map: Arc<CodeMap>,
) -> Result<Arc<CodeMap>, DatabaseError> {
    let mut list = Vec::new();
    reader.each_map(view, |path, hash, chunk, class| {
        let classes: ClassSet = class_rules::classes_by_path(&path).iter().chain(class).collect();
        let is_aside = classes.intersects(ClassSet::from_classes(&SECONDARY_CLASSES));
        list.push(CodeFile { path, hash, content: chunk.0, is_aside });
    })?;
    // A request that still prints the former map keeps it; then this is a copy.
    Arc::make_mut(&mut map).update(list, |content| read_outline(reader, ChunkId(content)))?;
    Ok(map)
}

/// Returns the symbols and uses that were extracted from a content.
fn read_outline(reader: &IndexReader, map: ChunkId) -> Result<FileSymbols, DatabaseError> {
    let mut symbols: Vec<MapSymbol> = Vec::new();
    reader.visit_definitions(map, |names, title, line| {
        let qualifier = find_qualifier(names, title);
        for name in names.split_whitespace() {
            // A long definition has several chunks.
            if symbols.last().is_none_or(|last| last.name != name || last.qualifier != qualifier) {
                symbols.push(MapSymbol { name: name.to_owned(), qualifier: qualifier.to_owned(), line });
            }
        }
    })?;
    let references = reader.read_uses(map)?;
    let references = references.lines().filter_map(|line| {
        let (name, count) = line.rsplit_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    Ok(FileSymbols { symbols, uses: references.collect() })
}

/// Returns the part before the own names in the title of a chunk: `Session::` of `Session::open`, `Session::open … close`.
fn find_qualifier<'a>(names: &str, title: &'a str) -> &'a str {
    let own = names.split_whitespace().next().unwrap_or_default();
    let first = title.split([' ', ',']).next().unwrap_or_default();
    first.strip_suffix(own).filter(|qualifier| own_part(qualifier).is_empty()).unwrap_or_default()
}
