//! Reads that fail for a moment: no answer that says it is fresh lacks a file.
//!
//! The faults are real: strace fails the system calls of the real daemon, or it has too few descriptors.

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, not_checked, word};

/// How often each thread of the daemon fails on the path.
const TIMES: usize = 6;

/// Starts the daemon so that each thread's first calls of `syscall` on `path` fail. Returns whether that is possible here.
fn start_with_fault(live: &Live, syscall: &str, error: &str, path: &str) -> bool {
    let command = inject(live, syscall, error, path, &format!("1..{TIMES}"));
    command.map(|mut command| live.start_as(&mut command)).is_some()
}

/// Returns the command line of a daemon whose calls of `syscall` on `path` fail, of each thread those that `when` says;
/// none where that is not possible.
pub(crate) fn inject(live: &Live, syscall: &str, error: &str, path: &str, when: &str) -> Option<Command> {
    let strace = |args: &[&str]| {
        let mut command = live.sandbox.program("strace", &["-D", "-I2", "-f", "-qq", "-o", "/dev/null"]);
        command.args(args);
        command
    };
    if !strace(&["true"]).status().is_ok_and(|status| status.success()) {
        not_checked("reads that fail for a moment: strace cannot be run");
        return None;
    }
    let inject = format!("inject={syscall}:error={error}:when={when}");
    let trace = format!("trace={syscall}");
    let memod = live.memod();
    let mut command = strace(&["-P", path, "-e", &trace, "-e", &inject]);
    command.arg(memod.get_program()).args(memod.get_args());
    Some(command)
}

/// Asks until the answer is fresh, and asserts that it is right then: exactly these paths show the word. Returns the
/// reasons of the answers before it.
fn reasons_until_fresh(live: &Live, word: &str, paths: &[&str], level: &str) -> Vec<String> {
    let (mut reasons, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    loop {
        let params = json!({ "wait_ms": PATIENCE.as_millis(), "sync": level, "mode": "keyword" });
        let found = live.search_with(&live.root(), word, params);
        if found.fresh {
            let found: Vec<&str> = found.paths.iter().map(String::as_str).collect();
            assert_eq!(found, paths, "{word}, after {reasons:?}");
            return reasons;
        }
        reasons.push(found.reason.as_str().expect("who is not sure says why").to_owned());
        assert!(Instant::now() < deadline, "never fresh: {reasons:?}");
    }
}

fn files(live: &Live) -> Vec<Value> {
    let status = live.call("status", json!({ "files": true }));
    status["files"].as_array().unwrap().clone()
}

/// Indexes a worktree, changes it, and starts a daemon that fails on `path` at first. Asserts that `word` is in
/// `paths`, and in nothing else, whenever the daemon says that it is sure; and that it says why it is not.
#[derive(Clone, Copy)]
struct Fault<'a> {
    syscall: &'a str,
    /// `[ROOT]` is the worktree.
    path: &'a str,
    /// How the path shows in the reason.
    said: &'a str,
    /// What happens while no daemon runs.
    script: &'a str,
    word: &'a str,
    paths: &'a [&'a str],
}

fn check(fault: Fault<'_>, error: &str, message: &str) {
    let Fault { syscall, path, said, script, word, paths } = fault;
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.write("d/b.md", "beta");
    live.write(".gitignore", "*.log");
    live.write("kept.log", "kappa");
    live.write("other.log", "omicron");
    live.write("hidden.md", "hydrogen");
    live.write(".git/info/exclude", "hidden.md");
    live.git(&["add", "-f", "kept.log", "a.md", "d"]);
    live.git(&["commit", "-qm", "x"]);
    live.start();
    live.expect("beta", "d/b.md", "before");
    let before = files(&live);
    live.kill();
    live.sh(script);
    let path = path.replace("[ROOT]", live.root().to_str().unwrap());
    if !start_with_fault(&live, syscall, error, &path) {
        return;
    }
    let reasons = reasons_until_fresh(&live, word, paths, "fs");
    let named = |reason: &String| reason.contains(said) && reason.contains(message);
    assert!(reasons.iter().any(named), "{error} on {path} is not told: {reasons:?}");
    let after = files(&live);
    assert!(before.iter().all(|file| after.contains(file)), "{error} on {path}: {before:?}, {after:?}");
}

