//! Is an answer ever silently stale, or a memory lost, when the daemon is killed or held up at any moment?
//!
//! `benches/faults` does the same with more that can break, for as long as one likes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::live::{Live, memo, word};
use crate::random::Random;

const STEPS: usize = 160;
const DIRS: &[&str] = &["", "a/", "a/b/", "docs/en/"];
const NAMES: &[&str] = &["f.md", "g.rs", "h.txt", "k.toml"];
const BRANCHES: &[&str] = &["main", "one", "two"];
/// How long a daemon is held up: not at all as `memo` sees it, and longer than a search waits to be fresh.
const HELD_UP_MS: &[u64] = &[5, 1_200];

/// A repository, and what is known of it.
struct Run {
    live: Live,
    random: Random,
    n_words: usize,
    /// Content by id, as acknowledged; none of what was forgotten.
    memories: BTreeMap<String, Option<String>>,
    n_calm: usize,
    n_calm_fresh: usize,
    log: Vec<String>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let live = Live::idle();
        let mut run = Self {
            live,
            random: Random(seed),
            n_words: 0,
            memories: BTreeMap::new(),
            n_calm: 0,
            n_calm_fresh: 0,
            log: Vec::new(),
        };
        for branch in BRANCHES {
            run.live.git(&["checkout", "-q", "-B", branch]);
            (0..4).for_each(|_| drop(run.write()));
            run.live.commit_all();
        }
        run
    }

    /// Returns a word that no text has had.
    fn new_word(&mut self) -> String {
        self.n_words += 1;
        word(self.n_words)
    }

    fn new_path(&mut self) -> String {
        format!("{}{}", self.random.pick(DIRS), self.random.pick(NAMES))
    }

    fn existing(&mut self) -> String {
        let paths: Vec<String> = on_disk(&self.live.root()).into_keys().collect();
        if paths.is_empty() { self.write() } else { self.random.pick(&paths) }
    }

    fn write(&mut self) -> String {
        let (path, word) = (self.new_path(), self.new_word());
        self.live.write(&path, format!("# {word}\n\nfn {word}() {{}}\n"));
        path
    }

    /// Changes something in the worktree; returns what.
    fn change(&mut self) -> String {
        match self.random.below(10) {
            0..4 => format!("write {}", self.write()),
            4 => {
                let (path, word) = (self.existing(), self.new_word());
                let text = fs::read_to_string(self.live.root().join(&path)).unwrap();
                self.live.write(&path, format!("{text}\n{word}\n"));
                format!("append to {path}")
            }
            5 => {
                let (from, to) = (self.existing(), self.new_path());
                fs::create_dir_all(self.live.root().join(&to).parent().unwrap()).unwrap();
                self.live.rename(&from, &to);
                format!("rename {from} {to}")
            }
            6 => {
                let to = self.random.pick(&["a", "docs", "out"]);
                let done = fs::rename(self.live.root().join("a"), self.live.root().join(to));
                format!("rename a {to} {}", done.is_ok())
            }
            7 => {
                let path = self.existing();
                self.live.remove(&path);
                format!("remove {path}")
            }
            8 => {
                self.live.commit_all();
                "commit".to_owned()
            }
            _ => {
                let branch = self.random.pick(BRANCHES);
                self.live.git(&["checkout", "-qf", branch]);
                format!("checkout {branch}")
            }
        }
    }

    /// Adds a memory, or forgets one. What is not acknowledged may be there or not.
    fn remember(&mut self) -> String {
        let living: Vec<String> =
            self.memories.iter().filter(|(_, content)| content.is_some()).map(|(id, _)| id.clone()).collect();
        if living.len() > 3 && self.random.below(3) == 0 {
            let id = self.random.pick(&living);
            let (code, answer) = memo(&self.live, &["forget", &id, "--yes"]);
            assert_eq!(code, 0, "{answer}\n{}", self.log.join("\n"));
            self.memories.insert(id.clone(), None);
            return format!("forget {id}");
        }
        let content = format!("{} is so", self.new_word());
        let (code, answer) = memo(&self.live, &["add", "--force", &content]);
        assert_eq!(code, 0, "{answer}\n{}", self.log.join("\n"));
        let id = answer["memory"]["id"].as_str().unwrap().to_owned();
        self.memories.insert(id.clone(), Some(content));
        format!("add {id}")
    }

    fn daemon(&self) -> Pid {
        if self.live.memo(&["status", "-q"]).output().is_err() {
            panic!("no daemon: {}", self.log.join("\n"));
        }
        Pid::from_raw(i32::try_from(self.live.endpoint().pid).unwrap()).unwrap()
    }

    /// Searches for a word and compares the answer with the disk. Nothing but this process changes it.
    fn search(&mut self, is_calm: bool) {
        // One of the last, which may be on another branch, or gone.
        let word = word(self.n_words.saturating_sub(self.random.below(12)));
        let level = self.random.pick(&["fs", "fs", "strict"]);
        let (code, answer) =
            memo(&self.live, &["search", "--mode", "keyword", "--sync", level, "-n", "50", &word]);
        assert!(code <= 1, "{answer}\n{}", self.log.join("\n"));
        let (files, fresh) = (on_disk(&self.live.root()), answer["fresh"] == true);
        let mut shown = BTreeSet::new();
        for hit in answer["hits"].as_array().unwrap().iter().filter(|hit| hit["kind"] != "memory") {
            let (path, snippet) = (hit["path"].as_str().unwrap(), hit["snippet"].as_str().unwrap());
            let said = self.explain(&word, &answer);
            assert!(files.get(path).is_some_and(|text| text.contains(snippet)), "a stale line, {said}");
            shown.insert(path);
        }
        // A word that no file has any more is corrected to a word like it, and definitions with names like it are shown; the answer
        // says so.
        let corrected = answer["corrected"].as_str();
        let has =
            |text: &str| text.contains(&word) || corrected.is_some_and(|corrected| text.contains(corrected));
        let similar = answer["similar_names"].as_array().cloned().unwrap_or_default();
        let is_near = |text: &str| similar.iter().any(|name| text.contains(name.as_str().unwrap()));
        let having = files.iter().filter(|(_, text)| has(text)).map(|(path, _)| path.as_str());
        shown.retain(|path| has(&files[*path]) || !is_near(&files[*path]));
        assert!(
            !fresh || having.collect::<BTreeSet<_>>() == shown,
            "silently stale, {}",
            self.explain(&word, &answer)
        );
        self.n_calm += usize::from(is_calm);
        self.n_calm_fresh += usize::from(is_calm && fresh);
    }

    fn explain(&self, word: &str, answer: &Value) -> String {
        format!("{word}: {answer:#}\n{}", self.log.join("\n"))
    }

    fn step(&mut self) {
        let mut is_calm = true;
        let done = match self.random.below(20) {
            0 => {
                is_calm = false;
                kill_process(self.daemon(), Signal::KILL).unwrap();
                "kill -9".to_owned()
            }
            1 => {
                is_calm = false;
                let (daemon, for_ms) = (self.daemon(), self.random.pick(HELD_UP_MS));
                kill_process(daemon, Signal::STOP).unwrap();
                thread::spawn(move || {
                    memod_base::threads::pause(Duration::from_millis(for_ms));
                    let _ = kill_process(daemon, Signal::CONT);
                });
                format!("hold up for {for_ms} ms, {}", self.change())
            }
            2..6 => self.remember(),
            _ => self.change(),
        };
        self.log.push(done);
        self.search(is_calm);
    }

    /// Compares all that is kept with what was acknowledged, and asks whether the databases are whole.
    fn check_all(&self) {
        let (_, answer) = memo(&self.live, &["list", "--all"]);
        let listed = answer["memories"].as_array().unwrap();
        let kept: BTreeMap<&str, &str> = listed
            .iter()
            .map(|memory| (memory["id"].as_str().unwrap(), memory["content"].as_str().unwrap()))
            .collect();
        let expected: BTreeMap<&str, &str> = self
            .memories
            .iter()
            .filter_map(|(id, content)| Some((id.as_str(), content.as_deref()?)))
            .collect();
        assert_eq!(kept, expected, "{}", self.log.join("\n"));
        let (files, skipped) = self.live.listed();
        let on_disk: Vec<String> = on_disk(&self.live.root()).into_keys().collect();
        assert_eq!((files, skipped), (on_disk, Vec::new()), "{}", self.log.join("\n"));
        let checks = self.live.call("doctor", json!({}))["checks"].clone();
        for name in ["index.db", "memory.db"] {
            let check = checks.as_array().unwrap().iter().find(|check| check["name"] == name).unwrap();
            assert!(check["detail"].as_str().unwrap().starts_with("integrity_check: ok"), "{check}");
        }
    }
}

/// Returns the text of every file by path; all of them count.
fn on_disk(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in
            fs::read_dir(&dir).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != ".git")
        {
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else {
                let path = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(path, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    files
}

#[test]
fn random_faults_make_no_answer_stale_and_lose_no_memory() {
    let mut run = Run::new(1);
    (0..STEPS).for_each(|_| run.step());
    run.check_all();
    let (n_fresh, n_calm) = (run.n_calm_fresh, run.n_calm);
    assert!(n_fresh * 10 >= n_calm * 9, "{n_fresh} of {n_calm} answers were fresh while nothing was broken");
}
