//! Do the verbs about shared memories say what is so, and what to do?

use std::fs;

use serde_json::json;

use super::{add_shared, file, get, listed, write_file};
use crate::live::Live;
use crate::memories::call;

/// Runs `memo`; returns its exit status, and all that it printed.
fn memo(live: &Live, args: &[&str]) -> (Option<i32>, String) {
    let output = live.memo(args).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), said)
}

fn add(live: &Live, text: &str) -> String {
    let added =
        call(live, "memory.add", json!({ "content": text, "force": true, "tags": ["t"], "client": "cli" }));
    added["memory"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_shared_already_is_no_memory_that_is_not_there() {
    let live = Live::new();
    let id = add(&live, "alpha is first");
    let (code, said) = memo(&live, &["unshare", &id]);
    assert!(code == Some(1) && said.contains("1 memory is not shared"), "{said}");
    memo(&live, &["share", &id]);
    let (code, said) = memo(&live, &["share", "--tag", "t"]);
    assert!(code == Some(1) && said.contains("1 memory is shared already"), "{said}");
    let (code, said) = memo(&live, &["share", "--tag", "none"]);
    assert!(code == Some(1) && said.contains("no such memories"), "{said}");
}

#[test]
fn one_memory_to_resolve_is_told_its_sides() {
    let live = Live::new();
    let id = add(&live, "alpha is ours");
    let (code, said) = memo(&live, &["resolve", &id]);
    assert!(code == Some(2) && said.contains("memo resolve WINNER LOSER"), "{said}");
    write_file(&live, &id, &file("alpha is theirs", ""));
    assert_eq!(listed(&live, &id).len(), 2);
    let (code, said) = memo(&live, &["resolve", &id]);
    assert_eq!(code, Some(2), "{said}");
    for option in ["in conflict", "--ours", "--theirs", "--text", "--both"] {
        assert!(said.contains(option), "{option}: {said}");
    }
}

#[test]
fn a_file_that_one_side_has_removed_is_ended_with_git() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is first");
    live.commit_all();
    live.git(&["checkout", "-q", "-b", "side"]);
    live.git(&["rm", "-q", &format!(".memod/memories/{id}.md")]);
    live.commit_all();
    live.git(&["checkout", "-q", "-"]);
    live.call("memory.update", json!({ "id": id, "content": "alpha is second" }));
    live.commit_all();
    live.git_may_fail(&["merge", "-q", "side"]);
    assert_eq!(get(&live, &id)["content"], "alpha is second");
    let (code, said) = memo(&live, &["resolve", &id, "--ours"]);
    assert!(code != Some(0) && said.contains("removed by theirs") || said.contains("removed"), "{said}");
    assert!(said.contains("git add") && said.contains("git rm"), "{said}");
}

#[test]
fn what_another_worktree_has_is_not_in_the_archive() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is first");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "--detach", "../side"]);
    live.call_in(&live.sandbox.path("side"), "memory.list", json!({}));
    let (code, said) = memo(&live, &["forget", &id, "--yes"]);
    assert!(code == Some(0) && said.contains("not in the archive"), "{said}");
    let (code, said) = memo(&live, &["restore", &id]);
    assert!(code == Some(0), "{said}");
    assert_eq!(listed(&live, &id).len(), 1);
}

#[test]
fn a_backup_replaces_no_file() {
    let live = Live::new();
    add(&live, "alpha is first");
    let path = live.sandbox.path("taken.db");
    fs::write(&path, "mine").unwrap();
    let (code, said) = memo(&live, &["backup", path.to_str().unwrap()]);
    assert!(code != Some(0) && said.contains("the file exists already"), "{said}");
    assert!(said.contains("name another file"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn an_import_that_differs_only_in_whose_it_is_is_not_newer() {
    let (from, live) = (Live::new(), Live::new());
    add(&from, "alpha is first");
    let path = live.sandbox.path("memories.jsonl");
    assert_eq!(memo(&from, &["export", "--out", path.to_str().unwrap()]).0, Some(0));
    let path = path.to_str().unwrap();
    assert_eq!(memo(&live, &["import", path]).0, Some(0));
    let (code, said) = memo(&live, &["import", "--own", path]);
    assert!(
        code == Some(1) && said.contains("both versions are equally old") && said.contains("--merge"),
        "{said}"
    );
    let (code, said) = memo(&live, &["import", "--own", "--merge", path]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn an_import_that_changes_a_shared_memory_leaves_it_shared() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is first");
    let path = live.sandbox.path("memories.jsonl");
    memo(&live, &["export", "--out", path.to_str().unwrap()]);
    let text = fs::read_to_string(&path).unwrap();
    let newer =
        text.replace("alpha is first", "alpha is second").replace("\"updated\":\"2", "\"updated\":\"3");
    assert_ne!(newer, text);
    fs::write(&path, newer).unwrap();
    memo(&live, &["import", "--own", "--merge", path.to_str().unwrap()]);
    let memory = get(&live, &id);
    assert_eq!([&memory["content"], &memory["scope"]], ["alpha is second", "repo"], "{memory}");
    let history = call(&live, "memory.history", json!({ "ids": [id] }));
    let changes = history["changes"].as_array().unwrap();
    let import = changes.iter().rev().find(|change| change["fields"].get("content").is_some()).unwrap();
    for field in ["scope", "shared"] {
        assert!(import["fields"].get(field).is_none(), "{import}");
    }
}
