//! Is an agent told what helps, once, and is it never held up?

mod forms;
#[cfg(unix)]
mod older;
mod once;
#[cfg(unix)]
mod quiet;
mod relevant;

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::live::Live;

/// Time that a hook has on a machine that does other things as well, ms.
const WITHIN: &str = "30000";

/// Runs `memo hook` with an input; returns what it printed, having exited with 0 and said nothing on stderr.
fn hook(live: &Live, args: &[&str], input: &[u8]) -> String {
    let output = run(live, &[args, &["--within-ms", WITHIN]].concat(), input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said), (Some(0), ""), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn run(live: &Live, args: &[&str], input: &[u8]) -> Output {
    let mut command = live.memo(&[&["hook"], args].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A hook that has given up does not read to the end.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Returns the text that Claude Code is given for an event; empty if nothing.
fn told(live: &Live, event: &str, said: &Value) -> String {
    let mut call = json!({ "session_id": "s", "cwd": live.root() });
    for (key, value) in said.as_object().unwrap() {
        call[key] = value.clone();
    }
    let printed = hook(live, &[event, "--agent", "claude-code"], call.to_string().as_bytes());
    if printed.is_empty() {
        return printed;
    }
    assert_eq!(printed.matches('\n').count(), 1, "one line: {printed}");
    let answer: Value = serde_json::from_str(&printed).unwrap();
    let keys: Vec<_> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["hookSpecificOutput"], "{answer}");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

fn prompted(live: &Live, session: &str, prompt: &str) -> String {
    told(live, "prompt", &json!({ "session_id": session, "prompt": prompt }))
}

fn started(live: &Live, session: &str, source: &str) -> String {
    told(live, "session-start", &json!({ "session_id": session, "source": source }))
}

/// Says that a file is about to be edited.
fn editing(live: &Live, session: &str, path: &str) -> String {
    let input = json!({ "file_path": path });
    told(live, "before-edit", &json!({ "session_id": session, "tool_name": "Edit", "tool_input": input }))
}

fn add(live: &Live, args: &[&str]) -> String {
    let output = live.memo(&[&["add"], args].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A question that only [`TOKENS`] answers.
const QUESTION: &str = "when does a session token expire, and who renews it?";
const TOKENS: &str = "a session token expires after 24 hours; the web client renews it silently";

/// A repository with two files and three memories, one of them about a definition.
fn shop() -> Live {
    let live = Live::new();
    live.write("src/session.rs", "pub fn verify() {}\n\npub fn renew() {}\n");
    live.write("src/keys.rs", "pub struct Key;\n");
    live.commit_all();
    add(&live, &[TOKENS]);
    add(&live, &["--tag", "pinned", "deploy with make ship, never by hand"]);
    add(&live, &["--about", "src/session.rs#verify", "verify must take constant time"]);
    live
}
