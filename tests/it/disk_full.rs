//! What is still to be had of a daemon when the disk is full?

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::live::{Live, Mounted, memo, not_checked, until};

/// Mounts a small file system on the state dir; none where this user may not.
fn small(state_dir: &Path) -> Option<Mounted<'_>> {
    let mounted = Mounted::at(state_dir, &["-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs"]);
    if mounted.is_none() {
        not_checked("a full disk: this user may not mount a tmpfs");
    }
    mounted
}

/// Starts a daemon whose state dir is on a small file system, with `alpha` in its index; none where this user may not mount.
fn served<'a>(live: &Live, state_dir: &'a Path) -> Option<Mounted<'a>> {
    let mounted = small(state_dir)?;
    live.write("a.md", "# A\n\nalpha");
    live.start();
    live.expect("alpha", "a.md", "before");
    Some(mounted)
}

/// Writes until not a byte more finds room; returns what is to be removed to make some.
fn fill(dir: &Path) -> PathBuf {
    let path = dir.join("filler");
    let mut file = fs::File::options().create(true).append(true).open(&path).unwrap();
    for size in [64 << 10, 4 << 10, 1] {
        while file.write(&vec![b'x'; size]).is_ok() {}
    }
    path
}

/// Searches; returns the answer as it came.
fn search(live: &Live, word: &str) -> Value {
    live.call("search", json!({ "query": word, "wait_ms": 10_000 }))
}

fn paths(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().filter_map(|hit| hit["path"].as_str()).collect()
}

/// Asserts that an answer comes from what there is, and says why that is not all.
fn assert_behind(live: &Live, answer: &Value) {
    let reason = answer["reason"].as_str().unwrap_or_default();
    let index_db = live.layout().state_dir.join("index.db");
    assert_eq!(answer["fresh"], false, "{answer}");
    assert!(reason.contains(&format!("{}: the disk is full", index_db.display())), "{reason}");
    assert!(reason.contains("free some space"), "{reason}");
}

#[test]
fn a_daemon_that_starts_on_a_full_disk_reads() {
    let live = Live::idle();
    let state_dir = live.layout().state_dir;
    let Some(_mounted) = served(&live, &state_dir) else { return };
    let (code, added) = memo(&live, &["add", "the first memory"]);
    assert_eq!(code, 0, "{added}");
    assert_eq!(memo(&live, &["stop"]).0, 0);
    live.wait_for_end();

    let filler = fill(&state_dir);
    live.write("b.md", (0..40_000).map(|number| format!("beta{number} ")).collect::<String>());
    live.start();
    let found = search(&live, "alpha");
    assert_eq!(paths(&found), ["a.md"], "{found}");
    assert_behind(&live, &found);
    let found = search(&live, "beta7");
    assert!(!paths(&found).contains(&"b.md"), "{found}");
    assert_behind(&live, &found);
    let status = live.call("status", json!({}));
    assert!(status["degraded"].to_string().contains("free some space"), "{}", status["degraded"]);

    let (code, listed) = memo(&live, &["list"]);
    assert_eq!((code, &listed["memories"][0]["content"]), (0, &json!("the first memory")), "{listed}");
    let (code, refused) = memo(&live, &["add", "the second memory"]);
    assert_eq!((code, &refused["error"]["code"]), (3, &json!("store")), "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("the disk is full"), "{refused}");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("free some space"), "{refused}");

    let pid = live.pid();
    fs::remove_file(filler).unwrap();
    until("the index catches up", || search(&live, "beta7")["fresh"] == true);
    live.expect("beta7", "b.md", "with room again");
    let (code, added) = memo(&live, &["add", "the third memory"]);
    assert_eq!(code, 0, "{added}");
    assert_eq!(live.pid(), pid, "without a restart");
    live.kill();
    live.start();
    live.expect("beta7", "b.md", "and by the next daemon");
    assert_eq!(memo(&live, &["list"]).1["memories"].as_array().unwrap().len(), 2);
}

#[test]
fn a_daemon_that_can_write_neither_its_log_nor_stderr_goes_on() {
    let live = Live::idle();
    let state_dir = live.layout().state_dir;
    let Some(_mounted) = served(&live, &state_dir) else { return };
    assert_eq!(memo(&live, &["stop"]).0, 0);
    live.wait_for_end();
    let log = live.layout().log_file();
    fs::remove_file(&log).unwrap(); // so there is no room for the first line
    let filler = fill(&state_dir);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    live.start_as(live.memod().stderr(full));
    assert_eq!(paths(&search(&live, "alpha")), ["a.md"]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "", "nothing could be written");
    fs::remove_file(filler).unwrap();
    assert_eq!(memo(&live, &["stop"]).0, 0);
    assert_eq!(live.wait_for_end(), Some(0));
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("lines that could not be written: ") && log.contains("stopping why="), "{log}");
}

/// Takes the vectors out of the databases, as if none had been computed yet, and kills the daemon: that leaves the files
/// beside the databases, without which none can be opened on a full disk.
fn remove_vectors(live: &Live, state_dir: &Path) {
    let run = |name: &str, sql: &str| {
        let conn = rusqlite::Connection::open(state_dir.join(name)).unwrap();
        conn.execute_batch(sql).unwrap();
        conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    };
    run("index.db", "UPDATE chunk SET vec_state = 0; DELETE FROM embedding;");
    run("memory.db", "DELETE FROM memory_vector;");
    live.kill();
}

