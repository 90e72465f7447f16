//! Do memories reach others through git, and is nothing lost on the way?

#[cfg(unix)]
mod authors;
mod conflicts;
#[cfg(unix)]
mod edited;
mod files;
mod imported;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod notes;
#[cfg(unix)]
mod notes_killed;
#[cfg(unix)]
mod notes_placed;
#[cfg(unix)]
mod notes_sent;
mod own_beside_files;
mod own_in_archive;
mod remarks;
mod restored;
mod told;
#[cfg(unix)]
mod two_people;
#[cfg(unix)]
mod two_worktrees;
mod worktrees;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::live::Live;
use crate::memories::call;

/// Adds a memory and shares it; returns its id.
fn add_shared(live: &Live, text: &str) -> String {
    let added = call(live, "memory.add", json!({ "content": text, "force": true, "client": "cli" }));
    let id = added["memory"]["id"].as_str().unwrap().to_owned();
    let shared = call(live, "memory.share", json!({ "ids": [id] }));
    assert_eq!(shared["memories"][0]["id"], json!(id), "{shared}");
    id
}

fn path_of(live: &Live, id: &str) -> PathBuf {
    live.root().join(format!(".memod/memories/{id}.md"))
}

fn text_of(live: &Live, id: &str) -> String {
    fs::read_to_string(path_of(live, id)).unwrap()
}

fn write_file(live: &Live, id: &str, text: &str) {
    live.write(&format!(".memod/memories/{id}.md"), text);
}

/// Returns the file of a memory as somebody else writes it.
fn file(content: &str, lines: &str) -> String {
    format!("---\ntier: long\nauthor: Bob\ncreated: 2026-01-02T03:04:05Z\n{lines}---\n\n{content}\n")
}

fn get(live: &Live, id: &str) -> Value {
    call(live, "memory.get", json!({ "ids": [id] }))["memories"][0].clone()
}

/// Returns the living memories with this id, `ours` first.
fn listed(live: &Live, id: &str) -> Vec<Value> {
    let all = call(live, "memory.list", json!({ "limit": 1000 }))["memories"].clone();
    let mut found: Vec<Value> =
        all.as_array().unwrap().iter().filter(|memory| memory["id"] == id).cloned().collect();
    found.sort_by_key(|memory| memory["conflict"].to_string());
    found
}

/// Returns the actions in the history of a memory.
fn actions(live: &Live, id: &str) -> Vec<String> {
    let history = call(live, "memory.history", json!({ "ids": [id] }));
    let changes = history["changes"].as_array().unwrap();
    changes
        .iter()
        .map(|change| {
            format!("{}/{}", change["action"].as_str().unwrap(), change["source"].as_str().unwrap())
        })
        .collect()
}

/// Returns the hits of a search in memories: their ids.
fn found(live: &Live, words: &str) -> Vec<String> {
    let result = call(live, "search", json!({ "query": words, "kind": ["memory"], "mode": "keyword" }));
    result["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

/// Returns what `doctor` says about a file.
fn complaint(live: &Live, name: &str) -> Option<String> {
    let checks = call(live, "doctor", json!({}))["checks"].clone();
    let check = checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"].as_str().unwrap().ends_with(name))?
        .clone();
    assert_eq!(check["ok"], false, "{check}");
    Some(check["detail"].as_str().unwrap().to_owned())
}
