//! Is a backup made and restored once, also where the daemon is killed in the middle of it?

use std::fs;

use serde_json::json;

use super::{add, call, db, texts};
use crate::live::{Live, until};

/// Most kills until one is in the middle of a backup.
const ROUNDS: u32 = 20;

#[test]
fn a_restoration_that_is_asked_for_again_names_what_it_replaced() {
    let live = Live::new();
    add(&live, "one");
    let backup = call(&live, "memory.backup", json!({}))["path"].clone();
    add(&live, "two");
    let restore = || call(&live, "memory.restore_backup", json!({ "path": backup, "request": "restore-1" }));
    let first = restore();
    live.kill(); // the client has no answer, and asks the next daemon
    live.start();
    let second = restore();
    assert_eq!((&first["kept"], &first["here"]), (&second["kept"], &second["here"]), "{second}");
    assert_eq!(texts(&live), ["one"]);
    call(&live, "memory.restore_backup", json!({ "path": second["kept"] }));
    assert_eq!(texts(&live), ["one", "two"], "it has the former memories");
}

#[test]
fn what_an_unfinished_restoration_has_copied_is_not_the_latest_backup() {
    let live = Live::new();
    add(&live, "one");
    call(&live, "memory.backup", json!({}));
    add(&live, "two");
    // As a daemon leaves it that is killed before it replaces anything.
    let copy = call(&live, "memory.backup", json!({}))["path"].as_str().unwrap().to_owned();
    let replaced = copy.replace("-asked", "-replaced");
    fs::rename(&copy, &replaced).unwrap();
    let shown = call(&live, "memory.restore_backup", json!({ "dry_run": true }));
    assert_ne!(shown["path"], json!(replaced), "{shown}");
}

#[test]
fn nothing_stays_of_a_backup_that_was_not_completed() {
    let live = Live::new();
    for n in 0..20 {
        let content = format!("{n} {}", format!("word{n} ").repeat(8_000));
        call(&live, "memory.add", json!({ "content": content, "force": true }));
    }
    let dir = live.sandbox.path("backups");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("kept.db.part"), "somebody's").unwrap();
    let unfinished = || -> Vec<String> {
        let entries = fs::read_dir(&dir).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".part") && name != "kept.db.part").collect()
    };
    let is_left = (0..ROUNDS).any(|round| {
        let path = dir.join(format!("{round}.db"));
        let params = json!({ "cwd": live.root(), "path": path });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "memory.backup", "params": params });
        live.connect().send(format!("{request}\n"));
        until("the backup has begun", || !unfinished().is_empty() || path.exists());
        live.kill();
        let is_left = !unfinished().is_empty();
        live.start();
        until("the next daemon has removed what was left", || unfinished().is_empty());
        is_left
    });
    assert!(is_left, "{ROUNDS} backups were completed before the daemon was killed");
    assert_eq!(fs::read_to_string(dir.join("kept.db.part")).unwrap(), "somebody's");
    let record = db(&live).with_file_name("backups").join("unfinished");
    until("nothing says that one is unfinished", || !record.exists());
    let made = call(&live, "memory.backup", json!({ "path": dir.join("whole.db") }));
    assert_eq!(made["memories"], 20, "{made}");
    assert!(unfinished().is_empty() && !record.exists());
}