#[test]
fn embedding_goes_on_once_there_is_room() {
    let live = Live::idle();
    let state_dir = live.layout().state_dir;
    let Some(_mounted) = small(&state_dir) else { return };
    // One that was just written is looked at again, which is a write.
    let write_old = |path: &str, text: &str| {
        live.write(path, text);
        live.sh(&format!("touch -d '2001-01-01' {path}"));
    };
    write_old("a.md", "# A\n\nalpha");
    live.start();
    live.expect("alpha", "a.md", "before");
    assert_eq!(memo(&live, &["add", "the first memory"]).0, 0);
    remove_vectors(&live, &state_dir);

    let filler = fill(&state_dir);
    live.start();
    let full =
        |live: &Live| live.call("search", json!({ "query": "alpha", "sync": "full", "wait_ms": 9_000 }));
    let found = full(&live);
    assert_eq!((&found["fresh"], paths(&found)), (&json!(false), vec!["a.md"]), "{found}");
    let said = format!("knn: {}: the disk is full; free some space", state_dir.join("index.db").display());
    let names = |found: &Value| found["degraded"].to_string().contains(&said);
    assert!(names(&found) && names(&search(&live, "alpha")), "{found}");
    let status = live.call("status", json!({}));
    assert!(status["degraded"].to_string().contains(&said.replace("knn", "embeddings")), "{status}");

    fs::remove_file(filler).unwrap();
    let found = full(&live);
    assert_eq!(
        (&found["fresh"], &found["degraded"]),
        (&json!(true), &json!([])),
        "who waits for it is served"
    );
    write_old("b.md", "beta");
    live.expect("beta", "b.md", "with room");
    let vectors = || live.call("doctor", json!({}))["checks"].to_string().contains("1 of 1 have a vector");
    until("the memory has its vector", vectors);

    remove_vectors(&live, &state_dir);
    let filler = fill(&state_dir);
    live.start();
    let found = full(&live);
    assert!(names(&found), "{found}");
    fs::remove_file(filler).unwrap();
    until("whoever asks wakes the embedder", || search(&live, "alpha")["degraded"] == json!([]));
    until("the memory has its vector", vectors);
}

#[test]
fn init_on_a_full_disk_says_so_at_once() {
    let live = Live::idle();
    let state_dir = live.layout().state_dir;
    let Some(_mounted) = served(&live, &state_dir) else { return };
    fill(&state_dir);
    live.write("b.md", (0..40_000).map(|number| format!("beta{number} ")).collect::<String>());
    let began = Instant::now();
    let (code, init) = memo(&live, &["init", "--no-hooks"]);
    let took = began.elapsed();
    assert_eq!((code, &init["fresh"]), (3, &json!(false)), "{init}");
    assert!(init["reason"].as_str().unwrap().contains("the disk is full"), "{init}");
    // A minute without progress would end it, too.
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// SQLite has no room for a new `-shm` file, without which only one process can read a database.
#[test]
fn a_daemon_that_starts_on_a_full_disk_without_shm_files_reads() {
    let live = Live::idle();
    let state_dir = live.layout().state_dir;
    let Some(_mounted) = served(&live, &state_dir) else { return };
    assert_eq!(memo(&live, &["add", "the first memory"]).0, 0);
    assert_eq!(memo(&live, &["stop"]).0, 0);
    live.wait_for_end();
    for name in ["index.db-shm", "memory.db-shm"] {
        let _ = fs::remove_file(state_dir.join(name)); // it may have gone with the daemon
    }
    let filler = fill(&state_dir);
    let (code, found) = memo(&live, &["search", "alpha"]);
    assert_eq!((code, paths(&found)), (0, vec!["a.md"]), "{found}");
    let (code, listed) = memo(&live, &["list"]);
    assert_eq!((code, &listed["memories"][0]["content"]), (0, &json!("the first memory")), "{listed}");
    let pid = live.endpoint().pid;
    let (code, restarted) = memo(&live, &["restart"]);
    assert_eq!(code, 0, "the databases are held by one process alone: {restarted}");
    assert_ne!(live.endpoint().pid, pid);
    let (code, found) = memo(&live, &["search", "alpha"]);
    assert_eq!((code, paths(&found)), (0, vec!["a.md"]), "{found}");

    fs::remove_file(filler).unwrap();
    live.write("b.md", "beta");
    live.expect("beta", "b.md", "with room");
    assert_eq!(memo(&live, &["add", "the second memory"]).0, 0);
    assert_eq!(memo(&live, &["stop"]).0, 0);
    live.start();
    live.expect("beta", "b.md", "by the next daemon");
    assert_eq!(memo(&live, &["list"]).1["memories"].as_array().unwrap().len(), 2);
}

#[test]
fn restarting_on_a_full_disk_takes_no_service_away() {
    let live = Live::idle();
    let state_dir = live.layout().state_dir;
    let Some(_mounted) = served(&live, &state_dir) else { return };
    fill(&state_dir);
    let (code, restarted) = memo(&live, &["restart"]);
    assert_eq!(code, 0, "{restarted}");
    let (code, found) = memo(&live, &["search", "alpha"]);
    assert_eq!((code, paths(&found)), (0, vec!["a.md"]), "{found}");
}
