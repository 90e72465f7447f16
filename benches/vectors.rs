//! How long does it take to find the nearest vectors, in memory and in the table of sqlite-vec?
//!
//! `cargo bench --bench vectors -- DIR N...`: for each N makes an index of N random vectors in DIR, unless it is there, and
//! prints a line for each way and filter: p50 and p99 of 100 queries, recall of the 100 nearest, and the most memory that
//! was resident. The last lines are of sqlite-vec's own KNN, over bits and over int8.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]
#![allow(clippy::unwrap_used, reason = "a bench stops at the first error")]

use std::path::Path;
use std::time::Instant;

use memod_base::types::{ChunkId, ChunkKind, SourceKey, Stat, WordPieces};
use memod_embed::{BUILTIN_DIMS, dot_i8, normalize, quantize};
use memod_index_db::{
    IndexReader, IndexWriter, ManifestChange, NewBlob, NewChunk, NewVector, VectorOwner, WorktreeKey,
};
use memod_vectors::stored_vectors::StoredVectors;
use memod_vectors::vector_index::{IdSet, NearestVectors, VectorIndex};
use rusqlite::{Connection, params};

const STAT: Stat = Stat { size: 1, mtime_ns: 1, ctime_ns: 1, inode: 1, dev: 1, mode: 0o100_644 };
/// Wanted of each query: the number of candidates of a search for ten hits.
const K: usize = 100;
const N_QUERIES: usize = 100;
const N_TOPICS: usize = 2_000;
const CHUNKS_A_FILE: usize = 1_000;

/// Vectors around topics, as texts are.
struct Vectors {
    topics: Vec<Vec<f32>>,
    random: u64,
}

impl Vectors {
    fn new() -> Self {
        let mut vectors = Self { topics: Vec::new(), random: 0x9E37_79B9_7F4A_7C15 };
        vectors.topics = (0..N_TOPICS).map(|_| vectors.point()).collect();
        vectors
    }

    /// xorshift64 (Marsaglia, Xorshift RNGs, 2003).
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// About normal: the sum of six uniform numbers.
    fn point(&mut self) -> Vec<f32> {
        let mut uniform = || (self.random() >> 40) as f32 / (1_u64 << 24) as f32;
        (0..BUILTIN_DIMS).map(|_| (0..6).map(|_| uniform()).sum::<f32>() - 3.0).collect()
    }

