use memod_base::types::{SourceKey, WorktreeId};

use memod_index_db::test_rows::{embeddable_chunk, put_change, worktree_key};
use memod_index_db::{IndexWriter, ManifestChange, NewChunk, NewVector, VectorOwner};

use super::*;
use crate::vector_index::VectorIndex;

const DIMS: usize = 32;

/// An index whose vectors are found in both ways.
struct Bench {
    writer: IndexWriter,
    reader: IndexReader,
    memory: VectorIndex,
    view: WorktreeId,
    random: u64,
    temp: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index.db");
        let mut writer = IndexWriter::open(&path, "one").unwrap();
        let view = writer.find_or_add_worktree(&worktree_key()).unwrap();
        let reader = IndexReader::open(&path).unwrap();
        Self { writer, reader, memory: VectorIndex::new(DIMS), view, random: 0x9E37_79B9_7F4A_7C15, temp }
    }

    /// xorshift64 (Marsaglia, Xorshift RNGs, 2003).
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Few different numbers, so that many vectors are equally near.
    fn vector(&mut self) -> Vec<i8> {
        (0..DIMS).map(|_| (self.random() % 5) as i8 * 20 - 40).collect()
    }

    /// Puts a file of so many chunks, which have no vectors yet.
    fn put(&mut self, path: &str, n_chunks: usize) {
        let chunk = |ord: usize| NewChunk {
            bytes: (ord, ord + 1),
            ..embeddable_chunk(*blake3::hash(format!("{path} {ord}").as_bytes()).as_bytes())
        };
        let put =
            put_change(path, *blake3::hash(path.as_bytes()).as_bytes(), (0..n_chunks).map(chunk).collect());
        self.writer.apply_changes(self.view, &[put], 0).unwrap();
    }

    /// Gives each waiting chunk a vector.
    fn embed(&mut self) {
        let waiting = self.reader.chunks_to_embed(ChunkId(0), 100_000).unwrap();
        let of = |chunk: memod_index_db::PendingChunk| VectorOwner::Chunk(chunk.id, chunk.text_hash);
        let vectors: Vec<NewVector> = waiting
            .into_iter()
            .map(|chunk| NewVector { owner: of(chunk), vec: Some(self.vector()) })
            .collect();
        self.writer.add_vectors(&vectors).unwrap();
        self.copy();
    }

    fn remove(&mut self, path: &str, is_secret: bool) {
        let remove = ManifestChange::Remove { key: SourceKey::new(path), is_secret };
        self.writer.apply_changes(self.view, &[remove], 0).unwrap();
        self.writer.collect_garbage(1_000, 0).unwrap();
        self.copy();
    }

    /// As the daemon keeps its copy in memory.
    fn copy(&mut self) {
        self.writer.take_added_vectors().iter().for_each(|(id, vector)| self.memory.add_vector(*id, vector));
        let ids: IdSet = self.reader.ids_with_vector(usize::MAX >> 1).unwrap().into_iter().collect();
        self.memory.retain(|id| ids.contains(id));
    }

    fn fill(&mut self) {
        self.writer.prepare_vector_table(DIMS).unwrap();
        while !self.reader.is_vector_table_complete().unwrap() {
            self.writer.fill_vector_table(700).unwrap();
        }
    }

    /// Compares both with each other and with the definition, for several filters and numbers.
    fn check(&mut self, what: &str) {
        let mut all = Vec::new();
        self.reader.each_vector(|id, vector| all.push((id, vector.to_vec()))).unwrap();
        all.sort_unstable();
        assert_eq!(self.memory.len(), all.len(), "{what}");
        let ids: Vec<ChunkId> = all.iter().map(|(id, _)| *id).collect();
        let each = |nth: usize| Some(ids.iter().copied().step_by(nth).collect::<IdSet>());
        let few_files = ids.iter().copied().skip(ids.len() / 3).take(ids.len() / 10).collect();
        let filters =
            [None, each(1), each(3), each(100), each(1_000), Some(few_files), Some(IdSet::default())];
        for query in [self.vector(), self.vector(), vec![0; DIMS]] {
            for (nth, among) in filters.iter().enumerate() {
                let mut expected: Vec<(i32, ChunkId)> = all
                    .iter()
                    .filter(|(id, _)| among.as_ref().is_none_or(|among| among.contains(*id)))
                    .map(|(id, vector)| {
                        let products = query.iter().zip(vector);
                        let dot = products.map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed()));
                        (-dot.sum::<i32>(), *id)
                    })
                    .collect();
                expected.sort_unstable();
                // A cosine is at most 1, though rounding makes some vectors longer.
                expected.iter_mut().for_each(|(negative, _)| *negative = (*negative).max(-16_129));
                for k in [1, 10, 400, 5_000] {
                    let ways: [&dyn NearestVectors; 2] = [&self.memory, &StoredVectors(&self.reader)];
                    for (way, nearest) in ways.iter().enumerate() {
                        let top = nearest.find_nearest(&query, k, among.as_ref()).unwrap();
                        let top: Vec<(i32, ChunkId)> = top
                            .iter()
                            .map(|(id, cosine)| ((-cosine * 16_129.0).round() as i32, *id))
                            .collect();
                        let expected = &expected[..k.min(expected.len())];
                        assert!(top == expected, "{what}, way {way}, filter {nth}, k {k}");
                    }
                }
            }
        }
    }
}

