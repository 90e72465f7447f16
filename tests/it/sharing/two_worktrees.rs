//! Does each of two worktrees have what its files say, whatever verbs run in the other?
//!
//! After every step, what the daemon lists in both is compared with the files, which this test reads by itself, and with the
//! memories that are this user's alone. `MEMO_SHARING_STEPS` and `MEMO_SHARING_SEED` set the number of steps and the seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::two_people::number_of;
use crate::live::Live;
use crate::random::Random;

/// Steps of a usual run.
const STEPS: usize = 60;

/// Memories with their texts.
type Texts = BTreeMap<String, String>;

struct Model {
    live: Live,
    dirs: [PathBuf; 2],
    /// Texts that were acknowledged, by memory.
    written: Vec<(String, String)>,
    /// Memories that are no files, where no file is in their place.
    private: Texts,
    /// An export of some time ago.
    export: Option<Value>,
}

impl Model {
    fn new() -> Self {
        let live = Live::new();
        live.write("a.md", "x");
        live.commit_all();
        live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
        let dirs = [live.root(), live.sandbox.path("side")];
        Self { live, dirs, written: Vec::new(), private: Texts::new(), export: None }
    }

    fn call(&self, dir: &Path, method: &str, params: Value) -> Value {
        self.live.call_in(dir, method, params)
    }

