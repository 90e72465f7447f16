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
mod tests {
    use super::*;
    use crate::search::filter::{Filter, glob_set};
    use crate::search::testing::fts_of_chunks;
    use crate::search::view_chunks::ViewChunks;
    use crate::store::{Content, ContentChunk};
    use crate::testing::Random;

    /// Returns a view of files of two chunks each, of `n_words` words: ids 10 and 11, 20 and 21, and so on.
    fn view(n_words: &[u32]) -> ViewChunks {
        let list = (1..=n_words.len() as i64).map(|nth| (format!("{nth}.rs").into(), ChunkId(10 * nth)));
        let chunk = |id, n_words| ContentChunk { id: ChunkId(id), kind: Kind::Symbol, n_words };
        let mut view = ViewChunks::default();
        let read = |first: ChunkId| -> Result<Content, String> {
            let n_words = n_words[first.0 as usize / 10 - 1];
            let chunks = vec![chunk(first.0, n_words), chunk(first.0 + 1, n_words)];
            Ok(Content { chunks, ..Content::default() })
        };
        view.update(list.collect(), read).unwrap();
        view
    }

    /// Scores rows of counts, one a phrase.
    fn scores(view: &ViewChunks, rows: &[(i64, &[u8])], word_of: &[usize]) -> Scores {
        let filter = Filter::default();
        let members = view.within(&filter);
        let mut scorer = Scorer::new(&members);
        for (phrase, word) in word_of.iter().enumerate() {
            let counts = rows.iter().map(|(id, counts)| (*id, counts[phrase]));
            counts.filter(|(_, count)| *count > 0).for_each(|(id, count)| scorer.see(ChunkId(id), count));
            scorer.end_phrase(*word);
        }
        scorer.finish()
    }

    /// Returns the admitted chunks with their scores, by id.
    fn values(view: &ViewChunks, filter: &Filter, scores: &Scores) -> Vec<(i64, f64)> {
        let found = scores.best(&view.within(filter), 1_000, 1_000);
        let mut values: Vec<_> = found.iter().map(|one| (one.chunk.chunk.id.0, one.bm25)).collect();
        values.sort_unstable_by_key(|(id, _)| *id);
        values
    }

