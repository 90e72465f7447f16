//! Does the daemon go on, and say so, when one of its threads panics?
//!
//! The panics are real: the standard library panics when the system gives no random bytes to seed a hash map with, or
//! does not know what time it is. A library that is loaded before libc refuses them to one thread of the daemon, by its
//! name.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, memo, not_checked, until};

const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
static int n_left;
__attribute__((constructor)) static void start(void) { n_left = atoi(getenv("FAIL_TIMES")); }
static int fails(const char *call) {
    char name[17] = "";
    prctl(PR_GET_NAME, name);
    int is_meant = !strcmp(call, getenv("FAIL_CALL")) && !strcmp(name, getenv("FAIL_THREAD"));
    if (!is_meant || __atomic_fetch_sub(&n_left, 1, __ATOMIC_SEQ_CST) <= 0) return 0;
    errno = EIO;
    return 1;
}
ssize_t getrandom(void *bytes, size_t n_bytes, unsigned flags) {
    return fails("getrandom") ? -1 : syscall(SYS_getrandom, bytes, n_bytes, flags);
}
int clock_gettime(clockid_t clock, struct timespec *time) {
    return clock == CLOCK_REALTIME && fails("clock_gettime") ? -1 : (int)syscall(SYS_clock_gettime, clock, time);
}
"#;
/// What the standard library says then.
const SAID: &str = "failed to generate random data";
/// More often than anything is tried here.
const ALWAYS: usize = 1_000_000;

/// Builds the library; none where that is not possible.
fn library(live: &Live) -> Option<PathBuf> {
    let (source, library) = (live.sandbox.path("tmp/fail.c"), live.sandbox.path("tmp/fail.so"));
    fs::write(&source, LIBRARY).unwrap();
    let cc = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    let is_built = cfg!(target_os = "linux") && cc.is_ok_and(|status| status.success());
    if !is_built {
        not_checked("threads that panic: no C compiler, or no Linux");
    }
    is_built.then_some(library)
}

/// Starts the daemon; in its thread of this name so many calls fail. Returns whether that is possible here.
fn start_with_panics(live: &Live, thread: &str, call: &str, times: usize) -> bool {
    let Some(library) = library(live) else { return false };
    let mut memod = live.memod();
    memod.env("LD_PRELOAD", library).env("FAIL_CALL", call);
    memod.env("FAIL_THREAD", thread).env("FAIL_TIMES", times.to_string());
    live.start_as(&mut memod);
    true
}

/// As [`start_with_panics`]: the thread panics at each of its first hash maps.
fn start_without_random(live: &Live, thread: &str, times: usize) -> bool {
    start_with_panics(live, thread, "getrandom", times)
}

fn log(live: &Live) -> String {
    fs::read_to_string(live.layout().log_file()).unwrap()
}

fn search(live: &Live, word: &str, level: &str) -> Value {
    live.call("search", json!({ "query": word, "sync": level, "wait_ms": PATIENCE.as_millis() }))
}

fn degraded(live: &Live) -> String {
    live.call("status", json!({}))["degraded"].to_string()
}

#[test]
fn the_embedder_passes_over_what_it_panics_on() {
    let live = Live::idle();
    live.write("a.md", "# A\n\nalpha");
    if !start_without_random(&live, "embed", ALWAYS) {
        return;
    }
    let found = search(&live, "alpha", "full");
    assert_eq!((&found["fresh"], &found["hits"][0]["path"]), (&json!(true), &json!("a.md")), "{found}");
    let said = "the model fails on a.md:1-3, which only words find; the log says why";
    assert_eq!(found["degraded"], json!([format!("knn: {said}")]));
    let of_status = format!("embeddings: {}: {said}", live.root().display());
    assert!(degraded(&live).contains(&of_status), "{}", degraded(&live));
    let checks = live.call("doctor", json!({}))["checks"].clone();
    assert!(checks.as_array().unwrap().iter().any(|check| check["detail"] == of_status.as_str()), "{checks}");
    assert!(log(&live).contains(SAID));
    live.kill();

    live.start();
    assert_eq!(
        search(&live, "alpha", "full")["degraded"],
        json!([format!("knn: {said}")]),
        "it is remembered"
    );
    live.write("a.md", "# A\n\nalpha beta");
    let found = search(&live, "beta", "full");
    assert_eq!((&found["fresh"], &found["degraded"]), (&json!(true), &json!([])), "once it is another text");
    assert_eq!(found["pending"]["embeddings"], 0);
}

