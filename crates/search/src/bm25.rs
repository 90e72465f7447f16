//! Weighs by BM25 how often the words of a query are in chunks, and in files as a whole. Pure.

use memod_base::types::{ChunkId, Kind};

use super::text_statistics::TextStatistics;
use super::view_chunks::{Members, ViewChunk};

/// Number of chunks that are scored together: what is known of them and their scores fit into the processor's cache, in which
/// those of a million chunks do not.
const BLOCK: usize = 1 << 14;

/// Adds up the scores of all chunks and files of a view.
///
/// The frequencies are those of the whole view, so neither a filter nor another worktree changes a score.
pub(crate) struct Scorer<'a> {
    members: &'a Members<'a>,
    phrases: Vec<PhraseMatches>,
    /// The chunks that have the present phrase: place, and how often.
    found: Vec<(u32, u8)>,
}

/// What has a phrase.
struct PhraseMatches {
    /// The place of the word of the query that it stands for.
    word: usize,
    /// Chunks: place, and how often.
    chunks: Vec<(u32, u8)>,
    /// Files: content, and how often.
    files: Vec<(u32, u32)>,
}

/// A chunk with its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored {
    /// Which one.
    pub(crate) chunk: ViewChunk,
    /// BM25, larger is better.
    pub(crate) bm25: f64,
}

/// What a file says of a query as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileMatch {
    /// BM25 as a share of the best file's, 0 to 1.
    pub(crate) bm25: f64,
    /// Share of the query that it has, rare words counting more, 0 to 1.
    pub covered: f64,
}

/// The scores of one query.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    best: Vec<Scored>,
    files: FileScores,
    idf_of_words: Vec<f64>,
}

/// The scores of files, by content.
#[derive(Debug, Default)]
pub(crate) struct FileScores(Vec<FileMatch>);

impl<'a> Scorer<'a> {
    /// Makes it for the chunks of a view.
    pub(crate) fn new(members: &'a Members<'a>) -> Self {
        Self { members, phrases: Vec::new(), found: Vec::new() }
    }

    /// Notes how often a chunk has the present phrase, if the view has the chunk. Ids ascend.
    #[inline]
    pub(crate) fn see(&mut self, id: ChunkId, count: u8) {
        if let Some(place) = self.members.view.place_of(id) {
            self.found.push((place as u32, count));
        }
    }

    /// Ends a phrase, which stands for the word of the query with this place. Places ascend.
    pub(crate) fn end_phrase(&mut self, word: usize) {
        if !self.found.is_empty() {
            let chunks = std::mem::take(&mut self.found);
            self.phrases.push(PhraseMatches { word, chunks, files: Vec::new() });
        }
    }

    /// Returns the scores of files, and the best admitted chunks: at most so many commits, and so many others.
    pub(crate) fn finish(mut self, n_commits: usize, n_others: usize) -> Scores {
        let mut best = BestChunks::new(self.members, n_commits, n_others);
        self.score_chunks(&mut best);
        let idf_of_words = self.idf_of_words();
        Scores { best: best.finish(), files: self.files(), idf_of_words }
    }

    /// Returns for each word of the query, by its place, the weight of its commonest phrase; as of one chunk if none has it.
    fn idf_of_words(&self) -> Vec<f64> {
        let view = self.members.view;
        let of_chunks = TextStatistics::new(view.chunks().len(), view.n_words());
        let mut idfs = Vec::new();
        for phrases in self.phrases.chunk_by(|left, right| left.word == right.word) {
            let most = phrases.iter().map(|phrase| phrase.chunks.len()).max().unwrap_or(1);
            idfs.resize(phrases[0].word, of_chunks.idf(1));
            idfs.push(of_chunks.idf(most));
        }
        idfs
    }

