//! Runs the arms of a search on one snapshot.
//!
//! Every arm admits what the view and the filter do inside its top-k, never after it: hits of another worktree must not crowd
//! out those of this one.

use memod_base::types::{ChunkId, IdSet, Kind};
use memod_database::DatabaseError;
use memod_embed::{Embedder, QueryVector};
use memod_index_db::Reader;

use super::SPARE;
use super::answer::Ask;
use super::bm25::Scorer;
use super::fuse::COSINE_FLOOR;
use super::pool::Pool;
use super::query::Phrases;
use super::view_chunks::{Members, ViewChunk};
use memod_vectors::shared_vectors::NoVectors;

/// Number of other chunks for each commit in an arm. The messages of two thousand commits name everything that was worked
/// on; without a limit they could fill an arm and push out the code itself.
const OTHERS_A_COMMIT: usize = 5;

/// Chunks with their cosine, or why there are none.
type Scanned<'a> = Result<Vec<(&'a ViewChunk, f64)>, NoVectors>;

/// The arms of one search, and what they have found.
pub(super) struct Arms<'a> {
    reader: &'a Reader,
    ask: &'a Ask<'a>,
    members: &'a Members<'a>,
    /// Number of candidates of each arm.
    k: usize,
    /// What was found.
    pub(super) pool: Pool,
    /// Inverse document frequency of the words of the query, by place.
    pub(super) idf_of_words: Vec<f64>,
    /// Arms that did not run, and why.
    pub(super) degraded: Vec<String>,
    /// Whether the model of the vectors has changed since the snapshot.
    pub(super) is_outdated: bool,
}

impl<'a> Arms<'a> {
    pub(super) fn new(reader: &'a Reader, ask: &'a Ask<'a>, members: &'a Members<'a>, k: usize) -> Self {
        Self {
            reader,
            ask,
            members,
            k,
            pool: Pool::default(),
            idf_of_words: Vec::new(),
            degraded: Vec::new(),
            is_outdated: false,
        }
    }

    /// Adds the definitions of the names in the query.
    pub(super) fn add_names(&mut self) -> Result<(), DatabaseError> {
        let names = match self.ask.query.words() {
            [] => &self.ask.conditions.own_names(),
            _ => self.ask.query.symbols(),
        };
        for (rank, name) in (1..).zip(names) {
            let found = self.reader.by_symbol(name)?.into_iter();
            let mut found: Vec<_> =
                found.filter_map(|(id, is_exact)| Some((is_exact, *self.members.get(id)?))).collect();
            found.sort_by_key(|(is_exact, chunk)| {
                let content = self.members.order_of(chunk.content);
                (!is_exact, chunk.chunk.kind != Kind::Symbol, content, chunk.chunk.id)
            });
            found.truncate(self.k);
            found.iter().for_each(|(_, chunk)| self.pool.add_name(chunk, rank));
        }
        Ok(())
    }

    /// Adds the chunks and the paths whose words match best, and what files as a whole say.
    pub(super) fn add_words(&mut self) -> Result<(), DatabaseError> {
        let phrases = self.ask.query.phrases();
        if phrases.iter().next().is_none() {
            return Ok(());
        }
        let postings = self.reader.postings()?;
        let mut scorer = Scorer::new(self.members);
        for (phrase, word) in phrases.iter() {
            postings.each(phrase, |id, count| scorer.see(id, count))?;
            scorer.end_phrase(word);
        }
        let scores = scorer.finish(self.n_commits(), self.k);
        for (rank, scored) in (1..).zip(scores.best()) {
            self.pool.add_words(&scored.chunk, rank, scored.bm25);
        }
        self.idf_of_words = scores.idf_of_words().to_vec();
        self.pool.set_files(scores.into_files());
        self.add_paths(&phrases);
        Ok(())
    }

    fn n_commits(&self) -> usize {
        if self.members.are_commits() { self.k } else { self.k / OTHERS_A_COMMIT }
    }

    /// Adds the files whose path words match best; of copies only the best path counts.
    fn add_paths(&mut self, phrases: &Phrases) {
        let mut rank = 0;
        for (bm25, chunk) in self.members.paths_with(phrases.iter().map(|(phrase, _)| phrase)) {
            if rank == self.k {
                break;
            }
            rank += usize::from(self.pool.add_path(chunk, rank as u32 + 1, bm25));
        }
    }

