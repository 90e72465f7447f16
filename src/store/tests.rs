use super::*;
use crate::types::{Kind, SourceKey, Stat, ViewId};

const STAT: Stat = Stat { size: 1, mtime_ns: 1, ctime_ns: 1, inode: 1, dev: 1, mode: 0o100_644 };

/// An index that is written and read without a daemon.
struct Bench {
    writer: Writer,
    reader: Reader,
    _temp: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index.db");
        let writer = Writer::open(&path, "model").unwrap();
        Self { writer, reader: Reader::open(&path).unwrap(), _temp: temp }
    }

    fn view(&mut self) -> ViewId {
        let key = ViewKey { git_dir: "/r/.git".to_owned(), inode: 1, root: "/r".to_owned() };
        self.writer.view(&key).unwrap()
    }

    /// Puts a file whose content is one chunk, and its vector; both follow from `text`.
    fn put(&mut self, view: ViewId, path: &str, text: u8, now_s: i64) {
        let chunk = NewChunk {
            kind: Kind::Text,
            bytes: (0, 1),
            lines: (1, 1),
            symbol: None,
            title: None,
            text: None,
            text_hash: [text; 32],
            embeds: true,
            words: Default::default(),
        };
        let blob = NewBlob {
            size: 1,
            kind: "text",
            extractor_version: 1,
            chunks: vec![chunk],
            ..NewBlob::default()
        };
        let put = Change::Put {
            key: SourceKey::new(path),
            stat: STAT,
            racy: false,
            hash: [text; 32],
            lang: "",
            path_words: String::new(),
            blob: Some(Box::new(blob)),
        };
        self.writer.apply(view, &[put], now_s).unwrap();
        let waiting = self.reader.chunks_to_embed(crate::types::ChunkId(0), 9).unwrap();
        let vectors = waiting
            .into_iter()
            .map(|chunk| NewVector { of: Embedded::Chunk(chunk.id, chunk.text_hash), vec: Some(vec![1; 4]) });
        self.writer.add_vectors(&vectors.collect::<Vec<_>>()).unwrap();
    }
}

#[test]
fn a_vector_leaves_with_the_last_chunk_of_its_text() {
    let mut bench = Bench::new();
    let view = bench.view();
    bench.put(view, "a", 1, 0);
    bench.put(view, "b", 2, 0);
    bench.put(view, "a", 3, 100); // its first content waits to be collected
    assert_eq!(bench.reader.counts().unwrap().embeddings, 3);
    assert_eq!(bench.writer.collect_garbage(100, 100).unwrap(), 0);
    assert_eq!(bench.reader.counts().unwrap().embeddings, 3, "the way back costs nothing");
    assert_eq!(bench.writer.collect_garbage(201, 100).unwrap(), 1);
    let counts = bench.reader.counts().unwrap();
    assert_eq!((counts.blobs, counts.chunks, counts.embeddings), (2, 2, 2));
}

#[test]
fn a_bad_glob_is_shown_as_it_was_given() {
    for glob in ["[", "a/[b", "{a"] {
        let filter = Filter { paths: vec!["*.rs".to_owned(), glob.to_owned()], ..Filter::default() };
        let message = filter.check().unwrap_err().to_string();
        assert!(message.starts_with(&format!("{glob}: unclosed")), "{message}");
    }
}

#[test]
fn what_a_worktree_held_is_kept_from_when_it_goes() {
    let keep_s = 100;
    let forget: [fn(&mut Bench, ViewId); 3] = [
        |bench, view| bench.writer.forget_view(view).unwrap(),
        |bench, _| bench.writer.forget_views(|_, _| true).unwrap(),
        |bench, _| {
            let key = ViewKey { git_dir: "/r/.git".to_owned(), inode: 2, root: "/r".to_owned() };
            bench.writer.view(&key).unwrap();
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
