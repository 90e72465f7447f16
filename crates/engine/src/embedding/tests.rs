use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};

use memod_base::types::WorktreeId;
use memod_embed::EmbedError;
use memod_index_db::test_rows::{own_chunk, put_change, worktree_key};
use memod_index_db::{IndexWriter, NewChunk};

use super::*;

/// Panics over some texts.
#[derive(Default)]
struct Fragile {
    panics_over: &'static str,
    n_texts: AtomicUsize,
}

impl Embedder for Fragile {
    fn id(&self) -> &str {
        "fragile"
    }

    fn dims(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        self.n_texts.fetch_add(texts.len(), Ordering::SeqCst);
        assert!(!texts.iter().any(|text| text.contains(self.panics_over)), "a weak spot");
        Ok(texts.iter().map(|_| Some(vec![1.0, 0.0])).collect())
    }
}

/// An index that is embedded without a daemon.
struct Bench {
    writer: RefCell<IndexWriter>,
    reader: IndexReader,
    view: WorktreeId,
    temp: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index.db");
        let mut writer = IndexWriter::open(&path, "one").unwrap();
        let view = writer.find_or_add_worktree(&worktree_key()).unwrap();
        Self { writer: RefCell::new(writer), reader: IndexReader::open(&path).unwrap(), view, temp }
    }

    /// As a daemon that starts again.
    fn reopen(&self, model_id: &str) {
        self.writer.replace(IndexWriter::open(&self.temp.path().join("index.db"), model_id).unwrap());
    }

    /// Puts a file whose content is one chunk.
    fn put(&self, path: &str, text: &str) {
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        let put = put_change(path, hash, vec![NewChunk { lines: (3, 4), ..own_chunk(text) }]);
        self.writer.borrow_mut().apply_changes(self.view, &[put], 0).unwrap();
    }

    /// Embeds what waits; returns how many texts the model saw.
    fn embed(&self, panics_over: &'static str) -> anyhow::Result<usize> {
        let embedder = Fragile { panics_over, ..Fragile::default() };
        let keep = |found| {
            let mut writer = self.writer.borrow_mut();
            match found {
                EmbeddingResult::Vectors(vectors) => writer.add_vectors(&vectors)?,
                EmbeddingResult::Failed(of) => writer.mark_embed_failed(of)?,
            }
            Ok(())
        };
        let (reader, vectors_of) = (&self.reader, TargetModel::Active);
        let is_cancelled = &mut || false;
        EmbeddingRound {
            reader,
            embedder: &embedder,
            target_model: vectors_of,
            max_file_bytes: 0,
            is_cancelled,
            store_result: &keep,
        }
        .run()?;
        Ok(embedder.n_texts.into_inner())
    }

    /// How many chunks wait, and what the model fails on.
    fn state(&self) -> (u64, Vec<String>) {
        let waiting = self.reader.count_pending_embeddings(self.view, 99).unwrap();
        (waiting, self.reader.list_embed_failed(self.view, 9).unwrap())
    }

    fn n_vectors(&self) -> usize {
        let n_vectors = Cell::new(0);
        let count = |_, vector: &[u8]| n_vectors.set(n_vectors.get() + usize::from(!vector.is_empty()));
        self.reader.each_vector(count).unwrap();
        n_vectors.get()
    }
}

#[test]
fn a_text_that_the_model_fails_on_is_passed_over_and_named() {
    let bench = Bench::new();
    for number in 0..20 {
        bench.put(&format!("f{number:02}"), &format!("good {number}"));
    }
    bench.put("bad", "poison");
    bench.embed("poison").unwrap();
    let passed_over = (0, vec!["bad:3-4".to_owned()]);
    assert_eq!((bench.state(), bench.n_vectors()), (passed_over.clone(), 20));
    assert_eq!(bench.embed("poison").unwrap(), 0, "it is not tried in each round");
    bench.reopen("one");
    bench.put("copy", "poison");
    assert_eq!(bench.embed("poison").unwrap(), 1, "but the path of the copy: nor by the next daemon");
    assert_eq!(bench.state(), (0, vec!["bad:3-4".to_owned(), "copy:3-4".to_owned()]));
    bench.put("copy", "harmless");
    bench.embed("poison").unwrap();
    assert_eq!((bench.state(), bench.n_vectors()), (passed_over, 21), "once it is harmless");
    bench.reopen("two");
    bench.embed("other").unwrap();
    assert_eq!((bench.state(), bench.n_vectors()), ((0, Vec::new()), 22), "another model tries again");
}

#[test]
fn a_path_that_the_model_fails_on_is_passed_over_and_named() {
    let bench = Bench::new();
    bench.put("poison.md", "good");
    bench.put("good.md", "better");
    bench.embed("poison").unwrap();
    assert_eq!((bench.state(), bench.n_vectors()), ((0, vec!["poison.md".to_owned()]), 2));
    assert_eq!(bench.embed("poison").unwrap(), 0);
}

#[test]
fn no_text_is_blamed_for_a_model_that_fails_on_all() {
    let bench = Bench::new();
    bench.put("a", "one");
    bench.put("b", "two");
    let error = bench.embed("").unwrap_err().to_string();
    assert_eq!(error, "panicked: a weak spot");
    assert_eq!(bench.state(), (2, Vec::new()));
    bench.embed("poison").unwrap();
    assert_eq!((bench.state(), bench.n_vectors()), ((0, Vec::new()), 2));
}
