//! Is an agent never held up, and never given what it does not expect?

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use memod_client::VERSION;
use rustix::process::Signal;
use serde_json::json;

use super::{QUESTION, TOKENS, add, hook, prompted, run, shop, started};
use crate::fake::{Answer, Fake};
use crate::live::{Live, until};

const EVENTS: [&str; 3] = ["session-start", "prompt", "before-edit"];

/// Longest that a hook may take with its usual limit, on a machine that does other things as well.
const AT_ONCE: Duration = Duration::from_secs(10);

#[test]
fn bad_input_is_met_with_silence() {
    let live = shop();
    let long = json!({ "prompt": "x".repeat(10 << 20), "cwd": live.root() }).to_string();
    let longer = vec![b' '; 17 << 20];
    let deep = "[".repeat(100_000);
    let odd =
        json!({ "prompt": 7, "cwd": {}, "session_id": [], "tool_input": "{", "source": null }).to_string();
    let far =
        json!({ "prompt": QUESTION, "cwd": "/no/such/place", "tool_input": { "path": "a" } }).to_string();
    let inputs: [&[u8]; 11] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\"text\"",
        b"\xff\xfe{}",
        b"{}\n{}",
        b"\0",
        deep.as_bytes(),
        &longer,
        far.as_bytes(),
    ];
    for input in inputs {
        for event in EVENTS {
            let shown = String::from_utf8_lossy(&input[..input.len().min(40)]).into_owned();
            assert_eq!(hook(&live, &[event], input), "", "{event}: {shown}");
        }
    }
    // The start of a session needs nothing of them.
    for input in [odd, long] {
        for event in &EVENTS[1..] {
            assert_eq!(hook(&live, &[event], input.as_bytes()), "", "{event}");
        }
    }
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS), "and it still answers");
}

#[test]
fn a_long_prompt_is_read_to_its_end() {
    let live = shop();
    let prompt = format!("{}\n{QUESTION}", "at frame (file.js:1:2)\n".repeat(400_000));
    assert!(prompted(&live, "s", &prompt).contains(TOKENS));
}

#[test]
fn a_closed_or_full_stdout_is_no_error() {
    let live = shop();
    let call = json!({ "prompt": QUESTION, "cwd": live.root() }).to_string();
    fs::write(live.sandbox.path("call.json"), call).unwrap();
    let memo = env!("CARGO_BIN_EXE_memo");
    for to in [">&-", "> /dev/full", "| true"] {
        let script = format!("{memo} hook prompt --within-ms 30000 < ../call.json {to}");
        let output = live.sandbox.program("sh", &["-c", &script]).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{to}: {output:?}");
    }
}

#[test]
fn an_agent_that_does_not_close_stdin_is_not_waited_for() {
    let live = shop();
    let start = Instant::now();
    let mut child =
        live.memo(&["hook", "prompt"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
}

#[test]
fn a_daemon_that_hangs_is_not_waited_for() {
    let live = shop();
    live.signal(Signal::STOP);
    let call = json!({ "prompt": QUESTION, "cwd": live.root(), "tool_input": { "path": "src/keys.rs" } })
        .to_string();
    for event in EVENTS {
        let start = Instant::now();
        let output = run(&live, &[event], call.as_bytes());
        assert_eq!(
            (output.status.code(), output.stdout.len(), output.stderr.len()),
            (Some(0), 0, 0),
            "{event}"
        );
        assert!(start.elapsed() < AT_ONCE, "{event}: {:?}", start.elapsed());
    }
    live.signal(Signal::CONT);
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS));
}

#[test]
fn a_daemon_that_answers_nonsense_is_ignored() {
    let live = Live::idle();
    let layout = live.layout();
    fs::write(layout.index_file(), "").unwrap();
    let mut nth = 0;
    let _fake = Fake::start(&layout, VERSION, move |_| {
        nth += 1;
        match nth % 4 {
            0 => Answer::Line("nonsense".to_owned()),
            1 => Answer::Result(json!({ "text": 7 })),
            2 => Answer::Error(-32601, 0),
            _ => Answer::Close,
        }
    });
    let call = json!({ "prompt": QUESTION, "cwd": live.root() }).to_string();
    for _ in 0..6 {
        let output = run(&live, &["prompt"], call.as_bytes());
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    }
}

#[test]
fn where_nobody_made_an_index_nothing_is_created() {
    let live = Live::idle();
    let plain = live.sandbox.path("plain");
    fs::create_dir(&plain).unwrap();
    for dir in [live.root(), plain.clone(), live.root().join(".git")] {
        for event in EVENTS {
            let call = json!({ "prompt": QUESTION, "cwd": dir, "tool_input": { "path": "a" } }).to_string();
            assert_eq!(hook(&live, &[event], call.as_bytes()), "", "{event} {}", dir.display());
        }
    }
    assert!(!live.root().join(".git/memo").exists(), "no state, no daemon");
    assert_eq!(fs::read_dir(&plain).unwrap().count(), 0);
    let output = live.memo(&["hook", "prompt", "--explain", "x"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("`memo init` makes one"), "{said}");
}

#[test]
fn a_daemon_is_started_and_only_the_start_of_a_session_waits_for_it() {
    let live = shop();
    live.kill();
    assert_eq!(prompted(&live, "s", QUESTION), "");
    until("the daemon that the hook started answers", || !prompted(&live, "s", QUESTION).is_empty());
    let stopped = live.sandbox.show(&mut live.memo(&["daemon", "stop", "-q"]));
    assert!(stopped.starts_with("exit 0\n"), "{stopped}");
    assert!(started(&live, "t", "startup").contains("make ship"));
}

#[test]
fn wrong_usage_never_forbids_anything() {
    let live = Live::idle();
    for args in [&["promt"][..], &["prompt", "--no-such-flag"], &[], &["prompt", "--within-ms", "x"]] {
        let output = run(&live, args, b"{}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{args:?}: {output:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(hook(&live, &["prompt", "--agent", "unheard-of"], b"{}"), "");
    for (args, status) in [(&["-C", ".", "hook", "promt"][..], 1), (&["search", "hook", "--no-such-flag"], 2)]
    {
        assert_eq!(live.memo(args).output().unwrap().status.code(), Some(status), "{args:?}");
    }
}

#[test]
fn a_budget_of_nothing_tells_nothing() {
    let live = shop();
    add(&live, &["another one"]);
    let call = json!({ "prompt": QUESTION, "cwd": live.root(), "session_id": "s" }).to_string();
    assert_eq!(hook(&live, &["prompt", "--budget", "1"], call.as_bytes()), "");
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS), "what was not shown was not told");
}
