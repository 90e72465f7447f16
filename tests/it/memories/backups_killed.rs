//! Is a backup made and restored once, also where the daemon is killed in the middle of it?

use std::fs;

use serde_json::json;

use super::{add, call, texts};
use crate::live::Live;

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
    let backup = call(&live, "memory.backup", json!({}))["path"].clone();
    add(&live, "two");
    // As a daemon leaves it that is killed before it replaces anything.
    let copy = call(&live, "memory.backup", json!({}))["path"].as_str().unwrap().to_owned();
    fs::rename(&copy, copy.replace("-asked", "-replaced")).unwrap();
    let shown = call(&live, "memory.restore_backup", json!({ "dry_run": true }));
    assert_eq!((&shown["path"], &shown["only_here"]), (&backup, &json!(1)), "{shown}");
}
