//! Is what happens told to who has subscribed?

mod printed;
mod readers;
mod topics;

use serde_json::{Value, json};

use crate::live::Live;
use crate::rpc::Rpc;

/// Makes a repository whose index is up to date.
fn at_rest() -> Live {
    let live = Live::new();
    live.write("src/login.rs", "pub fn login() -> u32 {\n    1\n}\n");
    live.commit_all();
    let sync = live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
    assert_eq!(sync["fresh"], true, "{sync}");
    live
}

/// Returns a connection with a subscription of its own.
fn subscribed(live: &Live, topics: &[&str]) -> Rpc {
    let mut rpc = live.connect();
    let result = rpc.call("subscribe", &json!({ "cwd": live.root(), "topics": topics })).unwrap();
    assert_eq!(result, json!({ "topics": topics, "worktree": live.root() }));
    rpc
}

/// Returns the next event that is wanted.
fn next(rpc: &mut Rpc, is_wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let event = rpc.event();
        if is_wanted(&event) {
            return event;
        }
    }
}

fn add(live: &Live, content: &str) -> String {
    let added = live.call("memory.add", json!({ "content": content, "force": true }));
    added["memory"]["id"].as_str().unwrap().to_owned()
}
