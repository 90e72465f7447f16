//! Is an edit of a file as late as it was made?

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::add_shared;
use crate::live::{Live, memo_in};

fn append(dir: &Path, id: &str, text: &str) {
    let path = dir.join(format!(".memod/memories/{id}.md"));
    writeln!(File::options().append(true).open(path).unwrap(), "{text}").unwrap();
}

fn get(live: &Live, dir: &Path, id: &str) -> Value {
    memo_in(live, dir, &["get", id]).1["memories"][0].clone()
}

/// Clones the repository, whose memories are known there from then on.
fn cloned(live: &Live, name: &str) -> PathBuf {
    let dir = live.sandbox.path(name);
    live.git(&["clone", "-q", ".", dir.to_str().unwrap()]);
    live.git_in(&dir, &["config", "user.name", "Bob"]);
    live.git_in(&dir, &["config", "user.email", "bob@example.org"]);
    memo_in(live, &dir, &["list"]);
    dir
}

#[test]
fn an_older_text_does_not_replace_an_edit_of_the_file() {
    let live = Live::new();
    let [id, other] = ["alpha one", "bravo"].map(|text| add_shared(&live, text));
    live.commit_all();
    let clone = cloned(&live, "clone");
    let known = get(&live, &clone, &id);
    assert_eq!(known["updated"], super::get(&live, &id)["updated"], "a clone is no change");
    let exported = live.sandbox.path("all.jsonl");
    live.call("memory.update", json!({ "id": id, "content": "alpha older" }));
    assert!(live.memo(&["export", "-q", "--out"]).arg(&exported).status().unwrap().success());
    append(&clone, &id, "typed later");
    let edited = get(&live, &clone, &id);
    let older = super::get(&live, &id)["updated"].as_str().unwrap().to_owned();
    assert!(edited["updated"].as_str().unwrap() > &*older, "{edited}, {older}");
    memo_in(&live, &clone, &["import", "--own", "--merge", exported.to_str().unwrap()]);
    assert_eq!(get(&live, &clone, &id)["content"], "alpha one\ntyped later");
    memo_in(&live, &clone, &["update", &other, "--content", "bravo changed"]);
    append(&clone, &id, "and again");
    let (_, recent) = memo_in(&live, &clone, &["list", "--sort", "updated"]);
    assert_eq!(recent["memories"][0]["id"], json!(id), "{recent}");
    // A line that says a later time holds, and what changes nothing of the memory is no edit.
    let before = get(&live, &clone, &id)["updated"].clone();
    live.sh_in(&clone, &format!("sed -i.former 's/$/\\r/' .memod/memories/{id}.md"));
    assert_eq!(get(&live, &clone, &id)["updated"], before);
    memo_in(&live, &clone, &["stop"]);
}

#[test]
fn clones_agree_when_an_edit_was_made_that_came_by_git() {
    let live = Live::new();
    let id = add_shared(&live, "alpha one");
    live.commit_all();
    let [ann, bob, carol] = ["ann", "bob", "carol"].map(|name| cloned(&live, name));
    append(&bob, &id, "by Bob");
    live.git_in(&bob, &["commit", "-q", "-am", "edit", "--date", "2030-01-01T00:00:00Z"]);
    append(&bob, &id, "and more");
    let later = "2026-01-05T00:00:00Z";
    live.git_in(&bob, &["commit", "-q", "-am", "edit again", "--date", later]);
    let times = [&ann, &carol].map(|dir| {
        // A watcher may see the file before git has put the commit on the branch: then it is an edit that is not committed.
        memo_in(&live, dir, &["stop"]);
        live.git_in(dir, &["pull", "-q", bob.to_str().unwrap(), "HEAD"]);
        let memory = get(&live, dir, &id);
        assert_eq!(memory["content"], "alpha one\nby Bob\nand more");
        memory["updated"].clone()
    });
    assert_eq!(times[0], times[1]);
    [ann, bob, carol].iter().for_each(|dir| drop(memo_in(&live, dir, &["stop"])));
}
