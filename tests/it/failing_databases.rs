//! Databases that cannot be read for a moment: they are not damaged, and nothing is put in their place.
//!
//! The faults are real: strace fails the reads of the real daemon.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;
use std::time::Instant;

use memod_proto::Ready;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, until, word};
use crate::memories::{add, beside, stop};
use crate::transient::inject;

/// What the answers before a good one are about.
const SAID: &str = "disk I/O error";

/// Which reads of each thread fail, at the start at most as many as are tried again. The later ones fail in the midst of a
/// statement.
const WHEN: [&str; 7] = ["60..63", "20", "9..12", "5..8", "3..6", "2..3", "1..6"];

/// Starts the daemon so that some reads of the file fail; returns whether that is possible here.
fn start(live: &Live, file: &str, error: &str, when: &str) -> bool {
    let path = live.layout().state_dir.join(file);
    let command = inject(live, "pread64", error, path.to_str().unwrap(), when);
    command.map(|mut command| live.start_as(&mut command)).is_some()
}

/// Ends the fault: every thread that begins would fail anew.
fn lift(live: &Live) {
    let status = format!("/proc/{}/status", live.endpoint().pid);
    let tracer = || {
        let status = fs::read_to_string(&status).unwrap();
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).unwrap();
        Pid::from_raw(tracer.trim().parse().unwrap())
    };
    if let Some(strace) = tracer() {
        kill_process(strace, Signal::TERM).unwrap();
        until("strace lets go", || tracer().is_none());
    }
}

/// Asks, ends the fault, and asks until an answer satisfies `is_good`. Asserts that each one before it says what fails.
fn answer_at_last(live: &Live, method: &str, mut params: Value, is_good: fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    params["cwd"] = json!(live.root());
    for number in 0.. {
        if number == 1 {
            lift(live);
        }
        match live.rpc().call(method, &params) {
            Ok(answer) if is_good(&answer) => return answer,
            Ok(answer) => assert!(answer["reason"].to_string().contains(SAID), "{answer}"),
            Err(error) => assert!(error["message"].to_string().contains(SAID), "{error}"),
        }
        assert!(Instant::now() < deadline, "no answer to {method}");
    }
    unreachable!("the deadline comes first")
}

#[test]
fn an_index_that_cannot_be_read_for_a_moment_stays() {
    let live = Live::idle();
    live.start();
    let index_db = live.layout().state_dir.join("index.db");
    let inode = fs::metadata(&index_db).unwrap().ino();
    let faults = [("index.db", "EIO"), ("index.db-wal", "EIO"), ("index.db", "ENXIO")];
    let cases = faults.iter().flat_map(|fault| WHEN.iter().map(move |when| (fault, when)));
    for (number, ((file, error), when)) in cases.enumerate() {
        live.kill(); // the log is left
        live.write("b.md", word(number));
        if !start(&live, file, error, when) {
            return;
        }
        let params = json!({ "query": word(number), "mode": "keyword", "wait_ms": PATIENCE.as_millis() });
        let found = answer_at_last(&live, "search", params, |answer| answer["fresh"] == true);
        assert_eq!(found["hits"][0]["path"], "b.md", "{file} {error} {when}");
        assert_eq!(fs::metadata(&index_db).unwrap().ino(), inode, "{file} {error} {when}");
    }
}

#[test]
fn memories_that_cannot_be_read_for_a_moment_stay() {
    let live = Live::idle();
    live.start();
    add(&live, "the first fact");
    stop(&live); // makes a copy
    live.start();
    add(&live, "the second fact");
    let memory_db = live.layout().state_dir.join("memory.db");
    let inode = fs::metadata(&memory_db).unwrap().ino();
    let files = [("memory.db-wal", false), ("memory.db", true)];
    for ((file, ends), when) in files.iter().flat_map(|file| WHEN.iter().map(move |when| (file, when))) {
        if *ends {
            stop(&live); // all is in the one file
            live.wait_for_end();
        } else {
            live.kill(); // all is in the log
        }
        if !start(&live, file, "EIO", when) {
            return;
        }
        let listed = answer_at_last(&live, "memory.list", json!({}), |answer| answer["memories"].is_array());
        assert_eq!(listed["memories"].as_array().unwrap().len(), 2, "{listed}");
        assert_eq!(beside(&live, "memory.db.damaged"), [""; 0], "{file} {when}");
        assert_eq!(fs::metadata(&memory_db).unwrap().ino(), inode, "{file} {when}");
        let status = live.call("status", json!({}));
        assert!(!status["degraded"].to_string().contains("restored"), "{}", status["degraded"]);
    }
}

/// Nothing is begun in its place, and whoever wants the daemon is told of the disk.
#[test]
fn an_index_that_cannot_be_read_at_all_is_told_of() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.start();
    live.expect("alpha", "a.md", "before");
    stop(&live);
    live.wait_for_end();
    let index_db = live.layout().state_dir.join("index.db");
    let before = fs::read(&index_db).unwrap();
    let Some(mut memod) = inject(&live, "pread64", "EIO", index_db.to_str().unwrap(), "1+") else { return };
    let output = memod.stderr(Stdio::null()).output().unwrap();
    let said: Ready = serde_json::from_slice(&output.stdout).unwrap();
    let error = said.error.unwrap();
    assert!(!said.ready && error.contains(SAID) && error.contains("index.db"), "{error}");
    assert!(said.hint.unwrap().contains("check that file system and its disk"));
    assert!(fs::read(&index_db).unwrap() == before, "it is as it was");
    live.start();
    live.expect("alpha", "a.md", "after");
}
