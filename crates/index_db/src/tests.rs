use memod_base::types::{ChunkId, ReadRefusal, SourceKey, WorktreeId};

use super::test_rows::{STAT, embeddable_chunk, put_change, worktree_key};
use super::*;
use rusqlite::Connection;

/// An index that is written and read without a daemon.
struct Bench {
    writer: IndexWriter,
    reader: IndexReader,
    temp: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index.db");
        let writer = IndexWriter::open(&path, "model").unwrap();
        Self { writer, reader: IndexReader::open(&path).unwrap(), temp }
    }

    fn view(&mut self) -> WorktreeId {
        self.writer.find_or_add_worktree(&worktree_key()).unwrap()
    }

    /// Puts a file whose content is one chunk, and its vector; both follow from `text`.
    fn put(&mut self, view: WorktreeId, path: &str, text: u8, now_s: i64) {
        let put = put_change(path, [text; 32], vec![embeddable_chunk([text; 32])]);
        self.writer.apply_changes(view, &[put], now_s).unwrap();
        let waiting = self.reader.chunks_to_embed(ChunkId(0), 9).unwrap();
        let vectors = waiting.into_iter().map(|chunk| NewVector {
            owner: VectorOwner::Chunk(chunk.id, chunk.text_hash),
            vec: Some(vec![1; 4]),
        });
        self.writer.add_vectors(&vectors.collect::<Vec<_>>()).unwrap();
    }
}

#[test]
fn names_are_listed_one_level_at_a_time() {
    let mut bench = Bench::new();
    let view = bench.view();
    for path in ["README.md", "src", "src-old/x", "src.rs", "sub/a/b", "sub/a/c", "sub/a-b", "sub0", "zoé/é"]
    {
        bench.put(view, path, 1, 0);
    }
    let refuse = ManifestChange::Refuse {
        key: SourceKey::new("sub/.env"),
        stat: STAT,
        refusal: ReadRefusal::SecretName,
    };
    bench.writer.apply_changes(view, &[refuse], 0).unwrap();
    let check = |dir: &str, begins: &str, most: usize, expected: &[&str]| {
        assert_eq!(
            bench.reader.list_names_in(view, dir, begins, most).unwrap(),
            expected,
            "{dir:?} {begins:?}"
        );
    };
    check("", "", 9, &["README.md", "src", "src-old/", "src.rs", "sub/", "sub0", "zoé/"]);
    check("", "s", 3, &["src", "src-old/", "src.rs"]);
    check("", "su", 9, &["sub/", "sub0"]);
    check("sub", "", 9, &["a-b", "a/"]);
    check("sub/a", "c", 9, &["c"]);
    check("zoé", "", 9, &["é"]);
    check("su", "", 9, &[]);
    let mut written = put_change("a.rs", [2; 32], vec![embeddable_chunk([2; 32])]);
    if let ManifestChange::Put { lang, .. } = &mut written {
        *lang = "rust";
    }
    bench.writer.apply_changes(view, &[written], 0).unwrap();
    let languages = |prefix: &str| bench.reader.list_languages(prefix).unwrap();
    assert_eq!(
        (languages("ru"), languages(""), languages("x")),
        (vec!["rust".into()], vec!["rust".into()], vec![])
    );
}

#[test]
fn a_vector_leaves_with_the_last_chunk_of_its_text() {
    let mut bench = Bench::new();
    let view = bench.view();
    bench.put(view, "a", 1, 0);
    bench.put(view, "b", 2, 0);
    bench.put(view, "a", 3, 100); // its first content waits to be collected
    assert_eq!(bench.reader.count_rows().unwrap().embeddings, 3);
    assert_eq!(bench.writer.collect_garbage(100, 100).unwrap(), 0);
    assert_eq!(bench.reader.count_rows().unwrap().embeddings, 3, "the way back costs nothing");
    assert_eq!(bench.writer.collect_garbage(201, 100).unwrap(), 1);
    let counts = bench.reader.count_rows().unwrap();
    assert_eq!((counts.blobs, counts.chunks, counts.embeddings), (2, 2, 2));
}

