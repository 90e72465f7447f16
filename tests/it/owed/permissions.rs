//! What may not be read is told, and is not taken for something that is not there.

use serde_json::{Value, json};

use super::text;
use crate::live::{Live, PATIENCE, ran_without_privileges, until};

const DENIED: &str = "Permission denied";

/// A repository whose commits are packed, with its refs.
fn packed() -> Live {
    let live = Live::new();
    live.write("a.py", super::SOURCE);
    live.commit_all();
    live.git(&["commit", "-q", "--allow-empty", "-m", "rotate the keys each day"]);
    live.git(&["repack", "-qad"]);
    live.git(&["pack-refs", "--all"]);
    live
}

fn search(live: &Live, params: &Value) -> Value {
    let mut ask = json!({ "query": "rotate keys", "wait_ms": PATIENCE.as_millis() });
    for (key, value) in params.as_object().unwrap() {
        ask[key] = value.clone();
    }
    live.call("search", ask)
}

#[test]
fn refs_and_packs_that_may_not_be_read() {
    if ran_without_privileges("owed::permissions::refs_and_packs_that_may_not_be_read") {
        return;
    }
    for path in ["packed-refs", "objects/pack", "objects/pack/*.idx", "objects/pack/*.pack"] {
        let live = packed();
        assert_eq!(search(&live, &json!({}))["fresh"], true);
        live.kill();
        live.sh(&format!("chmod 000 .git/{path}"));
        live.start();
        let place = path.split('*').next().unwrap();
        let is_told = |answer: &Value| {
            let reason = text(&answer["reason"]);
            answer["fresh"] == false && reason.contains(DENIED) && reason.contains(place)
        };
        let found = search(&live, &json!({}));
        assert!(is_told(&found), "commits are among what is searched, {path}: {found}");
        assert!(found["degraded"].to_string().contains(DENIED), "{path}: {found}");
        let commits = search(&live, &json!({ "kind": ["commit"] }));
        assert!(is_told(&commits), "{path}: {commits}");
        let symbols = search(&live, &json!({ "kind": ["symbol"] }));
        assert_eq!(symbols["fresh"], true, "{path}: {symbols}");
        for (method, params) in [
            ("why", json!({ "target": "a.py" })),
            ("changed", json!({ "since": "HEAD" })),
            ("brief", json!({})),
        ] {
            let mut ask = params;
            ask["cwd"] = json!(live.root());
            let said = match live.rpc().call(method, &ask) {
                Ok(answer) => {
                    assert_eq!(answer["fresh"], false, "{method}, {path}: {answer}");
                    answer.to_string()
                }
                Err(error) => error.to_string(),
            };
            assert!(said.contains(DENIED) && !said.contains("unshallow"), "{method}, {path}: {said}");
        }
        let checks = live.call("doctor", json!({})).to_string();
        assert!(checks.contains(DENIED), "{path}: {checks}");
        live.sh(&format!("chmod 700 .git/{path}"));
        until("commits are read again", || search(&live, &json!({}))["fresh"] == true);
        let found = search(&live, &json!({ "kind": ["commit"] }));
        assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{path}: {found}");
    }
}

/// What somebody hid does not appear because the file that hides it became unreadable.
#[test]
fn an_ignore_file_of_memod_that_may_not_be_read() {
    if ran_without_privileges("owed::permissions::an_ignore_file_of_memod_that_may_not_be_read") {
        return;
    }
    let live = Live::new();
    live.write("hidden.md", "hydrogen");
    live.write("shown.md", "helium");
    live.write(".memoignore", "hidden.md\n");
    live.expect("helium", "shown.md", "at the start");
    live.expect("hydrogen", "", "at the start");
    for restarts in [false, true] {
        if restarts {
            live.kill();
        }
        live.sh("chmod 000 .memoignore");
        if restarts {
            live.start();
        }
        let found = live.search_with(&live.root(), "hydrogen", json!({ "wait_ms": 10_000 }));
        assert!(found.paths.is_empty() && !found.fresh, "{found:?}");
        assert!(
            text(&found.reason).contains(".memoignore") && text(&found.reason).contains(DENIED),
            "{found:?}"
        );
        let status = live.call("status", json!({}));
        assert!(status["degraded"].to_string().contains(DENIED), "{status}");
        live.sh("chmod 600 .memoignore");
        live.expect("hydrogen", "", "it can be read again");
        live.expect("helium", "shown.md", "it can be read again");
    }
}

#[test]
fn a_memory_that_may_not_be_read_is_not_gone() {
    if ran_without_privileges("owed::permissions::a_memory_that_may_not_be_read_is_not_gone") {
        return;
    }
    let live = Live::new();
    let ids =
        ["the first rule is old", "the second rule is old"].map(|content| super::add(&live, content, &[]));
    live.call("memory.share", json!({ "ids": ids }));
    let path = |id: &str| format!(".memod/memories/{id}.md");
    live.sh(&format!("sed -i s/old/new/ .memod/memories/*; chmod 000 {}", path(&ids[0])));
    let listed = live.call("memory.list", json!({}));
    assert_eq!(listed["fresh"], false, "{listed}");
    assert!(text(&listed["reason"]).contains(&path(&ids[0])), "{listed}");
    let said = listed["memories"].to_string();
    assert!(
        said.contains("first rule is old") && said.contains("second rule is new"),
        "one stops no other: {said}"
    );
    live.sh(&format!("chmod 600 {}", path(&ids[0])));
    let listed = live.call("memory.list", json!({}));
    assert!(listed["fresh"] == true && listed.to_string().contains("first rule is new"), "{listed}");
}
