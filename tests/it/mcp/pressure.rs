//! What becomes of a client that does not read, and of its server?

use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::io::ioctl_fionread;
use rustix::process::Signal;
use serde_json::json;

use super::processes::with_stopped_daemon;
use super::{LEGACY, Mcp};
use crate::live::{Live, until};

/// Requests that fit into a pipe, and are more than a server takes from a client that does not read.
const MANY: u64 = 1_000;

/// Returns whether all threads of a process sleep.
fn is_idle(pid: u32) -> bool {
    let state = |task: fs::DirEntry| {
        let stat = fs::read_to_string(task.path().join("stat")).ok()?;
        stat.rsplit_once(") ")?.1.chars().next()
    };
    fs::read_dir(format!("/proc/{pid}/task")).unwrap().all(|task| state(task.unwrap()) == Some('S'))
}

/// Returns the most memory that a process has had, KiB.
fn peak_rss_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Starts a server and asks it much; nothing is read.
fn asked_much() -> Mcp {
    let mut mcp = Mcp::unread(&mut Live::idle().memo(&["mcp"]));
    mcp.ask_to_initialize(LEGACY);
    for _ in 1..MANY {
        mcp.ask("tools/list", json!({}));
    }
    mcp
}

/// Waits until the server does not read although there is something to read.
fn until_it_stops_reading(pid: u32, stdin: impl AsFd) {
    until("the server stops reading", || is_idle(pid) && ioctl_fionread(&stdin).unwrap() > 0);
}

#[test]
fn a_server_that_is_not_read_stays_small_and_answers_later() {
    let mut mcp = Mcp::unread(&mut Live::idle().memo(&["mcp"]));
    mcp.ask_to_initialize(LEGACY);
    let n_asked = 4 * MANY;
    let (sent, pid) = (Arc::new(AtomicU64::new(1)), mcp.child.id());
    let mut stdin = mcp.stdin.take().unwrap();
    let end = stdin.as_fd().try_clone_to_owned().unwrap();
    let asking = thread::spawn({
        let sent = sent.clone();
        move || {
            for id in 2..=n_asked {
                let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
                writeln!(stdin, "{request}").unwrap();
                sent.store(id, Ordering::Relaxed);
            }
        }
    });
    until("the server stops reading", || {
        sent.load(Ordering::Relaxed) == n_asked || is_idle(pid) && ioctl_fionread(&end).unwrap() > 0
    });
    let n_sent = sent.load(Ordering::Relaxed);
    assert!(n_sent < n_asked / 2, "{n_sent} requests were taken, and no answer was read");
    let peak = peak_rss_kib(pid);
    assert!(peak < 64 << 10, "{peak} KiB");
    mcp.listen();
    let mut answered: Vec<u64> = (0..n_asked).map(|_| mcp.next()["id"].as_u64().unwrap()).collect();
    asking.join().unwrap();
    answered.sort_unstable();
    assert!(answered.into_iter().eq(1..=n_asked), "each request has one answer");
    let peak = peak_rss_kib(pid);
    assert!(peak < 64 << 10, "{peak} KiB");
    drop(end);
    assert_eq!(mcp.ended(), (Some(0), String::new()));
}

#[test]
fn a_server_ends_when_nobody_reads_any_more() {
    let live = with_stopped_daemon();
    for is_calling in [false, true] {
        let mut mcp = Mcp::unread(&mut live.memo(&["mcp"]));
        if is_calling {
            mcp.ask_to_initialize(LEGACY);
            mcp.ask("tools/call", json!({ "name": "search", "arguments": { "query": "x" } }));
        }
        drop(mcp.unread.take());
        assert_eq!(mcp.ended(), (Some(0), String::new()), "its stdin is still open");
    }
    live.signal(Signal::CONT);
}

#[test]
fn a_call_is_cancelled_while_answers_are_not_read() {
    let live = with_stopped_daemon();
    let mut mcp = Mcp::unread(&mut live.memo(&["mcp"]));
    mcp.ask_to_initialize(LEGACY);
    let search = json!({ "name": "search", "arguments": { "query": "LIFETIME_S" } });
    let hung = mcp.ask("tools/call", search.clone());
    // More than a pipe holds of answers.
    let asked: Vec<u64> = (0..100).map(|_| mcp.ask("tools/list", json!({}))).collect();
    mcp.cancel(hung);
    let pid = mcp.child.id();
    until("everything is read", || ioctl_fionread(mcp.stdin.as_ref().unwrap()).unwrap() == 0 && is_idle(pid));
    live.signal(Signal::CONT);
    // A daemon that goes on answers both; who hears of the second would have heard of the first.
    live.expect("LIFETIME_S", "src/session.rs", "the daemon goes on");
    mcp.listen();
    let last = mcp.ask("tools/call", search);
    let mut answered: Vec<u64> = (0..asked.len() + 2).map(|_| mcp.next()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, [&[hung - 1], &asked[..], &[last]].concat());
}

#[test]
fn the_end_of_the_input_is_seen_while_answers_are_not_read() {
    let mut mcp = asked_much();
    until_it_stops_reading(mcp.child.id(), mcp.stdin.as_ref().unwrap());
    drop(mcp.stdin.take());
    assert_eq!(mcp.ended(), (Some(0), String::new()), "nobody reads");

    let mut mcp = asked_much();
    until_it_stops_reading(mcp.child.id(), mcp.stdin.as_ref().unwrap());
    drop(mcp.stdin.take());
    mcp.listen();
    let mut answered: Vec<u64> = (0..MANY).map(|_| mcp.next()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert!(answered.into_iter().eq(1..=MANY), "who reads late gets every answer");
    assert_eq!(mcp.ended(), (Some(0), String::new()));
}
