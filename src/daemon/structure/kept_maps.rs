//! Keeps the code maps of worktrees, and updates them by what changed.

use std::sync::Arc;

use memod_base::types::{ChunkId, ClassSet, FileClass, ViewId};
use memod_database::DatabaseError;
use memod_index_db::Reader;
use memod_search::class_rules;
use memod_structure::map::{CodeMap, ListedFile, Outline, Symbol};

use crate::daemon::request::per_view::{Kept, PerView};

/// Classes of files that a map never begins with.
pub(in crate::daemon) const ASIDE: [FileClass; 7] = [
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
pub(in crate::daemon) type KeptMaps = PerView<KeptMap>;

/// The map of a view as it was in the index.
#[derive(Clone)]
pub(in crate::daemon) struct KeptMap {
    pub(in crate::daemon) clock: String,
    /// Contents that were extracted again until then.
    n_replaced: u64,
    pub(in crate::daemon) map: Arc<CodeMap>,
}

impl Kept for KeptMap {
    fn size(&self) -> usize {
        self.map.size()
    }
}

impl KeptMap {
    /// Returns the map of a view in the snapshot of `reader`, where the view has this clock.
    ///
    /// Each change of a view's files changes its clock. A content may be extracted again for another view, which is counted.
    pub(in crate::daemon) fn current(
        former: Option<Self>,
        reader: &Reader,
        view: ViewId,
        clock: String,
    ) -> Result<Self, DatabaseError> {
        let n_replaced = reader.n_replaced()?;
        let map = match former {
            Some(kept) if kept.clock == clock && kept.n_replaced == n_replaced => kept.map,
            former => updated(reader, view, former.map(|kept| kept.map).unwrap_or_default())?,
        };
        Ok(Self { clock, n_replaced, map })
    }
}

/// Returns a map made equal to the index.
fn updated(reader: &Reader, view: ViewId, mut map: Arc<CodeMap>) -> Result<Arc<CodeMap>, DatabaseError> {
    let mut list = Vec::new();
    reader.each_map(view, |path, hash, chunk, class| {
        let classes: ClassSet = class_rules::by_path(&path).iter().chain(class).collect();
        let is_aside = classes.meets(ClassSet::of(&ASIDE));
        list.push(ListedFile { path, hash, content: chunk.0, is_aside });
    })?;
    // A request that still prints the former map keeps it; then this is a copy.
    Arc::make_mut(&mut map).update(list, |content| outline(reader, ChunkId(content)))?;
    Ok(map)
}

/// Returns what was extracted from a content.
fn outline(reader: &Reader, map: ChunkId) -> Result<Outline, DatabaseError> {
    let mut symbols: Vec<Symbol> = Vec::new();
    reader.each_symbol(map, |names, title, line| {
        let qualifier = qualifier(names, title);
        for name in names.split_whitespace() {
            // A long definition has several chunks.
            if symbols.last().is_none_or(|last| last.name != name || last.qualifier != qualifier) {
                symbols.push(Symbol { name: name.to_owned(), qualifier: qualifier.to_owned(), line });
            }
        }
    })?;
    let references = reader.references(map)?;
    let references = references.lines().filter_map(|line| {
        let (name, count) = line.rsplit_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    Ok(Outline { symbols, references: references.collect() })
}

/// Returns what stands before the own names in the title of a chunk: `Session::` of `Session::open`, `Session::open … close`.
fn qualifier<'a>(names: &str, title: &'a str) -> &'a str {
    let own = names.split_whitespace().next().unwrap_or_default();
    let first = title.split([' ', ',']).next().unwrap_or_default();
    first.strip_suffix(own).filter(|qualifier| qualifier.ends_with([':', '.'])).unwrap_or_default()
}
