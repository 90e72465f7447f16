use memod_testing::RandomNumbers;

use memod_index_db::{ChunkSummary, IndexedContent};

use super::*;
use crate::filter::{SearchFilter, compile_globs};
use crate::testing::fts_of_chunks;
use crate::worktree_chunks::WorktreeChunks;

/// Returns a worktree of files of two chunks each, of `n_words` words: ids 10 and 11, 20 and 21, and so on.
fn worktree_of(n_words: &[u32]) -> WorktreeChunks {
    let list = (1..=n_words.len() as i64).map(|nth| (format!("{nth}.rs").into(), ChunkId(10 * nth)));
    let chunk = |id, n_words| ChunkSummary { id: ChunkId(id), kind: ChunkKind::Symbol, n_words };
    let mut worktree = WorktreeChunks::default();
    let read = |first: ChunkId| -> Result<IndexedContent, String> {
        let n_words = n_words[first.0 as usize / 10 - 1];
        let chunks = vec![chunk(first.0, n_words), chunk(first.0 + 1, n_words)];
        Ok(IndexedContent { chunks, ..IndexedContent::default() })
    };
    worktree.replace_paths(list.collect(), read).unwrap();
    worktree
}

/// Scores rows of counts, one a phrase.
fn scores(
    worktree: &WorktreeChunks,
    filter: &SearchFilter,
    rows: &[(i64, &[u8])],
    word_of: &[usize],
) -> QueryScores {
    let members = worktree.admitted_by(filter);
    let mut scorer = Bm25Scorer::new(&members);
    for (phrase, word) in word_of.iter().enumerate() {
        let counts = rows.iter().map(|(id, counts)| (*id, counts[phrase]));
        counts
            .filter(|(_, count)| *count > 0)
            .for_each(|(id, count)| scorer.record_match(ChunkId(id), count));
        scorer.end_phrase(*word);
    }
    scorer.into_scores(1_000, 1_000)
}

/// Returns the admitted chunks with their scores, by id.
fn values(scores: &QueryScores) -> Vec<(i64, f64)> {
    let mut values: Vec<_> =
        scores.best_chunks().iter().map(|one| (one.chunk.chunk.id.0, one.bm25)).collect();
    values.sort_unstable_by_key(|(id, _)| *id);
    values
}

#[test]
fn rare_words_short_texts_and_repetition_count_more() {
    let worktree = worktree_of(&[10, 10, 10, 40, 10]);
    let rows: &[(i64, &[u8])] = &[(10, &[1, 0]), (11, &[1, 0]), (20, &[0, 1]), (21, &[3, 0]), (40, &[1, 0])];
    let found = values(&scores(&worktree, &SearchFilter::default(), rows, &[0, 1]));
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
    let worktree = worktree_of(&[10, 10, 10]);
    let rows: &[(i64, &[u8])] = &[(10, &[1]), (20, &[2]), (31, &[1])];
    let all = values(&scores(&worktree, &SearchFilter::default(), rows, &[0]));
    let with_others: &[(i64, &[u8])] =
        &[(5, &[9]), (10, &[1]), (15, &[1]), (20, &[2]), (31, &[1]), (99, &[1])];
    assert_eq!(values(&scores(&worktree, &SearchFilter::default(), with_others, &[0])), all);
    let filter =
        SearchFilter { paths: vec![compile_globs(&["3.rs".to_owned()]).unwrap()], ..SearchFilter::default() };
    assert_eq!(values(&scores(&worktree, &filter, rows, &[0])), all[2..]);
}

#[test]
fn a_file_is_as_good_as_all_its_chunks() {
    let worktree = worktree_of(&[10, 10, 10]);
    let rows: &[(i64, &[u8])] =
        &[(10, &[1, 0, 0]), (11, &[0, 1, 0]), (20, &[1, 0, 0]), (21, &[1, 0, 0]), (30, &[1, 0, 1])];
    let scores = scores(&worktree, &SearchFilter::default(), rows, &[0, 1, 1]).into_file_scores();
    let [both, one, other_spelling] = [0, 1, 2].map(|content| scores.file_match(content));
    assert!(both.bm25 > one.bm25 && (both.covered - 1.0).abs() < 1e-12, "{both:?} {one:?}");
    assert!((0.0..0.5).contains(&one.covered), "{one:?}");
    assert_eq!(other_spelling.covered, both.covered, "either phrase stands for the word");
    assert_eq!(scores.file_match(7), FileMatch::default());
}