#[test]
fn the_memories_are_kept_by_a_thread_that_is_started_anew() {
    let live = Live::new();
    assert_eq!(memo(&live, &["add", "the first memory"]).0, 0);
    live.kill();
    if !start_without_random(&live, "memory", 2) {
        return;
    }
    let (code, added) = memo(&live, &["add", "the second memory"]);
    assert_eq!(code, 0, "{added}");
    let (code, listed) = memo(&live, &["list"]);
    assert_eq!((code, listed["memories"].as_array().unwrap().len()), (0, 2), "{listed}");
    let said = format!("memories: their thread panicked and was restarted: {SAID}");
    assert!(degraded(&live).contains(&said), "{}", degraded(&live));
    live.kill();
    live.start();
    assert_eq!(degraded(&live), "[]");
    assert_eq!(memo(&live, &["list"]).1["memories"].as_array().unwrap().len(), 2);
}

#[test]
fn memories_that_no_thread_can_keep_are_refused_by_name() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "before");
    assert_eq!(memo(&live, &["add", "the first memory"]).0, 0);
    live.kill();
    if !start_without_random(&live, "memory", ALWAYS) {
        return;
    }
    let said = format!("the thread that owns the memories panicked 4 times in 5 minutes: {SAID}");
    until("it is given up", || memo(&live, &["list"]).1["error"]["message"].as_str() == Some(&said));
    let (code, refused) = memo(&live, &["add", "the second memory"]);
    assert_eq!((code, &refused["error"]["message"]), (3, &json!(said)), "{refused}");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("`memo daemon restart`"), "{refused}");
    let found = search(&live, "alpha", "fs");
    assert_eq!((&found["fresh"], &found["hits"][0]["path"]), (&json!(false), &json!("a.md")), "{found}");
    assert!(found["degraded"].to_string().contains(&format!("memories: {said}")), "{found}");
    live.kill();
    live.start();
    assert_eq!(memo(&live, &["list"]).1["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn an_index_whose_writing_panics_is_behind_and_then_is_not() {
    for (thread, call, times) in [("reconcile", "getrandom", 2), ("writer", "clock_gettime", 1)] {
        let live = Live::idle();
        live.write("a.md", "alpha");
        live.commit_all();
        if !start_with_panics(&live, thread, call, times) {
            return;
        }
        until("the index is built", || {
            let params = json!({ "query": "alpha", "cwd": live.root(), "wait_ms": 1_000 });
            let found = live.rpc().call("search", &params);
            found.is_ok_and(|found| found["fresh"] == true && found["hits"][0]["path"] == "a.md")
        });
        assert!(log(&live).contains(": panic panic="), "{thread} panicked");
        assert!(!live.has_ended());
        assert_eq!(degraded(&live), "[]", "{thread}");
    }
}

#[test]
fn a_file_whose_reader_panics_is_left_out_until_it_can_be_read() {
    let live = Live::idle();
    for number in 0..9 {
        live.write(&format!("f{number}.md"), "alpha");
    }
    if !start_with_panics(&live, "read-0", "clock_gettime", 1) {
        return;
    }
    let (files, skipped) = live.listed();
    assert_eq!((files.len(), skipped.len()), (8, 1), "{files:?}, {skipped:?}");
    let left_out = skipped[0].strip_suffix(" unreadable").unwrap_or_else(|| panic!("{skipped:?}"));
    assert!(log(&live).contains("reading the file panicked; it is left out"));
    live.write(left_out, "beta");
    live.expect("beta", left_out, "it can be read");
    assert_eq!(live.listed().1, [""; 0]);
}

#[test]
fn a_daemon_whose_loop_panics_ends_and_another_serves() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    if !start_without_random(&live, "loop", ALWAYS) {
        return;
    }
    let pid = live.endpoint().pid;
    let _ = live.rpc().call("status", &json!({ "cwd": live.root() })); // what it answers is of no matter
    live.wait_for_end();
    assert!(log(&live).contains("the loop panicked"));
    let (code, status) = memo(&live, &["status"]);
    assert!(code == 0 && status["daemon"]["pid"] != pid, "{status}");
}