/// A file whose content changed: the old answer was fresh, and without it.
const A_FILE: Fault<'_> = Fault {
    syscall: "openat",
    path: "b.md",
    said: "/d/b.md: ",
    script: "echo gamma > d/b.md",
    word: "gamma",
    paths: &["d/b.md"],
};

#[test]
fn a_file_that_cannot_be_opened_for_a_moment() {
    let errors = [
        ("EIO", "Input/output error"),
        ("EMFILE", "Too many open files"),
        ("ENFILE", "Too many open files in system"),
        ("ENOMEM", "Cannot allocate memory"),
        ("EAGAIN", "Resource temporarily unavailable"),
        ("ESTALE", "Stale file handle"),
        ("ETIMEDOUT", "Connection timed out"),
        ("ENOBUFS", "No buffer space available"),
    ];
    for (error, message) in errors {
        check(A_FILE, error, message);
    }
}

#[test]
fn a_file_that_cannot_be_looked_at_for_a_moment() {
    check(Fault { syscall: "statx", path: "[ROOT]/d/b.md", ..A_FILE }, "EIO", "Input/output error");
}

/// The walk that finds it ignored cannot look at another file, and only that one is looked at again.
#[test]
fn what_is_ignored_now_leaves_while_another_file_cannot_be_looked_at() {
    let live = Live::idle();
    live.write("d/b.md", "beta");
    live.write("new.md", "hydrogen");
    live.start();
    live.expect("hydrogen", "new.md", "before");
    live.kill();
    live.write(".gitignore", "new.md");
    let path = live.root().join("d/b.md");
    if !start_with_fault(&live, "statx", "EIO", path.to_str().unwrap()) {
        return;
    }
    let reasons = reasons_until_fresh(&live, "hydrogen", &[], "fs");
    assert!(reasons.iter().any(|reason| reason.contains("/d/b.md: ")), "{reasons:?}");
}

#[test]
fn a_directory_that_cannot_be_listed_for_a_moment() {
    let (said, script) = ("/d: ", "echo gamma > d/c.md");
    let fault = Fault { syscall: "getdents64", path: "[ROOT]/d", said, script, paths: &["d/c.md"], ..A_FILE };
    check(fault, "ENOMEM", "Cannot allocate memory");
}

/// What it ignores would count, and the answer be fresh.
#[test]
fn an_ignore_file_that_cannot_be_read_for_a_moment() {
    let (path, said, script) = ("[ROOT]/.gitignore", "/.gitignore: ", "echo omicron > new.log");
    let fault = Fault { path, said, script, word: "omicron", paths: &[], ..A_FILE };
    check(fault, "EMFILE", "Too many open files");
}

/// As above, with what the user keeps from git in this repository.
#[test]
fn excludes_that_cannot_be_read_for_a_moment() {
    let (path, said) = ("[ROOT]/.git/info/exclude", "/info/exclude: ");
    check(Fault { path, said, word: "hydrogen", paths: &[], ..A_FILE }, "EIO", "Input/output error");
}

/// What is tracked although it is ignored would not count, and the answer be fresh.
#[test]
fn an_index_of_gits_that_cannot_be_read_for_a_moment() {
    let (path, said) = ("[ROOT]/.git/index", "/.git/index: ");
    let fault = Fault { path, said, word: "kappa", paths: &["kept.log"], ..A_FILE };
    check(fault, "EMFILE", "Too many open files");
}

