//! Is each change told under its topic, and nothing else?

use memod_proto::code;
use serde_json::{Value, json};

use super::{add, at_rest, next, subscribed};
use crate::live::Live;
use crate::rpc::Rpc;

/// Asserts that an event has these keys, and a time and worktree as all have.
fn assert_keys(live: &Live, event: &Value, keys: &[&str]) {
    let mut found: Vec<_> = event.as_object().unwrap().keys().map(String::as_str).collect();
    found.sort_unstable();
    let mut expected = [&["topic", "time", "worktree"], keys].concat();
    expected.sort_unstable();
    assert_eq!(found, expected, "{event}");
    assert_eq!(event["worktree"], json!(live.root()), "{event}");
    let time = event["time"].as_str().unwrap();
    assert!(time.len() == "2026-01-31T12:00:00.000Z".len() && time.ends_with('Z'), "{event}");
}

/// Returns the ids and the change of the next event about memories.
fn change(rpc: &mut Rpc) -> (Value, Value) {
    let mut event = rpc.event();
    assert_eq!(event["topic"], "memories", "{event}");
    event["ids"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    (event["change"].take(), event["ids"].take())
}

#[test]
fn a_file_that_is_written_is_taken_up() {
    let live = at_rest();
    let mut rpc = subscribed(&live, &["progress", "views"]);
    // What is at rest is looked at now, so that each round below tells something.
    rpc.call("sync", &json!({ "cwd": live.root() })).unwrap();
    // A state that waits unread gives way to the next, so one round may show its end alone.
    let (mut behind, mut busy) = (Value::Null, Value::Null);
    let (mut is_fresh, mut is_over) = (true, true);
    for round in 0.. {
        if is_fresh && is_over {
            if behind.is_object() && busy.is_object() {
                break;
            }
            (0..50)
                .for_each(|n| live.write(&format!("{n}.md"), format!("# Beta\n\nbeta{n} of round {round}")));
        }
        let event = rpc.event();
        if event["topic"] == "views" {
            is_fresh = event["fresh"] == true;
            if !is_fresh {
                behind = event;
            }
        } else {
            is_over = event["progress"].is_null();
            if !is_over {
                busy = event;
            }
        }
    }
    assert_keys(&live, &behind, &["head", "fresh", "reason"]);
    assert_eq!(behind["head"], "refs/heads/main");
    assert_keys(&live, &busy, &["progress"]);
    assert!(busy["progress"]["step"].is_string() && busy["progress"]["done"].is_u64(), "{busy}");
    live.expect("beta0", "0.md", "what was told to be up to date is found");
}

#[test]
fn a_commit_and_another_branch_are_told() {
    let live = at_rest();
    let mut rpc = subscribed(&live, &["views"]);
    live.write("b.md", "beta");
    live.commit_all();
    let fresh = next(&mut rpc, |event| event["fresh"] == true);
    assert_keys(&live, &fresh, &["head", "fresh"]);
    live.git(&["switch", "-q", "-c", "topic/other"]);
    next(&mut rpc, |event| event["head"] == "refs/heads/topic/other");
    live.git(&["switch", "-q", "--detach"]);
    let commit = live.git(&["rev-parse", "HEAD"]);
    next(&mut rpc, |event| event["head"] == json!(commit) && event["fresh"] == true);
}

#[test]
fn a_worktree_that_is_removed_is_told() {
    let live = at_rest();
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side"]);
    let side = live.sandbox.path("side");
    let mut rpc = live.connect();
    rpc.call("subscribe", &json!({ "cwd": side, "topics": ["views", "memories"] })).unwrap();
    live.call_in(&side, "sync", json!({ "wait_ms": 60_000 }));
    live.git(&["worktree", "remove", "--force", "../side"]);
    let gone = next(&mut rpc, |event| event["reason"] == "the worktree is gone");
    assert_eq!((&gone["head"], &gone["fresh"]), (&Value::Null, &json!(false)), "{gone}");
    let id = add(&live, "memories are of the repository");
    assert_eq!(change(&mut rpc), (json!("add"), json!([id])));
    live.git(&["worktree", "add", "-q", "../side"]);
    live.call_in(&side, "sync", json!({ "wait_ms": 60_000 }));
    next(&mut rpc, |event| event["fresh"] == true);
}

#[test]
fn each_change_of_a_memory_is_told() {
    let live = at_rest();
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side"]);
    let mut here = subscribed(&live, &["memories"]);
    let mut side = live.connect();
    side.call("subscribe", &json!({ "cwd": live.sandbox.path("side"), "topics": ["memories"] })).unwrap();
    let (one, two) = (add(&live, "the first thing"), add(&live, "lunch is at noon"));
    live.call("memory.update", json!({ "id": one, "priority": 7 }));
    live.call("memory.link", json!({ "from": one, "to": two }));
    live.call("memory.forget", json!({ "ids": [one, two] }));
    live.call("memory.restore", json!({ "ids": [two] }));
    live.call("memory.purge", json!({ "ids": [one], "dry_run": true }));
    live.call("memory.purge", json!({ "ids": [one] }));
    let add = (json!("add"), json!([one]));
    for (rpc, whose) in [(&mut here, "here"), (&mut side, "of another worktree")] {
        assert_eq!(change(rpc), add, "{whose}");
        assert_eq!(change(rpc), (json!("add"), json!([two])), "{whose}");
        assert_eq!(change(rpc), (json!("update"), json!([one])), "{whose}");
        assert_eq!(change(rpc), (json!("link"), json!([one, two])), "{whose}");
        assert_eq!(change(rpc), (json!("forget"), json!([one, two])), "{whose}");
        assert_eq!(change(rpc), (json!("restore"), json!([two])), "{whose}");
        assert_eq!(change(rpc), (json!("purge"), json!([one])), "{whose}: a dry run is none");
        assert_eq!(change(rpc), (json!("unlink"), json!([two])), "{whose}");
    }
    let other = live.sandbox.path("side/c.md");
    std::fs::write(other, "gamma").unwrap();
    live.call_in(&live.sandbox.path("side"), "sync", json!({ "wait_ms": 60_000 }));
    here.call("hello", &json!({ "version": "0", "protocol": 1 })).unwrap();
    assert_eq!(here.n_events(), 0, "files of another worktree are not its topic");
}

#[test]
fn many_memories_are_told_in_parts_and_a_backup_as_a_whole() {
    let live = at_rest();
    let mut rpc = subscribed(&live, &["memories"]);
    let drafts: Vec<Value> =
        (0..450).map(|n| json!({ "content": format!("number {n}"), "line": n })).collect();
    let imported = live.call("memory.import", json!({ "drafts": drafts }));
    assert_eq!(imported["drafts"].as_array().unwrap().len(), 450, "{imported}");
    let sizes: Vec<usize> = (0..3).map(|_| change(&mut rpc).1.as_array().unwrap().len()).collect();
    assert_eq!(sizes, [200, 200, 50]);
    let backup = live.call("memory.backup", json!({}))["path"].clone();
    live.call("memory.restore_backup", json!({ "path": backup }));
    assert_eq!(change(&mut rpc), (json!("restore_backup"), json!([])));
}

#[test]
fn drift_is_told_once_it_is_another() {
    let live = at_rest();
    let about = json!({ "content": "login returns one", "about": ["src/login.rs#login"] });
    live.call("memory.add", about);
    let mut rpc = subscribed(&live, &["drift"]);
    let mut expect = |drifted: u64, orphaned: u64| {
        let event = rpc.event();
        assert_keys(&live, &event, &["drifted", "orphaned"]);
        assert_eq!((&event["drifted"], &event["orphaned"]), (&json!(drifted), &json!(orphaned)), "{event}");
    };
    live.write("src/other.rs", "pub fn other() {}\n");
    live.write("src/login.rs", "pub fn login() -> u32 {\n    2\n}\n");
    expect(1, 0);
    live.remove("src/login.rs");
    expect(0, 1);
    live.write("src/login.rs", "pub fn login() -> u32 {\n    1\n}\n");
    expect(0, 0);
    live.call("memory.add", json!({ "content": "lunch is at noon" }));
    let id = live.call("memory.list", json!({}))["memories"][1]["id"].clone();
    live.write("src/login.rs", "pub fn login() -> u32 {\n    3\n}\n");
    expect(1, 0);
    live.call("memory.confirm", json!({ "id": id }));
    expect(0, 0);
}

#[test]
fn topics_are_checked_replaced_and_ended() {
    let live = at_rest();
    let mut rpc = live.connect();
    let ask = |rpc: &mut Rpc, topics: Value| {
        rpc.call("subscribe", &json!({ "cwd": live.root(), "topics": topics }))
    };
    let error = ask(&mut rpc, json!(["views", "poems"])).unwrap_err();
    assert_eq!(error["code"], code::INVALID_PARAMS);
    let message = error["message"].as_str().unwrap();
    for word in ["poems", "progress", "views", "memories", "drift"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    let all = json!(["progress", "views", "memories", "drift"]);
    let result = rpc.call("subscribe", &json!({ "cwd": live.root().join("src") })).unwrap();
    assert_eq!(result, json!({ "topics": all, "worktree": live.root() }));
    let one = add(&live, "the first thing");
    assert_eq!(next(&mut rpc, |event| event["topic"] == "memories")["ids"], json!([one]));

    ask(&mut rpc, json!(["views"])).unwrap();
    add(&live, "lunch is at noon");
    live.write("b.md", "beta");
    let event = rpc.event();
    assert_eq!(event["topic"], "views", "the second call replaces the first: {event}");

    assert_eq!(rpc.call("unsubscribe", &json!({})), Ok(json!({})));
    assert_eq!(rpc.call("unsubscribe", &json!({})), Ok(json!({})), "there is none any more");
    let n_before = rpc.n_events();
    add(&live, "dinner is at eight");
    live.write("c.md", "gamma");
    live.expect("gamma", "c.md", "it is taken up");
    rpc.call("hello", &json!({ "version": "0", "protocol": 1 })).unwrap();
    assert_eq!(rpc.n_events(), n_before, "and told no more");
}
