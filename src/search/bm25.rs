//! Weighs by BM25 how often the words of a query are in chunks, and in files as a whole.
//!
//! Source: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the constants of FTS5
//! (<https://www.sqlite.org/fts5.html#the_bm25_function>). Pure.

use super::view_chunks::{Members, ViewChunk};
use crate::types::{ChunkId, Kind};

/// How soon another occurrence of a word adds little.
const K1: f64 = 1.2;
/// How much a long text loses, 0 to 1.
const B: f64 = 0.75;

/// Weight of a word that half of all texts have, or more.
const LEAST_IDF: f64 = 1e-6;

/// Adds up the scores of all chunks and files of a view, phrase by phrase.
///
/// The frequencies are those of the whole view, so neither a filter nor another worktree changes a score.
pub struct Scorer<'a> {
    members: &'a Members<'a>,
    of_chunks: Statistics,
    of_files: Statistics,
    /// By place in the view.
    chunks: Vec<f64>,
    /// By content.
    files: Vec<FileMatch>,
    /// The chunks that have the present phrase: place, and how often.
    found: Vec<(u32, u8)>,
    /// The files that have it: content, and how often.
    found_files: Vec<(u32, u32)>,
    word: Word,
    /// What a file could cover.
    could: f64,
}

/// The present word of the query, whose phrases are alternatives.
#[derive(Default)]
struct Word {
    nth: usize,
    /// Weight of its rarest phrase.
    could: f64,
    /// Weight of the rarest that a file has, by content.
    has: Vec<f64>,
    /// Contents that have any, perhaps repeatedly.
    contents: Vec<u32>,
}

/// A chunk with its score.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// Which one.
    pub chunk: ViewChunk,
    /// BM25, larger is better.
    pub bm25: f64,
}

/// What a file says of a query as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileMatch {
    /// BM25 as a share of the best file's, 0 to 1.
    pub bm25: f64,
    /// Share of the query that it has, rare words counting more, 0 to 1.
    pub covered: f64,
}

/// The scores of one query.
#[derive(Debug, Default)]
pub struct Scores {
    /// By place in the view.
    chunks: Vec<f64>,
    files: Vec<FileMatch>,
}

impl<'a> Scorer<'a> {
    /// Makes it for the chunks of a view.
    pub fn new(members: &'a Members<'a>) -> Self {
        let view = members.view;
        let (n_chunks, n_contents) = (view.chunks().len(), view.n_contents());
        Self {
            members,
            of_chunks: Statistics::new(n_chunks, view.n_words()),
            of_files: Statistics::new(n_contents, view.n_words()),
            chunks: vec![0.0; n_chunks],
            files: vec![FileMatch::default(); n_contents],
            found: Vec::new(),
            found_files: Vec::new(),
            word: Word { has: vec![0.0; n_contents], ..Word::default() },
            could: 0.0,
        }
    }

    /// Notes how often a chunk has the present phrase, if the view has the chunk. Ids ascend.
    #[inline]
    pub fn see(&mut self, id: ChunkId, count: u8) {
        if let Some(place) = self.members.view.place_of(id) {
            self.found.push((place as u32, count));
        }
    }

    /// Ends a phrase, which stands for the word of the query with this place. Places ascend.
    pub fn end_phrase(&mut self, word: usize) {
        if word != self.word.nth {
            self.end_word();
            self.word.nth = word;
        }
        let idf = self.of_chunks.idf(self.found.len());
        for (place, count) in self.found.drain(..) {
            let ViewChunk { chunk, content } = self.members.view.chunks()[place as usize];
            let count = u32::from(count);
            self.chunks[place as usize] += self.of_chunks.bm25(idf, count, chunk.n_words);
            match self.found_files.last_mut() {
                // The ids of the chunks of one content follow each other.
                Some((last, sum)) if *last == content => *sum += count,
                _ => self.found_files.push((content, count)),
            }
        }
        self.score_files();
    }

    fn score_files(&mut self) {
        let idf = self.of_files.idf(self.found_files.len());
        for (content, count) in self.found_files.drain(..) {
            let n_words = self.members.view.n_words_of(content);
            self.files[content as usize].bm25 += self.of_files.bm25(idf, count, n_words);
            let has = &mut self.word.has[content as usize];
            *has = has.max(idf);
            self.word.contents.push(content);
        }
        self.word.could = self.word.could.max(idf);
    }

    fn end_word(&mut self) {
        let Word { could, has, contents, .. } = &mut self.word;
        for content in contents.drain(..) {
            self.files[content as usize].covered += std::mem::take(&mut has[content as usize]);
        }
        self.could += std::mem::take(could);
    }

    /// Returns the scores.
    pub fn finish(mut self) -> Scores {
        self.end_word();
        let best = self.files.iter().map(|file| file.bm25).fold(0.0, f64::max);
        for file in &mut self.files {
            file.bm25 /= if best > 0.0 { best } else { 1.0 };
            file.covered /= if self.could > 0.0 { self.could } else { 1.0 };
        }
        Scores { chunks: self.chunks, files: self.files }
    }
}

impl Scores {
    /// Returns what the file with a content says.
    pub fn file(&self, content: u32) -> FileMatch {
        self.files.get(content as usize).copied().unwrap_or_default()
    }

    /// Returns the best admitted chunks, best first and then by age: at most so many commits, and so many others.
    pub fn best(&self, members: &Members<'_>, n_commits: usize, n_others: usize) -> Vec<Scored> {
        let [mut commits, mut others] = [n_commits, n_others].map(Best::new);
        for (chunk, bm25) in members.view.chunks().iter().zip(&self.chunks) {
            if *bm25 > commits.bound.min(others.bound) && members.admit(chunk) {
                let best = if chunk.chunk.kind == Kind::Commit { &mut commits } else { &mut others };
                best.offer(Scored { chunk: *chunk, bm25: *bm25 });
            }
        }
        let mut found = others.finish();
        found.append(&mut commits.finish());
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

/// What BM25 needs to know of all texts.
struct Statistics {
    n_texts: f64,
    mean_words: f64,
}

impl Statistics {
    fn new(n_texts: usize, n_words: u64) -> Self {
        let n_texts = n_texts.max(1) as f64;
        Self { n_texts, mean_words: (n_words as f64 / n_texts).max(1.0) }
    }

    /// Returns the weight of a phrase that so many texts have: the rarer, the more. Nothing can cover what no text has.
    fn idf(&self, n_with: usize) -> f64 {
        match n_with as f64 {
            0.0 => 0.0,
            n_with => ((self.n_texts - n_with + 0.5) / (n_with + 0.5)).ln().max(LEAST_IDF),
        }
    }

    fn bm25(&self, idf: f64, count: u32, n_words: u32) -> f64 {
        let length = K1 * (1.0 - B + B * f64::from(n_words) / self.mean_words);
        idf * f64::from(count) * (K1 + 1.0) / (f64::from(count) + length)
    }
}

#[cfg(test)]
mod tests;
