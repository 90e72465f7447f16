//! Does the index, after any changes, equal one made anew?

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::live::{Live, until, word};
use crate::random::Random;
use crate::system;

const BATCHES: usize = 5;
const OPERATIONS: usize = 16;
const N_WORDS: usize = 12;
const DIRS: &[&str] = &["", "a/", "a/b/", "c/d/e/", "out/"];
const NAMES: &[&str] =
    &["f.md", "g.rs", "h.txt", "k.log", "l", ".env", "b", "d", "m.rst", "n.adoc", "o.ipynb"];
const RULES: &[&str] = &["*.log", "/a/", "!k.log", "out/", "*.txt", "!/a/b/", "b", "**/e/*"];

/// One run; what it did is in `log`, for the message of a failure.
struct Run {
    live: Live,
    random: Random,
    /// Nobody answers.
    alone: bool,
    log: Vec<String>,
}

impl Run {
    fn new(seed: u64) -> Self {
        Self { live: Live::new(), random: Random(seed), alone: false, log: Vec::new() }
    }

    fn path(&mut self) -> String {
        format!("{}{}", self.random.pick(DIRS), self.random.pick(NAMES))
    }

    /// Returns a path that is there, or may be.
    fn existing(&mut self) -> String {
        let root = self.live.root();
        let mut paths = Vec::new();
        below(&root, &mut paths);
        if paths.is_empty() { self.path() } else { self.random.pick(&paths) }
    }

    fn text(&mut self) -> String {
        let words: Vec<_> = (0..3).map(|_| word(self.random.below(N_WORDS))).collect();
        match self.random.below(9) {
            0 => format!("{}\0", words[0]),
            1 => String::new(),
            2..5 => format!("fn {}() {{ {}() }}\n\nstruct {};\n", words[0], words[1], words[2]),
            5 => format!(
                "{{\"cells\": [{{\"cell_type\": \"markdown\", \"source\": [\n\"# {}\"]}}]}}\n",
                words[0]
            ),
            _ => format!("# {}\n\n{} and {}\n", words[0], words[1], words[2]),
        }
    }

    /// Does one thing while no daemon runs.
    fn step_alone(&mut self) {
        self.alone = true;
        self.step();
        self.alone = false;
    }

    /// Does one thing. It may fail, as things in the way do; what counts is what is there afterwards.
    fn step(&mut self) {
        let root = self.live.root();
        let (existing, path) = (self.existing(), self.path());
        let done = match self.random.below(20) {
            0..6 => {
                let text = self.text();
                self.put(&path, &text)
            }
            6 | 7 => {
                let text = self.text();
                self.put(&existing, &text)
            }
            8 => format!("remove {existing} {:?}", fs::remove_file(root.join(&existing)).is_ok()),
            9 => format!("remove all {existing} {:?}", fs::remove_dir_all(root.join(&existing)).is_ok()),
            10 | 11 => {
                let _ = fs::create_dir_all(root.join(&path).parent().unwrap());
                format!(
                    "rename {existing} {path} {:?}",
                    fs::rename(root.join(&existing), root.join(&path)).is_ok()
                )
            }
            12 => format!("link {path} {:?}", system::symlink("f.md", &root.join(&path)).is_ok()),
            13 => {
                let (dir, rule) = (self.random.pick(DIRS), self.random.pick(RULES));
                let file =
                    self.random.pick(&[".gitignore", ".gitignore", ".memoignore", ".git/info/exclude"]);
                let dir = if file == ".gitignore" { dir } else { "" };
                self.put(&format!("{dir}{file}"), &format!("{rule}\n"))
            }
            14 => {
                let file = format!("{}.gitignore", self.random.pick(DIRS));
                format!("remove {file} {:?}", fs::remove_file(root.join(&file)).is_ok())
            }
            15 if !self.alone => {
                let word = word(self.random.below(N_WORDS));
                self.live.search(&word);
                // A kept map is updated from here.
                let map = self.live.call("map", json!({}));
                format!("search {word}, map of {} files", map["files"])
            }
            _ => self.git(&existing),
        };
        self.log.push(done);
    }

    /// Writes in place, or beside and over it.
    fn put(&mut self, path: &str, text: &str) -> String {
        let target = self.live.root().join(path);
        let _ = fs::create_dir_all(target.parent().unwrap());
        let aside = self.live.root().join("aside~");
        let written = match self.random.below(3) {
            0 => fs::write(&aside, text).and_then(|()| fs::rename(&aside, &target)),
            _ => fs::write(&target, text),
        };
        format!("write {path} {text:?} {:?}", written.is_ok())
    }

    fn git(&mut self, existing: &str) -> String {
        let commands: &[&[&str]] = &[
            &["add", "-A"],
            &["commit", "-qam", "x"],
            &["commit", "-qm", "x", "--allow-empty"],
            &["checkout", "-qf", "-B", "one"],
            &["checkout", "-qf", "one"],
            &["checkout", "-qf", "main"],
            &["stash", "-q"],
            &["stash", "-qu"],
            &["stash", "pop", "-q"],
            &["reset", "-q", "--hard"],
            &["clean", "-qfd"],
            &["add", "-f", existing],
            &["rm", "-rq", "--cached", existing],
            &["mv", existing, "moved"],
        ];
        let args = self.random.pick(commands);
        let output = self.live.git_may_fail(args);
        format!("git {args:?} {:?}", output.status.success())
    }

    /// Compares everything with a daemon that knows nothing but a copy of the tree.
    fn compare(&self, what: &str) {
        let fresh = fresh_copy(&self.live);
        self.same(what, "files and hits", &everything(&self.live), &everything(&fresh));
        self.same(what, "chunks and vectors", &rows(&self.live, CONTENTS), &rows(&fresh, CONTENTS));
    }

