//! Caches the code maps of worktrees, and updates them when files change.

use std::sync::Arc;

use memod_base::types::{ChunkId, ClassSet, FileClass, WorktreeId, last_part};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_search::paths::class_rules;
use memod_structure::map::{CodeFile, CodeMap, FileSymbols, KeyUse, KeyedDefinition, MapSymbol, UseKeys};

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

/// Maximum memory of all cached maps together, bytes.
pub(in crate::daemon) const MOST_MAP_BYTES: usize = 48 << 20;

/// Caches the code maps of worktrees.
pub(in crate::daemon) type CodeMapCache = WorktreeCache<CachedCodeMap>;

/// The code map of a worktree as it is in a snapshot.
#[derive(Clone)]
pub(in crate::daemon) struct CachedCodeMap {
    pub(in crate::daemon) clock: String,
    /// Number of contents that had been extracted again by then.
    n_replaced: u64,
    pub(in crate::daemon) map: Arc<CodeMap>,
}

impl CacheValue for CachedCodeMap {
    fn size_bytes(&self) -> usize {
        self.map.memory_bytes()
    }
}

impl CachedCodeMap {
    /// Returns the map of a worktree in the snapshot of `reader`, where the worktree has this clock; updates the former map.
    ///
    /// A cached map is current if the clock of the worktree, which every change of its files moves, and the number of contents that
    /// were extracted again, perhaps for another worktree, are the same.
    pub(in crate::daemon) fn bring_up_to_date(
        former: Option<Self>,
        reader: &IndexReader,
        view: WorktreeId,
        clock: String,
    ) -> Result<Self, DatabaseError> {
        let n_replaced = reader.n_extracted_again()?;
        let map = match former {
            Some(kept) if kept.clock == clock && kept.n_replaced == n_replaced => kept.map,
            former => update_code_map(reader, view, former.map(|kept| kept.map).unwrap_or_default())?,
        };
        Ok(Self { clock, n_replaced, map })
    }
}

/// Returns a map after all files were compared with the index.
fn update_code_map(
    reader: &IndexReader,
    view: WorktreeId,
    mut map: Arc<CodeMap>,
) -> Result<Arc<CodeMap>, DatabaseError> {
    let mut list = Vec::new();
    reader.each_map_record(view, |path, hash, chunk, class| {
        let classes: ClassSet = class_rules::classes_by_path(&path).iter().chain(class).collect();
        let is_aside = classes.intersects(ClassSet::from_classes(&SECONDARY_CLASSES));
        list.push(CodeFile { path, hash, content: chunk.0, ranks_last: is_aside });
    })?;
    // If a request still uses the former map, that stays as it is, and a copy is updated.
    Arc::make_mut(&mut map).replace_files(list, |file| read_file_symbols(reader, file))?;
    Ok(map)
}

/// Returns the symbols and uses that were extracted from a file.
fn read_file_symbols(reader: &IndexReader, file: &CodeFile) -> Result<FileSymbols, DatabaseError> {
    let map = ChunkId(file.content);
    let structure = reader.read_content_structure(map)?.unwrap_or_default();
    let keys = UseKeys::new(&file.path, &structure);
    let mut symbols: Vec<MapSymbol> = Vec::new();
    reader.each_definition(map, |names, title, line| {
        let qualifier = find_qualifier(names, title);
        for name in names.split_whitespace() {
            // A long definition has several chunks.
            if symbols.last().is_none_or(|last| last.name != name || last.qualifier != qualifier) {
                // A chunk of several short definitions begins before the line of a name.
                let of_name = || KeyedDefinition { key: name.to_owned(), name_line: None, is_value: false };
                let KeyedDefinition { key, name_line, is_value } =
                    keys.as_ref().map_or_else(of_name, |keys| keys.find_definition(name, line));
                let line = name_line.unwrap_or(line);
                let (name, qualifier) = (name.to_owned(), qualifier.to_owned());
                symbols.push(MapSymbol { name, key, qualifier, line, is_value });
            }
        }
    })?;
    if let Some(keys) = keys {
        let package = last_part(&structure.package).to_owned();
        return Ok(FileSymbols { package, symbols, uses: keys.count_uses() });
    }
    let references = reader.read_uses(map)?;
    let references = references.lines().filter_map(|line| {
        let (name, count) = line.rsplit_once(' ')?;
        Some(KeyUse { key: name.to_owned(), count: count.parse().ok()?, ..KeyUse::default() })
    });
    Ok(FileSymbols { package: String::new(), symbols, uses: references.collect() })
}

/// Returns the part before the own names in the title of a chunk: `Session::` of `Session::open`, `Session::open … close`.
fn find_qualifier<'a>(names: &str, title: &'a str) -> &'a str {
    let own = names.split_whitespace().next().unwrap_or_default();
    let first = title.split([' ', ',']).next().unwrap_or_default();
    first.strip_suffix(own).filter(|qualifier| last_part(qualifier).is_empty()).unwrap_or_default()
}
