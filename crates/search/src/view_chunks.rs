//! Keeps in memory which chunks a worktree has, at which paths.
//!
//! An arm finds ids of chunks; what the view and a filter admit is looked up here, without the database. Pure: the rows are
//! given by `update`.

mod kept_filters;
mod members;
mod patch;

use std::collections::HashMap;
use std::sync::Arc;

use memod_base::types::{ChunkId, ClassSet, FileClass, Kind, MOST_CHUNKS};

use super::class_rules::{self, FormatGroup};
use super::filter::Filter;
use super::filter::Globs;
use super::id_places::IdPlaces;
use super::path_index::PathIndex;
use super::translation;
use kept_filters::KeptFilters;
pub(crate) use members::Members;
use memod_index_db::{Content, ContentChunk};
pub use patch::ChangedPath;

/// The chunks of one worktree.
#[derive(Clone, Default)]
pub struct ViewChunks {
    /// In no order.
    contents: Vec<Listed>,
    /// By id.
    chunks: Vec<ViewChunk>,
    places: IdPlaces,
    /// In order.
    paths: Vec<ListedPath>,
    path_index: Arc<PathIndex>,
    /// Of all chunks.
    n_words: u64,
    kept_filters: KeptFilters,
    /// Memory that it takes, bytes.
    size: usize,
}

/// A path of the view.
#[derive(Clone)]
struct ListedPath {
    path: Box<str>,
    /// Place of its content in `contents`.
    content: u32,
    /// Classes whose signs are in the path.
    by_path: ClassSet,
    may_be_translation: bool,
    /// All classes.
    classes: ClassSet,
}

/// A content with its paths.
#[derive(Clone)]
struct Listed {
    content: Arc<Content>,
    group: FormatGroup,
    /// Places in `paths`.
    paths: Vec<u32>,
    /// Of all its chunks.
    n_words: u32,
}

impl Listed {
    fn new(content: Content) -> Self {
        let group = FormatGroup::of(&content.lang);
        let n_words = content.chunks.iter().fold(0, |sum: u32, chunk| sum.saturating_add(chunk.n_words));
        Self { content: Arc::new(content), group, paths: Vec::new(), n_words }
    }

    fn is_commit(&self) -> bool {
        self.content.chunks.first().is_some_and(|chunk| chunk.kind == Kind::Commit)
    }
}

/// The paths of the former list, in order.
struct Former<'a> {
    paths: &'a [ListedPath],
    /// Number of those that were passed.
    n_passed: usize,
    /// For each path of the new list its place in the former one.
    places: Vec<Option<u32>>,
}

impl Former<'_> {
    /// Returns a path with what its name says, which is known if it was in the former list. Paths come in order.
    fn listed(&mut self, path: Box<str>, content: u32) -> ListedPath {
        while self.paths.get(self.n_passed).is_some_and(|next| next.path < path) {
            self.n_passed += 1;
        }
        let known = self.paths.get(self.n_passed).filter(|next| next.path == path);
        self.places.push(known.map(|_| self.n_passed as u32));
        match known {
            Some(known) => ListedPath { path, content, ..*known },
            None => ListedPath {
                by_path: class_rules::by_path(&path),
                may_be_translation: translation::may_be_translation(&path),
                classes: ClassSet::default(),
                path,
                content,
            },
        }
    }
}

/// Sets the classes of each path. Which file is a translation depends on the other paths.
fn classify(paths: &mut [ListedPath], contents: &[Listed]) {
    let exists =
        |paths: &[ListedPath], path: &str| paths.binary_search_by(|known| (*known.path).cmp(path)).is_ok();
    for nth in 0..paths.len() {
        let listed = &contents[paths[nth].content as usize];
        let mut by_path = paths[nth].by_path;
        if listed.is_commit() {
            continue;
        }
        if paths[nth].may_be_translation
            && translation::is_translation(&paths[nth].path, listed.group, |path| exists(paths, path))
        {
            by_path.insert(FileClass::Translation);
        }
        paths[nth].classes = class_rules::classes(by_path, listed.group, listed.content.class);
    }
}

/// A chunk of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewChunk {
    /// Id, kind and length.
    pub chunk: ContentChunk,
    /// Which content it is part of, 0 to [`ViewChunks::n_contents`].
    pub content: u32,
}