    /// Adds the chunks whose vectors are nearest to that of the query.
    pub(super) fn add_nearest(&mut self) -> Result<(), DatabaseError> {
        let Some(vector) = self.vector() else { return Ok(()) };
        let model = self.reader.model()?;
        let top = self.scan(&vector)?;
        let values = vector.for_model(&model).ok_or(NoVectors::OtherModel);
        let (values, top) = match values.and_then(|values| Ok((values, top?))) {
            Ok(comparable) => comparable,
            Err(why) => {
                self.is_outdated = why == NoVectors::OtherModel;
                let why = if self.is_outdated { "the model has just changed" } else { "vectors loading" };
                self.degraded.push(format!("knn: {why}"));
                return Ok(());
            }
        };
        // The key of a commit says nothing.
        let path_of = |chunk: &ViewChunk| {
            self.members.first_path(chunk.content).filter(|_| chunk.chunk.kind != Kind::Commit)
        };
        let paths: Vec<&str> = top.iter().filter_map(|(chunk, _)| path_of(chunk)).collect();
        let mut of_paths = self.ask.kept.cosines(self.reader, (&model, values), &paths)?.into_iter();
        let mut near = Vec::with_capacity(top.len());
        for (chunk, cosine) in top {
            let of_path = match path_of(chunk) {
                Some(_) => of_paths.next().flatten().map(f64::from),
                None => Some(cosine),
            };
            let of_path = of_path.map_or(0.0, |cosine| vector.scale_cosine(cosine));
            near.push((chunk, with_path(vector.scale_cosine(cosine), of_path)));
        }
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.chunk.id.cmp(&b.0.chunk.id)));
        let floor = self.ask.min_cosine.max(f64::from(COSINE_FLOOR));
        near.retain(|(_, cosine)| *cosine >= floor);
        for (rank, (chunk, cosine)) in (1..).zip(near) {
            self.pool.add_near(chunk, rank, cosine as f32);
        }
        Ok(())
    }

    /// Returns the vector of the query; nothing, and notes why, if there is none.
    fn vector(&mut self) -> Option<QueryVector> {
        let embed = |embedder: &dyn Embedder| {
            QueryVector::of_text(embedder, self.ask.query.text()).map_err(|error| error.to_string())
        };
        match self.ask.embedder.map_err(str::to_owned).and_then(embed) {
            Ok(vector) => vector,
            Err(why) => {
                self.degraded.push(format!("knn: {why}"));
                None
            }
        }
    }

    /// Returns the nearest admitted chunks with their cosine, or why there are none.
    ///
    /// Without a filter, or with one by chunks, nearly all vectors that are let pass belong to the view: if `k` of slightly
    /// more than `k` do, no other can be nearer. Otherwise the ids of the members are listed first. Commits are added
    /// separately, unless only they are wanted: there are many, written in prose, and they would be nearer to a question
    /// than the code.
    fn scan(&self, vector: &QueryVector) -> Result<Scanned<'a>, DatabaseError> {
        let (members, k) = (self.members, self.k);
        let rows = |top: Vec<(ChunkId, f64)>| {
            top.into_iter().filter_map(|(id, cosine)| Some((members.get(id)?, cosine)))
        };
        let top = |k, among: Option<&IdSet>| self.ask.nearest.top(self.reader, vector, k, among);
        let is_commit = |kind| kind == Kind::Commit;
        if members.are_all_or_listed() {
            let top = match top(k * SPARE, members.listed())? {
                Ok(top) => top,
                Err(why) => return Ok(Err(why)),
            };
            let has_seen_all = top.len() < k * SPARE;
            let (commits, mut others): (Vec<_>, Vec<_>) =
                rows(top).partition(|(chunk, _)| is_commit(chunk.chunk.kind));
            if others.len() >= k || has_seen_all {
                others.truncate(k);
                others.extend(commits.into_iter().take(self.n_commits()));
                return Ok(Ok(others));
            }
        }
        let mut found = Vec::new();
        for (of_commits, k) in [(false, k), (true, self.n_commits())] {
            let ids = members.ids(|kind| is_commit(kind) == of_commits);
            match top(k, Some(&ids))? {
                Ok(top) => found.extend(rows(top)),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(found))
    }
}

/// Adds the share of the path to the cosine of a chunk. It is less than the 0.3 for whole code files in
/// models/builtin/README.md, because all chunks of a file share it.
fn with_path(chunk: f64, path: f64) -> f64 {
    0.8 * chunk + 0.2 * path
}
