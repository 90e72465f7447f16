use std::collections::BTreeMap;

use memod_base::types::{ChunkId, Expression, Phrase, SourceKey, WorktreeId};
use memod_database::DatabaseError;
use memod_testing::RandomNumbers;
use rusqlite::{Connection, params};

use crate::reading::index_reader::IndexReader;
use crate::test_rows::{embeddable_chunk, put_change, worktree_key};
use crate::writing::index_writer::IndexWriter;
use crate::writing::new_rows::{ManifestChange, NewChunk};

/// Symbol, title and body.
type ChunkWords = [String; 3];

/// An index, and the same chunks in a table of FTS5.
struct Bench {
    writer: IndexWriter,
    reader: IndexReader,
    view: WorktreeId,
    fts: Connection,
    chunks: BTreeMap<i64, ChunkWords>,
    n_files: u32,
    temp: tempfile::TempDir,
}

fn phrase(tokens: &str, is_prefix: bool) -> Phrase {
    Phrase { tokens: tokens.to_owned(), is_prefix }
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index.db");
        let mut writer = IndexWriter::open(&path, "model").unwrap();
        let view = writer.find_or_add_worktree(&worktree_key()).unwrap();
        let fts = Connection::open_in_memory().unwrap();
        let table = "CREATE VIRTUAL TABLE t USING fts5(symbol, title, body, tokenize='ascii')";
        fts.execute_batch(table).unwrap();
        let reader = IndexReader::open(&path).unwrap();
        Self { writer, reader, view, fts, chunks: BTreeMap::new(), n_files: 0, temp }
    }

    /// Adds a file with a chunk for each text.
    fn put(&mut self, texts: Vec<ChunkWords>) {
        self.n_files += 1;
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&self.n_files.to_le_bytes());
        let chunk = |words: &ChunkWords| NewChunk {
            gets_vector: false,
            words: words.clone(),
            ..embeddable_chunk(hash)
        };
        let put = put_change(&self.n_files.to_string(), hash, texts.iter().map(chunk).collect());
        self.writer.apply_changes(self.view, &[put], 0).unwrap();
        let last = self.chunks.last_key_value().map_or(0, |(id, _)| *id);
        let mut new = self.reader.conn.prepare("SELECT id FROM chunk WHERE id > ?1 ORDER BY id").unwrap();
        let ids: Vec<i64> = new.query_map([last], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        drop(new);
        assert_eq!(ids.len(), texts.len());
        for (id, texts) in ids.into_iter().zip(texts) {
            let [symbol, title, body] = &texts;
            let sql = "INSERT INTO t(rowid, symbol, title, body) VALUES(?1, ?2, ?3, ?4)";
            self.fts.execute(sql, params![id, symbol, title, body]).unwrap();
            self.chunks.insert(id, texts);
        }
    }

    /// Deletes the file of this number, and its chunks.
    fn remove(&mut self, nth: usize) {
        let key = SourceKey::new(nth.to_string());
        self.writer.apply_changes(self.view, &[ManifestChange::Remove { key, is_secret: false }], 0).unwrap();
        self.writer.collect_garbage(1, 0).unwrap();
        let (conn, fts) = (&self.reader.conn, &self.fts);
        let mut exists = conn.prepare("SELECT 1 FROM chunk WHERE id = ?1").unwrap();
        self.chunks.retain(|id, _| {
            let is_there = exists.exists([id]).unwrap();
            fts.execute("DELETE FROM t WHERE rowid = ?1 AND NOT ?2", params![id, is_there]).unwrap();
            is_there
        });
    }

    /// Ends without notice, and starts again.
    fn restart(&mut self) {
        self.writer = IndexWriter::open(&self.temp.path().join("index.db"), "model").unwrap();
    }

    fn merge_all(&mut self) {
        while self.writer.merge_segments_step().unwrap() {}
    }

    fn n_rows(&self, sql: &str) -> i64 {
        self.reader.conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Returns the chunks that have a phrase, and how often.
    fn counts(&self, phrase: &Phrase) -> Vec<(i64, u8)> {
        let mut counts = Vec::new();
        self.reader
            .read_postings()
            .unwrap()
            .each_match(phrase, |ChunkId(id), count| counts.push((id, count)))
            .unwrap();
        counts.retain(|(id, _)| self.chunks.contains_key(id));
        counts
    }

    fn compare(&self, random: &mut RandomNumbers) {
        let found: Vec<Phrase> = (0..12).map(|_| random_phrase(random)).collect();
        for phrase in &found {
            assert_eq!(self.counts(phrase), expected_counts(&self.chunks, phrase), "{phrase}");
        }
        let postings = self.reader.read_postings().unwrap();
        for _ in 0..12 {
            let expression = random_expression(random, 3);
            let set = postings.find_matching(&expression).unwrap();
            let found: Vec<i64> = self.chunks.keys().copied().filter(|id| set.contains(*id)).collect();
            let mut matching =
                self.fts.prepare("SELECT rowid FROM t WHERE t MATCH ?1 ORDER BY rowid").unwrap();
            let rows = matching.query_map([expression.to_string()], |row| row.get(0)).unwrap();
            assert_eq!(found, rows.map(Result::unwrap).collect::<Vec<i64>>(), "{expression}");
        }
    }
}

