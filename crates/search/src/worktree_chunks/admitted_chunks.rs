//! Looks up chunks of a worktree, and whether a filter admits them.

use memod_base::types::{ChunkId, ChunkKind, IdSet, Phrase};

use super::filter_cache::AdmittedPaths;
use super::{WorktreeChunk, WorktreeChunks};
use crate::filter::SearchFilter;

impl WorktreeChunks {
    /// Returns the chunks that a filter admits.
    pub(crate) fn admitted_by<'a>(&'a self, filter: &'a SearchFilter) -> AdmittedChunks<'a> {
        let admitted = (!filter.admits_all_contents()).then(|| {
            self.filter_cache.get_or_make(filter.file_conditions(), || {
                self.contents
                    .iter()
                    .map(|listed| {
                        let mut paths = listed.paths.iter().copied();
                        if filter.admits_lang(&listed.content.lang) {
                            paths.find(|path| self.admits_path(filter, listed, &self.paths[*path as usize]))
                        } else {
                            None
                        }
                    })
                    .collect()
            })
        });
        AdmittedChunks { worktree: self, filter, admitted }
    }
}

/// The chunks of a worktree that a filter admits.
pub(crate) struct AdmittedChunks<'a> {
    /// All chunks of the worktree.
    pub worktree: &'a WorktreeChunks,
    filter: &'a SearchFilter,
    /// The first admitted path of each content, if any; `None` if the filter admits all contents.
    admitted: Option<AdmittedPaths>,
}

impl AdmittedChunks<'_> {
    /// Returns whether the filter restricts nothing, or only the ids of chunks.
    pub(crate) fn restricts_only_ids(&self) -> bool {
        self.admitted.is_none() && self.filter.kinds.is_empty()
    }

    /// Returns the ids of chunks to which the filter is restricted; `None` if it does not restrict ids.
    pub(crate) fn filtered_ids(&self) -> Option<&IdSet> {
        self.filter.chunks.as_ref()
    }

    /// Returns the admitted chunks of files, in the order of paths and of the text.
    pub(crate) fn file_chunks(&self) -> impl Iterator<Item = &WorktreeChunk> {
        let contents = (0..).zip(&self.worktree.paths).filter_map(|(nth, path)| {
            let listed = &self.worktree.contents[path.content as usize];
            (listed.paths.first() == Some(&nth) && !listed.is_commit()).then_some(&listed.content.chunks)
        });
        contents.flatten().filter_map(|chunk| self.get(chunk.id))
    }

    /// Returns whether the filter admits only commits.
    pub(crate) fn admits_only_commits(&self) -> bool {
        self.filter.kinds == [ChunkKind::Commit]
    }

    /// Returns whether the filter admits a chunk of the worktree.
    pub(crate) fn admits_chunk(&self, chunk: &WorktreeChunk) -> bool {
        self.filter.admits_kind(chunk.chunk.kind)
            && self.filter.chunks.as_ref().is_none_or(|chunks| chunks.contains(chunk.chunk.id))
            && self.admitted.as_ref().is_none_or(|admitted| admitted[chunk.content as usize].is_some())
    }

    /// Returns the chunk with an id, if the worktree has the chunk and the filter admits it.
    pub(crate) fn get(&self, id: ChunkId) -> Option<&WorktreeChunk> {
        self.worktree.get(id).filter(|chunk| self.admits_chunk(chunk))
    }

    /// Returns the ids of the admitted chunks whose kind `is_wanted` accepts.
    pub(crate) fn ids_of_kinds(&self, is_wanted: impl Fn(ChunkKind) -> bool) -> IdSet {
        let chunks = self
            .worktree
            .chunks
            .iter()
            .filter(|chunk| is_wanted(chunk.chunk.kind) && self.admits_chunk(chunk));
        chunks.map(|chunk| chunk.chunk.id).collect()
    }

    /// Returns the admitted paths that contain some of the phrases, best first, and equal paths in order. Each path is given by its
    /// BM25 and the first admitted chunk of its content.
    pub(crate) fn matching_paths<'b>(
        &'b self,
        phrases: impl Iterator<Item = &'b Phrase>,
    ) -> impl Iterator<Item = (f64, &'b WorktreeChunk)> {
        let found = self.worktree.path_index.find_paths(phrases);
        found.filter_map(|(path, bm25)| Some((bm25, self.first_chunk_at(path)?)))
    }

    /// Returns the first admitted chunk of the content at a path, if the filter admits the path.
    fn first_chunk_at(&self, path: u32) -> Option<&WorktreeChunk> {
        let path = &self.worktree.paths[path as usize];
        let listed = &self.worktree.contents[path.content as usize];
        if !self.worktree.admits_path(self.filter, listed, path) {
            return None;
        }
        listed.content.chunks.iter().find_map(|chunk| self.get(chunk.id))
    }

    /// Returns the first admitted path of a content.
    pub(crate) fn first_path(&self, content: u32) -> Option<&str> {
        let path = match &self.admitted {
            Some(admitted) => admitted[content as usize],
            None => self.worktree.contents[content as usize].paths.first().copied(),
        };
        path.map(|path| &*self.worktree.paths[path as usize].path)
    }

    /// Returns a number by which contents are sorted in the order of their first paths.
    pub(crate) fn path_order_of(&self, content: u32) -> Option<u32> {
        self.worktree.contents[content as usize].paths.first().copied()
    }

    /// Returns the path of an admitted content, if the content has only one path.
    pub(crate) fn only_path(&self, content: u32) -> Option<&str> {
        match self.worktree.contents[content as usize].paths.as_slice() {
            [only] => Some(&self.worktree.paths[*only as usize].path),
            _ => None,
        }
    }

    /// Returns the admitted paths of a content, in order.
    pub(crate) fn paths_of(&self, content: u32) -> impl Iterator<Item = &str> {
        let listed = &self.worktree.contents[content as usize];
        let paths = listed.paths.iter().map(|path| &self.worktree.paths[*path as usize]);
        let admitted = paths.filter(|path| self.worktree.admits_path(self.filter, listed, path));
        admitted.map(|path| &*path.path)
    }
}
