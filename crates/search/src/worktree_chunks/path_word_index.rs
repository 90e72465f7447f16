//! Scores the paths of a worktree by BM25 of the words of a query.
//!
//! The words of all paths are in memory, because some words, such as extensions, are in nearly all paths. Pure.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use memod_base::types::Phrase;
use memod_text::words;

use crate::text_scores::text_statistics::TextStatistics;

/// Number of unused words above which the index is rebuilt.
const MOST_UNUSED: usize = 10_000;

/// An index of the words of all paths.
#[derive(Clone, Debug, Default)]
pub(super) struct PathWordIndex {
    /// The number of each word.
    terms: Arc<HashMap<Box<str>, u32>>,
    /// By path: the numbers of its words, in order.
    words: NumberRows,
    /// By word: the paths that contain it, ascending.
    paths: NumberRows,
    /// Number and mean length of paths.
    statistics: TextStatistics,
}

/// Rows of numbers of any length, in one allocation.
#[derive(Clone, Debug)]
struct NumberRows {
    numbers: Vec<u32>,
    /// The start of each row in `numbers`, and the end of the last row.
    starts: Vec<u32>,
}

impl Default for NumberRows {
    fn default() -> Self {
        Self { numbers: Vec::new(), starts: vec![0] }
    }
}

impl NumberRows {
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn get(&self, nth: u32) -> &[u32] {
        let nth = nth as usize;
        &self.numbers[self.starts[nth] as usize..self.starts[nth + 1] as usize]
    }

    /// Ends the current row.
    fn end_row(&mut self) {
        self.starts.push(self.numbers.len() as u32);
    }

    /// Returns, for each number below `n`, the rows that contain it, ascending.
    fn invert_rows(&self, n: usize) -> Self {
        let mut starts = vec![0; n + 1];
        self.each_distinct(n, &mut |number, _| starts[number as usize + 1] += 1);
        for nth in 1..=n {
            starts[nth] += starts[nth - 1];
        }
        let (mut next, mut numbers) = (starts.clone(), vec![0; starts[n] as usize]);
        self.each_distinct(n, &mut |number, row| {
            let at = &mut next[number as usize];
            numbers[*at as usize] = row;
            *at += 1;
        });
        Self { numbers, starts }
    }

    /// Calls `see` with each number and its row, once for each row that contains the number. All numbers must be below `n`.
    fn each_distinct(&self, n: usize, see: &mut dyn FnMut(u32, u32)) {
        let mut seen_in = vec![u32::MAX; n];
        for row in 0..self.len() as u32 {
            for number in self.get(row) {
                if std::mem::replace(&mut seen_in[*number as usize], row) != row {
                    see(*number, row);
                }
            }
        }
    }

    /// Returns the size in memory, bytes.
    fn size_bytes(&self) -> usize {
        4 * (self.numbers.len() + self.starts.len())
    }
}

/// Yields paths with their BM25, best first, and equal paths in order.
pub(super) struct FoundPaths(BinaryHeap<(OrderedScore, Reverse<u32>)>);

/// A score with a total order.
#[derive(PartialEq)]
struct OrderedScore(f64);

impl Eq for OrderedScore {}

impl PartialOrd for OrderedScore {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedScore {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Iterator for FoundPaths {
    type Item = (u32, f64);

    fn next(&mut self) -> Option<(u32, f64)> {
        self.0.pop().map(|(OrderedScore(bm25), Reverse(path))| (path, bm25))
    }
}

impl PathWordIndex {
    /// Returns an index of `paths`, reusing the words of known paths. Each path comes with its index in this index, if it is known;
    /// `None` for an entry that has no words, such as a commit.
    pub(super) fn with_paths<'a>(&self, paths: impl Iterator<Item = Option<(&'a str, Option<u32>)>>) -> Self {
        let mut index = Self { terms: Arc::clone(&self.terms), ..Self::default() };
        let mut n_paths = 0;
        let mut stream = String::new();
        for path in paths {
            n_paths += usize::from(path.is_some());
            match path {
                Some((_, Some(known))) => index.words.numbers.extend_from_slice(self.words.get(known)),
                Some((path, None)) => {
                    stream.clear();
                    words::write_path_words(path, &mut stream);
                    stream.split_ascii_whitespace().for_each(|word| index.add_word(word));
                }
                None => {}
            }
            index.words.end_row();
        }
        index.paths = index.words.invert_rows(index.terms.len());
        index.statistics = TextStatistics::new(n_paths, index.words.numbers.len() as u64);
        index
    }

