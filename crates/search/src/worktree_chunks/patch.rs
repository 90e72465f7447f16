//! Changes a few paths of a worktree without rebuilding all others.

use memod_base::types::{ChunkId, ClassSet};
use memod_index_db::IndexedContent;

use super::filter_cache::FilterCache;
use super::id_places::IdPositions;
use super::{
    ListedContent, ListedPath, WorktreeChunk, WorktreeChunks, class_rules, classify_paths, translation,
};

/// A changed path, with the first chunk of its new content; `None` if the path was deleted.
pub type ChangedPath = (Box<str>, Option<ChunkId>);

impl WorktreeChunks {
    /// Updates the changed paths. Calls `read` with the first chunk of each content that is not known.
    ///
    /// # Errors
    /// When `read` fails. Nothing is changed then.
    pub fn patch<E>(
        &mut self,
        changed: Vec<ChangedPath>,
        mut read: impl FnMut(ChunkId) -> Result<IndexedContent, E>,
    ) -> Result<(), E> {
        let mut new: Vec<(ChunkId, ListedContent)> = Vec::new();
        for first in
            changed.iter().filter_map(|(_, first)| first.as_ref()).filter(|first| self.get(**first).is_none())
        {
            if new.iter().all(|(known, _)| known != first) {
                new.push((*first, ListedContent::new(read(*first)?)));
            }
        }
        let mut former: Vec<Option<u32>> = (0..self.paths.len() as u32).map(Some).collect();
        for (_, listed) in &new {
            self.add_content(listed.clone());
        }
        for (path, first) in changed {
            let content = first.map(|first| self.content_of_chunk(first));
            match (self.paths.binary_search_by(|known| known.path.cmp(&path)), content) {
                (Err(_), None) => {}
                (Ok(at), Some(content)) => self.set_path_content(at, content),
                (Ok(at), None) => {
                    self.remove_path(at);
                    former.remove(at);
                }
                (Err(at), Some(content)) => {
                    self.insert_path(at, path, content);
                    former.insert(at, None);
                }
            }
        }
        self.remove_unused_contents();
        self.finish_patch(&former);
        Ok(())
    }

    /// Computes everything that depends on the paths and contents. `former` has the former index of each path.
    fn finish_patch(&mut self, former: &[Option<u32>]) {
        self.filter_cache = FilterCache::default();
        classify_paths(&mut self.paths, &self.contents);
        self.path_index = self.build_path_index(&self.paths, &self.contents, former);
        self.n_words = self.contents.iter().map(|listed| u64::from(listed.n_words)).sum();
        self.places = IdPositions::new(self.chunks.iter().map(|chunk| chunk.chunk.id.0));
        self.size = self.measure_size();
    }

    /// Returns the position of a chunk, or as an error the position at which it can be inserted.
    fn find_position(&self, id: ChunkId) -> Result<usize, usize> {
        self.chunks.binary_search_by_key(&id, |chunk| chunk.chunk.id)
    }

    /// Returns the number of the content that a chunk is part of.
    fn content_of_chunk(&self, chunk: ChunkId) -> u32 {
        let place = self.find_position(chunk).expect("the chunk is known, or has been added");
        self.chunks[place].content
    }

    /// Adds a content with its chunks.
    fn add_content(&mut self, listed: ListedContent) {
        let content = self.contents.len() as u32;
        let chunks = listed.content.chunks.iter().map(|chunk| WorktreeChunk { chunk: *chunk, content });
        // The ids of the chunks of one content follow each other.
        if let Some(first) = listed.content.chunks.first() {
            let at = self.find_position(first.id).unwrap_or_else(|at| at);
            self.chunks.splice(at..at, chunks);
        }
        self.contents.push(listed);
    }

    /// Gives the path with index `at` another content.
    fn set_path_content(&mut self, at: usize, content: u32) {
        let path = at as u32;
        let former = std::mem::replace(&mut self.paths[at].content, content);
        self.contents[former as usize].paths.retain(|other| *other != path);
        self.attach_path(path, content);
    }

    /// Adds a path to the paths of a content, in order.
    fn attach_path(&mut self, path: u32, content: u32) {
        let paths = &mut self.contents[content as usize].paths;
        let at = paths.partition_point(|other| *other < path);
        paths.insert(at, path);
    }

    /// Inserts a new path at index `at`.
    fn insert_path(&mut self, at: usize, path: Box<str>, content: u32) {
        self.renumber_paths(|other| if other >= at as u32 { other + 1 } else { other });
        let listed = ListedPath {
            by_path: class_rules::classes_by_path(&path),
            may_be_translation: translation::may_be_translation(&path),
            classes: ClassSet::default(),
            path,
            content,
        };
        self.paths.insert(at, listed);
        self.attach_path(at as u32, content);
    }

    /// Removes the path with index `at`.
    fn remove_path(&mut self, at: usize) {
        let ListedPath { content, .. } = self.paths.remove(at);
        self.contents[content as usize].paths.retain(|other| *other != at as u32);
        self.renumber_paths(|other| if other > at as u32 { other - 1 } else { other });
    }

    /// Replaces the index of each path in all contents by `number` of it.
    fn renumber_paths(&mut self, number: impl Fn(u32) -> u32) {
        for path in self.contents.iter_mut().flat_map(|listed| &mut listed.paths) {
            *path = number(*path);
        }
    }

    /// Removes contents without paths, and their chunks. The last content takes the number of a removed one.
    fn remove_unused_contents(&mut self) {
        while let Some(content) = self.contents.iter().position(|listed| listed.paths.is_empty()) {
            let removed = self.contents.swap_remove(content);
            if let Some(first) = removed.content.chunks.first()
                && let Ok(at) = self.find_position(first.id)
            {
                self.chunks.drain(at..at + removed.content.chunks.len());
            }
            let Some(moved) = self.contents.get(content) else { continue };
            for path in &moved.paths {
                self.paths[*path as usize].content = content as u32;
            }
            let Some(first) = moved.content.chunks.first() else { continue };
            let n_chunks = moved.content.chunks.len();
            if let Ok(at) = self.find_position(first.id) {
                self.chunks[at..at + n_chunks].iter_mut().for_each(|chunk| chunk.content = content as u32);
            }
        }
    }
}
