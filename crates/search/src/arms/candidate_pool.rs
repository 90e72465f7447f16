//! Collects the candidates of all arms. A chunk that several arms find is one candidate.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_index_db::ChunkLocation;

use super::bm25::FileScores;
use super::definition_pieces::unify_piece_definitions;
use super::duplicate_paths::ChosenPaths;
use crate::candidates::arm_signals::{ArmSignals, TextRank};
use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::row_cache::CachedReader;
use crate::query::Query;
use crate::worktree_chunks::{AdmittedChunks, WorktreeChunk};

/// The chunks that the arms have found, with their rank and value in each arm.
#[derive(Default)]
pub(crate) struct CandidatePool {
    found: Vec<(WorktreeChunk, ArmSignals)>,
    /// Position of each chunk in `found`.
    index: HashMap<ChunkId, usize, RandomState>,
    /// The contents that the chunks belong to.
    contents: HashSet<u32, RandomState>,
    /// The rank of the best path of each content. The rank applies to all chunks of the content.
    paths: HashMap<u32, TextRank, RandomState>,
    files: FileScores,
}

impl CandidatePool {
    /// Returns whether no arm has found anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Adds a chunk without a rank in any arm, for a list of everything that passes the filters.
    pub(crate) fn add_unranked(&mut self, chunk: &WorktreeChunk) {
        self.get_or_add_signals(chunk);
    }

    /// Records that a chunk defines a name of the query. `rank` is the rank of the name.
    pub(crate) fn add_symbol_match(&mut self, chunk: &WorktreeChunk, rank: u32) {
        let signals = self.get_or_add_signals(chunk);
        signals.symbol = signals.symbol.or(Some(rank));
    }

    /// Records the rank and BM25 of a chunk that contains words of the query.
    pub(crate) fn add_word_match(&mut self, chunk: &WorktreeChunk, rank: u32, bm25: f64) {
        self.get_or_add_signals(chunk).bm25 = Some(TextRank { rank, bm25 });
    }

    /// Records that a path matches the query; returns false if a better path with the same content was recorded before. If the arms
    /// have found no chunk of the file, adds `first`, the first chunk.
    pub(crate) fn add_path_match(&mut self, first: &WorktreeChunk, rank: u32, bm25: f64) -> bool {
        if self.paths.contains_key(&first.content) {
            return false;
        }
        self.paths.insert(first.content, TextRank { rank, bm25 });
        if !self.contents.contains(&first.content) {
            self.get_or_add_signals(first);
        }
        true
    }

    /// Records the rank and cosine of a chunk whose vector is near the vector of the query.
    pub(crate) fn add_vector_match(&mut self, chunk: &WorktreeChunk, rank: u32, cosine: f32) {
        let signals = self.get_or_add_signals(chunk);
        (signals.knn, signals.cosine) = (Some(rank), Some(cosine));
    }

    /// Sets the scores of whole files.
    pub(crate) fn set_file_scores(&mut self, files: FileScores) {
        self.files = files;
    }

    /// Returns all candidates with their names, paths and places.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn into_candidates(
        self,
        rows: CachedReader<'_>,
        members: &AdmittedChunks<'_>,
        query: &Query,
    ) -> Result<Vec<ChunkCandidate>, DatabaseError> {
        let mut copies = ChosenPaths::new(members, query);
        let mut candidates = Vec::with_capacity(self.found.len());
        let ids: Vec<ChunkId> = self.found.iter().map(|(found, _)| found.chunk.id).collect();
        let places = rows.chunk_locations(&ids)?;
        for ((WorktreeChunk { chunk, content }, mut signals), place) in self.found.into_iter().zip(places) {
            // The chunk may be gone: a content that cannot be parsed any more loses its chunks without a new worktree revision.
            let Some(ChunkLocation { bytes, lines, symbol, title }) = place else { continue };
            signals.path = self.paths.get(&content).copied();
            signals.file = self.files.file_match(content);
            let path = copies.best_path(content);
            candidates.push(ChunkCandidate {
                key: chunk.id,
                definition: chunk.id,
                content,
                path: path.to_owned(),
                classes: members.worktree.classes_of(content, path),
                kind: chunk.kind,
                symbol,
                title,
                lines,
                bytes,
                signals,
            });
        }
        unify_piece_definitions(rows, members.worktree, &mut candidates)?;
        Ok(candidates)
    }

    /// Returns the signals of a chunk, for a change. Adds the chunk if the pool lacks it.
    fn get_or_add_signals(&mut self, chunk: &WorktreeChunk) -> &mut ArmSignals {
        let index = *self.index.entry(chunk.chunk.id).or_insert_with(|| {
            self.found.push((*chunk, ArmSignals::default()));
            self.contents.insert(chunk.content);
            self.found.len() - 1
        });
        &mut self.found[index].1
    }
}