#[test]
fn both_ways_give_the_same_answers() {
    let mut bench = Bench::new();
    bench.put("a", 1_500);
    bench.put("waiting", 10);
    bench.embed();
    bench.put("b", 1_500);
    bench.put("c", 1_500);
    bench.embed();
    bench.fill();
    bench.check("filled");
    bench.put("d", 3);
    bench.embed();
    bench.check("added");
    bench.remove("b", false);
    bench.check("some are deleted: a block is empty, two are not");
    bench.put("e", 2_000);
    bench.embed();
    bench.check("added after that");
    bench.remove("c", true);
    bench.writer.scrub_traces().unwrap();
    bench.check("some are purged, and the database is rebuilt");
    bench.put("f", 100);
    bench.embed();
    bench.check("added to the rebuilt database");
    bench.writer.prepare_vector_table(DIMS).unwrap();
    assert!(bench.reader.is_vector_table_complete().unwrap(), "it is kept");
    bench.remove("a", false);
    bench.remove("e", false);
    bench.check("few are left of each block");
    bench.writer.prepare_vector_table(DIMS).unwrap();
    assert!(!bench.reader.is_vector_table_complete().unwrap(), "more than half of the slots were empty");
    bench.fill();
    bench.check("without the empty slots");
}

#[test]
fn what_changes_while_the_table_is_filled_is_in_it() {
    let mut bench = Bench::new();
    bench.put("a", 1_000);
    bench.embed();
    bench.put("waiting", 1_000);
    bench.put("b", 1_000);
    bench.put("c", 1_000);
    bench.writer.prepare_vector_table(DIMS).unwrap();
    bench.writer.fill_vector_table(2_500).unwrap();
    assert!(!bench.reader.is_vector_table_complete().unwrap());
    bench.embed(); // on both sides of where the filling has come
    bench.remove("a", false);
    bench.remove("c", false);
    bench.put("d", 50);
    bench.embed();
    bench.fill();
    bench.check("filled");
}

#[test]
fn another_model_has_a_table_of_its_own() {
    let mut bench = Bench::new();
    bench.put("a", 2_000);
    bench.embed();
    bench.fill();
    bench.writer = IndexWriter::open(&bench.temp.path().join("index.db"), "two").unwrap();
    bench.memory = VectorIndex::new(DIMS);
    assert!(
        !bench.reader.is_vector_table_complete().unwrap(),
        "its vectors are not compared with those of the other"
    );
    bench.embed();
    bench.fill();
    bench.check("another model");
    bench.writer.clear_index().unwrap();
    bench.copy();
    assert!(!bench.reader.is_vector_table_complete().unwrap());
    bench.put("b", 10);
    bench.embed();
    bench.fill();
    bench.check("emptied and begun anew");
}

#[test]
fn nothing_is_left_of_a_purged_vector() {
    let mut bench = Bench::new();
    bench.put("a", 1_100);
    bench.embed();
    bench.put("secret", 1);
    let chunk = bench.reader.chunks_to_embed(ChunkId(0), 1).unwrap().remove(0);
    let vector: Vec<i8> = (0..DIMS).map(|place| place as i8 * 3 - 17).collect();
    let of = VectorOwner::Chunk(chunk.id, chunk.text_hash);
    bench.writer.add_vectors(&[NewVector { owner: of, vec: Some(vector.clone()) }]).unwrap();
    bench.fill();
    let bytes: Vec<u8> = vector.iter().map(|value| value.cast_unsigned()).collect();
    let n_copies = |bench: &Bench| -> usize {
        let files = std::fs::read_dir(bench.temp.path()).unwrap();
        let texts = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
        texts.map(|text| text.windows(DIMS).filter(|window| *window == bytes).count()).sum()
    };
    assert!(n_copies(&bench) >= 2, "else this shows nothing: {}", n_copies(&bench));
    bench.remove("secret", true);
    bench.writer.scrub_traces().unwrap();
    assert!(!bench.writer.has_leftovers());
    assert_eq!(n_copies(&bench), 0);
    bench.check("after that");
}