/// Makes a commit and changes a file while no daemon runs, starts one that fails on `path` at first, and asks until the
/// answer is fresh. Asserts that `is_right` then, and that the error was told before.
fn check_past(path: &str, method: &str, params: &Value, is_right: impl Fn(&Value) -> bool) {
    let live = Live::idle();
    live.write("d/b.md", "beta");
    live.commit_all();
    live.start();
    live.expect("beta", "d/b.md", "before");
    live.kill();
    live.git(&["commit", "-q", "--allow-empty", "-m", "gamma ray"]);
    live.write("d/b.md", "delta");
    let oid = live.git(&["rev-parse", "HEAD"]);
    let object = format!("objects/{}/{}", &oid[..2], oid[2..].trim());
    let branch = live.git(&["symbolic-ref", "HEAD"]);
    let path = path.replace("[OBJECT]", &object).replace("[BRANCH]", branch.trim());
    let path = path.replace("[GIT]", live.root().join(".git").to_str().unwrap());
    if !start_with_fault(&live, "openat", "EIO", &path) {
        return;
    }
    let (mut reasons, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    // A search without hits reads no file: the threads that index have failed then, those that answer have not.
    let no_hit = json!({ "query": "xylophone", "kind": ["doc"], "mode": "keyword" });
    while method == "changed" && live.call("search", no_hit.clone())["fresh"] != true {
        assert!(Instant::now() < deadline, "never fresh");
    }
    loop {
        let answer = live.call(method, params.clone());
        if answer["fresh"] == json!(true) {
            assert!(is_right(&answer), "{path}, after {reasons:?}: {answer}");
            break;
        }
        reasons.push(answer["reason"].to_string());
        assert!(Instant::now() < deadline, "never fresh: {reasons:?}");
    }
    let is_told = reasons.iter().any(|reason| reason.contains("Input/output error"));
    assert!(is_told, "{path} is not told: {reasons:?}");
}

#[test]
fn commits_that_cannot_be_read_for_a_moment() {
    let params = json!({ "query": "gamma", "kind": ["commit"], "mode": "keyword", "wait_ms": 10_000 });
    let is_found = |answer: &Value| answer["hits"].as_array().is_some_and(|hits| hits.len() == 1);
    check_past("[GIT]/[BRANCH]", "search", &params, is_found);
    check_past("[GIT]/[OBJECT]", "search", &params, is_found);
}

/// Of a file that could not be read nothing was said, and the answer was fresh.
#[test]
fn a_changed_file_that_cannot_be_read_for_a_moment() {
    let params = json!({ "since": "HEAD", "wait_ms": 10_000 });
    check_past("b.md", "changed", &params, |answer| {
        answer["files"][0]["path"] == "d/b.md" && answer["files"][0]["status"] == "modified"
    });
}

/// Starts the daemon with at most so many descriptors, and no way to have more.
fn start_with_descriptors(live: &Live, n_descriptors: usize) {
    let memod = live.memod();
    let mut command =
        live.sandbox.program("prlimit", &[&format!("--nofile={n_descriptors}:{n_descriptors}")]);
    command.arg(memod.get_program()).args(memod.get_args());
    live.start_as(&mut command);
}

fn has_prlimit() -> bool {
    let found = Command::new("prlimit").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        not_checked("a daemon with few descriptors: prlimit is not there");
    }
    found
}

/// Writes `n_files` files, each with a word of its own that no earlier round had; returns the words.
fn write_round(live: &Live, round: usize, n_files: usize) -> Vec<String> {
    let words = (0..n_files).map(|file| word(round * n_files + file));
    words
        .enumerate()
        .inspect(|(file, word)| live.write(&format!("f{file}.md"), word))
        .map(|(_, word)| word)
        .collect()
}

#[test]
fn too_few_descriptors() {
    const N_FILES: usize = 65;
    if !has_prlimit() {
        return;
    }
    for (n_descriptors, n_connections) in [(64, 64), (1_024, 991)] {
        let live = Live::idle();
        write_round(&live, 0, N_FILES);
        start_with_descriptors(&live, n_descriptors);
        live.expect(&word(0), "f0.md", "before");
        let mut connections: Vec<_> = (0..n_connections).map(|_| live.connect()).collect();
        for (round, level) in ["fs", "strict"].into_iter().enumerate() {
            let words = write_round(&live, round + 1, N_FILES);
            for (file, word) in words.iter().enumerate() {
                reasons_until_fresh(&live, word, &[&format!("f{file}.md")], level);
            }
            assert_eq!(files(&live).len(), N_FILES);
            connections.clear();
        }
    }
}
