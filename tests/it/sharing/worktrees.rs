//! Does each worktree have the memories of its own files?

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{actions, add_shared, text_of};
use crate::live::Live;

fn in_dir(live: &Live, dir: &Path, id: &str) -> Vec<Value> {
    let list = live.call_in(dir, "memory.list", json!({ "limit": 1000 }));
    list["memories"].as_array().unwrap().iter().filter(|memory| memory["id"] == id).cloned().collect()
}

fn hits(live: &Live, dir: &Path, word: &str) -> usize {
    let result = live.call_in(dir, "search", json!({ "query": word, "kind": ["memory"], "mode": "keyword" }));
    result["hits"].as_array().unwrap().len()
}

#[test]
fn each_worktree_has_its_own_version() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let (root, side) = (live.root(), live.sandbox.path("side"));
    let id = add_shared(&live, "alpha is the first");
    assert_eq!(
        (in_dir(&live, &root, &id).len(), in_dir(&live, &side, &id).len()),
        (1, 0),
        "not on that branch"
    );
    assert_eq!((hits(&live, &root, "alpha"), hits(&live, &side, "alpha")), (1, 0));
    live.commit_all();
    live.git_in(&side, &["merge", "-q", "main"]);
    assert_eq!((in_dir(&live, &root, &id).len(), in_dir(&live, &side, &id).len()), (1, 1));
    // Changed here with a verb, there by hand.
    live.call_in(&root, "memory.update", json!({ "id": id, "content": "beta is here" }));
    assert_eq!(in_dir(&live, &side, &id)[0]["content"], "alpha is the first");
    let there = side.join(format!(".memod/memories/{id}.md"));
    fs::write(&there, fs::read_to_string(&there).unwrap().replace("alpha is the first", "gamma is there"))
        .unwrap();
    assert_eq!(in_dir(&live, &side, &id)[0]["content"], "gamma is there");
    assert_eq!(in_dir(&live, &root, &id)[0]["content"], "beta is here");
    assert_eq!((hits(&live, &root, "beta"), hits(&live, &root, "gamma")), (1, 0));
    assert_eq!((hits(&live, &side, "beta"), hits(&live, &side, "gamma")), (0, 1));
    live.call_in(&side, "memory.update", json!({ "id": id, "add_tags": ["there"] }));
    assert_eq!(in_dir(&live, &root, &id)[0]["tags"], json!([]));
    assert!(fs::read_to_string(&there).unwrap().contains("  - there\n"));
    assert!(text_of(&live, &id).ends_with("\nbeta is here\n"));
    // The worktree that has the other version goes, and later the file.
    live.call_in(&root, "memory.forget", json!({ "ids": [id] }));
    assert_eq!((in_dir(&live, &root, &id).len(), in_dir(&live, &side, &id).len()), (0, 1));
    live.git(&["worktree", "remove", "--force", "../side"]);
    live.write(".memod/memories/README.md", "a look that changes something");
    assert_eq!(in_dir(&live, &root, &id).len(), 0);
    let history = actions(&live, &id);
    // Once by hand, and once when what the other worktree had was all that was left.
    assert_eq!(history.iter().filter(|action| *action == "update/repo").count(), 2, "{history:?}");
}

#[test]
fn switching_branches_brings_back_what_was_known() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["switch", "-q", "-c", "with"]);
    let (old, new) = (add_shared(&live, "alpha is old"), add_shared(&live, "alpha is new"));
    live.call("memory.link", json!({ "from": new, "to": old, "kind": "supersedes" }));
    live.call("memory.recall", json!({ "query": "alpha" }));
    assert!(text_of(&live, &new).contains(&format!("supersedes:\n  - {old}\n")));
    live.commit_all();
    for _ in 0..3 {
        live.git(&["switch", "-q", "main"]);
        assert_eq!(live.call("memory.list", json!({}))["total"], 0);
        live.git(&["switch", "-q", "with"]);
        let memory = live.call("memory.get", json!({ "ids": [old] }))["memories"][0].clone();
        assert_eq!(
            (&memory["access_count"], &memory["links"][0]["relation"]),
            (&json!(1), &json!("superseded_by"))
        );
        assert_eq!((&memory["trust"], &memory["archived_at"]), (&json!("own"), &Value::Null));
    }
    assert_eq!(actions(&live, &old).len(), 6, "{:?}", actions(&live, &old));
}