    fn files(&self, dir: &Path) -> Texts {
        let Ok(entries) = fs::read_dir(dir.join(".memod/memories")) else { return Texts::new() };
        let file = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            let body = text.split_once("\n---\n\n").unwrap().1.trim_end().to_owned();
            (name.strip_suffix(".md").unwrap().to_owned(), body)
        };
        entries.map(|entry| file(entry.unwrap())).collect()
    }

    /// Checks that both worktrees list their files and the private memories, and that the words of each are found.
    fn check(&self, what: &str) {
        for dir in &self.dirs {
            let own = self.private.clone();
            let expected: BTreeSet<(String, String)> = own.into_iter().chain(self.files(dir)).collect();
            let list = self.call(dir, "memory.list", json!({ "limit": 1000 }));
            let memories = list["memories"].as_array().unwrap();
            let text = |memory: &Value, key: &str| memory[key].as_str().unwrap().to_owned();
            let listed: BTreeSet<(String, String)> =
                memories.iter().map(|memory| (text(memory, "id"), text(memory, "content"))).collect();
            assert_eq!(listed, expected, "{} after {what}", dir.display());
            for (id, content) in &expected {
                let word = content.split(' ').next_back().unwrap();
                let ask = json!({ "query": word, "kind": ["memory"], "mode": "keyword" });
                let hits = self.call(dir, "search", ask)["hits"].clone();
                let found = hits.as_array().unwrap().iter().any(|hit| hit["id"] == json!(id));
                assert!(found, "{}: {word} after {what}", dir.display());
            }
        }
    }

    fn file(dir: &Path, id: &str) -> PathBuf {
        dir.join(format!(".memod/memories/{id}.md"))
    }

    fn step(&mut self, number: usize, random: &mut Random) -> String {
        let nth = random.below(2);
        let (dir, other) = (self.dirs[nth].clone(), self.dirs[1 - nth].clone());
        let files = self.files(&dir);
        let text = format!("note {number} says word{number}");
        let kind = random.below(15);
        let one = (!files.is_empty()).then(|| random.pick(&files.keys().cloned().collect::<Vec<_>>()));
        // A verb changes what is this user's alone, and leaves the file under its id.
        let is_own = one.as_ref().is_some_and(|id| self.private.contains_key(id));
        match (kind, one) {
            (0 | 1, _) | (2..=11, None) => {
                let added = self.call(&dir, "memory.add", json!({ "content": text, "force": true }));
                let id = added["memory"]["id"].as_str().unwrap().to_owned();
                self.call(&dir, "memory.share", json!({ "ids": [id] }));
                self.written.push((id, text));
            }
            (2 | 3, Some(id)) => {
                self.call(&dir, "memory.update", json!({ "id": id, "content": text }));
                self.private.entry(id.clone()).and_modify(|own| own.clone_from(&text));
                self.written.push((id, text));
            }
            (4, Some(id)) => {
                let path = Self::file(&dir, &id);
                let file = fs::read_to_string(&path).unwrap();
                let (front, _) = file.split_once("\n---\n\n").unwrap();
                fs::write(&path, format!("{front}\n---\n\n{text}\n")).unwrap();
                self.call(&dir, "memory.list", json!({})); // it is only known once somebody asks
                self.written.push((id, text));
            }
            // As a merge brings it.
            (5 | 6, Some(id)) => {
                fs::create_dir_all(other.join(".memod/memories")).unwrap();
                fs::copy(Self::file(&dir, &id), Self::file(&other, &id)).unwrap();
            }
            (7, Some(id)) => {
                self.call(&dir, "memory.forget", json!({ "ids": [id] }));
                self.private.remove(&id);
            }
            (8, Some(id)) => {
                self.call(&dir, "memory.update", json!({ "id": id, "add_tags": ["over"] }));
                let forgotten = self.call(&dir, "memory.forget", json!({ "tags": ["over"] }));
                for memory in forgotten["memories"].as_array().unwrap() {
                    self.private.remove(memory["id"].as_str().unwrap());
                }
            }
            (9, Some(id)) if !is_own => {
                self.call(&dir, "memory.unshare", json!({ "ids": [id] }));
                self.private.insert(id.clone(), files[&id].clone());
            }
            (10, Some(id)) => drop(fs::remove_file(Self::file(&dir, &id))),
            (11, Some(id)) => drop(self.call(&dir, "memory.update", json!({ "id": id, "tier": "short" }))),
            (12, _) => {
                let elsewhere = self.files(&other);
                let absent =
                    elsewhere.keys().find(|id| !files.contains_key(*id) && !self.private.contains_key(*id));
                if let Some(id) = absent {
                    let restored =
                        self.call(&dir, "memory.restore", json!({ "ids": [id] }))["memories"][0].clone();
                    match restored["shared"] == true {
                        true => assert!(Self::file(&dir, id).exists(), "{id}"),
                        // What was unshared and forgotten comes back as it was.
                        false => {
                            drop(
                                self.private
                                    .insert(id.clone(), restored["content"].as_str().unwrap().to_owned()),
                            );
                        }
                    }
                }
            }
            (13, _) => {
                let list = self.call(&dir, "memory.list", json!({ "limit": 1000 }));
                let drafts = list["memories"].as_array().unwrap().iter().map(|memory| {
                    json!({ "id": memory["id"], "content": memory["content"], "created": memory["created"],
                            "updated": memory["updated"] })
                });
                self.export = Some(drafts.collect());
            }
            _ => {
                let Some(drafts) = self.export.take() else { return "nothing".to_owned() };
                let imported = self.call(&dir, "memory.import", json!({ "drafts": drafts, "merge": true }));
                for (draft, fate) in
                    drafts.as_array().unwrap().iter().zip(imported["drafts"].as_array().unwrap())
                {
                    let text = |key: &str| draft[key].as_str().unwrap().to_owned();
                    let is_file = self.files(&dir).contains_key(&text("id"));
                    if ["added", "updated"].contains(&fate["fate"].as_str().unwrap())
                        && (!is_file || self.private.contains_key(&text("id")))
                    {
                        self.private.insert(text("id"), text("content"));
                    }
                }
            }
        }
        let step = format!("step {number}, kind {kind}, in {nth}");
        self.check(&step);
        step
    }

    /// Checks that each text that was acknowledged is in the memory, in a file, or in its history.
    fn check_nothing_lost(&self, steps: &[String]) {
        for (id, text) in &self.written {
            let in_file = self.dirs.iter().any(|dir| self.files(dir).get(id) == Some(text));
            let told = self.dirs.iter().any(|dir| {
                let asked = ["memory.get", "memory.history"]
                    .map(|method| self.live.rpc().call(method, &json!({ "cwd": dir, "ids": [id] })));
                asked.iter().flatten().any(|answer| answer.to_string().contains(text.as_str()))
            });
            assert!(in_file || told, "{id} has lost {text:?}: {steps:?}");
        }
    }
}

#[test]
fn two_worktrees_have_what_their_files_say() {
    let mut random = Random(number_of("MEMO_SHARING_SEED", 5) as u64);
    let mut model = Model::new();
    let mut steps = Vec::new();
    for number in 0..number_of("MEMO_SHARING_STEPS", STEPS) {
        steps.push(model.step(number, &mut random));
    }
    model.check_nothing_lost(&steps);
    assert!(steps.iter().collect::<BTreeSet<_>>().len() > STEPS / 2, "{steps:?}");
}