fn expected_counts(chunks: &BTreeMap<i64, ChunkWords>, phrase: &Phrase) -> Vec<(i64, u8)> {
    let tokens: Vec<&str> = phrase.tokens.split(' ').collect();
    let is_at = |words: &[&str]| {
        let (last, first) = (words[words.len() - 1], &words[..words.len() - 1]);
        let wanted = tokens[tokens.len() - 1];
        first == &tokens[..first.len()] && (last == wanted || (phrase.is_prefix && last.starts_with(wanted)))
    };
    let count = |text: &String| {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        words.windows(tokens.len()).filter(|words| is_at(words)).count()
    };
    let counts = chunks.iter().map(|(id, [symbol, title, body])| {
        (*id, (4 * count(symbol) + 2 * count(title) + count(body)).min(255) as u8)
    });
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The smaller the number, the more frequent.
fn random_word(random: &mut RandomNumbers) -> String {
    format!("w{}", random.number_below(12) * random.number_below(12))
}

fn random_phrase(random: &mut RandomNumbers) -> Phrase {
    let tokens: Vec<String> = (0..=random.number_below(3)).map(|_| random_word(random)).collect();
    phrase(&tokens.join(" "), random.number_below(3) == 0)
}

fn random_expression(random: &mut RandomNumbers, depth: usize) -> Expression {
    let some = |random: &mut RandomNumbers| -> Vec<Expression> {
        (0..=random.number_below(3)).map(|_| random_expression(random, depth - 1)).collect()
    };
    match random.number_below(if depth == 0 { 1 } else { 4 }) {
        0 => Expression::Phrase(random_phrase(random)),
        1 => Expression::Any(some(random)),
        2 => Expression::All(some(random)),
        _ => {
            let [wanted, unwanted] = [(); 2].map(|()| Box::new(random_expression(random, depth - 1)));
            Expression::Without(wanted, unwanted)
        }
    }
}

fn random_texts(random: &mut RandomNumbers) -> Vec<ChunkWords> {
    let mut text = |most: usize| {
        let words: Vec<String> = (0..random.number_below(most)).map(|_| random_word(random)).collect();
        words.join(" ")
    };
    let n_chunks = 1 + text(4).len() % 3;
    (0..n_chunks).map(|_| [text(3), text(5), text(40)]).collect()
}

#[test]
fn lists_have_what_fts5_finds_through_merges_and_restarts() {
    let mut random = RandomNumbers::new(21);
    let mut bench = Bench::new();
    for step in 0..400 {
        match random.number_below(12) {
            0..8 => bench.put(random_texts(&mut random)),
            8 => bench.remove(1 + random.number_below(bench.n_files as usize + 1)),
            9 => bench.restart(),
            _ => drop(bench.writer.merge_segments_step().unwrap()),
        }
        if step % 20 == 19 {
            bench.compare(&mut random);
        }
    }
    bench.merge_all();
    bench.compare(&mut random);
    assert!(bench.n_rows("SELECT count(*) FROM segment") < 16, "they were merged");
    assert!(bench.n_rows("SELECT count(*) FROM posting") > 0);
}

const UNNAMED: &str = "SELECT (SELECT count(*) FROM posting WHERE id >> 38 NOT IN (SELECT id FROM segment))
    + (SELECT count(*) FROM position WHERE id >> 38 NOT IN (SELECT id FROM segment))";

#[test]
fn what_an_interrupted_merge_wrote_is_deleted() {
    let mut random = RandomNumbers::new(22);
    let mut bench = Bench::new();
    for nth in 0..16 {
        let own: Vec<String> = (0..300).map(|other| format!("own{}", nth * 300 + other)).collect();
        bench.put(vec![[String::new(), "w1 w2".to_owned(), own.join(" ")]]);
    }
    assert!(bench.writer.merge_segments_step().unwrap() && bench.writer.merge_segments_step().unwrap());
    assert!(bench.n_rows(UNNAMED) > 0, "it is under way");
    assert_eq!(bench.n_rows("SELECT count(*) FROM segment"), 16);
    bench.compare(&mut random);
    bench.restart();
    bench.put(vec![[String::new(), String::new(), "w1".to_owned()]]);
    bench.merge_all();
    assert_eq!(bench.n_rows(UNNAMED), 0);
    assert_eq!(bench.n_rows("SELECT count(*) FROM segment"), 1);
    assert_eq!(bench.counts(&phrase("own4799", false)).len(), 1);
    bench.compare(&mut random);
}

#[test]
fn deleted_chunks_leave_the_lists_once_they_are_most() {
    let mut bench = Bench::new();
    for nth in 0..40 {
        bench.put(vec![[String::new(), String::new(), format!("w1 own{nth}")]]);
    }
    bench.merge_all();
    for nth in 1..=30 {
        bench.remove(nth);
    }
    bench.merge_all();
    let n_chunks = || {
        let mut n_chunks = 0;
        bench.reader.read_postings().unwrap().each_match(&phrase("w1", false), |_, _| n_chunks += 1).unwrap();
        n_chunks
    };
    assert!((10..=20).contains(&n_chunks()), "{}", n_chunks());
    assert_eq!(bench.reader.read_postings().unwrap().count_chunks_with_term("own3").unwrap(), 0);
    assert_eq!(bench.reader.read_postings().unwrap().count_chunks_with_term("own35").unwrap(), 1);
}

#[test]
fn a_prefix_of_many_words_counts_each() {
    let mut random = RandomNumbers::new(25);
    let mut bench = Bench::new();
    for nth in 0..40 {
        let words: Vec<String> = (0..30).map(|_| format!("w{}", random.number_below(200))).collect();
        bench.put(vec![[format!("w{nth}"), String::new(), words.join(" ")]]);
    }
    for phrase in [phrase("w", true), phrase("w1", true), phrase("w1 w", true)] {
        assert_eq!(bench.counts(&phrase), expected_counts(&bench.chunks, &phrase), "{phrase}");
    }
}

#[test]
fn words_that_no_chunk_has_are_deleted_once_many_are_new() {
    let mut random = RandomNumbers::new(23);
    let mut bench = Bench::new();
    let n_terms = "SELECT count(*) FROM term";
    for nth in 0..30 {
        let own: Vec<String> = (0..5_000).map(|other| format!("own{nth}x{other}")).collect();
        bench.put(vec![[String::new(), "w1 w2".to_owned(), own.join(" ")]]);
        if nth < 25 {
            bench.remove(nth + 1);
        }
    }
    bench.merge_all();
    assert_eq!(bench.n_rows(n_terms), 5 * 5_000 + 2);
    bench.compare(&mut random);
    bench.put(vec![[String::new(), String::new(), "own3x7 own29x7".to_owned()]]);
    assert_eq!(bench.counts(&phrase("own3x7", false)).len(), 1, "it came again");
    assert_eq!(bench.counts(&phrase("own29x7", false)).len(), 2);
    bench.remove(30);
    bench.merge_all();
    assert!(bench.n_rows(n_terms) > 5_000, "too few are new");
}

#[test]
fn an_index_without_ids_for_words_is_damaged() {
    let mut bench = Bench::new();
    bench.put(vec![[String::new(), String::new(), "w1".to_owned()]]);
    let last = (1 << 26) - 2;
    bench.writer.conn.execute("UPDATE meta SET value = ?1 WHERE key = 'last_term'", [last]).unwrap();
    bench.put(vec![[String::new(), String::new(), "w2".to_owned()]]);
    assert_eq!(bench.counts(&phrase("w2", false)).len(), 1);
    let words = [String::new(), String::new(), "w3".to_owned()];
    let chunk = NewChunk { gets_vector: false, words, ..embeddable_chunk([9; 32]) };
    let error =
        bench.writer.apply_changes(bench.view, &[put_change("last", [9; 32], vec![chunk])], 0).unwrap_err();
    assert!(matches!(error, DatabaseError::Corrupt { .. }), "{error}");
}

/// The disk has no more room: the database cannot grow.
#[test]
fn a_merge_that_fails_leaves_nothing() {
    let mut random = RandomNumbers::new(24);
    let mut bench = Bench::new();
    for nth in 0..16 {
        let own: Vec<String> = (0..3_000).map(|other| format!("own{}", nth * 3_000 + other)).collect();
        bench.put(vec![[String::new(), "w1 w2".to_owned(), own.join(" ")]]);
    }
    let limit = |bench: &Bench, n_pages: i64| {
        bench.writer.conn.pragma_update(None, "max_page_count", n_pages).unwrap();
    };
    assert!(bench.writer.merge_segments_step().unwrap() && bench.writer.merge_segments_step().unwrap());
    limit(&bench, bench.n_rows("PRAGMA page_count"));
    let error = std::iter::repeat_with(|| bench.writer.merge_segments_step()).find_map(Result::err).unwrap();
    assert!(matches!(error, DatabaseError::Full { .. }), "{error}");
    assert!(bench.n_rows(UNNAMED) > 0 && bench.writer.has_failed_merge());
    bench.merge_all();
    assert_eq!(bench.n_rows(UNNAMED), 0);
    assert_eq!(bench.n_rows("SELECT count(*) FROM segment"), 16, "nothing is tried again");
    bench.compare(&mut random);
    limit(&bench, 1 << 30);
    bench.put(vec![[String::new(), String::new(), "w1".to_owned()]]);
    bench.merge_all();
    assert_eq!(bench.n_rows("SELECT count(*) FROM segment"), 1);
    bench.compare(&mut random);
}

#[test]
fn a_word_of_a_purged_chunk_is_in_no_table() {
    for is_merged in [false, true] {
        let mut bench = Bench::new();
        for nth in 0..20 {
            bench.put(vec![[String::new(), String::new(), format!("w1 hunter{nth}hunter{nth}")]]);
        }
        if is_merged {
            bench.merge_all();
        }
        let holds = |bench: &Bench, word: &str| {
            let bytes = std::fs::read(bench.temp.path().join("index.db")).unwrap();
            bytes.windows(word.len()).any(|bytes| bytes == word.as_bytes())
        };
        let key = SourceKey::new("8");
        bench
            .writer
            .apply_changes(bench.view, &[ManifestChange::Remove { key, is_secret: true }], 0)
            .unwrap();
        bench.writer.scrub_traces().unwrap();
        assert!(!bench.writer.has_leftovers());
        assert!(!holds(&bench, "hunter7hunter7") && holds(&bench, "hunter8hunter8"), "{is_merged}");
        assert_eq!(bench.counts(&phrase("hunter7hunter7", false)), []);
        bench.chunks.remove(&8);
        assert_eq!(bench.counts(&phrase("w1", false)).len(), 19);
        bench.put(vec![[String::new(), String::new(), "w1 other".to_owned()]]);
        bench.merge_all();
        assert_eq!(bench.counts(&phrase("w1", false)).len(), 20);
        assert_eq!(bench.n_rows(UNNAMED), 0);
    }
}
