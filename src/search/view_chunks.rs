//! Keeps in memory which chunks a worktree has, at which paths.
//!
//! An arm finds ids of chunks; what the view and a filter admit is looked up here, without the database. Pure: the rows are
//! given by `update`.

use std::collections::HashMap;
use std::sync::Arc;

use super::class_rules::{self, FormatGroup};
use super::filter::Filter;
use super::id_places::IdPlaces;
use super::translation;
use crate::store::{Content, ContentChunk};
use crate::types::{ChunkId, ClassSet, FileClass, IdSet, Kind};

/// The chunks of one worktree.
#[derive(Clone, Default)]
pub struct ViewChunks {
    /// In the order of their first paths.
    contents: Vec<Listed>,
    /// By id.
    chunks: Vec<ViewChunk>,
    places: IdPlaces,
    /// In order.
    paths: Vec<ListedPath>,
    /// Of all chunks.
    n_words: u64,
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

/// The paths of the former list that were not passed yet, in order.
struct Former<'a> {
    paths: &'a [ListedPath],
}

impl Former<'_> {
    /// Returns a path with what its name says, which is known if it was in the former list. Paths come in order.
    fn listed(&mut self, path: Box<str>, content: u32) -> ListedPath {
        while self.paths.first().is_some_and(|first| first.path < path) {
            self.paths = &self.paths[1..];
        }
        match self.paths.first().filter(|first| first.path == path) {
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
        let mut former = Former { paths: &self.paths };
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
        let of = |(place, listed): (u32, &Listed)| -> Vec<ViewChunk> {
            listed.content.chunks.iter().map(|chunk| ViewChunk { chunk: *chunk, content: place }).collect()
        };
        let mut chunks: Vec<ViewChunk> = (0..).zip(&contents).flat_map(of).collect();
        chunks.sort_unstable_by_key(|chunk| chunk.chunk.id);
        let n_words = chunks.iter().map(|chunk| u64::from(chunk.chunk.n_words)).sum();
        let places = IdPlaces::new(chunks.iter().map(|chunk| chunk.chunk.id.0));
        *self = Self { contents, chunks, places, paths, n_words };
        Ok(())
    }

    /// Returns all chunks by id.
    pub fn chunks(&self) -> &[ViewChunk] {
        &self.chunks
    }

    /// Returns the number of words of all chunks.
    pub fn n_words(&self) -> u64 {
        self.n_words
    }

    /// Returns the number of different contents.
    pub fn n_contents(&self) -> usize {
        self.contents.len()
    }

    /// Returns the content of a chunk.
    pub fn content(&self, place: u32) -> &Content {
        &self.contents[place as usize].content
    }

    /// Returns the number of words of all chunks of a content.
    pub fn n_words_of(&self, content: u32) -> u32 {
        self.contents[content as usize].n_words
    }

    /// Returns the chunk with an id, if the view has it.
    pub fn get(&self, id: ChunkId) -> Option<&ViewChunk> {
        self.place_of(id).map(|place| &self.chunks[place])
    }

    /// Returns where in [`Self::chunks`] a chunk is, if the view has it.
    #[inline]
    pub fn place_of(&self, id: ChunkId) -> Option<usize> {
        self.places.get(id.0)
    }

    /// Returns the memory that it takes, bytes.
    pub fn size(&self) -> usize {
        let chunks = self.chunks.len() * (size_of::<ViewChunk>() + size_of::<ContentChunk>());
        let paths: usize = self.paths.iter().map(|listed| listed.path.len() + size_of::<ListedPath>()).sum();
        let contents = self.contents.len() * (size_of::<Listed>() + size_of::<Content>() + 16);
        chunks + self.places.size() + paths + contents
    }

    /// Returns the classes of the file at a path.
    pub fn classes(&self, path: &str) -> ClassSet {
        self.place(path).map(|place| self.paths[place].classes).unwrap_or_default()
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

    /// Returns what a filter admits.
    pub fn within<'a>(&'a self, filter: &'a Filter) -> Members<'a> {
        let admitted = (!filter.admits_all_contents()).then(|| {
            let first = |listed: &Listed| {
                let is_admitted = |path: &u32| self.admits(filter, listed, &self.paths[*path as usize]);
                let mut paths = listed.paths.iter().copied();
                if filter.admits_lang(&listed.content.lang) { paths.find(is_admitted) } else { None }
            };
            self.contents.iter().map(first).collect()
        });
        Members { view: self, filter, admitted }
    }
}

/// The chunks of a view that a filter admits.
pub struct Members<'a> {
    /// All chunks of the view.
    pub view: &'a ViewChunks,
    filter: &'a Filter,
    /// The first admitted path of each content; when absent all are admitted.
    admitted: Option<Vec<Option<u32>>>,
}

