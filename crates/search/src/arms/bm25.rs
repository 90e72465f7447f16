//! Scores chunks and whole files by BM25 for the words of a query. Pure.

use memod_base::types::{ChunkId, ChunkKind};

use crate::candidates::arm_signals::FileMatch;
use crate::text_scores::text_statistics::TextStatistics;
use crate::worktree_chunks::{AdmittedChunks, WorktreeChunk};

/// Number of chunks that are scored together. The rows and scores of one block fit into the processor's cache.
const BLOCK: usize = 1 << 14;

/// Collects the matches of phrases, and computes the scores of all chunks and files of a worktree.
///
/// Document frequencies are counted over the whole worktree, so neither a filter nor another worktree changes a score.
pub(crate) struct Bm25Scorer<'a> {
    members: &'a AdmittedChunks<'a>,
    phrases: Vec<PhraseMatches>,
    /// Position and count for each chunk with the current phrase.
    found: Vec<(u32, u8)>,
}

/// The chunks and files that contain a phrase.
struct PhraseMatches {
    /// Position in the query of the word that the phrase belongs to.
    word: usize,
    /// Position of each chunk in the worktree, and count of the phrase in the chunk.
    chunks: Vec<(u32, u8)>,
    /// Number of each content, and count of the phrase in the content.
    files: Vec<(u32, u32)>,
}

/// A chunk with its BM25.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredChunk {
    /// The chunk.
    pub(crate) chunk: WorktreeChunk,
    /// BM25, larger is better.
    pub(crate) bm25: f64,
}

/// The scores of all chunks and files for one query.
#[derive(Debug, Default)]
pub(crate) struct QueryScores {
    best: Vec<ScoredChunk>,
    files: FileScores,
    idf_of_words: Vec<f64>,
}

/// The scores of whole files, by the number of their content.
#[derive(Debug, Default)]
pub(crate) struct FileScores(Vec<FileMatch>);

impl<'a> Bm25Scorer<'a> {
    /// Creates a scorer for the admitted chunks of a worktree.
    pub(crate) fn new(members: &'a AdmittedChunks<'a>) -> Self {
        Self { members, phrases: Vec::new(), found: Vec::new() }
    }

    /// Records how often a chunk contains the current phrase. Ignores chunks of other worktrees. Calls must be in the order of ids.
    #[inline]
    pub(crate) fn record_match(&mut self, id: ChunkId, count: u8) {
        if let Some(place) = self.members.worktree.position_of(id) {
            self.found.push((place as u32, count));
        }
    }

    /// Ends the current phrase, which belongs to the word at position `word` of the query. Calls must be in the order of positions.
    pub(crate) fn end_phrase(&mut self, word: usize) {
        if !self.found.is_empty() {
            let chunks = std::mem::take(&mut self.found);
            self.phrases.push(PhraseMatches { word, chunks, files: Vec::new() });
        }
    }

    /// Returns the scores of all files, and the best admitted chunks: at most `n_commits` commits and `n_others` other chunks.
    pub(crate) fn into_scores(mut self, n_commits: usize, n_others: usize) -> QueryScores {
        let mut best = BestChunks::new(self.members, n_commits, n_others);
        self.score_chunks(&mut best);
        let idf_of_words = self.idf_of_words();
        QueryScores { best: best.into_sorted(), files: self.score_files(), idf_of_words }
    }

    /// Returns the inverse document frequency of the commonest phrase of each word of the query, by position. A word that no chunk
    /// contains counts as if one chunk contained it.
    fn idf_of_words(&self) -> Vec<f64> {
        let worktree = self.members.worktree;
        let statistics = TextStatistics::new(worktree.chunks().len(), worktree.n_words());
        let mut idfs = Vec::new();
        for phrases in self.phrases.chunk_by(|left, right| left.word == right.word) {
            let most = phrases.iter().map(|phrase| phrase.chunks.len()).max().unwrap_or(1);
            idfs.resize(phrases[0].word, statistics.idf(1));
            idfs.push(statistics.idf(most));
        }
        idfs
    }

    /// Scores all chunks, offers them to `best`, and counts the phrases in each file.
    fn score_chunks(&mut self, best: &mut BestChunks<'_>) {
        let worktree = self.members.worktree;
        let statistics = TextStatistics::new(worktree.chunks().len(), worktree.n_words());
        let idfs: Vec<f64> = self.phrases.iter().map(|phrase| statistics.idf(phrase.chunks.len())).collect();
        let mut passed = vec![0; self.phrases.len()];
        let mut scores = vec![0.0; BLOCK.min(worktree.chunks().len())];
        for (nth, chunks) in worktree.chunks().chunks(BLOCK).enumerate() {
            let first = nth * BLOCK;
            scores.fill(0.0);
            for ((phrase, idf), passed) in self.phrases.iter_mut().zip(&idfs).zip(&mut passed) {
                let PhraseMatches { chunks: found, files, .. } = phrase;
                let end =
                    found[*passed..].partition_point(|(place, _)| *place as usize - first < chunks.len());
                for (place, count) in &found[*passed..*passed + end] {
                    let place = *place as usize - first;
                    let WorktreeChunk { chunk, content } = chunks[place];
                    let count = u32::from(*count);
                    scores[place] += statistics.bm25(*idf, count, chunk.n_words);
                    match files.last_mut() {
                        // The ids of the chunks of one content follow each other.
                        Some((last, sum)) if *last == content => *sum += count,
                        _ => files.push((content, count)),
                    }
                }
                *passed += end;
            }
            best.offer_chunks(chunks, &scores);
        }
    }

