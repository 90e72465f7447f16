//! Does the real client start the real daemon, and get its answers?

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::live::{Live, memo};

/// Searches and returns the paths of the hits; the answer must be fresh.
fn paths(live: &Live, query: &str) -> String {
    let (_, result) = memo(live, &["search", "--wait-ms", "60000", "--mode", "keyword", query]);
    assert_eq!((&result["fresh"], &result["reason"]), (&Value::Bool(true), &Value::Null), "{result}");
    let paths = result["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap());
    paths.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_search_starts_indexes_and_follows_changes() {
    let live = Live::idle();
    live.write("guide.md", "# Guide\n\nThe walrus sings.\n");
    assert_eq!(paths(&live, "walrus"), "guide.md");
    live.write("guide.md", "# Guide\n\nThe ostrich runs.\n");
    live.write("other.md", "# Other\n\nOne more ostrich.\n");
    assert_eq!(paths(&live, "walrus"), "");
    assert_eq!(paths(&live, "ostrich").split(' ').count(), 2);
    live.remove("guide.md");
    assert_eq!(paths(&live, "ostrich"), "other.md");
}

#[test]
fn a_map_says_where_nothing_is_to_lean_to() {
    let live = Live::idle();
    live.write("src/lib.rs", "pub fn walrus() {}\n");
    live.write("docs/a.md", "# A\n");
    fs::write(live.sandbox.path("outside.rs"), "fn ostrich() {}\n").unwrap();
    let src = live.root().join("src");
    let src = src.to_str().unwrap();
    let focus = ["lib.rs", "../src", "..", "nope", "../docs", "../../outside.rs"];
    let args: Vec<_> = ["-C", src, "map", "--focus"].into_iter().chain(focus).collect();
    let (code, map) = memo(&live, &args);
    assert_eq!((code, &map["unfocused"]), (0, &json!(["nope", "../docs", "../../outside.rs"])), "{map}");
    let output = live.memo(&args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("memo: --focus ../docs: no file with symbols\n"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "lib.rs\n    1: pub fn walrus() {}\n");
}

#[test]
fn a_map_shows_no_credentials() {
    let live = Live::idle();
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    live.write("src/lib.rs", format!("pub const WALRUS: &str = \"{token}\";\n"));
    let (_, map) = memo(&live, &["map"]);
    assert_eq!(map["text"], "src/lib.rs\n    1: pub const WALRUS: &str = \"[REDACTED]\";\n");
}

#[test]
fn init_stop_and_restart_meet_one_daemon() {
    let live = Live::idle();
    live.write("a.md", "# A\n");
    let (code, report) = memo(&live, &["init"]);
    assert_eq!((code, &report["files"], &report["fresh"]), (0, &Value::from(1), &Value::Bool(true)));
    let first = live.endpoint();
    assert_eq!(memo(&live, &["init"]).0, 0, "again does no harm");
    assert_eq!(live.endpoint(), first, "one daemon");
    #[cfg(target_os = "linux")]
    {
        let stat = fs::read_to_string(format!("/proc/{}/stat", first.pid)).unwrap();
        // proc_pid_stat(5): after the name come state, ppid, pgrp, session.
        let session = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(3));
        assert_eq!(session, Some(first.pid.to_string().as_str()), "a session of its own");
    }
    let (_, restarted) = memo(&live, &["restart"]);
    assert_eq!(restarted["before"], first.pid);
    assert_ne!(live.endpoint().pid, first.pid);
    assert_eq!(memo(&live, &["stop"]).1["stopped"], true);
    assert!(!Path::new(&first.socket).exists(), "the socket is gone");
    assert_eq!(memo(&live, &["stop"]).1["stopped"], false);
}

#[test]
fn init_may_leave_the_index_for_later() {
    let live = Live::idle();
    live.write("a.md", "# Alpha of A\n");
    let shown = live.sandbox.show(&mut live.memo(&["init", "--no-index"]));
    assert!(shown.starts_with("exit 0\nout: repository "), "{shown}");
    assert!(shown.contains("out: index      left for the next search, or `memo sync`\n"), "{shown}");
    // What had begun would end first.
    assert_eq!(memo(&live, &["stop"]).1["stopped"], true);
    let index = || Connection::open(live.layout().state_dir.join("index.db")).unwrap();
    let count = || index().query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, u64>(0)).unwrap();
    assert_eq!(count(), 0, "nothing is indexed");
    let (code, report) = memo(&live, &["init", "--no-index"]);
    assert_eq!((code, &report["indexed"]), (0, &Value::Bool(false)), "again does no harm: {report}");
    memo(&live, &["stop"]);
    assert_eq!(count(), 0);
    let (code, found) = memo(&live, &["search", "alpha", "--wait-ms=60000"]);
    assert_eq!((code, &found["hits"][0]["path"]), (0, &json!("a.md")), "a search makes the index: {found}");
    assert!(count() > 0);
    assert_eq!(memo(&live, &["init", "--no-index", "--force"]).0, 2, "these say the opposite");
}

#[test]
fn doctor_finds_nothing_wrong() {
    let live = Live::idle();
    let (code, report) = memo(&live, &["doctor"]);
    assert_eq!(code, 0, "{report}");
}
