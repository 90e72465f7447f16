//! Weighs by BM25 how often the words of a query are in chunks, and in files as a whole.
//!
//! Source: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the constants of FTS5
//! (<https://www.sqlite.org/fts5.html#the_bm25_function>). Pure.

use std::collections::HashMap;

use super::view_chunks::{Members, ViewChunk};
use crate::types::ChunkId;

/// How soon another occurrence of a word adds little.
const K1: f64 = 1.2;
/// How much a long text loses, 0 to 1.
const B: f64 = 0.75;

/// Weight of a word that half of all texts have, or more.
const LEAST_IDF: f64 = 1e-6;

/// The chunks of a view in which FTS5 found some phrase of a query.
pub struct PhraseCounts<'a> {
    members: &'a Members<'a>,
    found: Vec<&'a ViewChunk>,
    /// How often each phrase occurs, weighted by column, `[n_found, n_phrases]`.
    counts: Vec<u8>,
    n_phrases: usize,
}

impl<'a> PhraseCounts<'a> {
    /// Makes an empty list for a query of `n_phrases`.
    pub fn new(members: &'a Members<'a>, n_phrases: usize) -> Self {
        Self { members, found: Vec::new(), counts: Vec::new(), n_phrases }
    }

    /// Adds a row with a number for each phrase, if the view has the chunk.
    pub fn add(&mut self, id: ChunkId, counts: &[u8]) {
        debug_assert_eq!(counts.len(), self.n_phrases, "a number for each phrase");
        if let Some(chunk) = self.members.view.get(id) {
            self.found.push(chunk);
            self.counts.extend(counts.iter().chain(std::iter::repeat(&0)).take(self.n_phrases));
        }
    }

    fn rows(&self) -> impl Iterator<Item = (&'a ViewChunk, &[u8])> {
        self.found.iter().copied().zip(self.counts.chunks_exact(self.n_phrases.max(1)))
    }
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
    /// The admitted chunks that match, by id.
    pub chunks: Vec<Scored>,
    files: HashMap<u32, FileMatch>,
}

impl Scores {
    /// Returns what the file with a content says.
    pub fn file(&self, content: u32) -> FileMatch {
        self.files.get(&content).copied().unwrap_or_default()
    }
}

/// Scores the chunks in which a query was found. `word_of` gives for each phrase the word of the query that it stands for.
///
/// The frequencies are those of the whole view, so a filter does not change the order by BM25 of what it admits.
pub fn score(found: &PhraseCounts<'_>, word_of: &[usize]) -> Scores {
    let (members, n_phrases) = (found.members, found.n_phrases);
    let (n_chunks, n_words) = (members.view.chunks().len(), members.view.n_words());
    let of_chunks = Statistics::of(found.rows().map(|(_, counts)| counts), n_phrases, n_chunks, n_words);
    let chunks = found
        .rows()
        .filter(|(chunk, _)| members.admit(chunk))
        .map(|(chunk, counts)| {
            let counts = counts.iter().map(|count| u32::from(*count));
            Scored { chunk: *chunk, bm25: of_chunks.bm25(counts, chunk.chunk.n_words) }
        })
        .collect();
    Scores { chunks, files: files(found, word_of) }
}

fn files(found: &PhraseCounts<'_>, word_of: &[usize]) -> HashMap<u32, FileMatch> {
    let (view, n_phrases) = (found.members.view, found.n_phrases);
    let mut sums: HashMap<u32, Vec<u32>> = HashMap::new();
    for (chunk, counts) in found.rows() {
        let sum = sums.entry(chunk.content).or_insert_with(|| vec![0; n_phrases]);
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u32::from(*count));
    }
    let counts = sums.values().map(Vec::as_slice);
    let of_files = Statistics::of(counts, n_phrases, view.n_contents(), view.n_words());
    let length = |content: u32| {
        let chunks = &view.content(content).chunks;
        chunks.iter().fold(0_u32, |sum, chunk| sum.saturating_add(chunk.n_words))
    };
    let mut files: HashMap<u32, FileMatch> = sums
        .iter()
        .map(|(content, counts)| {
            let bm25 = of_files.bm25(counts.iter().copied(), length(*content));
            (*content, FileMatch { bm25, covered: of_files.covered(counts, word_of) })
        })
        .collect();
    let best = files.values().map(|file| file.bm25).fold(0.0, f64::max);
    if best > 0.0 {
        files.values_mut().for_each(|file| file.bm25 /= best);
    }
    files
}

/// What BM25 needs to know of all texts.
struct Statistics {
    /// Weight of each phrase: the rarer, the more.
    idf: Vec<f64>,
    mean_words: f64,
}

