//! Holds the chunks and paths of a worktree in memory.
//!
//! An arm finds ids of chunks. This module looks up which of these chunks belong to the worktree and pass a filter, without reading
//! the database. Pure: the caller of [`WorktreeChunks::replace_paths`] reads the rows.

mod admitted_chunks;
mod filter_cache;
mod id_places;
mod patch;
mod path_word_index;

use std::collections::HashMap;
use std::sync::Arc;

use memod_base::types::{ChunkId, ChunkKind, ClassSet, FileClass, MAX_CHUNKS_PER_FILE};

use self::id_places::IdPositions;
use self::path_word_index::PathWordIndex;
use super::filter::{PathGlobs, SearchFilter};
use crate::paths::class_rules;
use crate::paths::translation;
pub(crate) use admitted_chunks::AdmittedChunks;
use filter_cache::FilterCache;
use memod_extract::lang::FormatGroup;
use memod_index_db::{ChunkSummary, IndexedContent};
pub use patch::ChangedPath;

/// The chunks, contents and paths of one worktree.
#[derive(Clone, Default)]
pub struct WorktreeChunks {
    /// The contents, in no particular order.
    contents: Vec<ListedContent>,
    /// The chunks, sorted by id.
    chunks: Vec<WorktreeChunk>,
    /// The position of each chunk in `chunks`.
    places: IdPositions,
    /// The paths, sorted.
    paths: Vec<ListedPath>,
    /// The words of the paths.
    path_index: Arc<PathWordIndex>,
    /// Number of words of all chunks.
    n_words: u64,
    filter_cache: FilterCache,
    /// Size in memory, bytes.
    size: usize,
}

/// A path of the worktree.
#[derive(Clone)]
struct ListedPath {
    path: Box<str>,
    /// Index of the content in `contents`.
    content: u32,
    /// Classes whose signs the path contains.
    by_path: ClassSet,
    /// Whether the path contains a mark of a foreign language.
    may_be_translation: bool,
    /// All classes of the file.
    classes: ClassSet,
}

/// A content with its paths.
#[derive(Clone)]
struct ListedContent {
    content: Arc<IndexedContent>,
    /// Group of the content's format.
    group: FormatGroup,
    /// Indices in `paths` of the paths with this content, ascending.
    paths: Vec<u32>,
    /// Number of words of all chunks of the content.
    n_words: u32,
}

impl ListedContent {
    fn new(content: IndexedContent) -> Self {
        let group = FormatGroup::from_format_name(&content.lang);
        let n_words = content.chunks.iter().fold(0, |sum: u32, chunk| sum.saturating_add(chunk.n_words));
        Self { content: Arc::new(content), group, paths: Vec::new(), n_words }
    }

    fn first_chunk(&self) -> Option<ChunkId> {
        self.content.chunks.first().map(|chunk| chunk.id)
    }

    fn is_commit(&self) -> bool {
        self.content.chunks.first().is_some_and(|chunk| chunk.kind == ChunkKind::Commit)
    }
}

/// The paths before an update, from which known paths are copied.
struct FormerPaths<'a> {
    /// The paths before the update, sorted.
    paths: &'a [ListedPath],
    /// Number of former paths before the current path.
    n_passed: usize,
    /// For each new path so far, its index in `paths`; `None` if it is not there.
    places: Vec<Option<u32>>,
}

impl FormerPaths<'_> {
    /// Returns the entry of a path, with its classes copied from the former entry or judged by the path. Calls must be in the order
    /// of paths.
    fn make_listed_path(&mut self, path: Box<str>, content: u32) -> ListedPath {
        while self.paths.get(self.n_passed).is_some_and(|next| next.path < path) {
            self.n_passed += 1;
        }
        let known = self.paths.get(self.n_passed).filter(|next| next.path == path);
        self.places.push(known.map(|_| self.n_passed as u32));
        match known {
            Some(known) => ListedPath { path, content, ..*known },
            None => ListedPath {
                by_path: class_rules::classes_by_path(&path),
                may_be_translation: translation::may_be_translation(&path),
                classes: ClassSet::default(),
                path,
                content,
            },
        }
    }
}

