//! Is what was done while a repository is read-only so in both places of its memories?

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::elsewhere::{read_only, while_read_only};
use super::{add, call, memo, stop, texts};
use crate::live::Live;

fn archived(live: &Live) -> Value {
    memo(live, &["list", "--archived"]).1["memories"][0]["content"].clone()
}

fn update(live: &Live, id: &str, text: &str) {
    call(live, "memory.update", json!({ "id": id, "content": text, "client": "cli" }));
}

fn file(live: &Live, id: &str) -> PathBuf {
    live.root().join(format!(".memod/memories/{id}.md"))
}

/// Runs something while `.git` alone is read-only; `None` where nothing can be mounted.
fn while_git_is_read_only(live: &Live, run: impl FnOnce()) -> Option<()> {
    stop(live);
    let git = live.root().join(".git");
    let mounted = read_only(&git)?;
    run();
    stop(live);
    drop(mounted);
    Some(())
}

#[test]
fn the_last_text_of_a_shared_memory_stays_where_its_file_is_gone() {
    let live = Live::new();
    let [gone, edited] = ["alpha old", "delta old"].map(|text| add(&live, text));
    call(&live, "memory.share", json!({ "ids": [gone, edited] }));
    let is_done = while_git_is_read_only(&live, || {
        texts(&live);
        update(&live, &gone, "alpha new");
        call(&live, "memory.forget", json!({ "ids": [gone] }));
        update(&live, &edited, "delta new");
        assert_eq!(archived(&live), "alpha new");
    });
    if is_done.is_none() {
        return;
    }
    assert_eq!(archived(&live), "alpha new");
    let known = call(&live, "memory.get", json!({ "ids": [edited] }))["memories"][0].clone();
    assert_eq!((&known["content"], &known["trust"]), (&json!("delta new"), &json!("own")), "{known}");
    let history = call(&live, "memory.history", json!({ "ids": [edited] })).to_string();
    assert!(!history.contains("whoever edited"), "{history}");
    call(&live, "memory.restore", json!({ "ids": [gone] }));
    assert!(fs::read_to_string(file(&live, &gone)).unwrap().contains("alpha new"));
    // What the file says holds, whatever a verb wrote to it before.
    while_git_is_read_only(&live, || {
        texts(&live);
        update(&live, &gone, "alpha newer");
    })
    .unwrap();
    let text = fs::read_to_string(file(&live, &gone)).unwrap();
    fs::write(file(&live, &gone), text.replace("alpha newer", "alpha typed")).unwrap();
    assert_eq!(texts(&live), ["alpha typed", "delta new"]);
}

#[test]
fn a_memory_whose_file_came_back_is_shared_in_both_places() {
    let live = Live::new();
    let id = add(&live, "text");
    call(&live, "memory.share", json!({ "ids": [id] }));
    if while_git_is_read_only(&live, || assert_eq!(texts(&live), ["text"])).is_none() {
        return;
    }
    fs::remove_file(file(&live, &id)).unwrap();
    assert!(texts(&live).is_empty());
    while_git_is_read_only(&live, || assert!(texts(&live).is_empty())).unwrap();
    assert_eq!(memo(&live, &["restore", &id]).0, 0);
    while_git_is_read_only(&live, || {
        let list = memo(&live, &["list"]).1;
        assert_eq!(list["memories"][0]["scope"], "repo", "{list}");
        update(&live, &id, "new");
        assert_eq!(texts(&live), ["new"]);
    })
    .unwrap();
    assert_eq!(texts(&live), ["new"]);
    assert!(fs::read_to_string(file(&live, &id)).unwrap().contains("\n\nnew\n"));
}

#[test]
fn a_conflict_that_ended_with_both_sides_has_ended_in_both_places() {
    let live = Live::new();
    let id = add(&live, "yours");
    fs::create_dir_all(live.root().join(".memod/memories")).unwrap();
    let theirs = "---\ntier: long\nauthor: Bob\ncreated: 2026-11-20T08:00:00Z\n---\n\ntheirs\n";
    fs::write(file(&live, &id), theirs).unwrap();
    assert_eq!(texts(&live), ["theirs", "yours"]);
    let listed = || {
        let list = memo(&live, &["list"]).1["memories"].clone();
        let rows = list.as_array().unwrap().iter();
        let mut rows: Vec<_> = rows
            .map(|memory| ["content", "id", "scope", "conflict"].map(|key| memory[key].to_string()))
            .collect();
        rows.sort();
        rows
    };
    let mut there = Vec::new();
    let is_done = while_git_is_read_only(&live, || {
        texts(&live);
        assert_eq!(memo(&live, &["resolve", &id, "--both"]).0, 0);
        there = listed();
        assert_eq!(there.len(), 2, "{there:?}");
    });
    if is_done.is_none() {
        return;
    }
    assert_eq!(listed(), there);
    assert_eq!(memo(&live, &["list", "--archived"]).1["memories"], json!([]));
    while_git_is_read_only(&live, || assert_eq!(listed(), there)).unwrap();
    assert_eq!(listed(), there);
}

#[test]
fn what_is_deleted_after_a_backup_was_restored_stays_deleted() {
    for is_by_backup in [false, true] {
        let live = Live::new();
        let backup = |name: &str| live.sandbox.path(name).to_str().unwrap().to_owned();
        let (empty, first) = (backup("empty.db"), backup("first.db"));
        let does = |args: &[&str]| assert_eq!(memo(&live, args).0, 0, "{args:?}");
        does(&["backup", &empty]);
        let id = add(&live, "alpha old");
        does(&["backup", &first]);
        update(&live, &id, "alpha new");
        if while_read_only(&live, || assert_eq!(texts(&live), ["alpha new"])).is_none() {
            return;
        }
        does(&["restore-backup", &first, "--yes"]);
        assert_eq!(texts(&live), ["alpha old"]);
        match is_by_backup {
            true => does(&["restore-backup", &empty, "--yes"]),
            false => does(&["reset", "--yes"]),
        }
        while_read_only(&live, || assert!(texts(&live).is_empty())).unwrap();
        assert!(texts(&live).is_empty());
    }
}

#[test]
fn the_setting_that_was_made_last_holds() {
    let live = Live::new();
    let limit = || memo(&live, &["config", "get", "search.limit"]).1["value"].clone();
    let set = |value: &str| {
        assert!(live.memo(&["config", "set", "search.limit", value]).status().unwrap().success());
    };
    set("4");
    let is_done = while_read_only(&live, || {
        assert_eq!(limit(), json!(4));
        set("2");
        assert_eq!(limit(), json!(2));
    });
    if is_done.is_none() {
        return;
    }
    assert_eq!(limit(), json!(4));
    while_read_only(&live, || assert_eq!(limit(), json!(2))).unwrap();
    set("5");
    while_read_only(&live, || assert_eq!(limit(), json!(5))).unwrap();
}