impl Members<'_> {
    /// Returns whether the filter restricts nothing, or only to a set of chunks.
    pub fn are_all_or_listed(&self) -> bool {
        self.admitted.is_none() && self.filter.kinds.is_empty()
    }

    /// Returns the set of chunks that the filter restricts to.
    pub fn listed(&self) -> Option<&IdSet> {
        self.filter.chunks.as_ref()
    }

    /// Returns the admitted chunks of files, by path and place.
    pub fn of_files(&self) -> impl Iterator<Item = &ViewChunk> {
        let contents = self.view.contents.iter().filter(|listed| !listed.is_commit());
        let chunks = contents.flat_map(|listed| &listed.content.chunks);
        chunks.filter_map(|chunk| self.get(chunk.id))
    }

    /// Returns whether only commits are admitted.
    pub fn are_commits(&self) -> bool {
        self.filter.kinds == [Kind::Commit]
    }

    /// Returns whether a chunk is admitted.
    pub fn admit(&self, chunk: &ViewChunk) -> bool {
        self.filter.admits_kind(chunk.chunk.kind)
            && self.filter.chunks.as_ref().is_none_or(|chunks| chunks.contains(chunk.chunk.id))
            && self.admitted.as_ref().is_none_or(|admitted| admitted[chunk.content as usize].is_some())
    }

    /// Returns the chunk with an id, if it is admitted.
    pub fn get(&self, id: ChunkId) -> Option<&ViewChunk> {
        self.view.get(id).filter(|chunk| self.admit(chunk))
    }

    /// Returns the ids of the admitted chunks of some kinds.
    pub fn ids(&self, of: impl Fn(Kind) -> bool) -> IdSet {
        let chunks = self.view.chunks.iter().filter(|chunk| of(chunk.chunk.kind) && self.admit(chunk));
        chunks.map(|chunk| chunk.chunk.id).collect()
    }

    /// Returns the first admitted chunk of the content at a path, if the path is admitted.
    pub fn first_at(&self, path: &str) -> Option<&ViewChunk> {
        let path = &self.view.paths[self.view.place(path)?];
        let listed = &self.view.contents[path.content as usize];
        if !self.view.admits(self.filter, listed, path) {
            return None;
        }
        listed.content.chunks.iter().find_map(|chunk| self.get(chunk.id))
    }

    /// Returns the first admitted path of a content.
    pub fn first_path(&self, content: u32) -> Option<&str> {
        let path = match &self.admitted {
            Some(admitted) => admitted[content as usize],
            None => self.view.contents[content as usize].paths.first().copied(),
        };
        path.map(|path| &*self.view.paths[path as usize].path)
    }

    /// Returns the admitted paths of a content, in order.
    pub fn paths(&self, content: u32) -> impl Iterator<Item = &str> {
        let listed = &self.view.contents[content as usize];
        let paths = listed.paths.iter().map(|path| &self.view.paths[*path as usize]);
        let admitted = paths.filter(|path| self.view.admits(self.filter, listed, path));
        admitted.map(|path| &*path.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::filter::glob_set;

    fn content(first: ChunkId) -> Result<Content, String> {
        let chunk = |nth, kind| ContentChunk { id: ChunkId(first.0 + nth), kind, n_words: 3 };
        let lang = if first.0 < 100 { "rust" } else { "" };
        let chunks = vec![chunk(0, Kind::Map), chunk(1, Kind::Symbol)];
        Ok(Content { hash: [0; 32], lang: lang.to_owned(), class: None, chunks })
    }

    fn listed(list: &[(&str, i64)]) -> Vec<(Box<str>, ChunkId)> {
        list.iter().map(|(path, id)| ((*path).into(), ChunkId(*id))).collect()
    }

    fn ids(members: &Members<'_>) -> Vec<i64> {
        members.view.chunks().iter().filter(|chunk| members.admit(chunk)).map(|c| c.chunk.id.0).collect()
    }

    #[test]
    fn only_new_contents_are_read_and_copies_are_one() {
        let mut view = ViewChunks::default();
        let mut n_read = 0;
        let mut update = |view: &mut ViewChunks, list: &[(&str, i64)]| {
            let read = |id| {
                n_read += 1;
                content(id)
            };
            view.update(listed(list), read).unwrap();
            n_read
        };
        assert_eq!(update(&mut view, &[("a.rs", 10), ("b/a.rs", 10), ("c.txt", 100)]), 2);
        assert_eq!(update(&mut view, &[("a.rs", 20), ("b/a.rs", 10), ("c.txt", 100)]), 3);
        assert_eq!(update(&mut view, &[("c.txt", 100)]), 3);
        assert_eq!(view.n_contents(), 1);
        assert_eq!(view.get(ChunkId(10)), None);
        assert_eq!(view.get(ChunkId(101)).map(|chunk| chunk.chunk.kind), Some(Kind::Symbol));
        assert_eq!(view.update(listed(&[("d", 9)]), |_| Err("no")), Err("no"));
        assert_eq!(view.n_contents(), 1, "what failed changes nothing");
    }

    #[test]
    fn classes_follow_the_other_paths() {
        let mut view = ViewChunks::default();
        let mut check = |paths: &[&str], path: &str, expected: &[FileClass]| {
            let list: Vec<_> = paths.iter().zip(100..).map(|(path, id)| (*path, id)).collect();
            view.update(listed(&list), |first| {
                Ok::<_, String>(Content { lang: "markdown".to_owned(), ..content(first)? })
            })
            .unwrap();
            assert_eq!(view.classes(path), ClassSet::of(expected), "{paths:?}");
        };
        check(&["docs/uk/a.md"], "docs/uk/a.md", &[FileClass::Docs]);
        check(&["docs/en/a.md", "docs/uk/a.md"], "docs/uk/a.md", &[FileClass::Docs, FileClass::Translation]);
        check(&["docs/en/a.md", "docs/uk/a.md"], "docs/en/a.md", &[FileClass::Docs]);
        check(&["docs/uk/a.md", "tests/a.md"], "docs/uk/a.md", &[FileClass::Docs]);
        check(&["docs/uk/a.md", "tests/a.md"], "tests/a.md", &[FileClass::Docs, FileClass::Test]);
        check(&[], "tests/a.md", &[]);
    }

    #[test]
    fn a_filter_admits_by_kind_format_and_path() {
        let mut view = ViewChunks::default();
        view.update(listed(&[("a.rs", 10), ("b/a.rs", 10), ("c.txt", 100)]), content).unwrap();
        let filter = |kinds: &[Kind], langs: &[&str], globs: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
            let paths = if globs.is_empty() { Vec::new() } else { vec![glob_set(&owned(globs)).unwrap()] };
            Filter { kinds: kinds.to_vec(), langs: owned(langs), paths, ..Filter::default() }
        };
        let check = |filter: Filter, expected: &[i64]| assert_eq!(ids(&view.within(&filter)), expected);
        check(Filter::default(), &[10, 11, 100, 101]);
        check(filter(&[Kind::Symbol], &[], &[]), &[11, 101]);
        check(filter(&[], &["rust"], &[]), &[10, 11]);
        check(filter(&[], &[], &["b/**"]), &[10, 11]);
        check(filter(&[], &["rust"], &["*.txt"]), &[]);
        let only = |classes: &[FileClass]| Filter { only: vec![ClassSet::of(classes)], ..Filter::default() };
        check(only(&[FileClass::Code]), &[10, 11]);
        check(only(&[FileClass::Lock]), &[]);
        check(Filter { not_only: ClassSet::of(&[FileClass::Code]), ..Filter::default() }, &[100, 101]);
        let within_b = filter(&[Kind::Symbol], &[], &["b/**"]);
        let members = view.within(&within_b);
        assert_eq!(members.paths(0).collect::<Vec<_>>(), ["b/a.rs"]);
        assert_eq!(members.first_at("b/a.rs").map(|chunk| chunk.chunk.id), Some(ChunkId(11)));
        assert_eq!(members.first_at("a.rs"), None);
        assert!(members.ids(|kind| kind == Kind::Symbol).contains(ChunkId(11)));
    }
}
