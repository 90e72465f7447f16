//! Do two people who work at random lose nothing, have nothing twice, and see every conflict?
//!
//! Each has a clone of one bare repository and a daemon. After every step, what the daemon lists is compared with what the files
//! say, which this test reads by itself. `MEMO_SHARING_STEPS` and `MEMO_SHARING_SEED` set the number of steps and the seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::live::Live;
use crate::memories::call;
use crate::random::Random;

/// Steps of a usual run; the whole test has 200.
const STEPS: usize = 60;

/// What a file says: its text, once for each side of a conflict.
type Texts = Vec<String>;

struct Person {
    live: Live,
    name: &'static str,
    /// Texts that this person's daemon has acknowledged, by memory.
    written: Vec<(String, String)>,
    /// Contents of files that this person has written with a verb, or chosen.
    vouched: BTreeSet<String>,
    n_branches: usize,
}

impl Person {
    fn new(name: &'static str, remote: &str) -> Self {
        let live = Live::idle();
        live.git(&["config", "user.name", name]);
        live.git(&["remote", "add", "origin", remote]);
        Self { live, name, written: Vec::new(), vouched: BTreeSet::new(), n_branches: 0 }
    }

    /// Returns what the files of the worktree say, read without memod.
    fn files(&self) -> BTreeMap<String, Texts> {
        let Ok(dir) = fs::read_dir(self.live.root().join(".memod/memories")) else { return BTreeMap::new() };
        let mut files = BTreeMap::new();
        for entry in dir {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            let sides =
                if text.contains("<<<<<<< ") { vec![side(&text, 0), side(&text, 1)] } else { vec![text] };
            let body = |text: &String| text.split_once("\n---\n\n").unwrap().1.trim_end().to_owned();
            files.insert(name.strip_suffix(".md").unwrap().to_owned(), sides.iter().map(body).collect());
        }
        files
    }

    /// Checks that the daemon says what the files say, and names every conflict.
    fn check(&self, what: &str) {
        let list = call(&self.live, "memory.list", json!({ "limit": 1000 }));
        let mut listed: BTreeMap<String, Texts> = BTreeMap::new();
        let mut memories = list["memories"].as_array().unwrap().clone();
        memories.sort_by_key(|memory| memory["conflict"].to_string());
        for memory in memories {
            let text = |key: &str| memory[key].as_str().unwrap().to_owned();
            listed.entry(text("id")).or_default().push(text("content"));
        }
        let files = self.files();
        assert_eq!(listed, files, "{} after {what}", self.name);
        let in_conflict: BTreeSet<String> = files
            .iter()
            .filter(|(_, texts)| texts.len() > 1)
            .map(|(id, _)| format!(".memod/memories/{id}.md"))
            .collect();
        let checks = call(&self.live, "doctor", json!({}))["checks"].clone();
        let bad = checks.as_array().unwrap().iter().filter(|check| check["detail"] == "in conflict");
        let told: BTreeSet<String> = bad.map(|check| check["name"].as_str().unwrap().to_owned()).collect();
        assert_eq!(told, in_conflict, "{} after {what}", self.name);
    }

    fn pick(&self, random: &mut Random) -> Option<String> {
        let whole: Vec<String> =
            self.files().into_iter().filter(|(_, texts)| texts.len() == 1).map(|(id, _)| id).collect();
        (!whole.is_empty()).then(|| random.pick(&whole))
    }

    fn file(&self, id: &str) -> String {
        fs::read_to_string(self.live.root().join(format!(".memod/memories/{id}.md"))).unwrap()
    }

    fn note_written(&mut self, id: &str, text: &str) {
        self.written.push((id.to_owned(), text.to_owned()));
        self.vouched.insert(self.file(id));
    }

    fn add(&mut self, text: &str) -> String {
        let added = call(&self.live, "memory.add", json!({ "content": text, "force": true }));
        let id = added["memory"]["id"].as_str().unwrap().to_owned();
        call(&self.live, "memory.share", json!({ "ids": [id] }));
        self.note_written(&id, text);
        id
    }

    fn edit(&mut self, id: &str, text: &str) {
        let is_own = self.vouched.contains(&self.file(id));
        call(&self.live, "memory.update", json!({ "id": id, "content": text }));
        self.written.push((id.to_owned(), text.to_owned()));
        if is_own {
            self.vouched.insert(self.file(id)); // an edit does not confirm the rest
        }
    }

    fn edit_by_hand(&mut self, id: &str, text: &str) {
        let file = self.file(id);
        let (front, _) = file.split_once("\n---\n\n").unwrap();
        self.live.write(&format!(".memod/memories/{id}.md"), format!("{front}\n---\n\n{text}\n"));
        self.written.push((id.to_owned(), text.to_owned()));
    }

