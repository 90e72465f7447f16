//! Runs the arms of a search on one snapshot.
//!
//! Every arm restricts the chunks to the worktree and the filter before it takes the best k. Otherwise hits of another worktree
//! could displace the hits of this worktree.

mod bm25;
mod candidate_pool;
pub(crate) mod definition_pieces;
pub(crate) mod documentation_section;
mod duplicate_paths;
pub(crate) mod listing;

use memod_base::types::{ChunkId, ChunkKind, IdSet};
use memod_database::DatabaseError;
use memod_embed::QueryVector;
use memod_index_db::IndexReader;
use memod_vectors::shared_vectors::VectorsUnavailable;

use self::bm25::Bm25Scorer;
use self::candidate_pool::CandidatePool;
use super::query::WantedPhrases;
use super::worktree_chunks::{AdmittedChunks, WorktreeChunk};
use crate::candidates::VECTORS_PER_REQUESTED;
use crate::candidates::arm_signals::COSINE_FLOOR;
use crate::search_request::SearchRequest;

/// Number of other chunks for each commit among the candidates of an arm. The messages of two thousand commits name every part of
/// the code, and without a limit they could displace the code itself.
const OTHERS_A_COMMIT: usize = 5;

/// The nearest chunks with their cosines, or why no vectors can be compared.
type NearestScan<'a> = Result<Vec<(&'a WorktreeChunk, f64)>, VectorsUnavailable>;

/// Runs the arms of one search, and collects their candidates.
pub(super) struct ArmRunner<'a> {
    reader: &'a IndexReader,
    request: &'a SearchRequest<'a>,
    members: &'a AdmittedChunks<'a>,
    /// Most candidates of each arm.
    k: usize,
    /// The candidates that the arms have found so far.
    pub(super) pool: CandidatePool,
    /// Inverse document frequency of each word of the query, by position in the query.
    pub(super) idf_of_words: Vec<f64>,
    /// The arms that did not run, each with the reason.
    pub(super) degraded: Vec<String>,
    /// Whether the model of the vectors has changed since the snapshot.
    pub(super) is_outdated: bool,
}

impl<'a> ArmRunner<'a> {
    pub(super) fn new(
        reader: &'a IndexReader,
        request: &'a SearchRequest<'a>,
        members: &'a AdmittedChunks<'a>,
        k: usize,
    ) -> Self {
        Self {
            reader,
            request,
            members,
            k,
            pool: CandidatePool::default(),
            idf_of_words: Vec::new(),
            degraded: Vec::new(),
            is_outdated: false,
        }
    }

    /// Runs the symbol arm: adds the definitions of the names in the query.
    pub(super) fn run_symbol_arm(&mut self) -> Result<(), DatabaseError> {
        let names = match self.request.query.words() {
            [] => &self.request.conditions.unqualified_symbols(),
            _ => self.request.query.symbol_names(),
        };
        for (rank, name) in (1..).zip(names) {
            let found = self.reader.find_by_symbol(name)?.into_iter();
            let mut found: Vec<_> =
                found.filter_map(|(id, is_exact)| Some((is_exact, *self.members.get(id)?))).collect();
            found.sort_by_key(|(is_exact, chunk)| {
                let content = self.members.path_order_of(chunk.content);
                (!is_exact, chunk.chunk.kind != ChunkKind::Symbol, content, chunk.chunk.id)
            });
            found.truncate(self.k);
            found.iter().for_each(|(_, chunk)| self.pool.add_symbol_match(chunk, rank));
        }
        Ok(())
    }

    /// Runs the arms of words: adds the chunks and the paths whose words match best, and the scores of whole files.
    pub(super) fn run_word_arms(&mut self) -> Result<(), DatabaseError> {
        let phrases = self.request.query.wanted_phrases();
        if phrases.iter().next().is_none() {
            return Ok(());
        }
        let postings = self.reader.read_postings()?;
        let mut scorer = Bm25Scorer::new(self.members);
        for (phrase, word) in phrases.iter() {
            postings.each_match(phrase, |id, count| scorer.record_match(id, count))?;
            scorer.end_phrase(word);
        }
        let scores = scorer.into_scores(self.commit_limit(), self.k);
        for (rank, scored) in (1..).zip(scores.best_chunks()) {
            self.pool.add_word_match(&scored.chunk, rank, scored.bm25);
        }
        self.idf_of_words = scores.idf_of_words().to_vec();
        self.pool.set_file_scores(scores.into_file_scores());
        self.add_path_matches(&phrases);
        Ok(())
    }

    /// Returns the most commits among the candidates of an arm.
    fn commit_limit(&self) -> usize {
        if self.members.admits_only_commits() { self.k } else { self.k / OTHERS_A_COMMIT }
    }

    /// Adds the files whose path words match best. Of files with the same content, only the best path counts.
    fn add_path_matches(&mut self, phrases: &WantedPhrases) {
        let mut rank = 0;
        for (bm25, chunk) in self.members.matching_paths(phrases.iter().map(|(phrase, _)| phrase)) {
            if rank == self.k {
                break;
            }
            rank += usize::from(self.pool.add_path_match(chunk, rank as u32 + 1, bm25));
        }
    }

