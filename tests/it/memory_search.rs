//! Are memories found: at once, in one list with the rest, and never after they were forgotten?

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::live::{Live, until};
use crate::memories::call;

fn add(live: &Live, params: Value) -> String {
    call(live, "memory.add", params)["memory"]["id"].as_str().unwrap().to_owned()
}

fn search(live: &Live, mut params: Value) -> Value {
    if params["kind"].is_null() {
        params["kind"] = json!(["memory"]);
    }
    call(live, "search", params)
}

/// Ids of the memories among the hits, in order.
fn ids(result: &Value) -> Vec<&str> {
    result["hits"].as_array().unwrap().iter().filter_map(|hit| hit["id"].as_str()).collect()
}

#[test]
fn a_memory_is_found_once_it_is_acknowledged_and_not_after_it_went() {
    let live = Live::new();
    for letter in 'a'..='t' {
        let word = format!("giz{letter}mo");
        let id = add(&live, json!({ "content": format!("the {word} turns to the left") }));
        let by_word = |query: &str| search(&live, json!({ "query": query, "mode": "keyword" }));
        let found = by_word(&word);
        assert_eq!(ids(&found), [id.as_str()], "{found}");
        assert_eq!((&found["fresh"], &found["hits"][0]["trust"]), (&json!(true), &json!("own")));
        call(&live, "memory.update", json!({ "id": id, "content": format!("the {word}x is gone") }));
        assert_eq!(by_word(&word)["corrected"], format!("{word}x"), "as typed it is not found");
        assert_eq!(ids(&by_word(&format!("{word}x"))), [id.as_str()]);
        call(&live, "memory.forget", json!({ "ids": [id] }));
        assert_eq!(ids(&by_word(&format!("{word}x"))), [""; 0]);
        call(&live, "memory.restore", json!({ "ids": [id] }));
        assert_eq!(ids(&by_word(&format!("{word}x"))), [id.as_str()]);
    }
}

#[test]
fn the_nearest_in_meaning_follow_what_is_written() {
    let live = Live::new();
    let near = |query: &str| search(&live, json!({ "query": query, "mode": "vector", "limit": 1 }));
    let login = add(&live, json!({ "content": "people sign in with a password and a second factor" }));
    let deploy = add(&live, json!({ "content": "the server is deployed by a pipeline on every tag" }));
    assert_eq!(ids(&near("login authentication")), [login.as_str()]);
    call(&live, "memory.update", json!({ "id": login, "content": "bananas are yellow fruit" }));
    assert_ne!(ids(&near("login authentication")), [login.as_str()]);
    assert_eq!(ids(&near("fruit color")), [login.as_str()]);
    live.kill();
    live.start();
    until("the next daemon has the model too", || {
        ids(&near("deploy a tag from a pipeline")) == [deploy.as_str()]
    });
}

#[test]
fn what_is_over_is_not_found() {
    let live = Live::new();
    let id = add(&live, json!({ "content": "shortlived gizmo", "ttl": "2s" }));
    let found = || search(&live, json!({ "query": "gizmo" }));
    assert_eq!(ids(&found()), [id.as_str()]);
    until("it is over", || ids(&found()).is_empty());
}

#[test]
fn filters_hold_inside_the_arms() {
    let live = Live::new();
    for number in 0..300 {
        add(&live, json!({ "content": format!("gizmo number {number}"), "container": "crowd" }));
    }
    let id = add(&live, json!({ "content": "a gizmo among many other words", "tags": ["rare", "x"] }));
    for mode in ["keyword", "vector", "hybrid"] {
        let found = |filter: Value| {
            let mut params = json!({ "query": "gizmo number", "mode": mode, "limit": 1 });
            params.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
            search(&live, params)
        };
        assert_eq!(ids(&found(json!({ "container": "Project" }))), [id.as_str()], "{mode}");
        assert_eq!(ids(&found(json!({ "tag": ["rare", "X"] }))), [id.as_str()], "{mode}");
        assert_eq!(ids(&found(json!({ "tag": ["rare"], "container": "crowd" }))), [""; 0], "{mode}");
        assert_eq!(ids(&found(json!({ "since": "1h", "tag": ["rare"] }))), [id.as_str()], "{mode}");
        assert_eq!(ids(&found(json!({ "until": "1h" }))), [""; 0], "{mode}");
    }
    let alone = search(&live, json!({ "query": "gizmo", "kind": [], "tag": ["rare"] }));
    assert_eq!(ids(&alone), [id.as_str()], "only memories have tags");
    let wrong = json!({ "cwd": live.root(), "query": "gizmo", "kind": ["doc"], "tag": ["rare"] });
    let error = live.rpc().call("search", &wrong).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("select memories"), "{error}");
}

