//! Do files and the server of a team give the same answers where two people change one memory?
//!
//! One table is run through both. They differ where the changes do not touch: a team's are joined, while git marks both sides,
//! because each change has its time in the file.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Exchange, Files, Team};
use crate::live::Live;

/// What one person does.
#[derive(Clone, Copy, Debug)]
enum Change {
    Nothing,
    Text(&'static str),
    Forget,
}

use Change::{Forget, Nothing, Text};

/// What Ann and Bob do, and what Bob has once he has seen Ann's change: two texts are in conflict.
const CASES: [(Change, Change, &[&str]); 8] = [
    (Text("of ann"), Nothing, &["of ann"]),
    (Nothing, Text("of bob"), &["of bob"]),
    (Text("of ann"), Text("of bob"), &["of ann", "of bob"]),
    (Text("of both"), Text("of both"), &["of both"]),
    (Forget, Nothing, &[]),
    (Text("of ann"), Forget, &["of ann"]),
    (Forget, Text("of bob"), &["of bob"]),
    (Forget, Forget, &[]),
];

/// Returns the living texts of a memory.
fn texts(live: &Live, id: &str) -> BTreeSet<String> {
    let list = live.call("memory.list", json!({ "limit": 1000 }));
    let of_it = list["memories"].as_array().unwrap().iter().filter(|memory| memory["id"] == id);
    of_it.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
}

fn run(exchange: &dyn Exchange, (of_ann, of_bob, expected): (Change, Change, &[&str])) {
    let [ann, bob] = exchange.people();
    let id = exchange.add(json!({ "content": format!("before {of_ann:?} {of_bob:?}") }));
    assert_eq!(texts(bob, &id).len(), 1, "it came");
    let changes = [of_ann, of_bob];
    let said = format!("{changes:?}").replace('"', "");
    let own = |text: &str| format!("{text}, {said}"); // two memories may not say the same
    exchange.apart(&|live, nth| match changes[nth] {
        Nothing => {}
        Text(text) => {
            drop(live.call("memory.update", json!({ "id": id, "content": own(text), "client": "cli" })));
        }
        Forget => drop(live.call("memory.forget", json!({ "ids": [id] }))),
    });
    if changes.iter().any(|change| matches!(change, Nothing)) {
        assert!(!is_told(bob, &id), "{said}: it is no conflict");
    }
    let expected: BTreeSet<String> = expected.iter().map(|text| own(text)).collect();
    assert_eq!(texts(bob, &id), expected, "{said}");
    for text in &expected {
        let hits = bob.call("search", json!({ "query": text, "kind": ["memory"], "mode": "keyword" }));
        assert!(hits["hits"].to_string().contains(&id), "{said}: {text} is found: {hits}");
    }
    let is_in_conflict =
        bob.call("memory.get", json!({ "ids": [id] }))["memories"][0]["conflict"].is_string();
    if expected.len() == 2 {
        assert!(is_in_conflict && is_told(bob, &id), "{said}");
    }
    let mut outcome = expected;
    if is_in_conflict {
        bob.call("memory.resolve_file", json!({ "id": id, "text": own("the outcome"), "client": "cli" }));
        outcome = [own("the outcome")].into();
    }
    exchange.settle();
    for (live, name) in [(ann, "ann"), (bob, "bob")] {
        assert_eq!(texts(live, &id), outcome, "{said}: {name}");
        assert!(!is_told(live, &id), "{said}: {name}: it is over");
    }
    for (live, change) in [ann, bob].into_iter().zip(changes) {
        let Text(text) = change else { continue };
        let history = live.call("memory.history", json!({ "ids": [id] }))["changes"].to_string();
        let is_there = history.contains(&own(text)) || outcome.contains(&own(text));
        assert!(is_there, "{said}: {text} is lost: {history}");
    }
}

/// Returns whether `doctor` names a memory.
fn is_told(live: &Live, id: &str) -> bool {
    let checks: Value = live.call("doctor", json!({}))["checks"].clone();
    checks.as_array().unwrap().iter().any(|check| check["ok"] == false && check.to_string().contains(id))
}

#[test]
fn through_git() {
    let files = Files::new();
    CASES.into_iter().for_each(|case| run(&files, case));
}

#[test]
fn through_a_server() {
    let Some(team) = Team::new() else { return };
    CASES.into_iter().for_each(|case| run(&team, case));
}