    /// Appends a word to the current path.
    fn add_word(&mut self, word: &str) {
        let term = match self.terms.get(word) {
            Some(term) => *term,
            None => {
                let term = self.terms.len() as u32;
                Arc::make_mut(&mut self.terms).insert(word.into(), term);
                term
            }
        };
        self.words.numbers.push(term);
    }

    /// Returns the number of entries, including entries without words.
    pub(super) fn n_paths(&self) -> usize {
        self.words.len()
    }

    /// Returns whether the index should be rebuilt, because no path contains many of its words any more.
    pub(super) fn needs_rebuild(&self) -> bool {
        let n_unused = self.paths.starts.windows(2).filter(|ends| ends[0] == ends[1]).count();
        n_unused > MOST_UNUSED.max(self.terms.len() / 2)
    }

    /// Returns the size in memory, bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let terms: usize = self.terms.keys().map(|term| term.len() + 40).sum();
        self.words.size_bytes() + self.paths.size_bytes() + terms
    }

    /// Returns the paths that contain some of the phrases, with their BM25.
    pub(super) fn find_paths<'a>(&self, phrases: impl Iterator<Item = &'a Phrase>) -> FoundPaths {
        let mut scores = vec![0.0; self.words.len()];
        let mut found = Vec::new();
        for phrase in phrases {
            let counts = self.phrase_counts(phrase);
            let idf = self.statistics.idf(counts.len());
            for (path, count) in counts {
                let score: &mut f64 = &mut scores[path as usize];
                if *score == 0.0 {
                    found.push(path);
                }
                *score += self.statistics.bm25(idf, count, self.words.get(path).len() as u32);
            }
        }
        let scored = found.into_iter().map(|path| (OrderedScore(scores[path as usize]), Reverse(path)));
        FoundPaths(scored.collect())
    }

    /// Returns the paths that contain a phrase, and how often each contains it.
    fn phrase_counts(&self, phrase: &Phrase) -> Vec<(u32, u32)> {
        let tokens = self.terms_of(phrase);
        let Some(rarest) = tokens
            .iter()
            .min_by_key(|terms| terms.iter().map(|term| self.paths.get(*term).len()).sum::<usize>())
        else {
            return Vec::new();
        };
        let mut paths: Vec<u32> = rarest.iter().flat_map(|term| self.paths.get(*term)).copied().collect();
        if rarest.len() > 1 {
            paths.sort_unstable();
            paths.dedup();
        }
        paths
            .into_iter()
            .map(|path| (path, self.count_phrase(path, &tokens)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Returns how often a path contains a phrase. `tokens` has the words that match each token of the phrase.
    fn count_phrase(&self, path: u32, tokens: &[Vec<u32>]) -> u32 {
        let windows = self.words.get(path).windows(tokens.len());
        let found = windows.filter(|terms| {
            let mut both = terms.iter().zip(tokens);
            both.all(|(term, any)| any.binary_search(term).is_ok())
        });
        found.count() as u32
    }

    /// Returns the numbers of the words that match each token of a phrase, ascending: of one word, or of all words with a prefix.
    fn terms_of(&self, phrase: &Phrase) -> Vec<Vec<u32>> {
        let mut tokens = phrase.tokens.split(' ').peekable();
        let mut all = Vec::new();
        while let Some(token) = tokens.next() {
            all.push(if phrase.is_prefix && tokens.peek().is_none() {
                let terms = self.terms.iter().filter(|(term, _)| term.starts_with(token));
                let mut terms: Vec<u32> = terms.map(|(_, term)| *term).collect();
                terms.sort_unstable();
                terms
            } else {
                self.terms.get(token).copied().into_iter().collect()
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use memod_base::types::Expression;
    use memod_testing::RandomNumbers;

    use super::*;
    use crate::testing::fts_with;

    fn random_path(random: &mut RandomNumbers) -> String {
        let words = ["src", "a", "ab", "abc", "userData", "user-data", "x.rs", "日本語", "test"];
        let parts: Vec<&str> = (0..=random.number_below(5)).map(|_| random.pick_item(&words)).collect();
        parts.join("/")
    }

    fn random_phrase(random: &mut RandomNumbers) -> Phrase {
        let words = ["src", "a", "ab", "abc", "user", "data", "userdata", "rs", "te", "none"];
        let tokens: Vec<&str> = (0..=random.number_below(2)).map(|_| random.pick_item(&words)).collect();
        Phrase { tokens: tokens.join(" "), is_prefix: random.number_below(3) == 0 }
    }

    /// Compares with FTS5, which has only the paths that are not `None`.
    fn check(index: &PathWordIndex, paths: &[Option<String>], random: &mut RandomNumbers) {
        let stream = |path: &Option<String>| {
            let mut stream = String::new();
            words::write_path_words(path.as_deref().unwrap_or_default(), &mut stream);
            stream
        };
        let places: Vec<u32> =
            (0..).zip(paths).filter(|(_, path)| path.is_some()).map(|(at, _)| at).collect();
        let streams: Vec<String> = paths.iter().filter(|path| path.is_some()).map(stream).collect();
        let fts = fts_with(&streams.iter().map(String::as_str).collect::<Vec<_>>());
        for _ in 0..20 {
            let mut phrases: Vec<Phrase> = Vec::new();
            for _ in 0..=random.number_below(3) {
                let phrase = random_phrase(random);
                phrases.extend((!phrases.contains(&phrase)).then_some(phrase));
            }
            let any = Expression::Any(phrases.iter().cloned().map(Expression::Phrase).collect());
            let expected = fts.ranked(&any.to_string()).into_iter();
            let expected: Vec<(u32, f64)> =
                expected.map(|(row, bm25)| (places[row as usize - 1], bm25)).collect();
            let found: Vec<(u32, f64)> = index.find_paths(phrases.iter()).collect();
            assert_eq!(found.len(), expected.len(), "{any} {paths:?}");
            for ((path, bm25), (other, of_fts)) in found.into_iter().zip(expected) {
                assert!(path == other && (bm25 - of_fts).abs() < 1e-9, "{any} {paths:?}");
            }
        }
    }

    #[test]
    fn paths_rank_as_in_fts5_also_after_changes() {
        let mut random = RandomNumbers::new(31);
        let mut index = PathWordIndex::default();
        let mut paths: Vec<Option<String>> = Vec::new();
        for _ in 0..30 {
            let mut former: Vec<(Option<String>, Option<u32>)> =
                paths.drain(..).zip((0..).map(Some)).collect();
            former.retain(|_| random.number_below(4) > 0);
            let n_new = random.number_below(6);
            former.extend((0..n_new).map(|_| (Some(random_path(&mut random)), None)));
            former.push((None, None));
            let words = former.iter().map(|(path, known)| path.as_deref().map(|path| (path, *known)));
            index = index.with_paths(words);
            paths = former.into_iter().map(|(path, _)| path).collect();
            check(&index, &paths, &mut random);
        }
    }

    #[test]
    fn words_without_a_path_are_forgotten_in_the_end() {
        let paths: Vec<String> = (0..20_000).map(|nth| format!("p{nth}x")).collect();
        let index = PathWordIndex::default().with_paths(paths.iter().map(|path| Some((path.as_str(), None))));
        assert!(!index.needs_rebuild());
        let kept = index.with_paths(std::iter::once(Some(("p7x", Some(7)))));
        assert!(kept.needs_rebuild() && kept.size_bytes() < index.size_bytes());
    }
}
