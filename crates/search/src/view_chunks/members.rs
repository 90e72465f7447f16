//! Looks up which chunks of a view a filter admits.

use memod_base::types::{ChunkId, IdSet, Kind, Phrase};

use super::kept_filters::Admitted;
use super::{Listed, ListedPath, ViewChunk, ViewChunks};
use crate::filter::Filter;

impl ViewChunks {
    /// Returns what a filter admits.
    pub(crate) fn within<'a>(&'a self, filter: &'a Filter) -> Members<'a> {
        let admitted = (!filter.admits_all_contents()).then(|| {
            let first = |listed: &Listed| {
                let is_admitted = |path: &u32| self.admits(filter, listed, &self.paths[*path as usize]);
                let mut paths = listed.paths.iter().copied();
                if filter.admits_lang(&listed.content.lang) { paths.find(is_admitted) } else { None }
            };
            self.kept_filters.of(filter.file_demands(), || self.contents.iter().map(first).collect())
        });
        Members { view: self, filter, admitted }
    }
}

/// The chunks of a view that a filter admits.
pub(crate) struct Members<'a> {
    /// All chunks of the view.
    pub view: &'a ViewChunks,
    filter: &'a Filter,
    /// The first admitted path of each content; when absent all are admitted.
    admitted: Option<Admitted>,
}

impl Members<'_> {
    /// Returns whether the filter restricts nothing, or only to a set of chunks.
    pub(crate) fn are_all_or_listed(&self) -> bool {
        self.admitted.is_none() && self.filter.kinds.is_empty()
    }

    /// Returns the set of chunks that the filter restricts to.
    pub(crate) fn listed(&self) -> Option<&IdSet> {
        self.filter.chunks.as_ref()
    }

    /// Returns the admitted chunks of files, by path and place.
    pub(crate) fn of_files(&self) -> impl Iterator<Item = &ViewChunk> {
        let first = |(nth, path): (u32, &ListedPath)| {
            let listed = &self.view.contents[path.content as usize];
            (listed.paths.first() == Some(&nth) && !listed.is_commit()).then_some(&listed.content.chunks)
        };
        let contents = (0..).zip(&self.view.paths).filter_map(first);
        contents.flatten().filter_map(|chunk| self.get(chunk.id))
    }

    /// Returns whether only commits are admitted.
    pub(crate) fn are_commits(&self) -> bool {
        self.filter.kinds == [Kind::Commit]
    }

    /// Returns whether a chunk is admitted.
    pub(crate) fn admit(&self, chunk: &ViewChunk) -> bool {
        self.filter.admits_kind(chunk.chunk.kind)
            && self.filter.chunks.as_ref().is_none_or(|chunks| chunks.contains(chunk.chunk.id))
            && self.admitted.as_ref().is_none_or(|admitted| admitted[chunk.content as usize].is_some())
    }

    /// Returns the chunk with an id, if it is admitted.
    pub(crate) fn get(&self, id: ChunkId) -> Option<&ViewChunk> {
        self.view.get(id).filter(|chunk| self.admit(chunk))
    }

    /// Returns the ids of the admitted chunks of some kinds.
    pub(crate) fn ids(&self, of: impl Fn(Kind) -> bool) -> IdSet {
        let chunks = self.view.chunks.iter().filter(|chunk| of(chunk.chunk.kind) && self.admit(chunk));
        chunks.map(|chunk| chunk.chunk.id).collect()
    }

    /// Returns the admitted paths that have some of the phrases, best first and then in order, with their BM25 and the first
    /// admitted chunk of their contents.
    pub(crate) fn paths_with<'b>(
        &'b self,
        phrases: impl Iterator<Item = &'b Phrase>,
    ) -> impl Iterator<Item = (f64, &'b ViewChunk)> {
        let found = self.view.path_index.find(phrases);
        found.filter_map(|(path, bm25)| Some((bm25, self.first_at(path)?)))
    }

    fn first_at(&self, path: u32) -> Option<&ViewChunk> {
        let path = &self.view.paths[path as usize];
        let listed = &self.view.contents[path.content as usize];
        if !self.view.admits(self.filter, listed, path) {
            return None;
        }
        listed.content.chunks.iter().find_map(|chunk| self.get(chunk.id))
    }

    /// Returns the first admitted path of a content.
    pub(crate) fn first_path(&self, content: u32) -> Option<&str> {
        let path = match &self.admitted {
            Some(admitted) => admitted[content as usize],
            None => self.view.contents[content as usize].paths.first().copied(),
        };
        path.map(|path| &*self.view.paths[path as usize].path)
    }

    /// Returns a number by which contents are in the order of their first paths.
    pub(crate) fn order_of(&self, content: u32) -> Option<u32> {
        self.view.contents[content as usize].paths.first().copied()
    }

    /// Returns the path of an admitted content, if it has only one.
    pub(crate) fn only_path(&self, content: u32) -> Option<&str> {
        match self.view.contents[content as usize].paths.as_slice() {
            [only] => Some(&self.view.paths[*only as usize].path),
            _ => None,
        }
    }

    /// Returns the admitted paths of a content, in order.
    pub(crate) fn paths(&self, content: u32) -> impl Iterator<Item = &str> {
        let listed = &self.view.contents[content as usize];
        let paths = listed.paths.iter().map(|path| &self.view.paths[*path as usize]);
        let admitted = paths.filter(|path| self.view.admits(self.filter, listed, path));
        admitted.map(|path| &*path.path)
    }
}