/// Sets the classes of all paths. All are set, because whether a file is a translation depends on other paths.
fn classify_paths(paths: &mut [ListedPath], contents: &[ListedContent]) {
    for nth in 0..paths.len() {
        let listed = &contents[paths[nth].content as usize];
        let mut by_path = paths[nth].by_path;
        if listed.is_commit() {
            continue;
        }
        if paths[nth].may_be_translation
            && translation::is_translation(&paths[nth].path, listed.group, |path| has_path(paths, path))
        {
            by_path.insert(FileClass::Translation);
        }
        paths[nth].classes = class_rules::classify_file(by_path, listed.group, listed.content.class);
    }
}

/// Returns whether a path is in a sorted list.
fn has_path(paths: &[ListedPath], path: &str) -> bool {
    paths.binary_search_by(|known| (*known.path).cmp(path)).is_ok()
}

/// A chunk of the worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorktreeChunk {
    /// Id, kind and number of words of the chunk.
    pub chunk: ChunkSummary,
    /// Number of the content that the chunk is part of, below [`WorktreeChunks::n_contents`].
    pub content: u32,
}

impl WorktreeChunks {
    /// Replaces all paths by `list`, a sorted list of paths, each with the first chunk of its content. Calls `read` with the first
    /// chunk of each content that is not known.
    ///
    /// # Errors
    /// When `read` fails. Nothing is changed then.
    pub fn replace_paths<E>(
        &mut self,
        list: Vec<(Box<str>, ChunkId)>,
        mut read: impl FnMut(ChunkId) -> Result<IndexedContent, E>,
    ) -> Result<(), E> {
        let known: HashMap<ChunkId, &ListedContent> =
            self.contents.iter().filter_map(|listed| Some((listed.first_chunk()?, listed))).collect();
        let mut former =
            FormerPaths { paths: &self.paths, n_passed: 0, places: Vec::with_capacity(list.len()) };
        let mut places: HashMap<ChunkId, u32> = HashMap::with_capacity(list.len());
        let mut contents: Vec<ListedContent> = Vec::new();
        let mut paths = Vec::with_capacity(list.len());
        for (nth, (path, id)) in (0..).zip(list) {
            let place = match places.get(&id) {
                Some(place) => *place,
                None => {
                    contents.push(match known.get(&id) {
                        Some(known) => ListedContent { paths: Vec::new(), ..(*known).clone() },
                        None => ListedContent::new(read(id)?),
                    });
                    let place = contents.len() as u32 - 1;
                    places.insert(id, place);
                    place
                }
            };
            contents[place as usize].paths.push(nth);
            paths.push(former.make_listed_path(path, place));
        }
        classify_paths(&mut paths, &contents);
        let path_index = self.build_path_index(&paths, &contents, &former.places);
        let mut chunks: Vec<WorktreeChunk> = (0..)
            .zip(&contents)
            .flat_map(|(place, listed)| -> Vec<WorktreeChunk> {
                listed
                    .content
                    .chunks
                    .iter()
                    .map(|chunk| WorktreeChunk { chunk: *chunk, content: place })
                    .collect()
            })
            .collect();
        chunks.sort_unstable_by_key(|chunk| chunk.chunk.id);
        let n_words = chunks.iter().map(|chunk| u64::from(chunk.chunk.n_words)).sum();
        let places = IdPositions::new(chunks.iter().map(|chunk| chunk.chunk.id.0));
        let filter_cache = FilterCache::default();
        *self = Self { contents, chunks, places, paths, path_index, n_words, filter_cache, size: 0 };
        self.size = self.measure_size();
        Ok(())
    }

    /// Returns the index of words for `paths`, given the former index of each path. Returns the current one if no path has
    /// changed.
    fn build_path_index(
        &self,
        paths: &[ListedPath],
        contents: &[ListedContent],
        former: &[Option<u32>],
    ) -> Arc<PathWordIndex> {
        if former.len() == self.path_index.n_paths()
            && former.iter().enumerate().all(|(nth, place)| *place == Some(nth as u32))
        {
            return Arc::clone(&self.path_index);
        }
        let is_outgrown = self.path_index.needs_rebuild();
        let words = paths.iter().zip(former).map(|(listed, former)| {
            let is_file = !contents[listed.content as usize].is_commit();
            is_file.then_some((&*listed.path, former.filter(|_| !is_outgrown)))
        });
        match is_outgrown {
            true => Arc::new(PathWordIndex::default().with_paths(words)),
            false => Arc::new(self.path_index.with_paths(words)),
        }
    }