#[test]
fn what_a_worktree_held_is_kept_from_when_it_goes() {
    let keep_s = 100;
    let forget: [fn(&mut Bench, WorktreeId); 3] = [
        |bench, view| bench.writer.forget_worktree(view).unwrap(),
        |bench, _| bench.writer.forget_worktrees_where(|_, _| true).unwrap(),
        |bench, _| {
            let key = WorktreeKey { inode: 2, ..worktree_key() };
            bench.writer.find_or_add_worktree(&key).unwrap();
        },
    ];
    for forget in forget {
        let mut bench = Bench::new();
        let view = bench.view();
        bench.put(view, "a", 1, 0); // long ago
        let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        forget(&mut bench, view);
        let gone_s = before.as_secs().cast_signed();
        assert_eq!(bench.writer.collect_garbage(gone_s + keep_s, keep_s).unwrap(), 0);
        assert_eq!(bench.writer.collect_garbage(gone_s + keep_s + 3_600, keep_s).unwrap(), 1);
    }
}

fn refuse(path: &str) -> ManifestChange {
    ManifestChange::Refuse { key: SourceKey::new(path), stat: STAT, refusal: ReadRefusal::SecretName }
}

fn remove(path: &str) -> ManifestChange {
    ManifestChange::Remove { key: SourceKey::new(path), is_secret: false }
}

#[test]
fn a_secret_stays_while_another_path_holds_it_and_goes_with_the_last() {
    let mut bench = Bench::new();
    let view = bench.view();
    for (path, text) in [("a", 1), ("b", 1), ("c", 2)] {
        bench.put(view, path, text, 0);
    }
    bench.writer.apply_changes(view, &[refuse("a")], 1).unwrap();
    assert_eq!(bench.reader.count_rows().unwrap().blobs, 2, "`b` may be shown");
    assert!(!bench.writer.has_unscrubbed_pages());
    bench.writer.apply_changes(view, &[remove("b")], 2).unwrap();
    let counts = bench.reader.count_rows().unwrap();
    assert_eq!((counts.blobs, counts.chunks, counts.embeddings), (1, 1, 1));
    assert!(bench.writer.has_unscrubbed_pages());
    assert_eq!(bench.reader.check_integrity().unwrap(), [""; 0]);
}

#[test]
fn a_vector_that_comes_after_the_purge_is_not_kept() {
    let mut bench = Bench::new();
    let view = bench.view();
    bench.put(view, "a", 1, 0);
    let late = NewVector { owner: VectorOwner::Chunk(ChunkId(1), [1; 32]), vec: Some(vec![1; 4]) };
    bench.writer.apply_changes(view, &[refuse("a")], 1).unwrap();
    bench.writer.add_vectors(&[late]).unwrap();
    assert_eq!(bench.reader.count_rows().unwrap().embeddings, 0);
}

#[test]
fn the_log_is_cut_off_once_no_reader_needs_it() {
    let mut bench = Bench::new();
    let view = bench.view();
    bench.put(view, "a", 1, 0);
    bench.writer.apply_changes(view, &[refuse("a")], 1).unwrap();
    let Bench { writer, reader, temp } = &mut bench;
    let scrubbed = reader.read_snapshot(|reader| {
        reader.count_rows()?;
        writer.scrub_traces()
    });
    scrubbed.unwrap();
    assert!(writer.has_leftovers() && !writer.has_unscrubbed_pages());
    writer.scrub_traces().unwrap();
    assert!(!writer.has_leftovers());
    assert_eq!(std::fs::metadata(temp.path().join("index.db-wal")).unwrap().len(), 0);
}

