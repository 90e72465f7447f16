//! Does the real client start the real daemon, and get its answers?

use std::fs;
use std::path::Path;

use memod::proto::Endpoint;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// A repository whose daemon is stopped at the end, also after a failure.
struct Whole(Sandbox);

impl Whole {
    fn new() -> Self {
        Self(Sandbox::new())
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path("work").join(name), text).unwrap();
    }

    /// Runs `memo` with the real daemon; returns the exit status and what it printed as JSON.
    fn ask(&self, line: &str) -> (Option<i32>, Value) {
        let args: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let mut command = self.0.memo(&args);
        let output = command.env("MEMO_DAEMON", env!("CARGO_BIN_EXE_memod")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let value = serde_json::from_slice(&output.stdout);
        (output.status.code(), value.unwrap_or_else(|error| panic!("memo {line}: {error}: {text}")))
    }

    /// Searches and returns the paths of the hits; the answer must be fresh.
    fn paths(&self, query: &str) -> String {
        let (_, result) = self.ask(&format!("search --wait-ms 60000 --mode keyword {query}"));
        assert_eq!((&result["fresh"], &result["reason"]), (&Value::Bool(true), &Value::Null), "{result}");
        let paths = result["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap());
        paths.collect::<Vec<_>>().join(" ")
    }

    fn endpoint(&self) -> Endpoint {
        let text = fs::read(self.0.place().endpoint_file()).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        let _ = self.0.memo(&["stop"]).output();
    }
}

#[test]
fn a_search_starts_indexes_and_follows_changes() {
    let whole = Whole::new();
    whole.write("guide.md", "# Guide\n\nThe walrus sings.\n");
    assert_eq!(whole.paths("walrus"), "guide.md");
    whole.write("guide.md", "# Guide\n\nThe ostrich runs.\n");
    whole.write("other.md", "# Other\n\nOne more ostrich.\n");
    assert_eq!(whole.paths("walrus"), "");
    assert_eq!(whole.paths("ostrich").split(' ').count(), 2);
    fs::remove_file(whole.0.path("work/guide.md")).unwrap();
    assert_eq!(whole.paths("ostrich"), "other.md");
}

#[test]
fn init_stop_and_restart_meet_one_daemon() {
    let whole = Whole::new();
    whole.write("a.md", "# A\n");
    let (code, report) = whole.ask("init");
    assert_eq!((code, &report["files"], &report["fresh"]), (Some(0), &Value::from(1), &Value::Bool(true)));
    let first = whole.endpoint();
    assert_eq!(whole.ask("init").0, Some(0), "again does no harm");
    assert_eq!(whole.endpoint(), first, "one daemon");
    #[cfg(target_os = "linux")]
    {
        let stat = fs::read_to_string(format!("/proc/{}/stat", first.pid)).unwrap();
        // proc_pid_stat(5): after the name come state, ppid, pgrp, session.
        let session = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(3));
        assert_eq!(session, Some(first.pid.to_string().as_str()), "a session of its own");
    }
    let (_, restarted) = whole.ask("restart");
    assert_eq!(restarted["before"], first.pid);
    assert_ne!(whole.endpoint().pid, first.pid);
    assert_eq!(whole.ask("stop").1["stopped"], true);
    assert!(!Path::new(&first.socket).exists(), "the socket is gone");
    assert_eq!(whole.ask("stop").1["stopped"], false);
}

#[test]
fn doctor_finds_nothing_wrong() {
    let whole = Whole::new();
    let (code, report) = whole.ask("doctor");
    assert_eq!(code, Some(0), "{report}");
}