    /// Returns the scores of all files, each 0 to 1. Needs the counts that [`Self::score_chunks`] makes.
    fn score_files(self) -> FileScores {
        let worktree = self.members.worktree;
        let statistics = TextStatistics::new(worktree.n_contents(), worktree.n_words());
        let mut files = vec![FileMatch::default(); worktree.n_contents()];
        // By content: the inverse document frequency of the rarest phrase of the current word that the file contains.
        let mut has = vec![0.0_f64; worktree.n_contents()];
        let mut could_all = 0.0;
        for phrases in self.phrases.chunk_by(|left, right| left.word == right.word) {
            let mut could = 0.0_f64;
            for PhraseMatches { files: found, .. } in phrases {
                let idf = statistics.idf(found.len());
                could = could.max(idf);
                for (content, count) in found {
                    let n_words = worktree.content_word_count(*content);
                    files[*content as usize].bm25 += statistics.bm25(idf, *count, n_words);
                    let has = &mut has[*content as usize];
                    *has = has.max(idf);
                }
            }
            for (content, _) in phrases.iter().flat_map(|phrase| &phrase.files) {
                files[*content as usize].covered += std::mem::take(&mut has[*content as usize]);
            }
            could_all += could;
        }
        let best = files.iter().map(|file| file.bm25).fold(0.0, f64::max);
        for file in &mut files {
            file.bm25 /= if best > 0.0 { best } else { 1.0 };
            file.covered /= if could_all > 0.0 { could_all } else { 1.0 };
        }
        FileScores(files)
    }
}

impl QueryScores {
    /// Returns the best admitted chunks, best first, and chunks with equal scores by id.
    pub(crate) fn best_chunks(&self) -> &[ScoredChunk] {
        &self.best
    }

    /// Returns the inverse document frequency of each word of the query, by position. The last words are missing if no chunk
    /// contains them.
    pub(crate) fn idf_of_words(&self) -> &[f64] {
        &self.idf_of_words
    }

    /// Returns the scores of whole files.
    pub(crate) fn into_file_scores(self) -> FileScores {
        self.files
    }
}

impl FileScores {
    /// Returns how well a content matches the query as a whole.
    pub(crate) fn file_match(&self, content: u32) -> FileMatch {
        self.0.get(content as usize).copied().unwrap_or_default()
    }
}

/// Collects the best admitted commits and the best other chunks.
struct BestChunks<'a> {
    members: &'a AdmittedChunks<'a>,
    commits: TopChunks,
    others: TopChunks,
}

impl<'a> BestChunks<'a> {
    fn new(members: &'a AdmittedChunks<'a>, n_commits: usize, n_others: usize) -> Self {
        Self { members, commits: TopChunks::new(n_commits), others: TopChunks::new(n_others) }
    }

    /// Offers chunks, in the order of ids, with their scores.
    fn offer_chunks(&mut self, chunks: &[WorktreeChunk], scores: &[f64]) {
        for (chunk, bm25) in chunks.iter().zip(scores) {
            if *bm25 > self.commits.bound.min(self.others.bound) && self.members.admits_chunk(chunk) {
                let is_commit = chunk.chunk.kind == ChunkKind::Commit;
                let best = if is_commit { &mut self.commits } else { &mut self.others };
                best.offer_chunk(ScoredChunk { chunk: *chunk, bm25: *bm25 });
            }
        }
    }

    /// Returns the collected chunks, best first, and chunks with equal scores by id.
    fn into_sorted(self) -> Vec<ScoredChunk> {
        let mut found = self.others.into_sorted();
        found.append(&mut self.commits.into_sorted());
        found.sort_unstable_by(compare_score_and_age);
        found
    }
}

fn compare_score_and_age(a: &ScoredChunk, b: &ScoredChunk) -> std::cmp::Ordering {
    b.bm25.total_cmp(&a.bm25).then_with(|| a.chunk.chunk.id.cmp(&b.chunk.chunk.id))
}

/// Collects the best of the chunks that are offered in the order of ids.
struct TopChunks {
    most: usize,
    found: Vec<ScoredChunk>,
    /// Lower bound for the scores of further chunks, exclusive.
    bound: f64,
}

impl TopChunks {
    fn new(most: usize) -> Self {
        Self { most, found: Vec::new(), bound: if most == 0 { f64::INFINITY } else { 0.0 } }
    }

    fn offer_chunk(&mut self, scored: ScoredChunk) {
        if scored.bm25 > self.bound {
            self.found.push(scored);
            if self.found.len() >= 2 * self.most {
                self.drop_surplus();
            }
        }
    }

    fn drop_surplus(&mut self) {
        if self.found.len() > self.most {
            let (_, last, _) = self.found.select_nth_unstable_by(self.most - 1, compare_score_and_age);
            self.bound = last.bm25;
            self.found.truncate(self.most);
        }
    }

    fn into_sorted(mut self) -> Vec<ScoredChunk> {
        self.drop_surplus();
        self.found
    }
}

#[cfg(test)]
mod tests;
