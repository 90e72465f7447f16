use memod_base::types::{ChunkId, WorktreeId};

use crate::reading::index_reader::IndexReader;
use crate::test_rows::{own_chunk, put_change, worktree_key};
use crate::writing::index_writer::IndexWriter;
use crate::writing::new_rows::{NewVector, VectorOwner};

struct Bench {
    writer: IndexWriter,
    reader: IndexReader,
    view: WorktreeId,
    temp: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index.db");
        let mut writer = IndexWriter::open(&path, "default").unwrap();
        let view = writer.find_or_add_worktree(&worktree_key()).unwrap();
        Self { reader: IndexReader::open(&path).unwrap(), writer, view, temp }
    }

    /// As a daemon that starts again, perhaps of another version.
    fn reopen(&mut self, default: &str) {
        self.writer = IndexWriter::open(&self.temp.path().join("index.db"), default).unwrap();
    }

    fn put(&mut self, path: &str) {
        let hash = *blake3::hash(path.as_bytes()).as_bytes();
        let put = put_change(path, hash, vec![own_chunk(path)]);
        self.writer.apply_changes(self.view, &[put], 0).unwrap();
    }

    /// Returns what waits for a vector of the active model: chunks, paths.
    fn waiting(&self) -> (usize, usize) {
        let chunks = self.reader.chunks_to_embed(ChunkId(0), 99).unwrap();
        (chunks.len(), self.reader.paths_to_embed(99).unwrap().len())
    }

    fn without(&self, model: &str) -> (usize, usize) {
        let chunks = self.reader.list_chunks_without_vector(model, ChunkId(0), 99).unwrap();
        (chunks.len(), self.reader.list_paths_without_vector(99).unwrap().len())
    }

    fn vectors(&self, waiting: Vec<VectorOwner>, value: Option<i8>) -> Vec<NewVector> {
        waiting.into_iter().map(|owner| NewVector { owner, vec: value.map(|value| vec![value, 0]) }).collect()
    }

    fn embed(&mut self, value: Option<i8>) {
        let chunks = self.reader.chunks_to_embed(ChunkId(0), 99).unwrap();
        let chunks = chunks.iter().map(|chunk| VectorOwner::Chunk(chunk.id, chunk.text_hash));
        let paths = self.reader.paths_to_embed(99).unwrap().into_iter().map(|(id, _)| VectorOwner::Path(id));
        let vectors = self.vectors(chunks.chain(paths).collect(), value);
        self.writer.add_vectors(&vectors).unwrap();
    }

    fn embed_next(&mut self, model: &str, value: i8) {
        let chunks = self.reader.list_chunks_without_vector(model, ChunkId(0), 99).unwrap();
        let chunks = chunks.iter().map(|chunk| VectorOwner::Chunk(chunk.id, chunk.text_hash));
        let paths = self
            .reader
            .list_paths_without_vector(99)
            .unwrap()
            .into_iter()
            .map(|(id, _)| VectorOwner::Path(id));
        let vectors = self.vectors(chunks.chain(paths).collect(), Some(value));
        self.writer.add_next_vectors(model, &vectors).unwrap();
    }

    /// Returns the first numbers of all vectors of chunks, then of the path.
    fn seen(&self, path: &str) -> (Vec<u8>, Option<i8>) {
        let mut seen = Vec::new();
        self.reader.each_vector(|_, vector| seen.push(vector[0])).unwrap();
        (seen, self.reader.path_vector(path).unwrap().map(|vector| vector[0]))
    }
}

