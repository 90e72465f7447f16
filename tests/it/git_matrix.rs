//! After each thing git can do to a worktree: does the index hold what is there, and nothing else?
//!
//! `cargo test --test it git_matrix -- --nocapture` prints what was run, how many files were compared and how long
//! the first fresh answer took.

mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memod_base::types::WorktreeId;
use memod_index_db::IndexReader;
use rows::{BASE, RESET, Row};
use serde_json::json;

use crate::live::{Live, PATIENCE};

/// Whether the hooks of memod are installed while git runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hooks {
    Without,
    With,
}

/// A worktree and what was compared in it.
struct Matrix {
    live: Live,
    reader: IndexReader,
    hooks: Hooks,
}

impl Matrix {
    fn new(hooks: Hooks) -> Self {
        let live = Live::idle();
        live.sh(BASE);
        live.start();
        if hooks == Hooks::With {
            let output = live.memo(&["hooks", "install", "--chain"]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(live.root().join(".git/hooks/post-commit").is_file());
        }
        live.expect("apricot", "a.md", "the first index");
        let reader = IndexReader::open(&live.layout().state_dir.join("index.db")).unwrap();
        Self { live, reader, hooks }
    }

    /// Runs every row; each begins with the same files, the same branches and the daemon of the row before.
    fn run(&self, rows: &[Row]) {
        for row in rows {
            self.live.sh(RESET);
            self.live.sh(row.before);
            let (came_in, came, came_path) = self.place_of(row.came);
            let (went_in, went, went_path) = self.place_of(row.went);
            for (cwd, word, paths) in [(&came_in, came, ""), (&went_in, went, went_path)] {
                if cwd.exists() {
                    self.live.expect_in(cwd, word, paths, &format!("before {}", row.name));
                }
            }
            self.live.sh(row.command);
            let started = Instant::now();
            self.live.expect_in(&came_in, came, came_path, row.name);
            let took = started.elapsed();
            if went_in.exists() {
                self.live.expect_in(&went_in, went, "", row.name);
            }
            let n_files = self.compare(&came_in, row.name);
            report(row.name, self.hooks, n_files, took);
        }
    }

    /// Splits `[@dir ]word path`.
    fn place_of<'a>(&self, text: &'a str) -> (PathBuf, &'a str, &'a str) {
        let (dir, text) = text
            .strip_prefix('@')
            .map_or((".", text), |text| text.split_once(' ').expect("a word follows the directory"));
        let (word, path) = text.split_once(' ').expect("a path follows the word");
        (self.live.root().join(dir), word, path)
    }

    /// Compares the manifest with what git lists and the disk holds; returns how many files that were.
    fn compare(&self, cwd: &Path, what: &str) -> usize {
        let sync = self.live.call_in(cwd, "sync", json!({ "wait_ms": PATIENCE.as_millis() }));
        assert_eq!(sync["fresh"], true, "{what}: {sync}");
        let view = sync["clock"].as_str().unwrap().split(':').nth(2).unwrap().parse().unwrap();
        let entries = self.reader.list_entries(WorktreeId(view), None).unwrap();
        let indexed: BTreeMap<_, _> =
            entries.into_iter().map(|(key, entry)| (key.as_str().to_owned(), entry.hash)).collect();
        let expected = on_disk(&self.live, cwd);
        assert_eq!(indexed, expected, "{what}: manifest and disk");
        expected.len()
    }
}

/// Returns what git lists and is there, with the hash of each file; another repository has none.
fn on_disk(live: &Live, cwd: &Path) -> BTreeMap<String, Option<[u8; 32]>> {
    let listed = live.git_in(cwd, &["ls-files", "-z", "-co", "--exclude-standard", "--deduplicate"]);
    let names = listed.split_terminator('\0').map(|name| name.trim_end_matches('/'));
    let there = names.filter(|name| cwd.join(name).symlink_metadata().is_ok());
    there
        .map(|name| (name.to_owned(), fs::read(cwd.join(name)).ok().map(|text| blake3::hash(&text).into())))
        .collect()
}

#[expect(clippy::print_stdout, reason = "shown only to who asks with --nocapture")]
fn report(name: &str, hooks: Hooks, n_files: usize, took: Duration) {
    println!("{name:<32} | hooks {hooks:?} | {n_files:>2} files | {:>6.1} ms | ok", took.as_secs_f64() * 1e3);
}

#[test]
fn commits_and_checkouts() {
    Matrix::new(Hooks::Without).run(rows::COMMITS_AND_CHECKOUTS);
}

#[test]
fn commits_and_checkouts_with_hooks() {
    Matrix::new(Hooks::With).run(rows::COMMITS_AND_CHECKOUTS);
}

#[test]
fn merges_and_rebases() {
    Matrix::new(Hooks::Without).run(rows::MERGES_AND_REBASES);
}

#[test]
fn merges_and_rebases_with_hooks() {
    Matrix::new(Hooks::With).run(rows::MERGES_AND_REBASES);
}

#[test]
fn index_and_worktree() {
    Matrix::new(Hooks::Without).run(rows::INDEX_AND_WORKTREE);
}

#[test]
fn index_and_worktree_with_hooks() {
    Matrix::new(Hooks::With).run(rows::INDEX_AND_WORKTREE);
}

#[test]
fn worktrees_and_submodules() {
    Matrix::new(Hooks::Without).run(rows::WORKTREES_AND_SUBMODULES);
}

#[test]
fn worktrees_and_submodules_with_hooks() {
    Matrix::new(Hooks::With).run(rows::WORKTREES_AND_SUBMODULES);
}