    /// Runs the vector arm: adds the chunks whose vectors are nearest to the vector of the query.
    pub(super) fn run_vector_arm(&mut self) -> Result<(), DatabaseError> {
        let Some(vector) = self.embed_query() else { return Ok(()) };
        let model = self.reader.model_id()?;
        let top = self.find_nearest_admitted(&vector)?;
        let values = vector.values_for_model(&model).ok_or(VectorsUnavailable::OtherModel);
        let (values, top) = match values.and_then(|values| Ok((values, top?))) {
            Ok(comparable) => comparable,
            Err(why) => {
                self.is_outdated = why == VectorsUnavailable::OtherModel;
                let why = if self.is_outdated { "the embedding model changed" } else { "vectors loading" };
                self.degraded.push(format!("knn: {why}"));
                return Ok(());
            }
        };
        let paths: Vec<&str> = top.iter().filter_map(|(chunk, _)| self.file_path(chunk)).collect();
        let mut of_paths =
            self.request.row_cache.path_cosines(self.reader, (&model, values), &paths)?.into_iter();
        let mut near = Vec::with_capacity(top.len());
        for (chunk, cosine) in top {
            let of_path = match self.file_path(chunk) {
                Some(_) => of_paths.next().flatten().map(f64::from),
                None => Some(cosine),
            };
            let of_path = of_path.map_or(0.0, |cosine| vector.scale_cosine(cosine));
            near.push((chunk, blend_path_cosine(vector.scale_cosine(cosine), of_path)));
        }
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.chunk.id.cmp(&b.0.chunk.id)));
        let floor = self.request.min_cosine.max(f64::from(COSINE_FLOOR));
        near.retain(|(_, cosine)| *cosine >= floor);
        for (rank, (chunk, cosine)) in (1..).zip(near) {
            self.pool.add_vector_match(chunk, rank, cosine as f32);
        }
        Ok(())
    }

    /// Returns the first admitted path of a chunk's file; `None` for a commit, whose path has no meaning.
    fn file_path(&self, chunk: &WorktreeChunk) -> Option<&str> {
        self.members.first_path(chunk.content).filter(|_| chunk.chunk.kind != ChunkKind::Commit)
    }

    /// Embeds the text of the query. If the model cannot run, records the reason in `degraded` and returns `None`.
    fn embed_query(&mut self) -> Option<QueryVector> {
        let text = self.request.query.text_to_embed();
        let embedded =
            self.request.embedder.map_err(str::to_owned).and_then(|embedder| {
                QueryVector::embed_query(embedder, text).map_err(|error| error.to_string())
            });
        match embedded {
            Ok(vector) => vector,
            Err(why) => {
                self.degraded.push(format!("knn: {why}"));
                None
            }
        }
    }

    /// Returns the nearest admitted chunks with their cosines, or why no vectors can be compared.
    ///
    /// Without a filter, or with a filter by chunks, most vectors belong to admitted chunks. So the nearest `k * SPARE` vectors are
    /// read first, and if `k` of them belong to admitted chunks, no other chunk is nearer. Otherwise only the vectors of admitted
    /// chunks are compared. Commits have a limit of their own: there are many, written in prose, and they would be nearer to a
    /// question than the code.
    fn find_nearest_admitted(&self, vector: &QueryVector) -> Result<NearestScan<'a>, DatabaseError> {
        let (members, k) = (self.members, self.k);
        if members.restricts_only_ids() {
            let top = match self.find_nearest(vector, k * VECTORS_PER_REQUESTED, members.filtered_ids())? {
                Ok(top) => top,
                Err(why) => return Ok(Err(why)),
            };
            let has_seen_all = top.len() < k * VECTORS_PER_REQUESTED;
            let (commits, mut others): (Vec<_>, Vec<_>) =
                self.keep_admitted(top).partition(|(chunk, _)| chunk.chunk.kind == ChunkKind::Commit);
            if others.len() >= k || has_seen_all {
                others.truncate(k);
                others.extend(commits.into_iter().take(self.commit_limit()));
                return Ok(Ok(others));
            }
        }
        let mut found = Vec::new();
        for (of_commits, k) in [(false, k), (true, self.commit_limit())] {
            let ids = members.ids_of_kinds(|kind| (kind == ChunkKind::Commit) == of_commits);
            match self.find_nearest(vector, k, Some(&ids))? {
                Ok(top) => found.extend(self.keep_admitted(top)),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(found))
    }

    /// Returns the `k` nearest chunks of all worktrees, or of `among`, with their cosines.
    fn find_nearest(
        &self,
        vector: &QueryVector,
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Result<Vec<(ChunkId, f64)>, VectorsUnavailable>, DatabaseError> {
        self.request.vectors.find_nearest(self.reader, vector, k, among)
    }

    /// Returns the admitted chunks among `top`.
    fn keep_admitted(
        &self,
        top: Vec<(ChunkId, f64)>,
    ) -> impl Iterator<Item = (&'a WorktreeChunk, f64)> + use<'a> {
        let members = self.members;
        top.into_iter().filter_map(move |(id, cosine)| Some((members.get(id)?, cosine)))
    }
}

/// Returns the weighted mean of the cosines of a chunk and of its path. The path counts 0.2, less than the 0.3 for whole code files
/// in models/builtin/README.md, because all chunks of a file share the path.
fn blend_path_cosine(chunk: f64, path: f64) -> f64 {
    0.8 * chunk + 0.2 * path
}