impl Statistics {
    /// Counts in how many of `n_texts` texts each phrase is.
    fn of<'a, T: Copy + Default + PartialEq + 'a>(
        found: impl Iterator<Item = &'a [T]>,
        n_phrases: usize,
        n_texts: usize,
        n_words: u64,
    ) -> Self {
        let mut n_with = vec![0_usize; n_phrases];
        for counts in found {
            n_with.iter_mut().zip(counts).for_each(|(n, count)| *n += usize::from(*count != T::default()));
        }
        let n_texts = n_texts.max(1) as f64;
        let idf = |n: usize| match n {
            0 => 0.0, // also for what a text could cover
            _ => ((n_texts - n as f64 + 0.5) / (n as f64 + 0.5)).ln().max(LEAST_IDF),
        };
        Self { idf: n_with.into_iter().map(idf).collect(), mean_words: (n_words as f64 / n_texts).max(1.0) }
    }

    fn bm25(&self, counts: impl Iterator<Item = u32>, n_words: u32) -> f64 {
        let length = K1 * (1.0 - B + B * f64::from(n_words) / self.mean_words);
        let share =
            |(count, idf): (u32, &f64)| idf * f64::from(count) * (K1 + 1.0) / (f64::from(count) + length);
        counts.zip(&self.idf).map(share).sum()
    }

    /// Returns the share of the words of a query that a text has, each weighed by its rarest phrase.
    fn covered(&self, counts: &[u32], word_of: &[usize]) -> f64 {
        let n_words = word_of.iter().max().map_or(0, |last| last + 1);
        let (mut has, mut could) = (vec![0.0_f64; n_words], vec![0.0_f64; n_words]);
        for ((count, idf), word) in counts.iter().zip(&self.idf).zip(word_of) {
            could[*word] = could[*word].max(*idf);
            if *count > 0 {
                has[*word] = has[*word].max(*idf);
            }
        }
        let could: f64 = could.iter().sum();
        if could > 0.0 { has.iter().sum::<f64>() / could } else { 0.0 }
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
    use crate::types::Kind;

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

    fn scores(view: &ViewChunks, filter: &Filter, rows: &[(i64, &[u8])], word_of: &[usize]) -> Scores {
        let members = view.within(filter);
        let mut found = PhraseCounts::new(&members, word_of.len());
        rows.iter().for_each(|(id, counts)| found.add(ChunkId(*id), counts));
        score(&found, word_of)
    }

    fn values(scores: &Scores) -> Vec<(i64, f64)> {
        scores.chunks.iter().map(|scored| (scored.chunk.chunk.id.0, scored.bm25)).collect()
    }

    #[test]
    fn rare_words_short_texts_and_repetition_count_more() {
        let view = view(&[10, 10, 10, 40, 10]);
        let rows: &[(i64, &[u8])] =
            &[(10, &[1, 0]), (11, &[1, 0]), (20, &[0, 1]), (21, &[3, 0]), (40, &[1, 0])];
        let found = values(&scores(&view, &Filter::default(), rows, &[0, 1]));
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
        let all = values(&scores(&view, &Filter::default(), rows, &[0]));
        let with_others: &[(i64, &[u8])] =
            &[(5, &[9]), (10, &[1]), (15, &[1]), (20, &[2]), (31, &[1]), (99, &[1])];
        assert_eq!(values(&scores(&view, &Filter::default(), with_others, &[0])), all);
        let filter = Filter { paths: vec![glob_set(&["3.rs".to_owned()]).unwrap()], ..Filter::default() };
        assert_eq!(values(&scores(&view, &filter, rows, &[0])), all[2..]);
    }

    #[test]
    fn a_file_is_as_good_as_all_its_chunks() {
        let view = view(&[10, 10, 10]);
        let rows: &[(i64, &[u8])] =
            &[(10, &[1, 0, 0]), (11, &[0, 1, 0]), (20, &[1, 0, 0]), (21, &[1, 0, 0]), (30, &[1, 0, 1])];
        let scores = scores(&view, &Filter::default(), rows, &[0, 1, 1]);
        let [both, one, other_spelling] = [0, 1, 2].map(|content| scores.file(content));
        assert!(both.bm25 > one.bm25 && (both.covered - 1.0).abs() < 1e-12, "{both:?} {one:?}");
        assert!((0.0..0.5).contains(&one.covered), "{one:?}");
        assert_eq!(other_spelling.covered, both.covered, "either phrase stands for the word");
        assert_eq!(scores.file(7), FileMatch::default());
    }

    #[test]
    fn nothing_found_is_no_score() {
        let view = view(&[]);
        let scores = scores(&view, &Filter::default(), &[(1, &[1])], &[0]);
        assert!(scores.chunks.is_empty());
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
            let found = values(&scores(&view, &Filter::default(), &rows, &word_of));
            assert!(expected.len() > 5 && found.len() == expected.len(), "{query:?}");
            for ((id, own), (row, theirs)) in found.iter().zip(&expected) {
                assert!(id == row && (own + theirs).abs() < 1e-9, "{query:?} {id} {own} {row} {theirs}");
            }
        }
    }
}
