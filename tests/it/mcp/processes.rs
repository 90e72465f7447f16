//! What becomes of servers, calls and daemons that end in the middle?

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;

use super::{Mcp, indexed, shop, text};
use crate::live::{Live, until};

/// Starts the daemon of a repository and stops it, so that a call hangs in it.
pub(super) fn with_stopped_daemon() -> Live {
    let live = shop();
    live.start();
    live.expect("LIFETIME_S", "src/session.rs", "the daemon answers");
    live.signal(Signal::STOP);
    live
}

#[test]
fn a_cancelled_call_is_dropped_at_once() {
    let live = with_stopped_daemon();
    for mut mcp in [Mcp::legacy(&live, &[]), Mcp::modern(&live, &[])] {
        let hung = mcp.ask("tools/call", json!({ "name": "search", "arguments": { "query": "x" } }));
        mcp.cancel(hung);
        // The next answer is that of the next request: none came for the one that was cancelled.
        let next = mcp.ask("tools/list", json!({}));
        assert_eq!(mcp.next()["id"], next);
    }
    live.signal(Signal::CONT);
}

#[test]
fn calls_do_not_wait_for_each_other() {
    let live = with_stopped_daemon();
    let mut mcp = Mcp::legacy(&live, &[]);
    let hung: Vec<u64> = (0..64)
        .map(|_| mcp.ask("tools/call", json!({ "name": "search", "arguments": { "query": "token" } })))
        .collect();
    let prompts = mcp.ask("prompts/list", json!({}));
    assert_eq!(mcp.next()["id"], prompts, "it needs no daemon");
    live.signal(Signal::CONT);
    let mut answered: Vec<u64> = hung.iter().map(|_| mcp.next()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, hung);
}

#[test]
fn the_server_ends_with_its_input_even_in_a_call() {
    let live = with_stopped_daemon();
    let mut mcp = Mcp::legacy(&live, &[]);
    mcp.ask("tools/call", json!({ "name": "search", "arguments": { "query": "x" } }));
    assert_eq!(mcp.end().0, Some(0));
    live.signal(Signal::CONT);
    live.expect("LIFETIME_S", "src/session.rs", "the daemon is its own");
}

#[test]
fn answers_come_although_the_input_has_ended() {
    let live = indexed();
    let search = json!({ "name": "search", "arguments": { "query": "LIFETIME_S" } });
    // A notice goes with this one.
    let remember = json!({ "name": "remember", "arguments": { "text": "LIFETIME_S is a day" } });
    for (call, expected) in [(search, "src/session.rs"), (remember, "mem_")] {
        for mut mcp in [Mcp::legacy(&live, &[]), Mcp::modern(&live, &[])] {
            let asked = mcp.ask("tools/call", call.clone());
            drop(mcp.stdin.take());
            assert!(text(&mcp.reply(asked).unwrap()).contains(expected), "{call}");
            assert_eq!(mcp.ended(), (Some(0), String::new()));
        }
    }
}

#[test]
fn a_killed_daemon_is_replaced_and_a_dead_one_is_told_of() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &[]);
    let search = json!({ "query": "LIFETIME_S" });
    assert!(text(&mcp.tool("search", search.clone())).contains("src/session.rs"));
    let daemon = || Pid::from_raw(i32::try_from(live.endpoint().pid).unwrap()).unwrap();
    let first = daemon();
    kill_process(first, Signal::STOP).unwrap();
    let asked = mcp.ask("tools/call", json!({ "name": "search", "arguments": search }));
    kill_process(first, Signal::KILL).unwrap();
    assert!(text(&mcp.reply(asked).unwrap()).contains("src/session.rs"), "another daemon answers");
    assert_ne!(daemon(), first);

    let mut command = live.memo(&["mcp"]);
    let mut lonely = Mcp::start(command.env("MEMO_DAEMON", live.sandbox.path("no-such-daemon")));
    lonely.initialize(super::LEGACY);
    kill_process(daemon(), Signal::KILL).unwrap();
    let failed = lonely.tool("search", search);
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(text(&failed).contains("install memod beside memo"), "{failed}");
}

#[test]
fn servers_that_are_killed_leave_one_daemon_and_nothing_else() {
    let live = indexed();
    let mut servers: Vec<Mcp> = (0..12).map(|_| Mcp::legacy(&live, &[])).collect();
    for mcp in &mut servers {
        mcp.ask("tools/call", json!({ "name": "search", "arguments": { "query": "token" } }));
    }
    for (number, mcp) in servers.iter_mut().enumerate() {
        let server = Pid::from_child(&mcp.child);
        // Others are ignored where the tests run in the background.
        let signal = [Signal::KILL, Signal::TERM][number % 2];
        kill_process(server, signal).unwrap();
        mcp.child.wait().unwrap();
        assert!(test_kill_process(server).is_err());
    }
    let mut last = Mcp::legacy(&live, &[]);
    assert!(text(&last.tool("search", json!({ "query": "LIFETIME_S" }))).contains("src/session.rs"));
    let daemon = live.endpoint().pid;
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let dir = entry.unwrap().path();
        let id: u32 = dir.file_name()?.to_str()?.parse().ok()?;
        let is_ours = std::fs::read_link(dir.join("cwd")).ok()?.starts_with(live.layout().state_dir);
        (is_ours && std::fs::read_to_string(dir.join("comm")).ok()?.trim() == "memod").then_some(id)
    });
    assert_eq!(processes.collect::<Vec<_>>(), [daemon], "one daemon");
}

#[test]
fn the_first_index_reports_progress() {
    let live = Live::idle();
    for number in 0..3_000 {
        live.write(
            &format!("src/f{number}.rs"),
            format!("pub fn function_{number}() -> u32 {{ {number} }}\n").repeat(4),
        );
    }
    let mut mcp = Mcp::modern(&live, &[]);
    let call = json!({ "name": "memo", "arguments": { "command": "sync --wait-ms 60000" }, "_meta": { "progressToken": "p" } });
    let asked = mcp.ask("tools/call", call);
    let mut seen = Vec::new();
    loop {
        let message = mcp.next();
        if message["id"] == asked {
            break;
        }
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "p");
            seen.push(message["params"]["progress"].as_f64().unwrap());
        }
    }
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    if seen.is_empty() {
        crate::live::not_checked("notices of progress: the index was built before the first one");
    }
}

#[test]
fn what_prints_does_not_reach_the_protocol() {
    let live = shop();
    let mut mcp = Mcp::legacy(&live, &[]);
    // Verbs that write bytes, ask, or show a bar; the reader of stdout takes nothing but JSON.
    for command in ["export", "config", "status", "sync", "doctor", "logs", "status --files -z"] {
        mcp.tool("memo", json!({ "command": command }));
    }
    until("the server is idle", || mcp.lines.try_recv().is_err());
    assert_eq!(mcp.end(), (Some(0), String::new()));
}
