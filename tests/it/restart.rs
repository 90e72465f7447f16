//! Does a daemon serve on when the next one could not?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memod_client::{Client, ClientOptions};
use serde_json::Value;

use crate::live::{Live, memo, ran_without_privileges};

/// Makes the next daemon fail; returns the program that is to be it, where that is another one.
type Obstacle = fn(&Live) -> Option<PathBuf>;

/// What is in the way, and what is said of it.
const OBSTACLES: &[(&str, Obstacle, &[&str])] = &[
    ("a config file that is no TOML", no_toml, &["config.toml"]),
    ("a program that is not there", |live| Some(live.sandbox.path("nowhere/memod")), &["nowhere/memod"]),
    ("a program that cannot be run", not_executable, &["memod", "ermission denied"]),
    ("a program that ends at once", silent, &["exit status: 7"]),
    ("a directory for the socket that cannot be written", no_socket, &["run/memod", "ermission denied"]),
    ("an index of a newer version", newer_index, &["index.db", "newer memod"]),
    ("memories of a newer version", newer_memories, &["memory.db", "newer memod"]),
];

fn no_toml(live: &Live) -> Option<PathBuf> {
    fs::write(live.layout().config_file(), "search = [").unwrap();
    None
}

fn script(live: &Live, mode: u32) -> PathBuf {
    let path = live.sandbox.path("memod");
    fs::write(&path, "#!/bin/sh\nexit 7\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn not_executable(live: &Live) -> Option<PathBuf> {
    Some(script(live, 0o600))
}

fn silent(live: &Live) -> Option<PathBuf> {
    Some(script(live, 0o700))
}

fn socket_dir(live: &Live) -> PathBuf {
    live.sandbox.path("run/memod")
}

fn no_socket(live: &Live) -> Option<PathBuf> {
    fs::set_permissions(socket_dir(live), fs::Permissions::from_mode(0o500)).unwrap();
    None
}

fn newer(live: &Live, name: &str) {
    let db = rusqlite::Connection::open(live.layout().state_dir.join(name)).unwrap();
    db.pragma_update(None, "user_version", 999).unwrap();
}

fn newer_index(live: &Live) -> Option<PathBuf> {
    newer(live, "index.db");
    None
}

fn newer_memories(live: &Live) -> Option<PathBuf> {
    newer(live, "memory.db");
    None
}

/// Asserts that the daemon that was there at first is still there, and answers.
fn assert_serves(live: &Live, pid: u32, what: &str) {
    assert!(!live.has_ended(), "{what}");
    assert_eq!(live.pid(), pid, "{what}");
    live.expect("alpha", "a.md", what);
}

fn started(live: &Live) -> u32 {
    live.write("a.md", "alpha");
    live.start();
    live.expect("alpha", "a.md", "before");
    live.pid()
}

#[test]
fn a_restart_that_cannot_succeed_leaves_the_daemon_alone() {
    if ran_without_privileges("restart::a_restart_that_cannot_succeed_leaves_the_daemon_alone") {
        return;
    }
    for (what, obstacle, said) in OBSTACLES {
        let live = Live::idle();
        let pid = started(&live);
        let program = obstacle(&live);
        let mut restart = live.memo(&["restart", "--json"]);
        if let Some(program) = &program {
            restart.env("MEMO_DAEMON", program);
        }
        let output = restart.output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{what}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(said.iter().all(|said| message.contains(said)), "{what}: {answer}");
        assert_serves(&live, pid, what);
        fs::set_permissions(socket_dir(&live), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn a_daemon_that_is_too_old_stays_until_the_new_one_can_start() {
    let live = Live::idle();
    let pid = started(&live);
    let connect = |daemon: &Path| {
        let options = ClientOptions {
            start: true,
            index_on_demand: false,
            daemon: daemon.to_owned(),
            version: "99.0.0".to_owned(),
            answer_within: Duration::from_secs(20),
            ready_within: Duration::from_secs(20),
        };
        Client::connect(&live.layout(), &live.sandbox.env(), options)
    };
    let error = connect(&live.sandbox.path("nowhere/memod")).unwrap_err();
    assert!(error.to_string().contains("nowhere/memod"), "{error}");
    assert_serves(&live, pid, "a program that is not there");
}

#[test]
fn a_restart_that_can_succeed_does() {
    let live = Live::idle();
    let pid = started(&live);
    let (code, answer) = memo(&live, &["restart"]);
    assert_eq!((code, &answer["before"]), (0, &pid.into()), "{answer}");
    assert_ne!(answer["pid"], pid, "{answer}");
    live.wait_for_end();
    live.expect("alpha", "a.md", "after");
}