#[test]
fn an_index_made_before_credentials_were_counted_is_begun_anew() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("index.db");
    let mut old = Connection::open(&path).unwrap();
    migrations::migrate_schema(&mut old, &path, &schema::INDEX_MIGRATIONS[..4]).unwrap();
    old.execute_batch(
        "INSERT INTO blob(id, hash, lang, size, kind, extractor_version, last_ref) VALUES(1, x'01', '', 1, 'text', 2, 0);
         INSERT INTO chunk(blob_id, ord, kind, b0, b1, l0, l1, title, text_hash, vec_state)
             VALUES(1, 0, 'text', 0, 1, 1, 1, 'hunter2hunter2', x'02', 2);
         INSERT INTO chunk_fts(rowid, symbol, title, body) VALUES(1, '', '', 'hunter2hunter2');",
    )
    .unwrap();
    drop(old);
    let holds = || std::fs::read(&path).unwrap().windows(14).any(|bytes| bytes == b"hunter2hunter2");
    assert!(holds(), "else this shows nothing");
    let mut writer = IndexWriter::open(&path, "model").unwrap();
    writer.scrub_traces().unwrap();
    assert!(!writer.has_leftovers() && !holds());
    assert_eq!(IndexReader::open(&path).unwrap().count_rows().unwrap().blobs, 0);
}

#[test]
fn failed_and_aborted_parses_keep_their_reason_under_the_new_names() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("index.db");
    let mut old = Connection::open(&path).unwrap();
    migrations::migrate_schema(&mut old, &path, &schema::INDEX_MIGRATIONS[..5]).unwrap();
    old.execute_batch(
        "INSERT INTO blob(id, hash, lang, size, kind, extractor_version, last_ref) VALUES
             (1, x'01', '', 1, 'struck', 2, 0), (2, x'02', '', 1, 'killed', 2, 0), (3, x'03', '', 1, 'text', 2, 0);",
    )
    .unwrap();
    migrations::migrate_schema(&mut old, &path, &schema::INDEX_MIGRATIONS[..6]).unwrap();
    let mut rows = old.prepare("SELECT kind FROM blob ORDER BY id").unwrap();
    let kinds: Vec<String> = rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(kinds, ["parse-failed", "parse-aborted", "text"]);
}

#[test]
fn equal_contents_with_two_path_parts_are_two_contents() {
    let mut bench = Bench::new();
    let view = bench.view();
    let put = |path: &str, part: &str, title: &str| {
        let chunk = NewChunk { title: Some(title.to_owned()), ..embeddable_chunk([3; 32]) };
        let mut change = put_change(path, [3; 32], vec![chunk]);
        if let ManifestChange::Put { path_part, .. } = &mut change {
            *path_part = part.to_owned();
        }
        change
    };
    let changes = [put("A.vue", "A", "A"), put("B.vue", "B", "B"), put("x/A.vue", "A", "A")];
    bench.writer.apply_changes(view, &changes, 0).unwrap();
    let title = |path: &str| {
        let first = bench.reader.first_chunk(view, &SourceKey::new(path)).unwrap().unwrap();
        let found = bench.reader.chunk_location(first).unwrap().unwrap();
        (first, found.title.unwrap().to_string())
    };
    let [a, b, also_a] = ["A.vue", "B.vue", "x/A.vue"].map(title);
    assert_eq!((a.1.as_str(), b.1.as_str()), ("A", "B"));
    assert_eq!(a, also_a, "one content has two paths");
    let is_known = |part: &str| bench.reader.has_blob(&[3; 32], "", part, 1).unwrap();
    assert_eq!(["A", "B", "C", ""].map(is_known), [true, true, false, false]);
}

