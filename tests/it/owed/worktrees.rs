//! What is told of another worktree is as its files are now, or said to be unknown.

use std::fs;

use serde_json::{Value, json};

use crate::live::Live;

/// A repository and a second worktree that alone has the file of a memory.
fn two() -> (Live, std::path::PathBuf, String) {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.commit_all();
    let side = live.sandbox.path("side");
    live.git(&["worktree", "add", "-q", "--detach", side.to_str().unwrap()]);
    let added = live.call_in(&side, "memory.add", json!({ "content": "the port is 8080" }));
    let id = added["memory"]["id"].as_str().unwrap().to_owned();
    live.call_in(&side, "memory.share", json!({ "ids": [id] }));
    live.call_in(&side, "memory.list", json!({}));
    let file = side.join(format!(".memod/memories/{id}.md"));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("8080", "9090")).unwrap();
    (live, side, id)
}

fn assert_new(answer: &Value) {
    assert_eq!(answer["fresh"], true, "{answer}");
    assert!(answer.to_string().contains("9090"), "{answer}");
}

#[test]
fn an_export_has_what_another_worktree_says_now() {
    let (live, side, id) = two();
    let exported = live.call("memory.export", json!({}));
    assert_new(&exported);
    assert_eq!(exported["memories"][0]["content"], "the port is 9090", "{exported}");
    fs::remove_file(side.join(format!(".memod/memories/{id}.md"))).unwrap();
    assert_eq!(live.call("memory.export", json!({}))["memories"], json!([]), "no worktree has it");
}

#[test]
fn what_is_restored_and_its_history_are_as_another_worktree_says_now() {
    let (live, _side, id) = two();
    assert_new(&live.call("memory.history", json!({ "ids": [id] })));
    let (live, _side, id) = two();
    live.call("memory.restore", json!({ "ids": [id] }));
    let here = fs::read_to_string(live.root().join(format!(".memod/memories/{id}.md"))).unwrap();
    assert!(here.contains("9090"), "{here}");
}

/// From a linked worktree the main one is another.
#[test]
fn the_main_worktree_is_looked_at_as_well() {
    let (live, side, _) = two();
    let added = live.call("memory.add", json!({ "content": "the host is alpha" }));
    let id = added["memory"]["id"].as_str().unwrap().to_owned();
    live.call("memory.share", json!({ "ids": [id] }));
    let file = live.root().join(format!(".memod/memories/{id}.md"));
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("alpha", "beta")).unwrap();
    let exported = live.call_in(&side, "memory.export", json!({}));
    assert_eq!(exported["fresh"], true, "{exported}");
    assert!(exported.to_string().contains("the host is beta"), "{exported}");
}

#[test]
fn a_worktree_that_is_away_is_said_to_be_unknown() {
    let (live, side, _) = two();
    live.git(&["worktree", "lock", side.to_str().unwrap()]);
    fs::rename(&side, live.sandbox.path("away")).unwrap();
    let exported = live.call("memory.export", json!({}));
    assert_eq!(exported["fresh"], false, "{exported}");
    assert!(exported["reason"].as_str().unwrap().contains("side/.git"), "{exported}");
    let listed = live.call("memory.list", json!({}));
    assert_eq!(listed["fresh"], true, "a list is of this worktree: {listed}");
    fs::rename(live.sandbox.path("away"), &side).unwrap();
    assert_new(&live.call("memory.export", json!({})));
}