    /// Compares the order of answers too. What was indexed once and is kept counts in BM25, so its time ends first.
    fn compare_ranking(&mut self, what: &str) {
        self.live.kill();
        let index = Connection::open(self.live.layout().state_dir.join("index.db")).unwrap();
        index.execute("UPDATE blob SET last_ref = 0", []).unwrap();
        self.live.start();
        until("what no worktree holds is deleted", || {
            let loose = "SELECT count(*) FROM blob WHERE id NOT IN (SELECT blob_id FROM entry WHERE blob_id NOT NULL)";
            index.query_row(loose, [], |row| row.get::<_, i64>(0)).unwrap() == 0
        });
        drop(index);
        let fresh = fresh_copy(&self.live);
        for mode in ["keyword", "hybrid", "vector"] {
            self.same(what, mode, &ranking(&self.live, mode), &ranking(&fresh, mode));
        }
    }

    fn same<T: PartialEq + Debug>(&self, what: &str, of: &str, said: &T, expected: &T) {
        assert!(
            said == expected,
            "{what}, {of}\nsaid     {said:#?}\nexpected {expected:#?}\n{}",
            self.log.join("\n")
        );
    }
}

/// Starts a daemon that knows nothing but a copy of the tree.
pub(crate) fn fresh_copy(live: &Live) -> Live {
    let fresh = Live::idle();
    fs::remove_dir_all(fresh.root()).unwrap();
    let copied = Command::new("cp").arg("-a").args([live.root(), fresh.root()]).status().unwrap();
    assert!(copied.success());
    fs::remove_dir_all(fresh.root().join(".git/memo")).unwrap();
    fresh.start();
    fresh
}

/// Lists all paths below a directory but git's.
fn below(root: &Path, paths: &mut Vec<String>) {
    let mut left: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.file_name() == ".git" {
                continue;
            }
            paths.push(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            }
        }
    }
    paths.sort();
}

type Everything = (Vec<String>, Vec<String>, Vec<(String, BTreeSet<String>)>, Vec<String>);

/// Returns the listed files, the refused ones, what each word is found in, and the map.
fn everything(live: &Live) -> Everything {
    let (files, skipped) = live.listed();
    let hits = |number: usize| {
        let word = word(number);
        let params = json!({ "query": word, "mode": "keyword", "limit": 200, "wait_ms": 60_000 });
        let result = live.call("search", params);
        assert_eq!(result["fresh"], true, "{}", result["reason"]);
        let shows = |hit: &&Value| hit["snippet"].as_str().unwrap().contains(&word);
        let place = |hit: &Value| format!("{} {} {}", hit["path"], hit["kind"], hit["lines"]);
        let hits = result["hits"].as_array().unwrap().iter().filter(shows).map(place).collect();
        (word, hits)
    };
    let hits = (0..N_WORDS).map(hits).collect();
    let map = live.call("map", json!({ "budget": 5_000 }));
    assert_eq!(map["fresh"], true, "{}", map["reason"]);
    (files, skipped, hits, map["text"].as_str().unwrap().lines().map(str::to_owned).collect())
}

/// What index.db keeps of each path: its content, the chunks with their vectors, and the vector of the path.
pub(crate) const CONTENTS: &str =
    "SELECT json_array(entry.path, refusal, mode, entry.size, hex(hash), lang, blob.kind, refs, problems,
         ord, chunk.kind, b0, b1, l0, l1, symbol, title, text, hex(chunk.text_hash), chunk.vec_state,
         (SELECT group_concat(name, ' ') FROM (SELECT name FROM symbol WHERE chunk_id = chunk.id ORDER BY name)),
         hex(embedding.vec), iif(blob.id, hex(path.vec), ''))
     FROM entry LEFT JOIN path USING (path) LEFT JOIN blob ON blob.id = entry.blob_id
     LEFT JOIN chunk USING (blob_id) LEFT JOIN embedding ON embedding.text_hash = chunk.text_hash
     ORDER BY entry.path, ord";

/// Returns what a query of index.db finds, once all is indexed.
pub(crate) fn rows(live: &Live, query: &str) -> Vec<String> {
    let sync = live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
    assert_eq!(sync["fresh"], true, "{sync}");
    let path = live.layout().state_dir.join("index.db");
    let index = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut rows = index.prepare(query).unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Returns the hits of some queries in their order, with their scores.
fn ranking(live: &Live, mode: &str) -> Vec<String> {
    let query = |number: usize| format!("{} {}", word(number), word((number + 5) % N_WORDS));
    let hits = |query: String| {
        let params = json!({ "query": query, "mode": mode, "limit": 50, "sync": "full", "wait_ms": 60_000 });
        let result = live.call("search", params);
        assert_eq!(result["fresh"], true, "{}", result["reason"]);
        let hit =
            |hit: &Value| json!([hit["path"], hit["lines"], hit["score"], hit["arms"]["cosine"]]).to_string();
        let hits: Vec<_> = result["hits"].as_array().unwrap().iter().map(hit).collect();
        format!("{query}: {}", hits.join(" "))
    };
    (0..N_WORDS).map(query).map(hits).collect()
}

fn check(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut run = Run::new(seed);
        for batch in 0..BATCHES {
            (0..OPERATIONS).for_each(|_| run.step());
            if batch % 2 == 1 {
                // What happened while nobody looked must be found too.
                run.live.kill();
                (0..OPERATIONS).for_each(|_| run.step_alone());
                run.live.start();
            }
            run.compare(&format!("seed {seed}, batch {batch}"));
        }
        run.compare_ranking(&format!("seed {seed}"));
    }
}

#[test]
fn seeds_one() {
    check(0..3);
}

#[test]
fn seeds_two() {
    check(3..6);
}