#[test]
fn an_index_made_before_paths_were_part_of_a_content_is_begun_again() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("index.db");
    let mut old = Connection::open(&path).unwrap();
    let n_old = schema::INDEX_MIGRATIONS.len() - 1;
    migrations::migrate_schema(&mut old, &path, &schema::INDEX_MIGRATIONS[..n_old]).unwrap();
    old.execute_batch(
        "INSERT INTO blob(id, hash, lang, size, kind, extractor_version, last_ref) VALUES(1, x'01', '', 1, 'text', 2, 0);
         INSERT INTO chunk(blob_id, ord, kind, b0, b1, l0, l1, title, text_hash, vec_state)
             VALUES(1, 0, 'text', 0, 1, 1, 1, 'a', x'02', 2);
         INSERT INTO embedding(text_hash, model_id, vec) VALUES(x'02', 'model', x'00');
         INSERT INTO view(id, git_dir, git_dir_inode, root, epoch, seq, complete) VALUES(1, '/r/.git', 1, '/r', 0, 4, 1);
         INSERT INTO entry(view_id, path, blob_id, mode, size, mtime_ns, ctime_ns, inode, dev, racy)
             VALUES(1, 'a', 1, 0, 1, 1, 1, 1, 1, 0);",
    )
    .unwrap();
    drop(old);
    drop(IndexWriter::open(&path, "model").unwrap());
    let reader = IndexReader::open(&path).unwrap();
    let rows = reader.count_rows().unwrap();
    assert_eq!((rows.blobs, rows.chunks, rows.embeddings), (0, 0, 1));
    let view = reader.find_worktree(memod_base::types::WorktreeId(1)).unwrap().unwrap();
    assert_eq!((view.seq, view.complete), (5, false));
}

#[test]
fn only_an_aborted_parse_is_tried_again() {
    let bench = Bench::new();
    let sql = "INSERT INTO blob(id, hash, lang, size, kind, extractor_version, last_ref) VALUES
             (1, x'01', '', 1, 'parse-failed', 2, 0), (2, x'02', '', 1, 'parse-aborted', 2, 0), (3, x'03', '', 1, 'text', 2, 0)";
    bench.writer.conn.execute(sql, []).unwrap();
    drop(IndexWriter::open(&bench.temp.path().join("index.db"), "model").unwrap());
    let mut rows = bench.reader.conn.prepare("SELECT extractor_version FROM blob ORDER BY id").unwrap();
    let versions: Vec<i64> = rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(versions, [2, 0, 2]);
}

/// What `.cargo/config.toml` asks of the build: no mutex around all page caches.
#[test]
fn threads_share_no_page_cache_lock() {
    let conn = rusqlite::Connection::open_in_memory().unwrap();
    let mut statement = conn.prepare("PRAGMA compile_options").unwrap();
    let options = statement.query_map([], |row| row.get(0)).unwrap();
    let options: Vec<String> = options.map(Result::unwrap).collect();
    assert!(options.iter().any(|option| option == "ENABLE_FTS5"), "{options:?}");
    assert!(!options.iter().any(|option| option == "ENABLE_MEMORY_MANAGEMENT"), "{options:?}");
}

#[test]
fn contents_that_are_extracted_again_are_counted() {
    let mut bench = Bench::new();
    let view = bench.view();
    bench.put(view, "a", 1, 0);
    let mut first = Vec::new();
    bench.reader.each_path(view, |path, chunk| first.push((path.to_owned(), chunk))).unwrap();
    assert_eq!((first.len(), bench.reader.n_extracted_again().unwrap()), (1, 0));
    let put = |extractor_version| ManifestChange::Put {
        key: SourceKey::new("b"),
        stat: STAT,
        racy: false,
        hash: [1; 32],
        lang: "",
        path_part: String::new(),
        blob: Some(Box::new(NewBlob { kind: "text", extractor_version, ..NewBlob::default() })),
    };
    bench.writer.apply_changes(view, &[put(1)], 0).unwrap();
    assert_eq!(bench.reader.n_extracted_again().unwrap(), 0, "it was known");
    bench.writer.apply_changes(view, &[put(2)], 0).unwrap();
    assert_eq!(bench.reader.n_extracted_again().unwrap(), 1);
    assert_eq!(bench.reader.chunk_location(first[0].1).unwrap(), None, "its chunks are gone");
    bench.reader.each_path(view, |path, _| panic!("{path} has no chunk")).unwrap();
}