    /// Commits, and ends conflicts of a merge or a rebase, until git is content.
    fn settle(&mut self, random: &mut Random) {
        for _ in 0..40 {
            self.check("git stopped or ended");
            let unmerged = self.live.git(&["status", "--porcelain"]);
            for line in unmerged.lines() {
                let (state, path) = line.split_at(2);
                let path = path.trim();
                match state {
                    "UU" | "AA" => self.resolve(path, random),
                    "UD" | "DU" | "AU" | "UA" if random.below(2) == 0 => {
                        self.live.git(&["rm", "-q", path]);
                    }
                    "UD" | "DU" | "AU" | "UA" => drop(self.live.git(&["add", path])),
                    "DD" => drop(self.live.git(&["rm", "-q", path])),
                    _ => {}
                }
            }
            let git_dir = self.live.root().join(".git");
            if git_dir.join("rebase-merge").exists() || git_dir.join("rebase-apply").exists() {
                self.live.git(&["add", "-A"]);
                let mut go_on = self.live.sandbox.program("git", &["rebase", "--continue"]);
                if !go_on.env("GIT_EDITOR", "true").output().unwrap().status.success()
                    && self.live.git(&["status", "--porcelain"]).is_empty()
                {
                    let _ = self.live.git_may_fail(&["rebase", "--skip"]);
                }
                continue;
            }
            self.live.git(&["add", "-A"]);
            let _ = self.live.git_may_fail(&["commit", "-q", "-m", "x"]); // there may be nothing
            self.check("a commit");
            return;
        }
        panic!("{}: git is not content: {}", self.name, self.live.git(&["status"]));
    }

    fn resolve(&mut self, path: &str, random: &mut Random) {
        let id = path.rsplit('/').next().unwrap().strip_suffix(".md").unwrap();
        let params = match random.below(3) {
            0 => json!({ "id": id, "side": "ours" }),
            1 => json!({ "id": id, "side": "theirs" }),
            _ => json!({ "id": id, "text": format!("of both sides {}", random.below(1 << 20)) }),
        };
        let resolved = call(&self.live, "memory.resolve_file", params);
        let text = resolved["memory"]["content"].as_str().unwrap().to_owned();
        self.note_written(id, &text);
        self.check("resolve");
        self.live.git(&["add", path]);
    }

    fn branch(&self) -> String {
        self.live.git(&["branch", "--show-current"])
    }

    /// Fetches, merges or rebases, and pushes the main branch.
    fn exchange(&mut self, random: &mut Random, rebases: bool) {
        self.settle(random);
        if self.branch() != "main" {
            self.live.git(&["switch", "-q", "main"]);
        }
        for _ in 0..3 {
            self.live.git(&["fetch", "-q"]);
            let how = if rebases { ["rebase", "-q", "origin/main"] } else { ["merge", "-q", "origin/main"] };
            let _ = self.live.git_may_fail(&how);
            self.settle(random);
            if self.live.git_may_fail(&["push", "-q", "origin", "main"]).status.success() {
                return;
            }
        }
        panic!("{}: nothing can be pushed", self.name);
    }

    fn step(&mut self, number: usize, random: &mut Random) -> String {
        let text = format!("note {number} of {} says word{number}", self.name);
        let kind = random.below(14);
        match (kind, self.pick(random)) {
            (0..=2, _) | (3..=7, None) => drop(self.add(&text)),
            (3 | 4, Some(id)) => self.edit(&id, &text),
            (5, Some(id)) => self.edit_by_hand(&id, &text),
            (6, Some(id)) => {
                let new = self.add(&text);
                call(&self.live, "memory.link", json!({ "from": new, "to": id, "kind": "supersedes" }));
                assert!(self.file(&new).contains(&format!("supersedes:\n  - {id}\n")));
                self.vouched.insert(self.file(&new));
            }
            (7, Some(id)) => drop(call(&self.live, "memory.forget", json!({ "ids": [id] }))),
            (8, _) => self.settle(random),
            (9, _) => {
                self.settle(random);
                self.n_branches += 1;
                self.live.git(&["switch", "-q", "-c", &format!("{}-{}", self.name, self.n_branches)]);
            }
            (10, _) => {
                self.settle(random);
                let branches = self.live.git(&["branch", "--format=%(refname:short)"]);
                let branches: Vec<String> = branches.lines().map(str::to_owned).collect();
                self.live.git(&["switch", "-q", &random.pick(&branches)]);
            }
            (11, _) => {
                self.settle(random);
                let branch = self.branch();
                self.live.git(&["switch", "-q", "main"]);
                let _ = self.live.git_may_fail(&["merge", "-q", &branch]);
                self.settle(random);
            }
            (12, _) => self.exchange(random, true),
            _ => self.exchange(random, false),
        }
        self.check(&format!("step {number}, kind {kind}"));
        format!("{} {kind}", self.name)
    }

