//! Do memories do what is promised of them?

mod acknowledged;
mod backups_killed;
#[cfg(unix)]
mod both_places;
mod consolidated;
mod copies;
mod damaged;
#[cfg(unix)]
mod elsewhere;
mod jumping_clock;
mod linked;
#[cfg(unix)]
mod own_files;
mod recalled;
mod refused;
mod removed;
mod repeated;
mod stamped;
mod superseded;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::live::{Live, memo};

pub(crate) fn add(live: &Live, text: &str) -> String {
    let (code, answer) = memo(live, &["add", text]);
    assert_eq!(code, 0, "{answer}");
    answer["memory"]["id"].as_str().unwrap().to_owned()
}

/// Returns the texts of all living memories, in order.
pub(crate) fn texts(live: &Live) -> Vec<String> {
    let (_, answer) = memo(live, &["list", "--all"]);
    let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    let mut texts: Vec<_> =
        memories.iter().map(|memory| memory["content"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

/// Asks the daemon that runs now, which need not be the one that was asked before.
pub(crate) fn call(live: &Live, method: &str, mut params: Value) -> Value {
    params["cwd"] = json!(live.root());
    let answer = live.connect().call(method, &params);
    answer.unwrap_or_else(|error| panic!("{method} {params}: {error}"))
}

/// Returns the message of a call that fails.
pub(crate) fn refusal(live: &Live, method: &str, mut params: Value) -> String {
    params["cwd"] = json!(live.root());
    let error = live.connect().call(method, &params).expect_err(method);
    error["message"].as_str().unwrap().to_owned()
}

pub(crate) fn db(live: &Live) -> PathBuf {
    live.layout().state_dir.join("memory.db")
}

pub(crate) fn stop(live: &Live) {
    assert!(live.memo(&["stop", "-q"]).output().unwrap().status.success());
}

/// Returns the names in the state dir that begin so.
pub(crate) fn beside(live: &Live, beginning: &str) -> Vec<String> {
    let entries = fs::read_dir(live.layout().state_dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(beginning)).collect()
}

pub(crate) fn is_whole(live: &Live) -> bool {
    let checks = call(live, "doctor", json!({}))["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "memory.db").unwrap();
    check["detail"].as_str().unwrap().starts_with("integrity_check: ok")
}
