//! What does `memo daemon events` print, and when does it end?

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::{add, at_rest};
use crate::live::{Live, until, word};

/// A running `memo daemon events`.
struct Follower {
    child: Child,
    /// `None` once nobody reads it any more.
    stdout: Option<BufReader<ChildStdout>>,
}

impl Follower {
    /// Starts it, and returns once it has printed a line, with that line.
    fn start(live: &Live, args: &[&str]) -> (Self, String) {
        let args = [&["events"], args].concat();
        let mut child = live.memo(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = Some(BufReader::new(child.stdout.take().unwrap()));
        let mut follower = Self { child, stdout };
        let line = follower.line(live);
        (follower, line)
    }

    /// Returns its next line, for which memories are added: no event tells when it listens.
    fn line(&mut self, live: &Live) -> String {
        let stdout = self.stdout.as_mut().unwrap();
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                let mut line = String::new();
                stdout.read_line(&mut line).unwrap();
                line
            });
            let mut number = 0;
            until("it prints", || {
                number += 1;
                let added = live.memo(&["add", "--force", &word(number)]).output().unwrap();
                assert!(added.status.success(), "{added:?}");
                reading.is_finished()
            });
            reading.join().unwrap()
        })
    }

    /// Waits for its end; returns the exit status and what it said.
    fn end(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

#[test]
fn a_line_for_each_event_until_there_are_enough() {
    let live = at_rest();
    for args in [
        &["-n", "1", "--json", "--topic", "memories"],
        &["-n", "1", "--format", "jsonl", "--topic=memories"] as &[&str],
    ] {
        let (mut follower, line) = Follower::start(&live, args);
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&event["topic"], &event["change"]), (&json!("memories"), &json!("add")), "{event}");
        assert_eq!(follower.end(), (Some(0), String::new()), "{args:?}");
    }
    let (mut follower, line) = Follower::start(&live, &["-n", "1", "--topic", "memories"]);
    let parts: Vec<_> = line.split_whitespace().collect();
    assert_eq!((parts[0].len(), &parts[1..3]), (24, &["memories", "add"][..]), "{line}");
    assert_eq!(follower.end(), (Some(0), String::new()));
}

#[test]
fn null_is_printed_where_it_says_something() {
    let live = at_rest();
    let mut child =
        live.memo(&["events", "--json", "--topic", "progress"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            lines.find_map(|line| {
                let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
                event["progress"].is_null().then_some(event)
            })
        });
        let mut number = 0;
        until("it prints", || {
            number += 1;
            live.write("b.md", word(number));
            live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
            reading.is_finished()
        });
        let event = reading.join().unwrap().unwrap();
        assert!(event.as_object().unwrap().contains_key("progress"), "{event}");
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn it_ends_quietly_when_nobody_reads() {
    let live = at_rest();
    let (mut follower, _) = Follower::start(&live, &["--topic", "memories"]);
    drop(follower.stdout.take());
    let mut number = 1_000;
    until("it ends", || {
        number += 1;
        add(&live, &word(number));
        follower.child.try_wait().unwrap().is_some()
    });
    assert_eq!(follower.end(), (Some(0), String::new()));
}

#[test]
fn it_goes_on_with_the_next_daemon_and_says_so() {
    let live = at_rest();
    let (mut follower, _) = Follower::start(&live, &["--topic", "memories", "--json"]);
    let stopped = live.memo(&["stop"]).output().unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
    assert_eq!(live.wait_for_end(), Some(0));
    let mut stderr = BufReader::new(follower.child.stderr.take().unwrap());
    let mut said = || {
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        line
    };
    let line = said();
    assert!(line.contains("waiting for the next daemon"), "{line}");
    assert!(
        !live.memo(&["status", "--json"]).env("MEMO_DAEMON", "/none").output().unwrap().status.success(),
        "it starts none"
    );
    live.start();
    let line = said();
    assert!(line.contains(&format!("pid {} sends events now", live.pid())), "{line}");
    let event: Value = serde_json::from_str(&follower.line(&live)).unwrap();
    assert_eq!(event["change"], "add", "{event}");
}

#[test]
fn mistakes_are_told() {
    let live = Live::idle();
    let run = |args: &[&str]| live.memo(args).output().unwrap();
    let unknown = run(&["events", "--topic", "poems"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(unknown.status.code() == Some(2) && said.contains("progress, views, memories, drift"), "{said}");
    assert_eq!(run(&["events", "-n", "0"]).status.code(), Some(2));
    let unreached = live.memo(&["events"]).env("MEMO_DAEMON", "/none").output().unwrap();
    assert_eq!(unreached.status.code(), Some(3), "{unreached:?}");
}