    fn next(&mut self) -> Vec<i8> {
        let topic = self.random() as usize % N_TOPICS;
        let mut point = self.point();
        point.iter_mut().zip(&self.topics[topic]).for_each(|(value, of_topic)| *value += 0.7 * of_topic);
        quantize(&normalize(point).expect("it is not zero"))
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let (dir, sizes) = args.split_first().expect("usage: cargo bench --bench vectors -- DIR N...");
    for size in sizes {
        let n = size.parse().unwrap();
        measure(&Path::new(dir).join(format!("{n}.db")), n);
    }
}

fn measure(path: &Path, n: usize) {
    let mut vectors = Vectors::new();
    let queries: Vec<Vec<i8>> = (0..N_QUERIES).map(|_| vectors.next()).collect();
    if !path.exists() {
        make(path, n, &mut vectors);
    }
    let reader = IndexReader::open(path).unwrap();
    let ids = reader.ids_with_vector(n).unwrap();
    let share = |nth: usize| ids.iter().copied().step_by(nth).collect::<IdSet>();
    let filters = [("100 %", None), ("1 %", Some(share(100))), ("0.1 %", Some(share(1_000)))];
    let mut exact = Vec::new();
    for way in ["memory", "sqlite-vec"] {
        std::fs::write("/proc/self/clear_refs", "5").unwrap(); // proc_pid_clear_refs(5): resets VmHWM
        let mut memory = VectorIndex::new(BUILTIN_DIMS);
        if way == "memory" {
            memory.reserve(n);
            let as_i8 = |bytes: &[u8]| bytes.iter().map(|byte| byte.cast_signed()).collect::<Vec<i8>>();
            reader.each_vector(|id, bytes| memory.add_vector(id, &as_i8(bytes))).unwrap();
        }
        let stored = StoredVectors(&reader);
        let nearest: &dyn NearestVectors = if way == "memory" { &memory } else { &stored };
        for (nth, (name, among)) in filters.iter().enumerate() {
            let name = format!("{n} {way} {name}");
            let found = timed(&name, &queries, |query| {
                let top = nearest.find_nearest(query, K, among.as_ref()).unwrap();
                top.into_iter().map(|(id, _)| id).collect()
            });
            if way == "memory" {
                exact.push(found);
            } else {
                println!("{name}: recall {:.4}", recall(&found, &exact[nth]));
            }
        }
        println!("{n} {way}: {}", peak());
    }
    sqlite_vec_knn(path, n, &queries, &exact[0]);
}

/// Writes an index as the daemon does.
fn make(path: &Path, n: usize, vectors: &mut Vectors) {
    let mut writer = IndexWriter::open(path, "bench").unwrap();
    let key = WorktreeKey { git_dir: "/bench/.git".to_owned(), inode: 1, root: "/bench".to_owned() };
    let view = writer.find_or_add_worktree(&key).unwrap();
    let reader = IndexReader::open(path).unwrap();
    for file in 0..n / CHUNKS_A_FILE {
        let name = format!("{file}.md");
        let chunk = |ord: usize| NewChunk {
            pieces: WordPieces::default(),
            kind: ChunkKind::Text,
            bytes: (ord, ord + 1),
            lines: (1, 1),
            symbol: None,
            title: None,
            text: None,
            text_hash: *blake3::hash(format!("{file} {ord}").as_bytes()).as_bytes(),
            gets_vector: true,
            words: Default::default(),
        };
        let blob =
            NewBlob { kind: "text", chunks: (0..CHUNKS_A_FILE).map(chunk).collect(), ..NewBlob::default() };
        let put = ManifestChange::Put {
            key: SourceKey::new(name.as_str()),
            stat: STAT,
            racy: false,
            hash: *blake3::hash(name.as_bytes()).as_bytes(),
            lang: "",
            path_part: String::new(),
            blob: Some(Box::new(blob)),
        };
        writer.apply_changes(view, &[put], 0).unwrap();
        let waiting = reader.chunks_to_embed(ChunkId(0), CHUNKS_A_FILE).unwrap();
        let new = waiting.into_iter().map(|chunk| {
            let of = VectorOwner::Chunk(chunk.id, chunk.text_hash);
            NewVector { owner: of, vec: Some(vectors.next()) }
        });
        writer.add_vectors(&new.collect::<Vec<_>>()).unwrap();
        drop(writer.take_added_vectors());
    }
    let start = Instant::now();
    writer.prepare_vector_table(BUILTIN_DIMS).unwrap();
    while !reader.is_vector_table_complete().unwrap() {
        writer.fill_vector_table(10_000).unwrap();
    }
    println!("{n}: the table is filled after {:.2} s", start.elapsed().as_secs_f64());
}

fn timed(name: &str, queries: &[Vec<i8>], find: impl Fn(&[i8]) -> Vec<ChunkId>) -> Vec<Vec<ChunkId>> {
    let (mut times, mut found) = (Vec::new(), Vec::new());
    for query in queries {
        let start = Instant::now();
        found.push(find(query));
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let last = times.len() - 1;
    println!("{name}: p50 {:.2} ms, p99 {:.2} ms", times[last / 2], times[last * 99 / 100]);
    found
}

fn recall(found: &[Vec<ChunkId>], exact: &[Vec<ChunkId>]) -> f64 {
    let n_found: usize = found
        .iter()
        .zip(exact)
        .map(|(found, exact)| exact.iter().filter(|id| found.contains(id)).count())
        .sum();
    n_found as f64 / exact.iter().map(Vec::len).sum::<usize>() as f64
}

/// Measures sqlite-vec's own KNN on the same vectors: over int8, and over bits with the best of them scored exactly.
fn sqlite_vec_knn(path: &Path, n: usize, queries: &[Vec<i8>], exact: &[Vec<ChunkId>]) {
    let conn = Connection::open(path.with_extension("bits.db")).unwrap();
    conn.execute("ATTACH ?1 AS i", [path.to_str().unwrap()]).unwrap();
    conn.execute_batch(
        "BEGIN; DROP TABLE IF EXISTS bits; CREATE VIRTUAL TABLE bits USING vec0(bits bit[256]);
         INSERT INTO bits(rowid, bits)
             SELECT c.id, vec_quantize_binary(vec_int8(e.vec)) FROM i.chunk c JOIN i.embedding e USING (text_hash);
         COMMIT;",
    )
    .unwrap();
    let as_bytes = |query: &[i8]| query.iter().map(|value| value.cast_unsigned()).collect::<Vec<u8>>();
    let mut int8 =
        conn.prepare("SELECT rowid FROM i.chunk_vec WHERE vec MATCH vec_int8(?1) AND k = ?2").unwrap();
    let ids = |row: &rusqlite::Row<'_>| row.get(0).map(ChunkId);
    let some = &queries[..10];
    let cell = std::cell::RefCell::new(&mut int8);
    let found = timed(&format!("{n} KNN of sqlite-vec, int8"), some, |query| {
        let mut statement = cell.borrow_mut();
        statement.query_map(params![as_bytes(query), K], ids).unwrap().map(Result::unwrap).collect()
    });
    println!("{n} KNN of sqlite-vec, int8: recall {:.4}", recall(&found, &exact[..some.len()]));
    for n_coarse in [4 * K, 10 * K, 40 * K] {
        let sql = "SELECT b.rowid, e.vec FROM (SELECT rowid FROM bits
                       WHERE bits MATCH vec_quantize_binary(vec_int8(?1)) AND k = ?2) b
                   CROSS JOIN i.chunk c ON c.id = b.rowid CROSS JOIN i.embedding e ON e.text_hash = c.text_hash";
        let statement = std::cell::RefCell::new(conn.prepare(sql).unwrap());
        let name = format!("{n} KNN of sqlite-vec, {n_coarse} by bits");
        let found = timed(&name, some, |query| {
            let mut statement = statement.borrow_mut();
            let scored = statement.query_map(params![as_bytes(query), n_coarse], |row| {
                let vector: Vec<i8> =
                    row.get_ref(1)?.as_blob()?.iter().map(|byte| byte.cast_signed()).collect();
                Ok((-dot_i8(query, &vector), ids(row)?))
            });
            let mut scored: Vec<(i32, ChunkId)> = scored.unwrap().map(Result::unwrap).collect();
            scored.sort_unstable();
            scored.into_iter().take(K).map(|(_, id)| id).collect()
        });
        println!("{name}: recall {:.4}", recall(&found, &exact[..some.len()]));
    }
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}