    fn score_chunks(&mut self, best: &mut BestChunks<'_>) {
        let view = self.members.view;
        let of_chunks = TextStatistics::new(view.chunks().len(), view.n_words());
        let idfs: Vec<f64> = self.phrases.iter().map(|phrase| of_chunks.idf(phrase.chunks.len())).collect();
        let mut passed = vec![0; self.phrases.len()];
        let mut scores = vec![0.0; BLOCK.min(view.chunks().len())];
        for (nth, chunks) in view.chunks().chunks(BLOCK).enumerate() {
            let first = nth * BLOCK;
            scores.fill(0.0);
            for ((phrase, idf), passed) in self.phrases.iter_mut().zip(&idfs).zip(&mut passed) {
                let PhraseMatches { chunks: found, files, .. } = phrase;
                let end =
                    found[*passed..].partition_point(|(place, _)| *place as usize - first < chunks.len());
                for (place, count) in &found[*passed..*passed + end] {
                    let place = *place as usize - first;
                    let ViewChunk { chunk, content } = chunks[place];
                    let count = u32::from(*count);
                    scores[place] += of_chunks.bm25(*idf, count, chunk.n_words);
                    match files.last_mut() {
                        // The ids of the chunks of one content follow each other.
                        Some((last, sum)) if *last == content => *sum += count,
                        _ => files.push((content, count)),
                    }
                }
                *passed += end;
            }
            best.offer(chunks, &scores);
        }
    }

    fn files(self) -> FileScores {
        let view = self.members.view;
        let of_files = TextStatistics::new(view.n_contents(), view.n_words());
        let mut files = vec![FileMatch::default(); view.n_contents()];
        // The weight of the rarest phrase of the present word that a file has, by content.
        let mut has = vec![0.0_f64; view.n_contents()];
        let mut could_all = 0.0;
        for phrases in self.phrases.chunk_by(|left, right| left.word == right.word) {
            let mut could = 0.0_f64;
            for PhraseMatches { files: found, .. } in phrases {
                let idf = of_files.idf(found.len());
                could = could.max(idf);
                for (content, count) in found {
                    let n_words = view.n_words_of(*content);
                    files[*content as usize].bm25 += of_files.bm25(idf, *count, n_words);
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

impl Scores {
    /// Returns the best admitted chunks, best first and then by age.
    pub(crate) fn best(&self) -> &[Scored] {
        &self.best
    }

    /// Returns the inverse document frequency of the words of the query, by place; of the last ones none, if no chunk has them.
    pub(crate) fn idf_of_words(&self) -> &[f64] {
        &self.idf_of_words
    }

    /// Returns the scores of files.
    pub(crate) fn into_files(self) -> FileScores {
        self.files
    }
}

impl FileScores {
    /// Returns what the file with a content says.
    pub(crate) fn of(&self, content: u32) -> FileMatch {
        self.0.get(content as usize).copied().unwrap_or_default()
    }
}

/// Keeps the best admitted chunks.
struct BestChunks<'a> {
    members: &'a Members<'a>,
    commits: Best,
    others: Best,
}

impl<'a> BestChunks<'a> {
    fn new(members: &'a Members<'a>, n_commits: usize, n_others: usize) -> Self {
        Self { members, commits: Best::new(n_commits), others: Best::new(n_others) }
    }

    /// Takes chunks, oldest first, with their scores.
    fn offer(&mut self, chunks: &[ViewChunk], scores: &[f64]) {
        for (chunk, bm25) in chunks.iter().zip(scores) {
            if *bm25 > self.commits.bound.min(self.others.bound) && self.members.admit(chunk) {
                let is_commit = chunk.chunk.kind == Kind::Commit;
                let best = if is_commit { &mut self.commits } else { &mut self.others };
                best.offer(Scored { chunk: *chunk, bm25: *bm25 });
            }
        }
    }

    /// Returns them, best first and then by age.
    fn finish(self) -> Vec<Scored> {
        let mut found = self.others.finish();
        found.append(&mut self.commits.finish());
        found.sort_unstable_by(by_score_and_age);
        found
    }
}

fn by_score_and_age(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.bm25.total_cmp(&a.bm25).then_with(|| a.chunk.chunk.id.cmp(&b.chunk.chunk.id))
}

/// Keeps the best of the chunks that it is offered, oldest first.
struct Best {
    most: usize,
    found: Vec<Scored>,
    /// A score must be above this.
    bound: f64,
}

impl Best {
    fn new(most: usize) -> Self {
        Self { most, found: Vec::new(), bound: if most == 0 { f64::INFINITY } else { 0.0 } }
    }

    fn offer(&mut self, scored: Scored) {
        if scored.bm25 > self.bound {
            self.found.push(scored);
            if self.found.len() >= 2 * self.most {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.found.len() > self.most {
            let (_, last, _) = self.found.select_nth_unstable_by(self.most - 1, by_score_and_age);
            self.bound = last.bm25;
            self.found.truncate(self.most);
        }
    }

    fn finish(mut self) -> Vec<Scored> {
        self.cut();
        self.found
    }
}

#[cfg(test)]
mod tests;