#[test]
fn memories_stand_with_the_rest() {
    let live = Live::new();
    live.write(
        "src/session.rs",
        "/// How long a token is good for, seconds.\npub const LIFETIME_S: u64 = 86_400;\n",
    );
    live.write("docs/auth.md", "# Authentication\n\nA token is signed.\n");
    let before = search(&live, json!({ "query": "token lifetime", "kind": [] }));
    let id = add(
        &live,
        json!({ "content": "token lifetime was 12 hours before the outage", "title": "Lifetime" }),
    );
    let after = search(&live, json!({ "query": "token lifetime", "kind": [] }));
    assert_eq!(ids(&after), [id.as_str()], "{after}");
    let hits = after["hits"].as_array().unwrap();
    let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|left, right| left >= right), "{scores:?}");
    let rest: Vec<_> = hits.iter().filter(|hit| hit["kind"] != "memory").map(|hit| &hit["path"]).collect();
    let order: Vec<_> = before["hits"].as_array().unwrap().iter().map(|hit| &hit["path"]).collect();
    assert_eq!(rest, order, "the order of the rest does not depend on memories");
    let hit = hits.iter().find(|hit| hit["kind"] == "memory").unwrap();
    assert_eq!(hit["path"], format!("memory:{id}"));
    assert_eq!((&hit["title"], &hit["memory"]["container"]), (&json!("Lifetime"), &json!("project")));
    for kind in ["doc", "symbol"] {
        let other = search(&live, json!({ "query": "token lifetime", "kind": [kind] }));
        assert_eq!(ids(&other), [""; 0]);
    }
    let by_path = search(&live, json!({ "query": "token lifetime", "kind": [], "path": ["docs"] }));
    assert_eq!(ids(&by_path), [""; 0]);
}

#[test]
fn vectors_come_back_with_what_is_restored() {
    let live = Live::new();
    let id = add(&live, json!({ "content": "people sign in with a password" }));
    add(&live, json!({ "content": "bananas are yellow" }));
    assert!(live.memo(&["stop", "-q"]).output().unwrap().status.success());
    let db = live.layout().state_dir.join("memory.db");
    fs::write(&db, "text ".repeat(5_000)).unwrap();
    live.start();
    let near = || search(&live, json!({ "query": "login password", "mode": "vector", "limit": 1 }));
    until("the vectors are there", || ids(&near()) == [id.as_str()]);
    fs::remove_file(&db).unwrap(); // under the running daemon
    let third = add(&live, json!({ "content": "the third factor is a fingerprint" }));
    assert_eq!(ids(&search(&live, json!({ "query": "fingerprint", "limit": 1 }))), [third.as_str()]);
    assert_eq!(ids(&near()), [id.as_str()]);
}