    /// Checks that each text that was acknowledged is in the memory or in its history.
    fn check_nothing_lost(&self) {
        for (id, text) in &self.written {
            let memory = call(&self.live, "memory.get", json!({ "ids": [id] }));
            let history = call(&self.live, "memory.history", json!({ "ids": [id] }));
            let is_there = memory["memories"].to_string().contains(text.as_str())
                || history["changes"].to_string().contains(text.as_str());
            assert!(is_there, "{}: {id} has lost {text:?}: {memory} {history}", self.name);
        }
    }

    /// Checks that a memory is this person's own exactly if they have written or chosen its file.
    fn check_trust(&self) {
        for (id, _) in self.files() {
            let memory = call(&self.live, "memory.get", json!({ "ids": [id] }))["memories"][0].clone();
            let expected = if self.vouched.contains(&self.file(&id)) { "own" } else { "repo" };
            assert_eq!(memory["trust"], expected, "{}: {memory}\n{}", self.name, self.file(&id));
        }
    }

    /// Returns the links that the files say, and those that the daemon has, of memories that are here.
    fn check_links(&self) {
        let files = self.files();
        for id in files.keys() {
            let file = self.file(id);
            let said: BTreeSet<&str> = file
                .split_once("\nsupersedes:\n")
                .map(|(_, rest)| rest.lines().map_while(|line| line.strip_prefix("  - ")).collect())
                .unwrap_or_default();
            let links =
                call(&self.live, "memory.get", json!({ "ids": [id] }))["memories"][0]["links"].clone();
            let links = links.as_array().unwrap().iter().filter(|link| link["relation"] == "supersedes");
            let links: BTreeSet<String> = links.map(|link| link["id"].as_str().unwrap().to_owned()).collect();
            for id in said.iter().filter(|id| files.contains_key(**id)) {
                assert!(links.contains(*id), "{}: {file} {links:?}", self.name);
            }
            assert!(links.iter().all(|id| said.contains(id.as_str())), "{}: {file} {links:?}", self.name);
        }
    }
}

/// Returns one side of a text with the markers of git.
fn side(text: &str, wanted: usize) -> String {
    let mut at = 2; // both
    let mut kept = Vec::new();
    for line in text.lines() {
        match line.split(' ').next().unwrap() {
            "<<<<<<<" => at = 0,
            "=======" => at = 1,
            ">>>>>>>" => at = 2,
            _ if at == 2 || at == wanted => kept.push(line),
            _ => {}
        }
    }
    kept.join("\n") + "\n"
}

pub(super) fn number_of(name: &str, default: usize) -> usize {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

#[test]
fn two_people_lose_nothing() {
    let seed = number_of("MEMO_SHARING_SEED", 17);
    let mut random = Random(seed as u64);
    let remote = tempfile::tempdir().unwrap();
    let remote = remote.path().join("remote.git");
    let mut people = ["ann", "bob"].map(|name| Person::new(name, remote.to_str().unwrap()));
    people[0].live.sh(&format!("git init -q --bare -b main {}", remote.display()));
    people[0].live.write("a.md", "x\n");
    people[0].live.commit_all();
    people[0].live.git(&["push", "-q", "origin", "main"]);
    people[1].live.git(&["pull", "-q", "origin", "main"]);
    people.iter().for_each(|person| person.live.start());
    let mut steps = Vec::new();
    for number in 0..number_of("MEMO_SHARING_STEPS", STEPS) {
        let nth = random.below(2);
        steps.push(people[nth].step(number, &mut random));
    }
    // All branches are merged, and both come to the same.
    for person in &mut people {
        person.settle(&mut random);
        let branches = person.live.git(&["branch", "--format=%(refname:short)"]);
        person.live.git(&["switch", "-q", "main"]);
        for branch in branches.lines() {
            let _ = person.live.git_may_fail(&["merge", "-q", branch]);
            person.settle(&mut random);
        }
    }
    for nth in [0, 1, 0] {
        people[nth].exchange(&mut random, false);
    }
    let [ann, bob] = &people;
    assert_eq!(
        ann.live.git(&["rev-parse", "HEAD"]),
        bob.live.git(&["rev-parse", "HEAD"]),
        "seed {seed}: {steps:?}"
    );
    assert_eq!(ann.files(), bob.files(), "seed {seed}");
    assert!(!ann.files().is_empty());
    for person in &people {
        person.check("the end");
        person.check_nothing_lost();
        person.check_trust();
        person.check_links();
        let checked: Value = call(&person.live, "doctor", json!({}));
        let memory_db =
            checked["checks"].as_array().unwrap().iter().find(|check| check["name"] == "memory.db").unwrap();
        assert_eq!(memory_db["ok"], true, "{memory_db}");
    }
}