impl ViewChunks {
    /// Makes it equal to a list of paths, in order, each with the first chunk of its content. `read` returns the contents that
    /// are new.
    ///
    /// # Errors
    /// When `read` fails.
    pub fn update<E>(
        &mut self,
        list: Vec<(Box<str>, ChunkId)>,
        mut read: impl FnMut(ChunkId) -> Result<Content, E>,
    ) -> Result<(), E> {
        let first = |listed: &Listed| listed.content.chunks.first().map(|chunk| chunk.id);
        let known: HashMap<ChunkId, &Listed> =
            self.contents.iter().filter_map(|listed| Some((first(listed)?, listed))).collect();
        let mut former = Former { paths: &self.paths, n_passed: 0, places: Vec::with_capacity(list.len()) };
        let mut places: HashMap<ChunkId, u32> = HashMap::with_capacity(list.len());
        let mut contents: Vec<Listed> = Vec::new();
        let mut paths = Vec::with_capacity(list.len());
        for (nth, (path, id)) in (0..).zip(list) {
            let place = match places.get(&id) {
                Some(place) => *place,
                None => {
                    contents.push(match known.get(&id) {
                        Some(known) => Listed { paths: Vec::new(), ..(*known).clone() },
                        None => Listed::new(read(id)?),
                    });
                    let place = contents.len() as u32 - 1;
                    places.insert(id, place);
                    place
                }
            };
            contents[place as usize].paths.push(nth);
            paths.push(former.listed(path, place));
        }
        classify(&mut paths, &contents);
        let path_index = self.path_index_of(&paths, &contents, &former.places);
        let of = |(place, listed): (u32, &Listed)| -> Vec<ViewChunk> {
            listed.content.chunks.iter().map(|chunk| ViewChunk { chunk: *chunk, content: place }).collect()
        };
        let mut chunks: Vec<ViewChunk> = (0..).zip(&contents).flat_map(of).collect();
        chunks.sort_unstable_by_key(|chunk| chunk.chunk.id);
        let n_words = chunks.iter().map(|chunk| u64::from(chunk.chunk.n_words)).sum();
        let places = IdPlaces::new(chunks.iter().map(|chunk| chunk.chunk.id.0));
        let kept_filters = KeptFilters::default();
        *self = Self { contents, chunks, places, paths, path_index, n_words, kept_filters, size: 0 };
        self.size = self.measured();
        Ok(())
    }

    /// Returns the words of paths, given the former place of each: the present ones if all are as they were.
    fn path_index_of(
        &self,
        paths: &[ListedPath],
        contents: &[Listed],
        former: &[Option<u32>],
    ) -> Arc<PathIndex> {
        let is_same = |(nth, place): (usize, &Option<u32>)| *place == Some(nth as u32);
        if former.len() == self.path_index.n_paths() && former.iter().enumerate().all(is_same) {
            return Arc::clone(&self.path_index);
        }
        let is_outgrown = self.path_index.is_outgrown();
        let words = paths.iter().zip(former).map(|(listed, former)| {
            let is_file = !contents[listed.content as usize].is_commit();
            is_file.then_some((&*listed.path, former.filter(|_| !is_outgrown)))
        });
        match is_outgrown {
            true => Arc::new(PathIndex::default().updated(words)),
            false => Arc::new(self.path_index.updated(words)),
        }
    }

    /// Returns all chunks by id.
    pub(crate) fn chunks(&self) -> &[ViewChunk] {
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

    /// Returns the contents of which only the first chunks are indexed: their last names are in no chunk.
    pub fn cut_contents(&self) -> impl Iterator<Item = u32> {
        let is_cut = |(_, listed): &(u32, &Listed)| listed.content.chunks.len() >= MOST_CHUNKS;
        (0..).zip(&self.contents).filter(is_cut).map(|(content, _)| content)
    }

    /// Returns the paths of a content, in order.
    pub fn paths_of(&self, content: u32) -> impl Iterator<Item = &str> {
        self.contents[content as usize].paths.iter().map(|path| &*self.paths[*path as usize].path)
    }

    /// Returns whether some file has a path that matches.
    pub fn has_path(&self, globs: &Globs) -> bool {
        let is_file = |listed: &&ListedPath| !self.contents[listed.content as usize].is_commit();
        self.paths.iter().filter(is_file).any(|listed| globs.is_match(&listed.path))
    }

    /// Returns the content of a chunk.
    pub(crate) fn content(&self, place: u32) -> &Content {
        &self.contents[place as usize].content
    }

    /// Returns the number of words of all chunks of a content.
    pub(crate) fn n_words_of(&self, content: u32) -> u32 {
        self.contents[content as usize].n_words
    }

    /// Returns the chunk with an id, if the view has it.
    pub fn get(&self, id: ChunkId) -> Option<&ViewChunk> {
        self.place_of(id).map(|place| &self.chunks[place])
    }

    /// Returns where in [`Self::chunks`] a chunk is, if the view has it.
    #[inline]
    pub(crate) fn place_of(&self, id: ChunkId) -> Option<usize> {
        self.places.get(id.0)
    }

    /// Returns the memory that it takes, bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    fn measured(&self) -> usize {
        let chunks = self.chunks.len() * (size_of::<ViewChunk>() + size_of::<ContentChunk>());
        let paths: usize = self.paths.iter().map(|listed| listed.path.len() + size_of::<ListedPath>()).sum();
        let contents = self.contents.len() * (size_of::<Listed>() + size_of::<Content>() + 16);
        chunks + self.places.size() + self.path_index.size() + paths + contents
    }

    /// Returns the classes of the file at a path.
    pub fn classes(&self, path: &str) -> ClassSet {
        self.place(path).map(|place| self.paths[place].classes).unwrap_or_default()
    }

    /// Returns the classes of a file with this content.
    pub(crate) fn classes_of(&self, content: u32, path: &str) -> ClassSet {
        match self.contents[content as usize].paths.as_slice() {
            [only] => self.paths[*only as usize].classes,
            _ => self.classes(path),
        }
    }

    fn place(&self, path: &str) -> Option<usize> {
        self.paths.binary_search_by(|known| (*known.path).cmp(path)).ok()
    }

    fn admits(&self, filter: &Filter, listed: &Listed, path: &ListedPath) -> bool {
        match listed.is_commit() {
            true => filter.admits_commits(),
            false => filter.admits_file(&path.path, path.classes),
        }
    }
}

#[cfg(test)]
mod tests;