#[test]
fn the_former_model_answers_until_the_switch() {
    let mut bench = Bench::new();
    bench.put("a");
    bench.embed(Some(1));
    bench.writer.set_next_model(Some("next")).unwrap();
    assert_eq!(bench.without("next"), (1, 1));
    bench.embed_next("next", 2);
    assert_eq!((bench.without("next"), bench.seen("a")), ((0, 0), (vec![1], Some(1))));
    bench.put("b");
    bench.embed(Some(1));
    assert_eq!((bench.without("next"), bench.seen("b")), ((1, 1), (vec![1, 1], Some(1))));
    bench.reopen("default"); // as after a kill
    assert_eq!(bench.seen("b"), (vec![1, 1], Some(1)));
    bench.embed_next("next", 2);
    bench.writer.switch_model("next", false).unwrap();
    assert_eq!((bench.waiting(), bench.seen("b")), ((0, 0), (vec![2, 2], Some(2))));
    assert_eq!(bench.reader.next_model().unwrap(), None);
    bench.put("c");
    bench.embed(Some(2));
    assert_eq!(bench.seen("c"), (vec![2, 2, 2], Some(2)));
}

#[test]
fn what_the_next_model_lacks_waits_for_it() {
    let mut bench = Bench::new();
    bench.put("a");
    bench.embed(Some(1));
    bench.writer.set_next_model(Some("next")).unwrap();
    bench.embed_next("next", 2);
    bench.put("b");
    bench.writer.switch_model("next", false).unwrap();
    assert_eq!((bench.waiting(), bench.seen("a")), ((1, 1), (vec![2], Some(2))));
}

#[test]
fn a_text_that_the_former_model_knew_no_word_of_is_tried() {
    let mut bench = Bench::new();
    bench.put("\u{6771}\u{4eac}");
    bench.embed(None);
    assert_eq!((bench.waiting(), bench.seen("\u{6771}\u{4eac}")), ((0, 0), (Vec::new(), None)));
    bench.writer.set_next_model(Some("next")).unwrap();
    bench.embed_next("next", 2);
    bench.writer.switch_model("next", false).unwrap();
    assert_eq!(bench.seen("\u{6771}\u{4eac}"), (vec![2], Some(2)));
}

#[test]
fn a_text_that_the_next_model_fails_on_is_named() {
    let mut bench = Bench::new();
    bench.put("a");
    bench.embed(Some(1));
    bench.writer.set_next_model(Some("next")).unwrap();
    let chunks = bench.reader.list_chunks_without_vector("next", ChunkId(0), 99).unwrap();
    let failed =
        NewVector { owner: VectorOwner::Chunk(chunks[0].id, chunks[0].text_hash), vec: Some(Vec::new()) };
    bench.writer.add_next_vectors("next", &[failed]).unwrap();
    bench.writer.switch_model("next", false).unwrap();
    assert_eq!(bench.reader.list_embed_failed(bench.view, 9).unwrap(), ["a:1-1"]);
}

#[test]
fn another_choice_discards_what_was_made() {
    let mut bench = Bench::new();
    bench.put("a");
    bench.embed(Some(1));
    for (planned, late) in [(Some("next"), "other"), (Some("other"), "next"), (None, "other")] {
        bench.writer.set_next_model(planned).unwrap();
        bench.embed_next(late, 3);
        assert_eq!(bench.without(late).0, 1, "it is not the one to follow: {planned:?}");
        assert_eq!(bench.reader.count_embedded_chunks("default").unwrap(), (1, 1));
    }
    bench.writer.set_next_model(Some("next")).unwrap();
    bench.embed_next("next", 2);
    bench.writer.set_next_model(None).unwrap();
    assert_eq!((bench.without("next"), bench.seen("a")), ((1, 1), (vec![1], Some(1))));
}

#[test]
fn a_chosen_model_outlives_a_new_default_and_the_default_does_not() {
    let mut bench = Bench::new();
    bench.put("a");
    bench.embed(Some(1));
    bench.writer.set_next_model(Some("next")).unwrap();
    bench.embed_next("next", 2);
    bench.writer.switch_model("next", false).unwrap();
    bench.reopen("default-2");
    assert_eq!((bench.writer.model_id(), bench.waiting()), ("next", (0, 0)));
    bench.writer.set_next_model(Some("default-2")).unwrap();
    bench.embed_next("default-2", 1);
    bench.writer.switch_model("default-2", true).unwrap();
    bench.reopen("default-3");
    assert_eq!((bench.writer.model_id(), bench.waiting()), ("default-3", (1, 1)));
}