    /// Returns all chunks, sorted by id.
    pub(crate) fn chunks(&self) -> &[WorktreeChunk] {
        &self.chunks
    }

    /// Returns the number of words of all chunks.
    pub(crate) fn n_words(&self) -> u64 {
        self.n_words
    }

    /// Returns the number of different contents.
    pub fn n_contents(&self) -> usize {
        self.contents.len()
    }

    /// Returns the numbers of the contents that were cut at the limit on chunks, so that the last part is in no chunk.
    pub fn cut_contents(&self) -> impl Iterator<Item = u32> {
        (0..)
            .zip(&self.contents)
            .filter(|(_, listed)| listed.content.chunks.len() >= MAX_CHUNKS_PER_FILE)
            .map(|(content, _)| content)
    }

    /// Returns the paths of a content, in order.
    pub fn paths_of(&self, content: u32) -> impl Iterator<Item = &str> {
        self.contents[content as usize].paths.iter().map(|path| &*self.paths[*path as usize].path)
    }

    /// Returns whether the globs match the path of some file. Commits do not count.
    pub fn has_matching_path(&self, globs: &PathGlobs) -> bool {
        self.paths
            .iter()
            .filter(|listed| !self.contents[listed.content as usize].is_commit())
            .any(|listed| globs.is_match(&listed.path))
    }

    /// Returns whether the path of some file contains a text, regardless of case.
    pub fn has_path_with(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.paths.iter().any(|listed| listed.path.to_lowercase().contains(&text))
    }

    /// Returns the content with a number.
    pub(crate) fn content_at(&self, place: u32) -> &IndexedContent {
        &self.contents[place as usize].content
    }

    /// Returns the number of words of all chunks of a content.
    pub(crate) fn content_word_count(&self, content: u32) -> u32 {
        self.contents[content as usize].n_words
    }

    /// Returns the chunk with an id, if the worktree has it.
    pub fn get(&self, id: ChunkId) -> Option<&WorktreeChunk> {
        self.position_of(id).map(|place| &self.chunks[place])
    }

    /// Returns the position of a chunk in [`Self::chunks`], if the worktree has it.
    #[inline]
    pub(crate) fn position_of(&self, id: ChunkId) -> Option<usize> {
        self.places.get(id.0)
    }

    /// Returns the approximate size in memory, bytes.
    pub fn size_bytes(&self) -> usize {
        self.size
    }

    /// Computes the approximate size in memory, bytes.
    fn measure_size(&self) -> usize {
        let chunks = self.chunks.len() * (size_of::<WorktreeChunk>() + size_of::<ChunkSummary>());
        let paths: usize = self.paths.iter().map(|listed| listed.path.len() + size_of::<ListedPath>()).sum();
        let contents = self.contents.len() * (size_of::<ListedContent>() + size_of::<IndexedContent>() + 16);
        chunks + self.places.size_bytes() + self.path_index.size_bytes() + paths + contents
    }

    /// Returns the classes of the file at a path; none for an unknown path.
    pub fn path_classes(&self, path: &str) -> ClassSet {
        self.path_position(path).map(|place| self.paths[place].classes).unwrap_or_default()
    }

    /// Returns the classes of the file at `path`, which has this content.
    pub(crate) fn classes_of(&self, content: u32, path: &str) -> ClassSet {
        match self.contents[content as usize].paths.as_slice() {
            [only] => self.paths[*only as usize].classes,
            _ => self.path_classes(path),
        }
    }

    /// Returns the first chunk of the file at a path, which identifies its content; `None` for an unknown path.
    pub fn first_chunk_of(&self, path: &str) -> Option<ChunkId> {
        self.contents[self.paths[self.path_position(path)?].content as usize].first_chunk()
    }

    /// Returns the index of a path in `paths`.
    fn path_position(&self, path: &str) -> Option<usize> {
        self.paths.binary_search_by(|known| (*known.path).cmp(path)).ok()
    }

    /// Returns whether a filter admits a path of a content: by path and classes for a file, or as a commit.
    fn admits_path(&self, filter: &SearchFilter, listed: &ListedContent, path: &ListedPath) -> bool {
        match listed.is_commit() {
            true => filter.admits_commits(),
            false => filter.admits_file(&path.path, path.classes),
        }
    }
}

#[cfg(test)]
mod tests;
