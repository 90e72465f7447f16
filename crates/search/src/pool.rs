//! Collects the candidates of all arms, each chunk once.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_index_db::{Place, Reader};

use super::bm25::FileScores;
use super::copies::Copies;
use super::definition_pieces::mark_pieces;
use super::fuse::{Signals, TextRank};
use super::kept_rows::KeptRows;
use super::query::Query;
use super::rerank::Candidate;
use super::view_chunks::{Members, ViewChunk};

/// The chunks that the arms have found, with the rank in each.
#[derive(Default)]
pub(super) struct Pool {
    found: Vec<(ViewChunk, Signals)>,
    index: HashMap<ChunkId, usize, RandomState>,
    /// Those of the chunks.
    contents: HashSet<u32, RandomState>,
    /// What the path of a content says; it applies to all its chunks.
    paths: HashMap<u32, TextRank, RandomState>,
    files: FileScores,
}

impl Pool {
    /// Returns whether no arm has found anything.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Adds a chunk that no arm has found.
    pub(super) fn add(&mut self, chunk: &ViewChunk) {
        self.signals(chunk);
    }

    /// Notes a definition of the name at a rank of the query.
    pub(super) fn add_name(&mut self, chunk: &ViewChunk, rank: u32) {
        let signals = self.signals(chunk);
        signals.symbol = signals.symbol.or(Some(rank));
    }

    /// Notes a match of words.
    pub(super) fn add_words(&mut self, chunk: &ViewChunk, rank: u32, bm25: f64) {
        self.signals(chunk).bm25 = Some(TextRank { rank, bm25 });
    }

    /// Notes a match of the path; false if a copy was better. The first chunk represents the file if no other was found.
    pub(super) fn add_path(&mut self, first: &ViewChunk, rank: u32, bm25: f64) -> bool {
        if self.paths.contains_key(&first.content) {
            return false;
        }
        self.paths.insert(first.content, TextRank { rank, bm25 });
        if !self.contents.contains(&first.content) {
            self.signals(first);
        }
        true
    }

    /// Notes a near vector.
    pub(super) fn add_near(&mut self, chunk: &ViewChunk, rank: u32, cosine: f32) {
        let signals = self.signals(chunk);
        (signals.knn, signals.cosine) = (Some(rank), Some(cosine));
    }

    /// Sets what files as a whole say.
    pub(super) fn set_files(&mut self, files: FileScores) {
        self.files = files;
    }

    /// Returns all candidates with their names and paths.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn candidates(
        self,
        (reader, kept): (&Reader, &KeptRows),
        members: &Members<'_>,
        query: &Query,
    ) -> Result<Vec<Candidate>, DatabaseError> {
        let mut copies = Copies::new(members, query);
        let mut candidates = Vec::with_capacity(self.found.len());
        let ids: Vec<ChunkId> = self.found.iter().map(|(found, _)| found.chunk.id).collect();
        let places = kept.places(reader, &ids)?;
        for ((ViewChunk { chunk, content }, mut signals), place) in self.found.into_iter().zip(places) {
            // A content that can no longer be parsed loses its chunks, which no clock of a view tells.
            let Some(Place { bytes, lines, symbol, title }) = place else { continue };
            signals.path = self.paths.get(&content).copied();
            signals.file = self.files.of(content);
            let path = copies.path(content);
            candidates.push(Candidate {
                key: chunk.id,
                definition: chunk.id,
                content,
                path: path.to_owned(),
                classes: members.view.classes_of(content, path),
                kind: chunk.kind,
                symbol,
                title,
                lines,
                bytes,
                signals,
            });
        }
        mark_pieces((reader, kept), members.view, &mut candidates)?;
        Ok(candidates)
    }

    /// Returns the signals of a chunk, and makes it a candidate if it is new.
    fn signals(&mut self, chunk: &ViewChunk) -> &mut Signals {
        let index = *self.index.entry(chunk.chunk.id).or_insert_with(|| {
            self.found.push((*chunk, Signals::default()));
            self.contents.insert(chunk.content);
            self.found.len() - 1
        });
        &mut self.found[index].1
    }
}