#[test]
fn the_best_are_those_of_a_sorted_list() {
    let mut random = RandomNumbers::new(8);
    let mut worktree = WorktreeChunks::default();
    let read = |id: ChunkId| -> Result<IndexedContent, String> {
        let kind = if id.0 % 3 == 0 { ChunkKind::Commit } else { ChunkKind::Text };
        Ok(IndexedContent {
            chunks: vec![ChunkSummary { id, kind, n_words: 10 }],
            ..IndexedContent::default()
        })
    };
    worktree
        .replace_paths((1..=900).map(|nth| (format!("{nth:03}").into(), ChunkId(nth))).collect(), read)
        .unwrap();
    let filter = SearchFilter::default();
    let members = worktree.admitted_by(&filter);
    for (n_commits, n_others) in [(0, 5), (5, 0), (1, 1), (7, 40), (300, 600), (900, 900)] {
        let scores: Vec<f64> = (0..900).map(|_| random.number_below(60) as f64).collect();
        let mut all: Vec<(i64, f64)> = (1..).zip(scores.iter().copied()).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: by id
        let mut left = [n_others, n_commits];
        all.retain(|(id, score)| {
            let left = &mut left[usize::from(id % 3 == 0)];
            let is_in = *score > 0.0 && *left > 0;
            *left -= usize::from(is_in);
            is_in
        });
        let mut best = BestChunks::new(&members, n_commits, n_others);
        worktree
            .chunks()
            .chunks(250)
            .zip(scores.chunks(250))
            .for_each(|(chunks, of)| best.offer_chunks(chunks, of));
        let found = best.into_sorted();
        let found: Vec<_> = found.iter().map(|one| (one.chunk.chunk.id.0, one.bm25)).collect();
        assert_eq!(found, all, "{n_commits} {n_others}");
    }
}

#[test]
fn nothing_found_is_no_score() {
    let worktree = worktree_of(&[]);
    let scores = scores(&worktree, &SearchFilter::default(), &[(1, &[1])], &[0]);
    assert!(values(&scores).is_empty());
    assert_eq!(scores.into_file_scores().file_match(0), FileMatch::default());
}

#[test]
fn scores_of_chunks_are_those_of_fts5() {
    let mut random = RandomNumbers::new(5);
    let mut words = |most: usize| -> Vec<String> {
        let n_words = random.number_below(most);
        (0..n_words).map(|_| format!("w{}", random.number_below(12) * random.number_below(12))).collect()
    };
    let texts: Vec<[Vec<String>; 3]> = (0..80).map(|_| [words(3), words(5), words(40)]).collect();
    let lines: Vec<[String; 3]> =
        texts.iter().map(|text| text.each_ref().map(|words| words.join(" "))).collect();
    let fts = fts_of_chunks(&lines);
    let list = (1..=80).map(|nth| (format!("{nth:02}.rs").into(), ChunkId(nth))).collect();
    let mut worktree = WorktreeChunks::default();
    let read = |id: ChunkId| -> Result<IndexedContent, String> {
        let n_words = texts[id.0 as usize - 1].iter().map(Vec::len).sum::<usize>() as u32;
        Ok(IndexedContent {
            chunks: vec![ChunkSummary { id, kind: ChunkKind::Text, n_words }],
            ..IndexedContent::default()
        })
    };
    worktree.replace_paths(list, read).unwrap();
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
        let found = values(&scores(&worktree, &SearchFilter::default(), &rows, &word_of));
        assert!(expected.len() > 5 && found.len() == expected.len(), "{query:?}");
        for ((id, own), (row, theirs)) in found.iter().zip(&expected) {
            assert!(id == row && (own + theirs).abs() < 1e-9, "{query:?} {id} {own} {row} {theirs}");
        }
    }
}