#[test]
fn a_score_is_explained() {
    let live = Live::new();
    live.write("docs/auth.md", "# Gizmo\n\nIt turns.\n");
    let id = add(&live, json!({ "content": "the gizmo turns", "priority": 9 }));
    let output = live.memo(&["explain", "gizmo turns", "--of", &id[..12]]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [&*id, "bm25", "knn", "fused", "priority   x 1.120", "written    x 2.000", "product"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let output = live.memo(&["explain", "gizmo", "--of", "docs/auth.md", "--json=full"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hit = &answer["hits"][0];
    let explain = &hit["explain"];
    let factors =
        explain["factors"].as_array().unwrap().iter().map(|factor| factor["times"].as_f64().unwrap());
    let product = factors.fold(explain["fused"].as_f64().unwrap(), |product, times| product * times);
    assert!((1.0 - (-product).exp() - hit["score"].as_f64().unwrap()).abs() < 1e-9, "{answer}");
    let none = live.memo(&["explain", "gizmo", "--of", "nowhere.md"]).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn a_search_does_not_wait_for_who_writes_memories() {
    let live = Live::new();
    let id = add(&live, json!({ "content": "the gizmo turns" }));
    let texts: Vec<String> = (0..200).map(|number| format!("fact {number}")).collect();
    std::thread::scope(|scope| {
        let mut rpc = live.connect();
        let root = live.root();
        scope.spawn(move || {
            for text in &texts {
                rpc.call("memory.add", &json!({ "cwd": root, "content": text })).unwrap();
            }
        });
        for _ in 0..50 {
            let found = search(&live, json!({ "query": "gizmo", "limit": 1 }));
            assert_eq!(ids(&found), [id.as_str()]);
            assert!(found["took_ms"].as_f64().unwrap() < Duration::from_secs(5).as_millis() as f64);
        }
    });
}

#[test]
fn only_memories_that_are_like_that() {
    let live = Live::new();
    let metadata = json!({ "area": "web", "n": 1 });
    let one = add(
        &live,
        json!({ "content": "the gizmo turns left", "priority": 8, "tier": "mid", "metadata": metadata }),
    );
    let two =
        add(&live, json!({ "content": "a gizmo for the kitchen", "metadata": { "area": "api", "n": "1" } }));
    let both = vec![one.as_str(), two.as_str()];
    for (traits, expected) in [
        (json!({ "tier": "mid" }), vec![one.as_str()]),
        (json!({ "min_priority": 8 }), vec![one.as_str()]),
        (json!({ "min_priority": 5 }), both.clone()),
        (json!({ "metadata": { "area": "web" } }), vec![one.as_str()]),
        (json!({ "metadata": { "area": "web", "n": 2 } }), vec![]),
        (json!({ "metadata": { "n": 1.0 } }), vec![one.as_str()]),
        (json!({ "metadata": { "n": "1" } }), vec![two.as_str()]),
        (json!({ "author": "EXAMPLE" }), both.clone()),
        (json!({ "author": "nobody else" }), vec![]),
    ] {
        for method in ["search", "memory.list", "memory.recall"] {
            let mut params = traits.clone();
            params["query"] = json!("gizmo");
            let result = call(&live, method, params);
            let rows = result["hits"].as_array().or(result["memories"].as_array()).unwrap();
            let mut ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
            ids.sort_unstable();
            assert_eq!(ids, expected, "{method} {traits}: {result}");
        }
    }
}

#[test]
fn hits_below_a_threshold_are_left_out() {
    let live = Live::new();
    live.write("a.md", "gizmo gizmo gizmo");
    live.write("b.md", "in a long text of many words that are about something else there is a gizmo too");
    let scores = |threshold: f64| -> Vec<f64> {
        let result = call(&live, "search", json!({ "query": "gizmo", "threshold": threshold }));
        result["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect()
    };
    let all = scores(0.0);
    assert_eq!(all.len(), 2);
    assert_eq!(scores(all[0]), all[..1]);
    assert!(scores(1.0).is_empty());
    let mut command = live.memo(&["search", "gizmo"]);
    let output = command.env("MEMO_SEARCH_THRESHOLD", "1").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("every hit scores below the threshold of 1"), "{said}");
    let params = json!({ "cwd": live.root(), "query": "gizmo", "threshold": 1.5 });
    let error = live.connect().call("search", &params).unwrap_err().to_string();
    assert!(error.contains("threshold: 1.5 is not between 0 and 1"), "{error}");
}
