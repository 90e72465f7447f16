//! Does what is removed go, and nothing else?

use std::process::Command;

use serde_json::json;

use super::{call, stop, texts};
use crate::live::{Live, until};

#[test]
fn what_is_shown_is_what_goes() {
    let live = Live::new();
    for (text, tag) in [("one", "a"), ("two", "a"), ("three", "b")] {
        call(&live, "memory.add", json!({ "content": text, "tags": [tag] }));
    }
    let shown = call(&live, "memory.forget", json!({ "tags": ["a"], "dry_run": true }));
    assert_eq!(shown["memories"].as_array().unwrap().len(), 2);
    assert_eq!(texts(&live).len(), 3, "a dry run changes nothing");
    call(&live, "memory.add", json!({ "content": "four", "tags": ["a"] }));
    let params = json!({ "cwd": live.root(), "tags": ["a"], "expect": shown["digest"] });
    let error = live.rpc().call("memory.forget", &params).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("changed since they were shown"), "{error}");
    assert_eq!(texts(&live).len(), 4);
    let shown = call(&live, "memory.forget", json!({ "tags": ["a"], "dry_run": true }));
    let gone = call(&live, "memory.forget", json!({ "tags": ["a"], "expect": shown["digest"] }));
    assert_eq!(gone["memories"], shown["memories"]);
    assert_eq!(texts(&live), ["three"]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["total"], 3);
    let id = archived["memories"][0]["id"].clone();
    call(&live, "memory.restore", json!({ "ids": [id] }));
    assert_eq!(texts(&live).len(), 2);
    assert_eq!(call(&live, "memory.purge", json!({}))["memories"].as_array().unwrap().len(), 2);
    assert_eq!(call(&live, "memory.stats", json!({}))["archived"], 0);
}

#[test]
fn what_is_purged_is_in_copies_alone() {
    let live = Live::new();
    let planted = json!({ "content": "plantedpurge", "title": "plantedpurge", "tags": ["plantedpurge"], "request": "r" });
    call(&live, "memory.add", planted);
    call(&live, "memory.add", json!({ "content": "stays" }));
    call(&live, "memory.forget", json!({ "match": "plantedpurge" }));
    assert_eq!(call(&live, "memory.purge", json!({}))["memories"].as_array().unwrap().len(), 1);
    stop(&live);
    let state = live.layout().state_dir;
    let found =
        Command::new("grep").args(["-arl", "--exclude-dir=backups", "plantedpurge"]).arg(&state).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
    assert_eq!(texts(&live), ["stays"]);
}

#[test]
fn what_is_over_is_archived_by_whoever_asks() {
    let live = Live::new();
    call(&live, "memory.add", json!({ "content": "stays" }));
    let added = call(&live, "memory.add", json!({ "content": "goes", "ttl": "10ms" }));
    until("it is over", || texts(&live) == ["stays"]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["archived_why"], "expired");
    call(&live, "memory.add", json!({ "content": "goes", "ttl": "1h" }));
    let history = call(&live, "memory.history", json!({ "ids": [added["memory"]["id"]] }));
    assert_eq!(history["changes"][1]["action"], "expire");
    let params = json!({ "cwd": live.root(), "ids": [added["memory"]["id"]] });
    let error = live.rpc().call("memory.restore", &params).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("has this text"), "{error}");
}

#[test]
fn what_is_over_is_deleted_where_that_is_wanted() {
    let live = Live::idle();
    let config = live.layout().config_file();
    std::fs::write(config, "[memory]\non_expiry = \"purge\"\n").unwrap();
    live.start();
    let stays = call(&live, "memory.add", json!({ "content": "stays", "request": "r1" }));
    let goes = call(&live, "memory.add", json!({ "content": "plantedend", "ttl": "300ms", "request": "r2" }));
    let (from, to) = (&stays["memory"]["id"], &goes["memory"]["id"]);
    call(&live, "memory.link", json!({ "from": from, "to": to }));
    until("it is over", || texts(&live) == ["stays"]);
    assert_eq!(call(&live, "memory.list", json!({ "archived": true }))["total"], 0);
    let history = call(&live, "memory.history", json!({ "ids": [from] }))["changes"].clone();
    assert_eq!(history[2]["fields"], json!({ "related_to": [to, null] }), "{history}");
    let again = call(&live, "memory.add", json!({ "content": "stays", "request": "r1" }));
    assert_eq!(again, stays, "what was asked before is still known");
    stop(&live);
    let state = live.layout().state_dir;
    let found =
        Command::new("grep").args(["-arl", "--exclude-dir=backups", "plantedend"]).arg(&state).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
}
