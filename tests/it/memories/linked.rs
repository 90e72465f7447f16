//! Do memories hang together as they were linked?

use serde_json::{Value, json};

use super::{add, call, memo};
use crate::live::Live;

/// Returns what a memory is to others, as `get` shows it: relation and id, oldest first.
fn relations(live: &Live, id: &str) -> Vec<(String, String)> {
    let got = call(live, "memory.get", json!({ "ids": [id] }));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let links = got["memories"][0]["links"].as_array().unwrap().clone();
    links.iter().map(|link| (text(&link["relation"]), text(&link["id"]))).collect()
}

fn pairs(expected: &[(&str, &String)]) -> Vec<(String, String)> {
    expected.iter().map(|(relation, id)| ((*relation).to_owned(), (*id).clone())).collect()
}

/// Returns the actions in the history of a memory.
fn actions(live: &Live, id: &str) -> Vec<String> {
    let history = call(live, "memory.history", json!({ "ids": [id] }));
    let changes = history["changes"].as_array().unwrap();
    changes.iter().map(|change| change["action"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_link_is_seen_from_both_ends() {
    let live = Live::new();
    let (a, b) = (add(&live, "a"), add(&live, "b"));
    assert_eq!(
        memo(&live, &["link", &a, &b, "--kind", "derived_from"]).1["changed"],
        json!(["derived_from"])
    );
    assert_eq!(relations(&live, &a), pairs(&[("derived_from", &b)]));
    assert_eq!(relations(&live, &b), pairs(&[("source_of", &a)]));
    let again = memo(&live, &["link", &a, &b, "--kind", "derived_from"]);
    assert_eq!((again.0, &again.1["changed"]), (0, &json!([])));
    assert_eq!(memo(&live, &["link", &a, &b]).1["changed"], json!(["related_to"]));
    assert_eq!(memo(&live, &["link", &b, &a]).1["changed"], json!([]), "it is the same from either end");
    assert_eq!(actions(&live, &b), ["add", "link", "link"]);
    assert_eq!(
        memo(&live, &["unlink", &b, &a]).1["changed"],
        json!(["related_to"]),
        "b is not derived from a"
    );
    assert_eq!(memo(&live, &["unlink", &a, &b]).1["changed"], json!(["derived_from"]));
    assert_eq!(relations(&live, &a), []);
    let none = memo(&live, &["unlink", &a, &b]);
    assert_eq!((none.0, &none.1["changed"]), (1, &json!([])), "there is no link to remove");
    assert_eq!(actions(&live, &a), ["add", "link", "link", "unlink", "unlink"]);
}

#[test]
fn nothing_supersedes_itself() {
    let live = Live::new();
    let (a, b, c) = (add(&live, "a"), add(&live, "b"), add(&live, "c"));
    for (from, to) in [(&a, &b), (&b, &c)] {
        assert_eq!(memo(&live, &["link", from, to, "--kind", "supersedes"]).0, 0);
    }
    let refused: &[(&[&str], i32, &str)] = &[
        (&["link", &a, &a], 2, "twice"),
        (&["link", &c, &a, "--kind", "supersedes"], 2, "is superseded by"),
        (&["resolve", &c, &a], 2, "is superseded by"),
        (&["resolve", &c, &c], 2, "twice"),
        (&["link", &a, "mem_00"], 1, "no memory begins with mem_00"),
        (&["link", &a, "?"], 2, "\"?\""),
        (&["link", &a, "mem_0"], 2, "3 ids begin with"),
        (&["link", &a, &c, "--kind", "likes"], 2, "likes"),
        (&["links", &a, "--depth", "11"], 2, "11"),
    ];
    for (args, exit, said) in refused {
        let (code, answer) = memo(&live, args);
        assert_eq!(code, *exit, "{args:?}: {answer}");
        assert!(answer["error"].to_string().replace("\\\"", "\"").contains(said), "{args:?}: {answer}");
    }
    assert_eq!(relations(&live, &a), pairs(&[("supersedes", &b)]));
    assert_eq!(actions(&live, &c), ["add", "link"], "what is refused leaves nothing");
    let archived = add(&live, "d");
    memo(&live, &["forget", &archived, "--yes"]);
    let (code, answer) = memo(&live, &["link", &a, &archived]);
    assert!(code == 2 && answer["error"]["message"].as_str().unwrap().contains("in the archive"), "{answer}");
}

#[test]
fn links_are_followed() {
    let live = Live::new();
    let ids: Vec<_> = ["a", "b", "c", "d"].iter().map(|text| add(&live, text)).collect();
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        memo(&live, &["link", &ids[from], &ids[to]]);
    }
    let reached = |depth: u64| {
        let result = call(&live, "memory.links", json!({ "id": ids[0], "depth": depth }));
        let nodes = result["memories"].as_array().unwrap().clone();
        let found =
            nodes.iter().map(|node| (node["line"].as_str().unwrap().to_owned(), node["depth"].as_u64()));
        (found.collect::<Vec<_>>(), result["links"].as_array().unwrap().len())
    };
    let at = |text: &str, depth| (text.to_owned(), Some(depth));
    assert_eq!(reached(1), (vec![at("a", 0), at("b", 1), at("d", 1)], 2));
    assert_eq!(reached(2), (vec![at("a", 0), at("b", 1), at("d", 1), at("c", 2)], 4));
    assert_eq!(reached(10), reached(2));
    assert_eq!(memo(&live, &["links", &add(&live, "alone")]).0, 1);
}

#[test]
fn one_of_two_is_resolved() {
    let live = Live::new();
    let (winner, loser) = (add(&live, "24 hours"), add(&live, "12 hours"));
    memo(&live, &["link", &loser, &winner, "--kind", "contradicts"]);
    let (code, answer) = memo(&live, &["resolve", &winner, &loser]);
    assert_eq!(
        (code, &answer["linked"]),
        (0, &json!(["supersedes"])),
        "the contradiction was known: {answer}"
    );
    assert_eq!(answer["changed"], json!(["confidence", "priority"]));
    let got = call(&live, "memory.get", json!({ "ids": [loser] }))["memories"][0].clone();
    assert_eq!((&got["priority"], &got["confidence"]), (&json!(1), &json!(0.1)));
    assert_eq!(relations(&live, &loser), pairs(&[("contradicts", &winner), ("superseded_by", &winner)]));
    let again = memo(&live, &["resolve", &winner, &loser]).1;
    assert_eq!((&again["linked"], &again["changed"]), (&json!([]), &json!([])));
    assert_eq!(actions(&live, &loser), ["add", "link", "link", "resolve"]);
}

#[test]
fn what_goes_for_good_takes_its_links_along() {
    let live = Live::new();
    let (a, b) = (add(&live, "a"), add(&live, "b"));
    memo(&live, &["link", &a, &b, "--kind", "supersedes"]);
    memo(&live, &["forget", &b, "--yes"]);
    let got = call(&live, "memory.get", json!({ "ids": [a] }))["memories"][0]["links"].clone();
    assert_eq!((&got[0]["relation"], &got[0]["archived"]), (&json!("supersedes"), &json!(true)));
    memo(&live, &["purge", "--yes"]);
    assert_eq!(relations(&live, &a), []);
    let history = call(&live, "memory.history", json!({ "ids": [a] }))["changes"].clone();
    assert_eq!(history[2]["fields"], json!({ "supersedes": [b, null] }), "{history}");
}
