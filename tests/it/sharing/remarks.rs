//! Do comments and unknown keys of the file of a memory come back with it, whichever way the file was gone?

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use super::{add_shared, get, listed, path_of, text_of, write_file};
use crate::live::Live;
use crate::memories::{call, db};

/// Lines of a front matter that only a person understands.
const COMMENT: &str = "# reviewed by Ann\n";
const KEYS: &str = "reviewed:\n  - twice\n\n  - in May\nowner: Ann\n";
/// A link to a memory that is not here.
const LINK: &str = "related_to:\n  - mem_01M7YYNZ2R27134HEGF8T0ZWFF\n";

/// Shares a memory, and adds such lines to its file.
fn remarked(live: &Live) -> String {
    let id = add_shared(live, "alpha is shared");
    let text = text_of(live, &id);
    let (front, content) = text[4..].split_once("---\n").unwrap();
    write_file(live, &id, &format!("---\n{COMMENT}{front}{LINK}{KEYS}---\n{content}"));
    assert_eq!(listed(live, &id).len(), 1);
    id
}

fn check(text: &str, what: &str) {
    assert!([COMMENT, KEYS, LINK].iter().all(|lines| text.contains(lines)), "{what}:\n{text}");
}

fn forget(live: &Live, id: &str) {
    call(live, "memory.forget", json!({ "ids": [id] }));
    assert!(!path_of(live, id).exists());
}

fn restore(live: &Live, id: &str) {
    call(live, "memory.restore", json!({ "ids": [id] }));
}

/// Restores a backup that was made before `change`.
fn restore_backup_after(live: &Live, change: impl FnOnce()) {
    let backup = call(live, "memory.backup", json!({}))["path"].clone();
    change();
    call(live, "memory.restore_backup", json!({ "path": backup }));
}

/// Takes the file of a memory away, and brings it back.
type Door = fn(&Live, &str);

const DOORS: [(&str, Door); 7] = [
    ("forget, restore", |live, id| {
        forget(live, id);
        restore(live, id);
    }),
    ("unshare, share", |live, id| {
        call(live, "memory.unshare", json!({ "ids": [id] }));
        assert!(!path_of(live, id).exists());
        call(live, "memory.update", json!({ "id": id, "content": "alpha is changed" }));
        call(live, "memory.share", json!({ "ids": [id] }));
    }),
    ("rm, restore", |live, id| {
        fs::remove_file(path_of(live, id)).unwrap();
        assert_eq!(listed(live, id).len(), 0);
        restore(live, id);
    }),
    ("forget, restore-backup", |live, id| restore_backup_after(live, || forget(live, id))),
    ("reset, restore-backup", |live, _| {
        restore_backup_after(live, || {
            let shown = call(live, "memory.reset", json!({ "dry_run": true }));
            call(live, "memory.reset", json!({ "expect": shown["digest"] }));
        });
    }),
    ("a restored backup in which it is forgotten, restore", |live, id| {
        forget(live, id);
        restore_backup_after(live, || restore(live, id));
        restore(live, id);
    }),
    ("forget, a damaged database, share", |live, id| {
        forget(live, id);
        live.kill();
        Connection::open(db(live)).unwrap().execute_batch("PRAGMA user_version = 3").unwrap();
        live.start();
        restore(live, id);
        call(live, "memory.share", json!({ "ids": [id] }));
    }),
];

#[test]
fn they_come_back_with_the_file() {
    for (what, door) in DOORS {
        let live = Live::new();
        let id = remarked(&live);
        door(&live, &id);
        check(&text_of(&live, &id), what);
        assert_eq!(listed(&live, &id).len(), 1, "{what}");
    }
}

#[test]
fn they_come_out_of_a_worktree_that_is_gone() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "--detach", "../side"]);
    let side = live.sandbox.path("side");
    let id = remarked(&live);
    let name = format!(".memod/memories/{id}.md");
    fs::create_dir_all(side.join(".memod/memories")).unwrap();
    fs::rename(path_of(&live, &id), side.join(&name)).unwrap();
    assert_eq!(live.call_in(&side, "memory.list", json!({}))["total"], 1);
    assert_eq!(listed(&live, &id).len(), 0);
    // It becomes a file of this worktree too.
    restore(&live, &id);
    check(&text_of(&live, &id), "a memory that another worktree has");
    fs::remove_file(path_of(&live, &id)).unwrap();
    live.git(&["worktree", "remove", "--force", "../side"]);
    assert_eq!(get(&live, &id)["archived_why"], "file");
    restore(&live, &id);
    check(&text_of(&live, &id), "a memory of a worktree that is gone");
}

#[test]
fn what_was_edited_or_taken_out_is_in_the_history() {
    let live = Live::new();
    let id = remarked(&live);
    live.commit_all();
    live.git(&["worktree", "add", "-q", "--detach", "../side"]);
    let side = live.sandbox.path("side");
    let there = side.join(format!(".memod/memories/{id}.md"));
    let edit = |from: &str, to: &str| {
        fs::write(&there, fs::read_to_string(&there).unwrap().replace(from, to)).unwrap();
        assert_eq!(live.call_in(&side, "memory.list", json!({}))["total"], 1);
    };
    edit("owner: Ann", "owner: Bob");
    edit("owner: Bob", "owner: Cid");
    live.call_in(&side, "memory.forget", json!({ "ids": [id] }));
    let history = call(&live, "memory.history", json!({ "ids": [id] })).to_string();
    assert!(history.contains("owner: Bob") && history.contains("owner: Cid"), "{history}");
    check(&text_of(&live, &id), "this worktree has its own");
}

#[test]
fn a_database_that_has_none_learns_them() {
    let live = Live::new();
    let id = remarked(&live);
    live.kill();
    let sql = "ALTER TABLE memory DROP COLUMN remarks; PRAGMA user_version = 15";
    Connection::open(db(&live)).unwrap().execute_batch(sql).unwrap();
    live.start();
    assert_eq!(listed(&live, &id).len(), 1);
    forget(&live, &id);
    restore(&live, &id);
    check(&text_of(&live, &id), "it was read again");
}
