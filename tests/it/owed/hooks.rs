//! An agent is told that memories cannot be read, and nothing that they said before; once, and of what reached it.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Broken, DIRECTORY, FILE, add};
use crate::live::{Live, until};

const PROMPT: &str = "what does the billing rule say of rotate, and of billing?";

/// Runs a hook as an agent does; returns what it printed.
fn hook(live: &Live, event: &str, within_ms: &str, input: &Value) -> String {
    let mut command = live.memo(&["hook", event, "--agent", "any", "--within-ms", within_ms]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{event}");
    String::from_utf8(output.stdout).unwrap()
}

fn input(live: &Live, session: &str) -> Value {
    json!({
        "session_id": session, "cwd": live.root(), "prompt": PROMPT, "source": "startup",
        "tool_name": "Edit", "tool_input": { "file_path": live.root().join("a.py") },
    })
}

const PATIENTLY: &str = "30000";

#[test]
fn that_memories_cannot_be_read_is_told_alone_and_once() {
    for fault in [FILE, DIRECTORY] {
        let Some(broken) = Broken::by(fault) else { return };
        for event in ["prompt", "before-edit", "session-start"] {
            let told = hook(&broken.live, event, PATIENTLY, &input(&broken.live, event));
            assert!(told.contains("cannot be read") && broken.is_named_in(&told), "{event}: {told}");
            assert!(
                !told.contains("8080") && !told.contains("billing calls"),
                "{event} tells what was: {told}"
            );
            let again = hook(&broken.live, event, PATIENTLY, &input(&broken.live, event));
            assert_eq!(again, "", "{event} in the same session");
        }
        broken.live.kill();
        broken.live.start();
        let told = hook(&broken.live, "prompt", PATIENTLY, &input(&broken.live, "prompt"));
        assert!(told.contains("9090"), "it can be read now: {told}");
    }
}

/// A daemon that is stopped, swapped out or asleep reads the request after the hook has given up.
#[test]
fn what_a_hook_was_too_late_to_pass_on_is_told_the_next_time() {
    let live = Live::new();
    live.write("a.py", super::SOURCE);
    live.commit_all();
    add(&live, "the billing rule says 8080 for rotate", &[]);
    add(&live, "ask the bank before you change billing", &["a.py#rotate"]);
    live.expect("Leaf", "a.py", "at the start");
    for (event, said) in [("prompt", "8080"), ("before-edit", "bank"), ("session-start", "rotate")] {
        let input = input(&live, event);
        live.signal(Signal::STOP);
        let told = hook(&live, event, "200", &input);
        live.signal(Signal::CONT);
        assert_eq!(told, "", "{event} of a daemon that is stopped");
        let queries = || live.call("status", json!({}));
        until("the daemon goes on", || queries()["daemon"]["pid"].is_u64());
        let told = hook(&live, event, PATIENTLY, &input);
        assert!(told.contains(said), "{event} was never told: {told:?}");
        assert_eq!(hook(&live, event, PATIENTLY, &input), "", "{event} is told once");
    }
    let kept = fs::read_to_string(live.root().join(".git/memo/told.json")).unwrap();
    assert!(kept.contains("mem_"), "{kept}");
}

/// Agents give the path that their shell has.
#[test]
fn a_file_is_found_whatever_links_lead_there() {
    let live = Live::new();
    live.write("src/a.py", super::SOURCE);
    live.commit_all();
    add(&live, "ask the bank before you change it", &["src/a.py#rotate"]);
    let side = live.sandbox.path("side");
    live.git(&["worktree", "add", "-q", "--detach", side.to_str().unwrap()]);
    let link = live.sandbox.path("link");
    std::os::unix::fs::symlink(live.root(), &link).unwrap();
    std::os::unix::fs::symlink(live.root().join("src"), live.root().join("lnk")).unwrap();
    let root = live.root();
    let paths = [
        root.join("src/a.py"),
        link.join("src/a.py"),
        root.join("lnk/a.py"),
        link.join("lnk/../src/a.py"),
        side.join("src/a.py"),
    ];
    for (nth, path) in paths.iter().enumerate() {
        let mut input = input(&live, &nth.to_string());
        (input["cwd"], input["tool_input"]["file_path"]) = (json!(link), json!(path));
        let told = hook(&live, "before-edit", PATIENTLY, &input);
        assert!(told.contains("ask the bank"), "{}: {told:?}", path.display());
    }
    for path in ["/etc/hosts", "src/no/such/b.py"] {
        let mut input = input(&live, path);
        input["tool_input"]["file_path"] = json!(path);
        assert_eq!(hook(&live, "before-edit", PATIENTLY, &input), "", "{path}");
    }
}