    #[test]
    fn rare_words_short_texts_and_repetition_count_more() {
        let view = view(&[10, 10, 10, 40, 10]);
        let rows: &[(i64, &[u8])] =
            &[(10, &[1, 0]), (11, &[1, 0]), (20, &[0, 1]), (21, &[3, 0]), (40, &[1, 0])];
        let found = values(&view, &Filter::default(), &scores(&view, rows, &[0, 1]));
        let [(10, common), (11, same), (20, rare), (21, repeated), (40, long)] = found[..] else {
            panic!("{found:?}")
        };
        assert!(rare > common && repeated > common && common > long, "{found:?}");
        assert!((common - same).abs() < 1e-12);
        // idf = ln((10 - 4 + 0.5) / (4 + 0.5)), mean length 16.
        let expected = (6.5_f64 / 4.5).ln() * 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * 10.0 / 16.0));
        assert!((common - expected).abs() < 1e-12, "{common} {expected}");
    }

    #[test]
    fn other_worktrees_and_filters_change_no_score() {
        let view = view(&[10, 10, 10]);
        let rows: &[(i64, &[u8])] = &[(10, &[1]), (20, &[2]), (31, &[1])];
        let all = values(&view, &Filter::default(), &scores(&view, rows, &[0]));
        let with_others: &[(i64, &[u8])] =
            &[(5, &[9]), (10, &[1]), (15, &[1]), (20, &[2]), (31, &[1]), (99, &[1])];
        assert_eq!(values(&view, &Filter::default(), &scores(&view, with_others, &[0])), all);
        let filter = Filter { paths: vec![glob_set(&["3.rs".to_owned()]).unwrap()], ..Filter::default() };
        assert_eq!(values(&view, &filter, &scores(&view, rows, &[0])), all[2..]);
    }

    #[test]
    fn a_file_is_as_good_as_all_its_chunks() {
        let view = view(&[10, 10, 10]);
        let rows: &[(i64, &[u8])] =
            &[(10, &[1, 0, 0]), (11, &[0, 1, 0]), (20, &[1, 0, 0]), (21, &[1, 0, 0]), (30, &[1, 0, 1])];
        let scores = scores(&view, rows, &[0, 1, 1]);
        let [both, one, other_spelling] = [0, 1, 2].map(|content| scores.file(content));
        assert!(both.bm25 > one.bm25 && (both.covered - 1.0).abs() < 1e-12, "{both:?} {one:?}");
        assert!((0.0..0.5).contains(&one.covered), "{one:?}");
        assert_eq!(other_spelling.covered, both.covered, "either phrase stands for the word");
        assert_eq!(scores.file(7), FileMatch::default());
    }

    #[test]
    fn the_best_are_those_of_a_sorted_list() {
        let mut random = Random::new(8);
        let mut view = ViewChunks::default();
        let read = |id: ChunkId| -> Result<Content, String> {
            let kind = if id.0 % 3 == 0 { Kind::Commit } else { Kind::Text };
            Ok(Content { chunks: vec![ContentChunk { id, kind, n_words: 10 }], ..Content::default() })
        };
        view.update((1..=900).map(|nth| (format!("{nth:03}").into(), ChunkId(nth))).collect(), read).unwrap();
        let filter = Filter::default();
        let members = view.within(&filter);
        for (n_commits, n_others) in [(0, 5), (5, 0), (1, 1), (7, 40), (300, 600), (900, 900)] {
            let chunks: Vec<f64> = (0..900).map(|_| random.below(60) as f64).collect();
            let scores = Scores { chunks, files: Vec::new() };
            let mut all: Vec<(i64, f64)> = (1..).zip(scores.chunks.iter().copied()).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: by id
            let mut left = [n_others, n_commits];
            all.retain(|(id, score)| {
                let left = &mut left[usize::from(id % 3 == 0)];
                let is_in = *score > 0.0 && *left > 0;
                *left -= usize::from(is_in);
                is_in
            });
            let found = scores.best(&members, n_commits, n_others);
            let found: Vec<_> = found.iter().map(|one| (one.chunk.chunk.id.0, one.bm25)).collect();
            assert_eq!(found, all, "{n_commits} {n_others}");
        }
    }

    #[test]
    fn nothing_found_is_no_score() {
        let view = view(&[]);
        let scores = scores(&view, &[(1, &[1])], &[0]);
        assert!(values(&view, &Filter::default(), &scores).is_empty());
        assert_eq!(scores.file(0), FileMatch::default());
    }

    #[test]
    fn scores_of_chunks_are_those_of_fts5() {
        let mut random = Random::new(5);
        let mut words = |most: usize| -> Vec<String> {
            let n_words = random.below(most);
            (0..n_words).map(|_| format!("w{}", random.below(12) * random.below(12))).collect()
        };
        let texts: Vec<[Vec<String>; 3]> = (0..80).map(|_| [words(3), words(5), words(40)]).collect();
        let lines: Vec<[String; 3]> =
            texts.iter().map(|text| text.each_ref().map(|words| words.join(" "))).collect();
        let fts = fts_of_chunks(&lines);
        let list = (1..=80).map(|nth| (format!("{nth:02}.rs").into(), ChunkId(nth))).collect();
        let mut view = ViewChunks::default();
        let read = |id: ChunkId| -> Result<Content, String> {
            let n_words = texts[id.0 as usize - 1].iter().map(Vec::len).sum::<usize>() as u32;
            Ok(Content { chunks: vec![ContentChunk { id, kind: Kind::Text, n_words }], ..Content::default() })
        };
        view.update(list, read).unwrap();
        for query in [&["w0"][..], &["w1", "w7"], &["w0", "w4", "w121", "w9"]] {
            let expression: Vec<String> = query.iter().map(|word| format!("\"{word}\"")).collect();
            let expected = fts.bm25(&expression.join(" OR "));
            let count = |text: &[Vec<String>; 3], word: &str| -> u8 {
                let of = |words: &Vec<String>| words.iter().filter(|own| *own == word).count() as u8;
                4 * of(&text[0]) + 2 * of(&text[1]) + of(&text[2])
            };
            let counts: Vec<Vec<u8>> =
                texts.iter().map(|text| query.iter().map(|word| count(text, word)).collect()).collect();
            let rows: Vec<(i64, &[u8])> = (1..)
                .zip(&counts)
                .filter(|(_, counts)| counts.iter().any(|count| *count > 0))
                .map(|(id, counts)| (id, counts.as_slice()))
                .collect();
            let word_of: Vec<usize> = (0..query.len()).collect();
            let found = values(&view, &Filter::default(), &scores(&view, &rows, &word_of));
            assert!(expected.len() > 5 && found.len() == expected.len(), "{query:?}");
            for ((id, own), (row, theirs)) in found.iter().zip(&expected) {
                assert!(id == row && (own + theirs).abs() < 1e-9, "{query:?} {id} {own} {row} {theirs}");
            }
        }
    }
}
